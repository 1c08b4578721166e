"""How much of a topic a crawl has found after how many pages: a part of ``topic.py``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from benchmarks.topic.crawlers import FLOOR, Judge, Plan, TopicCrawl, best_first, breadth_first
from benchmarks.topic.web import BenchTopic, Web

AT = (5, 10, 20, 30)  # per cent of the reachable pages
LEAST_AT = 20  # per cent at which the least topic is named
POINTS = 60  # of a harvest curve, half a per cent of the pages each

Crawler = Callable[[Web, BenchTopic], Iterable[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Harvest:
    """What a crawl found.

    Attributes:
        recall: Share of the targets found after 5, 10, 20, 30 % of the pages.
        half: Share of the pages after which half of the targets were found.
        curve: Share of the targets after each half per cent of the pages.
        dead: Dead links that were followed on the way to 20 % of the pages.
    """

    recall: tuple[float, ...]
    half: float
    curve: tuple[float, ...]
    dead: int


def harvest(web: Web, topic: BenchTopic, pages: Iterable[str]) -> Harvest:
    """Returns what a crawl found of a topic, by 30 % of the pages and more until half is found."""
    targets = web.targets(topic)
    size = len(web.reachable)
    total = len(targets) or 1
    found = [0]
    dead = 0
    for page in pages:
        if page in web.missing:
            dead += len(found) <= size * LEAST_AT / 100
            continue
        found.append(found[-1] + (page in targets))
        if len(found) > size * AT[-1] / 100 + 1 and 2 * found[-1] >= total:
            break

    def share(part: float) -> float:
        return found[min(round(part * size), len(found) - 1)] / total

    half = next((step / size for step, hits in enumerate(found) if 2 * hits >= total), 1.0)
    return Harvest(
        recall=tuple(share(per_cent / 100) for per_cent in AT),
        half=half,
        curve=tuple(share(point * AT[-1] / 100 / POINTS) for point in range(POINTS + 1)),
        dead=dead,
    )


def crawlers(floor: int = FLOOR) -> dict[str, Crawler]:
    """Returns the crawlers by name; those of ours share the judgements of pages."""
    judges: dict[tuple[str, bool], Judge] = {}

    def ours(plan: Plan, *, examples: bool) -> Crawler:
        def crawl(web: Web, topic: BenchTopic) -> Iterable[str]:
            key = topic.name, examples
            if key not in judges:
                judges[key] = Judge(web, topic, examples=examples)
            return TopicCrawl(web, judges[key], plan).pages()

        return crawl

    plans = {
        "": Plan(),
        ", a page a host and tick": Plan(ticks=True, floor=floor),
        ", a page a host and tick, no floor": Plan(ticks=True),
    }
    found: dict[str, Crawler] = {
        "breadth-first": lambda web, _: breadth_first(web),
        "best-first on anchors": best_first,
    }
    for given, examples in (("three examples", True), ("query alone", False)):
        for name, plan in plans.items():
            found[f"ours, {given}{name}"] = ours(plan, examples=examples)
    return found


def measure(web: Web, crawler: Crawler) -> dict[str, Harvest]:
    """Returns what a crawler finds, by topic; topics without a target are left out."""
    return {
        topic.name: harvest(web, topic, crawler(web, topic))
        for topic in web.topics
        if web.targets(topic)
    }


def line(rows: Sequence[Harvest]) -> str:
    """Returns the line of a crawler: ``recall 5/10/20/30 %: .51 .77 .91 .96, least topic ...``."""
    means = [sum(row.recall[place] for row in rows) / len(rows) for place in range(len(AT))]
    least = min(row.recall[AT.index(LEAST_AT)] for row in rows)
    half = sum(row.half for row in rows) / len(rows)
    figures = " ".join(map(_short, means))
    at = "/".join(map(str, AT))
    return (
        f"recall {at} %: {figures}, least topic at {LEAST_AT} %: {_short(least)}, "
        f"half of the targets after {100 * half:.1f} %"
    )


def _short(share: float) -> str:
    return f"{share:.2f}".lstrip("0") if share < 0.995 else "1.00"
