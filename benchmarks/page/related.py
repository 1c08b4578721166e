"""Related links against labels, by our default and the forms of paper 1: a part of ``page.py``.

Scored are labelled links with visible text and a real href:

- P, R and F1 over all these links.
- Macro F1: the mean F1 of pages with related links.
- False alarms: pages without related links where the method returned some.
- ``precision_with_hot_and_ad``: popular and commercial links count as right. The paper calls these
  links in the block related, the labels call them hot and ad.

``sweep`` is the paper's Table 1 and ``markers`` its Tables 2 and 3: pages with and without a start
marker. The best block of a page does not depend on the threshold, so a sweep reads each page once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any

from benchmarks.page.links import Counts, Labelled, aligned, labelled_pages, with_interval
from crawlclean import LinkKind
from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.lexicon import word_list
from crawlclean.cleaning.papers.link_blocks import Params as LogicalParams, SourceLink
from crawlclean.cleaning.papers.related_links import (
    Params,
    Reading,
    marked_containers,
    marked_links,
    related_links,
    split_containers,
    split_logical,
    split_tables,
)
from crawlclean.cleaning.words import default_segmenter

THRESHOLDS = (0.25, 0.29, 0.30, 0.32, 0.35)  # Table 1
EVERY = 1e-9  # rejects only blocks without any shared word
_NO_HREF = ("", "#", "javascript")

Split = Callable[[Labelled], Iterable[Sequence[SourceLink]]]
Find = Callable[[Labelled], tuple[set[int], float]]
"""(numbers of the labelled links that a method calls related, score of their block)."""

SOURCES: dict[str, Split] = {
    "tables": lambda page: split_tables(page.page.html),
    "containers": lambda page: split_containers(parse(page.page.html)),
    "logical blocks": lambda page: split_logical(page.page.html),
    "small logical blocks": lambda page: split_logical(page.page.html, LogicalParams(max_gap=5)),
}


def measure(only_ours: bool = False) -> dict[str, Any]:
    """Returns the quality by language and method, the sweep, and pages with or without markers.

    Args:
        only_ours: Skip the forms of the paper.
    """
    pages = list(labelled_pages())
    result: dict[str, Any] = {}
    for lang in ("zh", "en"):
        chosen = [page for page in pages if page.lang == lang]
        found = {"default": [_by_default(page) for page in chosen]}
        if not only_ours:
            found |= {
                name: [find(page) for page in chosen] for name, find in _paper_forms().items()
            }
        result[lang] = {
            name: _quality(chosen, _above(rows, _threshold_of(name)))
            for name, rows in found.items()
        }
        if lang == "zh" and not only_ours:
            result["sweep_zh"] = {
                name: [
                    {"T": least, **_table_row(chosen, _above(rows, (least, "figure" in name)))}
                    for least in THRESHOLDS
                ]
                for name, rows in found.items()
                if "rules" in name or "figure1" in name
            }
            result["markers_zh"] = dict(_by_presence(chosen, found))
    return {"related": result}


def _paper_forms() -> dict[str, Find]:
    forms: dict[str, Find] = {
        f"{name}, {reading.value}": partial(_by_blocks, split, Params(reading=reading), False)
        for name, split in SOURCES.items()
        for reading in Reading
    }
    containers = SOURCES["containers"]
    forms["containers, rules, stop words inside"] = partial(
        _by_blocks, containers, Params(contains=True), False
    )
    forms["containers, rules, words of two characters, title without site"] = partial(
        _by_blocks, containers, Params(min_word_chars=2), True
    )
    forms["start markers"] = _by_markers
    forms["start markers, containers"] = _by_marked_containers
    return forms


def _threshold_of(name: str) -> tuple[float, bool]:
    """Returns (T, whether a score of exactly T is rejected) of a method; (0, False) without T."""
    if name in ("default", "start markers", "start markers, containers"):
        return 0.0, False
    return Params().threshold, "figure" in name


def _above(rows: Sequence[tuple[set[int], float]], threshold: tuple[float, bool]) -> list[set[int]]:
    least, excluded = threshold
    return [
        found if score > least or (score == least and not excluded) else set()
        for found, score in rows
    ]


def _by_default(page: Labelled) -> tuple[set[int], float]:
    found = aligned(page.links, page.record.links)
    return {i for i, link in found if link.kind is LinkKind.RELATED}, 1.0


def _by_blocks(
    split: Split, params: Params, clean_title: bool, page: Labelled
) -> tuple[set[int], float]:
    title = page.record.title if clean_title else parse(page.page.html).title
    every = Params(
        reading=params.reading,
        contains=params.contains,
        min_word_chars=params.min_word_chars,
        threshold=EVERY,
    )
    found = related_links(split(page), title, _words, every)
    score = 0.0 if found.block is None else found.scores[found.block]
    return _numbers(page, found.links), score


@lru_cache(1 << 16)
def _words(text: str) -> tuple[str, ...]:
    return tuple(default_segmenter().words(text))


def _by_markers(page: Labelled) -> tuple[set[int], float]:
    found = marked_links(page.page.html, lambda line: line.lower() in word_list("related_markers"))
    return _numbers(page, found.links), 1.0


def _by_marked_containers(page: Labelled) -> tuple[set[int], float]:
    tree = parse(page.page.html)
    found = marked_containers(tree, lambda line: line.lower() in word_list("related_markers"))
    return _numbers(page, found.links), 1.0


def _numbers(page: Labelled, links: Iterable[SourceLink]) -> set[int]:
    found = {(link.href.strip(), "".join(link.text.split())) for link in links}
    return {
        i
        for i, label in enumerate(page.links)
        if ((label["href"] or "").strip(), "".join(label["text"].split())) in found
    }


def _scored(page: Labelled) -> Iterator[tuple[int, str]]:
    """Yields (number, label) of every scored link."""
    for i, link in enumerate(page.links):
        href = (link["href"] or "").strip().lower()
        if link["text"].strip() and href not in _NO_HREF and not href.startswith("javascript:"):
            yield i, link["label"]


def _count(page: Labelled, found: set[int]) -> Counts:
    right = wrong = missed = 0
    for i, label in _scored(page):
        is_related = label == "related"
        right += is_related and i in found
        wrong += not is_related and i in found
        missed += is_related and i not in found
    return Counts(right, wrong, missed)


def _quality(pages: Sequence[Labelled], found: Sequence[set[int]]) -> dict[str, Any]:
    rows = [(page.host, _count(page, each)) for page, each in zip(pages, found, strict=True)]
    counts = [row for _, row in rows]
    every = _sum(counts)
    returned = every.right + every.wrong
    without = [row for row in counts if not row.right + row.missed]
    beside = sum(
        label in ("hot", "ad") and i in each
        for page, each in zip(pages, found, strict=True)
        for i, label in _scored(page)
    )
    return {
        "precision": _share(every.right, returned),
        "recall": _share(every.right, every.right + every.missed),
        "f1": with_interval(rows, lambda rows: _sum(rows).f1),
        "macro_f1": with_interval(rows, _macro),
        "false_alarms": f"{sum(row.wrong > 0 for row in without)} of {len(without)}",
        "precision_with_hot_and_ad": _share(every.right + beside, returned),
    }


def _table_row(pages: Sequence[Labelled], found: Sequence[set[int]]) -> dict[str, Any]:
    """Returns a row with the columns of the paper's tables."""
    every = _sum([_count(page, each) for page, each in zip(pages, found, strict=True)])
    return {
        "extracted": every.right + every.wrong,
        "related": every.right + every.missed,
        "wrong": every.wrong,
        "missed": every.missed,
        "precision": _share(every.right, every.right + every.wrong),
        "recall": _share(every.right, every.right + every.missed),
        "f1": round(every.f1, 4),
    }


def _by_presence(
    pages: Sequence[Labelled], found: dict[str, list[tuple[set[int], float]]]
) -> Iterator[tuple[str, Any]]:
    """Yields the rows of every method, for pages with a start marker and for pages without."""
    for name, has_one in (("with a marker", True), ("without", False)):
        chosen = [
            i
            for i, page in enumerate(pages)
            if any(link["label"] == "related" for link in page.links)
            and bool(found["start markers"][i][0]) is has_one
        ]
        yield (
            name,
            {
                "pages": len(chosen),
                **{
                    method: _table_row(
                        [pages[i] for i in chosen],
                        [_above(rows, _threshold_of(method))[i] for i in chosen],
                    )
                    for method, rows in found.items()
                },
            },
        )


def _sum(rows: Sequence[Counts]) -> Counts:
    return Counts(
        sum(row.right for row in rows),
        sum(row.wrong for row in rows),
        sum(row.missed for row in rows),
    )


def _macro(rows: Sequence[Counts]) -> float:
    scores = [row.f1 for row in rows if row.right + row.missed]
    return sum(scores) / len(scores) if scores else 0.0


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0
