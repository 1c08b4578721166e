"""Crawl orders, statistics and logs as JSON bytes and back; times as microseconds.

Their JSON is that of ``cleaning/json_values.py``, with the errors listed there. A record writes
itself (``CleanRecord.to_json``); its blobs are in ``storage/store/record_blobs.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.cleaning.json_values import DAMAGE, dump, dump_versioned, load_versioned, utc
from crawlclean.cleaning.records import HostStats
from crawlclean.storage.crawl_types import CrawlSpec, Step

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_SPEC = msgspec.json.Decoder(CrawlSpec)
_STATS = msgspec.json.Decoder(HostStats)
_LOG = msgspec.json.Decoder(tuple[tuple[datetime, str, str], ...])


def to_microseconds(at: datetime) -> int:
    """Microseconds since 1970 UTC; a naive time counts as UTC."""
    return ((at if at.tzinfo else at.replace(tzinfo=UTC)) - EPOCH) // _MICROSECOND


def from_microseconds(microseconds: int) -> datetime:
    """The aware UTC datetime of microseconds since 1970 UTC."""
    return EPOCH + timedelta(microseconds=microseconds)


def spec_to_json(spec: CrawlSpec) -> bytes:
    """A crawl's order as JSON."""
    return dump_versioned(spec)


def spec_from_json(data: bytes | str) -> CrawlSpec:
    """Decodes the order that ``spec_to_json`` wrote."""
    return load_versioned(data, _SPEC, "crawl")


def stats_to_json(stats: HostStats) -> bytes:
    """A host's statistics as JSON."""
    return dump_versioned(stats)


def stats_from_json(data: bytes | str) -> HostStats:
    """Decodes the statistics that ``stats_to_json`` wrote."""
    return load_versioned(data, _STATS, "host's statistics")


def log_to_json(log: Sequence[Step]) -> bytes:
    """A decision log as ``[["2026-11-20T22:42:35.868000Z","leased","attempt 1"],...]``."""
    return dump([(utc(each.at), each.step, each.detail) for each in log])


def log_from_json(data: bytes | str) -> tuple[Step, ...]:
    """Decodes the log that ``log_to_json`` wrote.

    Raises:
        StoreDamaged: This program never wrote it.
    """
    try:
        return tuple(
            Step(at=at, step=step, detail=detail) for at, step, detail in _LOG.decode(data)
        )
    except DAMAGE as error:
        raise StoreDamaged(f"a stored decision log cannot be read: {error}") from error
