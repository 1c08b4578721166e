"""What a store keeps, as its readers are given it: rows of values to the types of ``base.py``.

Both stores read through here, so that the same row is the same answer in either.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from cleaning.document.raw_page import RawPage
from cleaning.records import Provenance, Via
from storage.crawl_types import (
    CrawlRow,
    CrawlSpec,
    CrawlState,
    FailureReason,
    FailureRow,
    UrlRow,
    UrlState,
)
from storage.store.codec import from_microseconds, log_from_json

URL_COLUMNS = (
    "crawl_id, page_id, url, host, state, depth, via, referrer, link_text, discovered_at, "
    "fetched_at, status, etag, last_modified, log, fetched_bytes, media_type, sha256"
)
"""Of ``url_row``."""

FAILURE_COLUMNS = "crawl_id, url, host, reason, detail, status, attempts, failed_at"
"""Of ``failure_row``."""


def _maybe_time(microseconds: int | None) -> datetime | None:
    return None if microseconds is None else from_microseconds(microseconds)


def url_row(row: Sequence[Any]) -> UrlRow:
    """What the values of ``URL_COLUMNS`` say."""
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
        log=log_from_json(row[14]),
        fetched_bytes=row[15],
        media_type=row[16] or "",
        sha256=row[17] or "",
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
    """What the values of ``FAILURE_COLUMNS`` say."""
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


def raw_page(
    row: Sequence[Any], status: int, headers: tuple[tuple[str, str], ...], body: bytes
) -> RawPage:
    """An archived answer, decoded.

    Args:
        row: Three values that are not read here, then url, fetched_at, crawl_id, depth, referrer,
            via, link_text, discovered_at.
        status: The answer's.
        headers: The answer's.
        body: The answer's, unpacked.
    """
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
