"""Space that crawls and hosts take in a store, by what is stored."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

SAMPLED = 200
"""Items of a crawl whose sizes are read where reading all would take long."""

COUNTED = 20_000
"""Archived responses of a host that are counted: 2 ms; a host with more has at least so many."""


class SpaceKind(StrEnum):
    """What is stored."""

    RAW = "raw"  # archived responses
    RECORDS = "records"  # clean records


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """What a crawl takes of one kind.

    Attributes:
        crawl_id: The crawl.
        kind: What is stored.
        items: Their number.
        stored_bytes: Their packed size.
        is_estimate: Whether the size is the mean of ``SAMPLED`` items, times their number.
    """

    crawl_id: str
    kind: SpaceKind
    items: int
    stored_bytes: int
    is_estimate: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSample:
    """Sizes of what is stored of a host over all crawls, by at most ``SAMPLED`` items of a kind.

    Attributes:
        responses: Archived responses, at most ``COUNTED``.
        response_bytes: Mean packed size of the sampled ones; 0 without any.
        records: Sampled records.
        record_bytes: Mean packed size of the sampled records; 0 without any.
    """

    responses: int
    response_bytes: float
    records: int
    record_bytes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RawSpace:
    """Archived responses that may be dropped.

    Attributes:
        responses: Their number.
        stored_bytes: Their packed size.
        freed_bytes: Bytes of files that come free when they are dropped; less than
            ``stored_bytes`` where others share their files.
        is_estimate: Whether the sizes are means of ``SAMPLED`` responses, times their number.
    """

    responses: int
    stored_bytes: int
    freed_bytes: int
    is_estimate: bool = False
