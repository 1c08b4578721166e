"""Records, crawl orders, statistics and logs as JSON bytes and back, by msgspec.

A stored value is a JSON object that begins with its schema: ``{"schema":1,"url":...}``. The same
bytes are a line of an export. Reading checks types, enums and times (ISO 8601, ``Z``). The blobs of
a record are in ``storage/store/record_blobs.py``.

Reading raises ``SchemaMismatch`` for a newer schema, and ``StoreDamaged`` for bytes that this
program cannot have written.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import msgspec

from cleaning.errors import SchemaMismatch, StoreDamaged
from cleaning.records import CleanRecord, HostStats
from cleaning.surrogates import replace_surrogates
from storage.crawl_types import CrawlSpec, Step

SCHEMA = 1
"""Version of every stored JSON form; raise it when an older reader would misread."""

PREFIX = b'{"schema":%d,' % SCHEMA
"""What JSON of our version begins with."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
DAMAGE = (
    ValueError,  # msgspec's errors are among them
    KeyError,
    TypeError,
    IndexError,
    AttributeError,
    OverflowError,
    RecursionError,
    MemoryError,
)
"""Errors that reading foreign bytes may raise."""

_ENCODER = msgspec.json.Encoder()
_T = TypeVar("_T")


class _Schema(msgspec.Struct):
    schema: int


_SCHEMA = msgspec.json.Decoder(_Schema)
_RECORD = msgspec.json.Decoder(CleanRecord)
_SPEC = msgspec.json.Decoder(CrawlSpec)
_STATS = msgspec.json.Decoder(HostStats)
_LOG = msgspec.json.Decoder(tuple[tuple[datetime, str, str], ...])


def to_microseconds(at: datetime) -> int:
    """Microseconds since 1970 UTC; a naive time counts as UTC."""
    return ((at if at.tzinfo else at.replace(tzinfo=UTC)) - EPOCH) // _MICROSECOND


def from_microseconds(microseconds: int) -> datetime:
    """The aware UTC datetime of microseconds since 1970 UTC."""
    return EPOCH + timedelta(microseconds=microseconds)


def dump(value: Any) -> bytes:
    """Compact UTF-8 JSON; lone surrogates, which no UTF-8 can carry, become U+FFFD."""
    try:
        return _ENCODER.encode(value)
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(value, str_keys=True)
        text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
        return replace_surrogates(text).encode()


def load(data: bytes | str) -> Any:
    """Decodes JSON that ``dump`` wrote.

    Raises:
        StoreDamaged: The bytes are no JSON.
    """
    try:
        return msgspec.json.decode(data)
    except DAMAGE as error:
        raise StoreDamaged(f"stored JSON cannot be read: {error}") from error


def dump_versioned(value: Any) -> bytes:
    """The JSON object of a dataclass or struct, its schema in front: ``{"schema":1,"url":...}``."""
    return PREFIX + dump(value)[1:]


def load_versioned(data: bytes | str, decoder: msgspec.json.Decoder[_T], what: str) -> _T:
    """Decodes JSON that ``dump_versioned`` wrote; ``what`` names the value in errors.

    Raises:
        SchemaMismatch: A newer program wrote it.
        StoreDamaged: This program never wrote it.
    """
    raw = data.encode() if isinstance(data, str) else data
    try:
        if not raw.startswith(PREFIX):
            _check_schema(_SCHEMA.decode(raw).schema)
        return decoder.decode(raw)
    except DAMAGE as error:
        raise StoreDamaged(f"a stored {what} cannot be read: {error}") from error


def _check_schema(version: int) -> None:
    if version < 1:
        raise StoreDamaged("stored JSON names no schema version")
    if version > SCHEMA:
        raise SchemaMismatch(
            f"stored data has schema {version}, this program reads up to {SCHEMA}: "
            "use the newer version that wrote it"
        )


def json_object(value: Any) -> dict[str, Any]:
    """The object that ``dump_versioned`` writes, to be extended: enums as text, times ISO 8601."""
    return {"schema": SCHEMA, **msgspec.to_builtins(value, str_keys=True)}


def in_utc(record: CleanRecord) -> CleanRecord:
    """The record with its times in UTC, as they are stored; a naive time counts as UTC."""
    times = [record.published_at, *(post.published_at for post in record.posts)]
    if record.fetched_at.tzinfo is UTC and all(at is None or at.tzinfo is UTC for at in times):
        return record
    return replace(
        record,
        fetched_at=_utc(record.fetched_at),
        published_at=record.published_at and _utc(record.published_at),
        posts=tuple(
            replace(post, published_at=post.published_at and _utc(post.published_at))
            for post in record.posts
        ),
    )


def _utc(at: datetime) -> datetime:
    if at.tzinfo is None:
        return at.replace(tzinfo=UTC)
    try:
        return at.astimezone(UTC)
    except OverflowError:  # within hours of year 1 or 9999: keep the offset
        return at


def record_to_json(record: CleanRecord) -> bytes:
    """The record as one line of JSON: enums as text, times ending in Z, links as objects."""
    return dump_versioned(in_utc(record))


def record_from_json(data: bytes | str) -> CleanRecord:
    """Decodes the record that ``record_to_json`` wrote."""
    return load_versioned(data, _RECORD, "record")


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
    return dump([(_utc(each.at), each.step, each.detail) for each in log])


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
