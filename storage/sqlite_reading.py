"""Rows of the SQLite store as what its readers are given, and the queries that give them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from cleaning.records import Provenance, RawPage, Via
from storage.archive import Place
from storage.base import (
    CrawlRow,
    CrawlSpec,
    CrawlState,
    FailureReason,
    FailureRow,
    UrlRow,
    UrlState,
)
from storage.codec import from_microseconds, load, log_from_json

URL_ROWS = (
    "SELECT crawl_id, page_id, url, host, state, depth, via, referrer, link_text, discovered_at, "
    "fetched_at, status, etag, last_modified, next_visit, log FROM urls WHERE page_id = ? "
    "ORDER BY fetched_at DESC, crawl_id"
)
"""Of one page id, newest first."""

FAILURE_COLUMNS = "crawl_id, url, host, reason, detail, status, attempts, failed_at"

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


def _maybe_time(microseconds: int | None) -> datetime | None:
    return None if microseconds is None else from_microseconds(microseconds)


def url_row(row: Sequence[Any]) -> UrlRow:
    """What a row of ``URL_ROWS`` says."""
    return UrlRow(
        crawl_id=row[0],
        page_id=row[1],
        url=row[2],
        host=row[3],
        state=UrlState(row[4]),
        depth=row[5],
        via=Via(row[6]),
        referrer=row[7],
        link_text=row[8],
        discovered_at=_maybe_time(row[9]),
        finished_at=from_microseconds(row[10]),
        status=row[11],
        etag=row[12],
        last_modified=row[13],
        next_visit=_maybe_time(row[14]),
        log=log_from_json(load(row[15])),
    )


def crawl_row(
    spec: CrawlSpec, state: str, created_at: int, counts: Sequence[tuple[str, int]]
) -> CrawlRow:
    """A crawl with its pages counted by state."""
    return CrawlRow(
        spec=spec,
        created_at=from_microseconds(created_at),
        state=CrawlState(state),
        pages={UrlState(each): n for each, n in counts},
    )


def failure_row(row: Sequence[Any]) -> FailureRow:
    """What a row of ``FAILURE_COLUMNS`` says."""
    return FailureRow(
        crawl_id=row[0],
        url=row[1],
        host=row[2],
        reason=FailureReason(row[3]),
        detail=row[4],
        status=row[5],
        attempts=row[6],
        failed_at=from_microseconds(row[7]),
    )


def place_of(row: Sequence[Any]) -> Place:
    """Where the answer of a row of ``RAW_ROW`` is archived."""
    return Place(segment=row[0], offset=row[1], length=row[2])


def raw_page(
    row: Sequence[Any], status: int, headers: tuple[tuple[str, str], ...], body: bytes
) -> RawPage:
    """The page of a row of ``RAW_ROW`` and its archived answer, decoded."""
    url, fetched_at, found_crawl, depth, *found_by = row[3:]
    referrer, via, link_text, discovered_at = found_by
    provenance = Provenance(
        crawl_id=found_crawl,
        referrer=referrer,
        via=Via(via),
        link_text=link_text,
        discovered_at=_maybe_time(discovered_at),
    )
    return RawPage.from_bytes(
        url,
        body,
        fetched_at=from_microseconds(fetched_at),
        status=status,
        headers=headers,
        referrer=referrer,
        depth=depth,
        provenance=provenance,
    )
