"""The labelled forums: their URLs and pages, and the score of a list of topic pages."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from benchmarks.kit.results import require_data
from benchmarks.kit.scoring import ratios
from benchmarks.kit.sources import rows_of

Rows = list[dict[str, Any]]


def forums() -> Iterator[tuple[str, Rows]]:
    """Yields (name, rows) of each forum; a row is a URL with its type and, if fetched, its page."""
    for path in sorted(require_data("forum").glob("*.jsonl.gz")):
        yield path.name.partition(".")[0], list(rows_of(path))


def thread_pages(rows: Rows) -> Rows:
    """Returns the rows that have a page of a thread and its gold."""
    return [
        row
        for row in rows
        if row.get("html") and row["type"].startswith("thread") and row.get("gold")
    ]


def score_urls(found: Collection[str], rows: Rows) -> dict[str, float]:
    """Returns precision, recall and F of topic pages (eq. 12-14); ``thread_alt`` URLs do not count.

    Args:
        found: The URLs classified as topic pages.
        rows: All URLs that were classified.
    """
    asked = {row["url"]: row["type"] for row in rows if row["type"] != "thread_alt"}
    taken = sum(url in asked for url in found)
    right = sum(asked.get(url) == "thread" for url in found)
    wanted = sum(kind == "thread" for kind in asked.values())
    return ratios(right=right, found=taken, wanted=wanted)
