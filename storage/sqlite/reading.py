"""Queries of the SQLite store, and what only its rows hold; ``stored_rows.py`` reads the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from storage.archive.segments import Place
from storage.store.rows import URL_COLUMNS

URL_ROWS = (
    f"SELECT {URL_COLUMNS} FROM urls WHERE page_id = ? "  # noqa: S608 (constants)
    "ORDER BY fetched_at DESC, crawl_id"
)
"""Of one page id, newest first."""

SAMPLED_URL_ROWS = (
    f"SELECT {URL_COLUMNS} FROM urls "  # noqa: S608 (constants)
    "WHERE crawl_id = ? AND host = ? AND state = ? ORDER BY page_id LIMIT ?"
)
"""Of one host of a crawl and one state, those with the smallest page ids."""

RAW_ROW = (
    "SELECT segment, offset, length, raw.url, raw.fetched_at, raw.crawl_id, depth, "
    "referrer, via, link_text, discovered_at "
    "FROM raw JOIN urls USING (page_id, crawl_id) "
    "WHERE page_id = ? AND (? IS NULL OR crawl_id = ?) "
    "ORDER BY raw.fetched_at DESC LIMIT 1"
)
"""Of one page id, in one crawl or (twice NULL) in all."""


def condition(crawl_id: str | None, host: str | None) -> tuple[str, tuple[str, ...]]:
    """(condition, values); only what was asked is named, so that its index can be used."""
    asked = {"crawl_id": crawl_id, "host": host}
    used = {name: value for name, value in asked.items() if value is not None}
    return " AND ".join(f"{name} = ?" for name in used) or "TRUE", tuple(used.values())


def place_of(row: Sequence[Any]) -> Place:
    """Where the answer of a row of ``RAW_ROW`` is archived."""
    return Place(segment=row[0], offset=row[1], length=row[2])
