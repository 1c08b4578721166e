"""The labelled forums: their URLs and pages, and how a list of topic pages is scored."""

from __future__ import annotations

import gzip
import json
from collections.abc import Collection, Iterator
from typing import Any

from benchmarks.kit.results import require_data

Rows = list[dict[str, Any]]


def forums() -> Iterator[tuple[str, Rows]]:
    """(name, rows) of each forum; a row is a URL with its type, and a page where there is one."""
    for path in sorted(require_data("forum").glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield path.name.partition(".")[0], [json.loads(line) for line in lines]


def thread_pages(rows: Rows) -> Rows:
    """The rows with a thread's page and its gold."""
    return [
        row
        for row in rows
        if row.get("html") and row["type"].startswith("thread") and row.get("gold")
    ]


def score_urls(found: Collection[str], rows: Rows) -> dict[str, float]:
    """Precision, recall and F of topic pages (eq. 12-14); other addresses of threads are ignored.

    Args:
        found: The URLs that were called topic pages.
        rows: The URLs that were asked about.
    """
    asked = {row["url"]: row["type"] for row in rows if row["type"] != "thread_alt"}
    taken = sum(url in asked for url in found)
    right = sum(asked.get(url) == "thread" for url in found)
    wanted = sum(kind == "thread" for kind in asked.values())
    precision, recall = right / taken if taken else 0.0, right / wanted if wanted else 0.0
    both = precision + recall
    return {
        "precision": round(precision, 4),
        "recall": round(recall, 4),
        "f": round(2 * precision * recall / both, 4) if both else 0.0,
    }
