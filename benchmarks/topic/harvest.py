"""The ruler of topic crawls: a part of ``topic.py``.

Targets are the relevant pages that links reach from the portal, without the examples. A step is a
page that was not fetched before; the portal's pages, other URLs of a page, and URLs that no server
has are none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.topic.web import BenchTopic, Web

AT = (5, 10, 20, 30)  # per cent of the reachable pages
LEAST_AT = 20  # per cent at which the least topic is named
MARGIN = 40  # records of a budget beyond the steps: second URLs of pages


@dataclass(frozen=True, slots=True, kw_only=True)
class Harvest:
    """What a crawl found.

    Attributes:
        recall: Share of the targets found after 5, 10, 20, 30 % of the pages.
        half: Share of the pages after which half of the targets were found.
        pages: Steps.
        is_whole: Whether it came to the last step of the line, or found all targets.
    """

    recall: tuple[float, ...]
    half: float
    pages: int
    is_whole: bool


def budget(web: Web) -> int:
    """Returns the records after which a crawl may end."""
    return round(len(web.reachable) * AT[-1] / 100) + MARGIN


def harvest(web: Web, topic: BenchTopic, pages: Iterable[str]) -> Harvest:
    """Returns what a crawl found of a topic within its budget: ``pages`` in their order."""
    targets = web.targets(topic)
    size = len(web.reachable)
    total = len(targets) or 1
    found = [0]
    seen = set(web.portal)
    for page in pages:
        if page in seen:
            continue
        seen.add(page)
        found.append(found[-1] + (page in targets))
        if len(found) > budget(web):
            break

    def share(part: float) -> float:
        return found[min(round(part * size), len(found) - 1)] / total

    half = next((step / size for step, hits in enumerate(found) if 2 * hits >= total), 1.0)
    return Harvest(
        recall=tuple(share(per_cent / 100) for per_cent in AT),
        half=half,
        pages=len(found) - 1,
        is_whole=len(found) > round(size * AT[-1] / 100) or found[-1] == len(targets),
    )


def line(rows: Sequence[Harvest]) -> str:
    """Returns the line of a crawler: ``recall 5/10/20/30 %: .51 .77 .91 .96, least at ...``."""
    means = [sum(shares) / len(rows) for shares in zip(*(row.recall for row in rows), strict=True)]
    half = sum(row.half for row in rows) / len(rows)
    text = f"recall {'/'.join(map(str, AT))} %: {short(means)}"
    if len(rows) > 1:
        lowest = min(row.recall[AT.index(LEAST_AT)] for row in rows)
        text += f", least at {LEAST_AT} %: {short([lowest])}"
    return f"{text}, half of the targets after {100 * half:.1f} %"


def short(shares: Sequence[float]) -> str:
    """Returns shares with two digits: ``.50 1.00``."""
    return " ".join(f"{share:.2f}".lstrip("0") if share < 0.995 else "1.00" for share in shares)
