"""The kinds of links and images of a page against labels: a part of ``page.py``.

Every figure has its 95 % bootstrap interval over pages; ``halves`` is its range over ten random
halves of the hosts. Pages with many wrong kinds are counted by their most frequent fault (``nav as
related``); the pages themselves are listed in ``build/link-failures.json`` only.
"""

from __future__ import annotations

import base64
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from benchmarks.kit.results import list_failures
from benchmarks.kit.sources import link_rows
from crawlclean import CleanRecord, ImageKind, Link, LinkKind, RawPage, clean
from crawlclean.cleaning.document.tree import Anchor
from crawlclean.cleaning.papers.link_blocks import SourceLink

T = TypeVar("T")
Hyper = TypeVar("Hyper", Link, SourceLink, Anchor)
LABELS: dict[LinkKind, str] = {
    LinkKind.BODY: "inbody",
    LinkKind.NAVIGATION: "nav",
    **{kind: kind.value for kind in LinkKind if kind not in (LinkKind.BODY, LinkKind.NAVIGATION)},
}
FAILS_BELOW = 0.85
RESAMPLES = 500
HALVES = 10


@dataclass(frozen=True, slots=True)
class Labelled:
    """A page with its labels and its record."""

    page: RawPage
    host: str
    lang: str
    links: list[dict[str, Any]]
    images: list[dict[str, Any]]
    record: CleanRecord


@dataclass(frozen=True, slots=True)
class Counts:
    """Items found rightly, found wrongly and missed, on one page or more."""

    right: int
    wrong: int
    missed: int

    @property
    def f1(self) -> float:
        """Returns F1; 1 when nothing was wanted and nothing found."""
        whole = 2 * self.right + self.wrong + self.missed
        return 2 * self.right / whole if whole else 1.0


def measure(_only_ours: bool = False) -> dict[str, Any]:
    """Returns the quality of link kinds and image kinds."""
    pages = list(labelled_pages())
    return {"links": {"kinds": _kinds(pages), "images": _images(pages)}}


def labelled_pages() -> Iterator[Labelled]:
    """Yields every labelled page with its record."""
    for row in link_rows():
        page = RawPage.from_bytes(row["url"], base64.b64decode(row["html_base64"]))
        lang = "zh" if row["lang"] == "zh" else "en"
        yield Labelled(page, row["host"], lang, row["links"], row["images"], clean(page))


def aligned(labels: list[dict[str, Any]], links: Sequence[Hyper]) -> Iterator[tuple[int, Hyper]]:
    """Yields (number of the labelled link, our link), matched by hrefs in document order."""
    at = 0
    for link in links:
        place = at
        while place < len(labels) and (labels[place]["href"] or "") != link.href:
            place += 1
        if place < len(labels):
            yield place, link
            at = place + 1


def _kinds(pages: list[Labelled]) -> dict[str, Any]:
    by_page: list[tuple[str, tuple[int, int]]] = []
    confusion: dict[str, Counter[str]] = {}
    faults: list[dict[str, Any]] = []
    for page in pages:
        pairs = [
            (page.links[i]["label"], LABELS[link.kind])
            for i, link in aligned(page.links, page.record.links)
        ]
        for label, kind in pairs:
            confusion.setdefault(label, Counter())[kind] += 1
        right = sum(a == b for a, b in pairs)
        by_page.append((page.host, (right, len(pairs))))
        if right < FAILS_BELOW * len(pairs):
            wrong = Counter(f"{a} as {b}" for a, b in pairs if a != b)
            share = round(right / len(pairs), 3)
            faults.append({"url": page.page.url, "right": share, "wrong": wrong.most_common()})
    by_host: dict[str, Counter[str]] = {}
    for host, (right, count) in by_page:
        by_host.setdefault(host, Counter()).update(right=right, count=count)
    shares = [counts["right"] / counts["count"] for counts in by_host.values() if counts["count"]]
    faults.sort(key=lambda fault: float(fault["right"]))
    list_failures("link-failures", faults)
    most = Counter(fault["wrong"][0][0] for fault in faults)
    return {
        "failing_pages": {
            "right_below": FAILS_BELOW,
            "of": len(by_page),
            "by_most_frequent_fault": dict(most.most_common()),
        },
        "links": sum(count for _, (_, count) in by_page),
        "accuracy": with_interval(by_page, _ratio),
        "mean_of_hosts": round(sum(shares) / len(shares), 4),
        "confusion": {label: dict(row.most_common()) for label, row in sorted(confusion.items())},
    }


def _ratio(rows: Sequence[tuple[int, int]]) -> float:
    whole = sum(count for _, count in rows)
    return sum(right for right, _ in rows) / whole if whole else 0.0


def _images(pages: list[Labelled]) -> dict[str, Any]:
    """Returns the figures of content images against all others, and of all five kinds."""
    rows: list[tuple[str, Counts]] = []
    by_page: list[tuple[str, tuple[int, int]]] = []
    confusion: dict[str, Counter[str]] = {}
    for page in pages:
        if len(page.images) != len(page.record.images):
            continue
        pairs = [
            (label["label"], image.kind.value)
            for label, image in zip(page.images, page.record.images, strict=True)
        ]
        for label, kind in pairs:
            confusion.setdefault(label, Counter())[kind] += 1
        by_page.append((page.host, (sum(a == b for a, b in pairs), len(pairs))))
        content = ImageKind.CONTENT.value
        rows.append(
            (
                page.host,
                Counts(
                    sum(a == b == content for a, b in pairs),
                    sum(b == content != a for a, b in pairs),
                    sum(a == content != b for a, b in pairs),
                ),
            )
        )
    return {
        "precision": with_interval(rows, _precision),
        "recall": with_interval(rows, _recall),
        "images": sum(count for _, (_, count) in by_page),
        "accuracy": with_interval(by_page, _ratio),
        "confusion": {label: dict(row.most_common()) for label, row in sorted(confusion.items())},
    }


def _precision(rows: Sequence[Counts]) -> float:
    return _ratio([(row.right, row.right + row.wrong) for row in rows])


def _recall(rows: Sequence[Counts]) -> float:
    return _ratio([(row.right, row.right + row.missed) for row in rows])


def with_interval(
    rows: list[tuple[str, T]], statistic: Callable[[Sequence[T]], float]
) -> dict[str, Any]:
    """Returns a figure of all pages, its interval, and its range over halves of the hosts."""
    values = [row for _, row in rows]
    chance = random.Random(1)  # noqa: S311 - resampling
    drawn = sorted(statistic(chance.choices(values, k=len(values))) for _ in range(RESAMPLES))
    hosts = sorted({host for host, _ in rows})
    halves = []
    for _ in range(HALVES):
        half = set(chance.sample(hosts, len(hosts) // 2))
        halves.append(statistic([row for host, row in rows if host in half]))
    return {
        "value": round(statistic(values), 4),
        "95": [round(drawn[int(RESAMPLES * share)], 4) for share in (0.025, 0.975)],
        "halves": [round(min(halves), 4), round(max(halves), 4)],
    }
