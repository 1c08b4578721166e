"""The links and images of a page against labels, default and paper forms: a part of ``page.py``.

Related links are scored over the labelled links with a visible text and a real href: P, R and F1
over all of them, the mean F1 of the pages that have some (macro), and on how many of the others
something was returned (false alarms). Every figure comes with its 95 % bootstrap interval over
pages; ``halves`` is the range of a figure over ten random halves of the hosts.
"""

from __future__ import annotations

import base64
import gzip
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from benchmarks.keeping import require_data
from cleaning import CleanRecord, ImageKind, Link, LinkKind, RawPage, clean
from cleaning.papers.link_blocks import SourceLink
from cleaning.papers.related_links import (
    Params,
    Reading,
    marked_links,
    related_links,
    split_containers,
    split_logical,
    split_tables,
)
from cleaning.source.tree import parse
from cleaning.source.word_lists import word_list
from cleaning.source.words import default_segmenter

T = TypeVar("T")
LABELS: dict[LinkKind, str] = {
    LinkKind.BODY: "inbody",
    LinkKind.NAVIGATION: "nav",
    **{kind: kind.value for kind in LinkKind if kind not in (LinkKind.BODY, LinkKind.NAVIGATION)},
}
RESAMPLES = 500
HALVES = 10
_NO_HREF = ("", "#", "javascript")


@dataclass(frozen=True, slots=True)
class Labelled:
    """A page with its labels and what cleaning makes of it."""

    page: RawPage
    host: str
    lang: str
    links: list[dict[str, Any]]
    images: list[dict[str, Any]]
    record: CleanRecord


@dataclass(frozen=True, slots=True)
class Counts:
    """Of one page or more: related links found, right and wrong, and missed."""

    right: int
    wrong: int
    missed: int

    @property
    def f1(self) -> float:
        """F1; 1 where nothing was wanted and nothing found."""
        whole = 2 * self.right + self.wrong + self.missed
        return 2 * self.right / whole if whole else 1.0


Found = Callable[[Labelled], set[int]]
"""The numbers of the labelled links a method calls related."""


def measure(only_ours: bool = False) -> dict[str, Any]:
    """Quality of kinds, related links and images.

    Args:
        only_ours: Leave the paper forms out.
    """
    pages = list(labelled_pages())
    forms = {"default": _by_default} if only_ours else {"default": _by_default, **_paper_forms()}
    related: dict[str, dict[str, Any]] = {}
    for lang in ("zh", "en"):
        chosen = [page for page in pages if page.lang == lang]
        related[lang] = {
            name: _related([(page.host, _count(page, find(page))) for page in chosen])
            for name, find in forms.items()
        }
    return {"links": {"kinds": _kinds(pages), "related": related, "images": _images(pages)}}


def labelled_pages() -> Iterator[Labelled]:
    """Every labelled page, cleaned."""
    with gzip.open(require_data("links") / "pages.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            page = RawPage.from_bytes(row["url"], base64.b64decode(row["html_base64"]))
            lang = "zh" if row["lang"] == "zh" else "en"
            yield Labelled(page, row["host"], lang, row["links"], row["images"], clean(page))


def aligned(labels: list[dict[str, Any]], links: Sequence[Link]) -> Iterator[tuple[int, Link]]:
    """The number of each labelled link with the link of the record that is it, by hrefs."""
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
    for page in pages:
        pairs = [
            (page.links[i]["label"], LABELS[link.kind])
            for i, link in aligned(page.links, page.record.links)
        ]
        for label, kind in pairs:
            confusion.setdefault(label, Counter())[kind] += 1
        by_page.append((page.host, (sum(a == b for a, b in pairs), len(pairs))))
    by_host: dict[str, Counter[str]] = {}
    for host, (right, count) in by_page:
        by_host.setdefault(host, Counter()).update(right=right, count=count)
    shares = [counts["right"] / counts["count"] for counts in by_host.values() if counts["count"]]
    return {
        "links": sum(count for _, (_, count) in by_page),
        "accuracy": _with_interval(by_page, _ratio),
        "mean_of_hosts": round(sum(shares) / len(shares), 4),
        "confusion": {label: dict(row.most_common()) for label, row in sorted(confusion.items())},
    }


def _ratio(rows: Sequence[tuple[int, int]]) -> float:
    whole = sum(count for _, count in rows)
    return sum(right for right, _ in rows) / whole if whole else 0.0


def _related(rows: list[tuple[str, Counts]]) -> dict[str, Any]:
    counts = [row for _, row in rows]
    right = sum(row.right for row in counts)
    returned = right + sum(row.wrong for row in counts)
    wanted = right + sum(row.missed for row in counts)
    without = [row for row in counts if not row.right + row.missed]
    return {
        "precision": round(right / returned, 4) if returned else 0.0,
        "recall": round(right / wanted, 4) if wanted else 0.0,
        "f1": _with_interval(rows, _micro),
        "macro_f1": _with_interval(rows, _macro),
        "false_alarms": f"{sum(row.wrong > 0 for row in without)} of {len(without)}",
    }


def _micro(rows: Sequence[Counts]) -> float:
    return Counts(
        sum(row.right for row in rows),
        sum(row.wrong for row in rows),
        sum(row.missed for row in rows),
    ).f1


def _macro(rows: Sequence[Counts]) -> float:
    scores = [row.f1 for row in rows if row.right + row.missed]
    return sum(scores) / len(scores) if scores else 0.0


def _count(page: Labelled, found: set[int]) -> Counts:
    right = wrong = missed = 0
    for i, link in enumerate(page.links):
        href = (link["href"] or "").strip().lower()
        if not link["text"].strip() or href in _NO_HREF or href.startswith("javascript:"):
            continue
        is_related = link["label"] == "related"
        right += is_related and i in found
        wrong += not is_related and i in found
        missed += is_related and i not in found
    return Counts(right, wrong, missed)


def _by_default(page: Labelled) -> set[int]:
    return {
        i for i, link in aligned(page.links, page.record.links) if link.kind is LinkKind.RELATED
    }


def _paper_forms() -> dict[str, Found]:
    sources: dict[str, Callable[[Labelled], Iterable[Sequence[SourceLink]]]] = {
        "tables": lambda page: split_tables(page.page.html),
        "containers": lambda page: split_containers(parse(page.page.html)),
        "logical blocks": lambda page: split_logical(page.page.html),
    }
    forms: dict[str, Found] = {
        f"paper, {name}, {reading.value}": partial(_by_blocks, split, Params(reading=reading))
        for name, split in sources.items()
        for reading in Reading
    }
    forms["paper, start markers"] = _by_markers
    return forms


def _by_blocks(
    split: Callable[[Labelled], Iterable[Sequence[SourceLink]]], params: Params, page: Labelled
) -> set[int]:
    words = default_segmenter().words
    found = related_links(split(page), page.record.title, words, params)
    return _numbers(page, found.links)


def _by_markers(page: Labelled) -> set[int]:
    found = marked_links(page.page.html, lambda line: line.lower() in word_list("related_markers"))
    return _numbers(page, found.links)


def _numbers(page: Labelled, links: Iterable[SourceLink]) -> set[int]:
    found = {(link.href.strip(), "".join(link.text.split())) for link in links}
    return {
        i
        for i, label in enumerate(page.links)
        if ((label["href"] or "").strip(), "".join(label["text"].split())) in found
    }


def _images(pages: list[Labelled]) -> dict[str, Any]:
    rows: list[tuple[str, Counts]] = []
    for page in pages:
        if len(page.images) == len(page.record.images):
            pairs = [
                (label["label"] == "content", image.kind is ImageKind.CONTENT)
                for label, image in zip(page.images, page.record.images, strict=True)
            ]
            rows.append(
                (
                    page.host,
                    Counts(
                        sum(a and b for a, b in pairs),
                        sum(b and not a for a, b in pairs),
                        sum(a and not b for a, b in pairs),
                    ),
                )
            )
    return {
        "precision": _with_interval(rows, _precision),
        "recall": _with_interval(rows, _recall),
    }


def _precision(rows: Sequence[Counts]) -> float:
    return _ratio([(row.right, row.right + row.wrong) for row in rows])


def _recall(rows: Sequence[Counts]) -> float:
    return _ratio([(row.right, row.right + row.missed) for row in rows])


def _with_interval(
    rows: list[tuple[str, T]], statistic: Callable[[Sequence[T]], float]
) -> dict[str, Any]:
    """A figure of all pages, its interval over pages, and its range over halves of the hosts."""
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
