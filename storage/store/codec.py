"""Central types to JSON and back, with a schema version.

``record_to_json`` is what an export shows; what a store keeps of a record is in
``storage/store/record_blobs.py``.

Text that UTF-8 cannot carry (lone surrogates) becomes U+FFFD; everything else comes back equal.
Times keep their microseconds and their instant.

A schema newer than ours raises ``SchemaMismatch``; anything we cannot have written raises
``StoreDamaged``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any, TypeVar

from msgspec import Struct

from cleaning.errors import SchemaMismatch, StoreDamaged
from cleaning.page_warnings import PageWarning, WarningKind
from cleaning.records import (
    BodySource,
    CleanRecord,
    HostStats,
    Image,
    ImageKind,
    ImageReason,
    Link,
    LinkBlock,
    LinkKind,
    LinkReason,
    Outlink,
    PageKind,
    Post,
    Via,
)
from storage.crawl_types import CrawlSpec, KeepRaw, Scope, Step
from storage.politeness_policy import HostPoliteness, Politeness, PolitenessPolicy

SCHEMA = 1
"""Version of every stored JSON form; raise it when an older reader would misread."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_SURROGATE = re.compile("[\ud800-\udfff]")
DAMAGE = (
    ValueError,
    KeyError,
    TypeError,
    IndexError,
    AttributeError,
    OverflowError,
    RecursionError,
    MemoryError,
)
"""What reading data that we did not write may raise."""

_T = TypeVar("_T")
Readers = Mapping[str, Callable[[Any], Any]]


def clean_text(text: str) -> str:
    """The text with every lone surrogate replaced by U+FFFD, so that UTF-8 can carry it."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def to_microseconds(at: datetime) -> int:
    """Microseconds since 1970 UTC; a naive time counts as UTC."""
    return ((at if at.tzinfo else at.replace(tzinfo=UTC)) - EPOCH) // _MICROSECOND


def from_microseconds(microseconds: int) -> datetime:
    """The aware UTC datetime ``to_microseconds`` came from."""
    return EPOCH + timedelta(microseconds=microseconds)


# --- JSON text ---------------------------------------------------------------------------------


def dump(value: Any) -> bytes:
    """Compact UTF-8 JSON."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return clean_text(text).encode()


def load(data: bytes | str) -> Any:
    """The value of JSON this module wrote.

    Raises:
        StoreDamaged: It is no JSON.
    """
    try:
        return json.loads(data)
    except DAMAGE as error:
        raise StoreDamaged(f"stored JSON cannot be read: {error}") from error


def _time(at: datetime) -> str:
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    try:
        return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except OverflowError:  # within hours of year 1 or 9999: keep its own offset
        return at.isoformat()


def _read_time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def plain(value: Any) -> Any:
    """JSON's form of a value: enums as their text, times as ISO 8601, dataclasses as objects."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return clean_text(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, datetime):
        return _time(value)
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    if isinstance(value, Mapping):
        return {clean_text(key): plain(each) for key, each in value.items()}
    if isinstance(value, Struct):
        return {name: plain(getattr(value, name)) for name in value.__struct_fields__}
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _versioned(value: Any) -> dict[str, Any]:
    return {"schema": SCHEMA, **plain(value)}


def check_schema(data: Mapping[str, Any]) -> None:
    """Returns when this program can read the data; raises as the top of the file says."""
    version = data.get("schema")
    if not isinstance(version, int) or version < 1:
        raise StoreDamaged("stored JSON names no schema version")
    if version > SCHEMA:
        raise SchemaMismatch(
            f"stored data has schema {version}, this program reads up to {SCHEMA}: "
            "use the newer version that wrote it"
        )


def _build(kind: Callable[..., _T], data: Mapping[str, Any], readers: Readers) -> _T:
    """The dataclass of a JSON object; ``readers`` convert the fields that JSON changed."""
    return kind(
        **{
            name: readers[name](value) if name in readers else value
            for name, value in data.items()
            if name != "schema"
        }
    )


def read_versioned(
    kind: Callable[..., _T], data: Mapping[str, Any], readers: Readers, what: str
) -> _T:
    """The dataclass of a JSON object that names its schema; ``what`` is its name in errors."""
    try:
        check_schema(data)
        return _build(kind, data, readers)
    except DAMAGE as error:
        raise StoreDamaged(f"a stored {what} cannot be read: {error}") from error


def _many(kind: Callable[..., _T], readers: Readers) -> Callable[[Any], tuple[_T, ...]]:
    return lambda rows: tuple(_build(kind, row, readers) for row in rows)


_LINK: Readers = {"kind": LinkKind, "reason": LinkReason}
_IMAGE: Readers = {"kind": ImageKind, "reason": ImageReason}
_OUTLINK: Readers = {"via": Via, "kind": LinkKind}
RECORD_READERS: Readers = {
    "fetched_at": _read_time,
    "published_at": _read_time,
    "kind": PageKind,
    "body_source": BodySource,
    "posts": _many(Post, {"published_at": _read_time}),
    "links": _many(Link, _LINK),
    "images": _many(Image, _IMAGE),
    "outlinks": _many(Outlink, _OUTLINK),
    "warnings": _many(PageWarning, {"kind": WarningKind}),
    "link_blocks": _many(LinkBlock, {}),
}
_POLICY: Readers = {"politeness": Politeness, "hosts": _many(HostPoliteness, {})}
_SPEC: Readers = {
    "seeds": tuple,
    "scope": Scope,
    "keep_raw": KeepRaw,
    "policy": lambda policy: _build(PolitenessPolicy, policy, _POLICY),
}
_STEP: Readers = {"at": _read_time}


def _counts(key: Callable[[str], Any]) -> Callable[[Mapping[str, int]], dict[Any, int]]:
    return lambda counts: {key(name): n for name, n in counts.items()}


_STATS: Readers = {
    "pages_by_kind": _counts(PageKind),
    "links_by_kind": _counts(LinkKind),
    "images_by_kind": _counts(ImageKind),
    "first_seen": _read_time,
    "last_seen": _read_time,
}


# --- JSON forms, for people and for stores ------------------------------------------------------


def record_to_json(record: CleanRecord) -> dict[str, Any]:
    """The record as JSON values: enums as text, times ISO 8601 ending in Z, links as objects."""
    return _versioned(record)


def record_from_json(data: Mapping[str, Any]) -> CleanRecord:
    """The record ``record_to_json`` was given."""
    return read_versioned(CleanRecord, data, RECORD_READERS, "record")


def spec_to_json(spec: CrawlSpec) -> dict[str, Any]:
    """A crawl's order as JSON values."""
    return _versioned(spec)


def spec_from_json(data: Mapping[str, Any]) -> CrawlSpec:
    """The order ``spec_to_json`` was given."""
    return read_versioned(CrawlSpec, data, _SPEC, "crawl")


def stats_to_json(stats: HostStats) -> dict[str, Any]:
    """A host's statistics as JSON values."""
    return _versioned(stats)


def stats_from_json(data: Mapping[str, Any]) -> HostStats:
    """The statistics ``stats_to_json`` was given."""
    return read_versioned(HostStats, data, _STATS, "host's statistics")


def log_to_json(log: Sequence[Step]) -> list[list[str]]:
    """A decision log as one ``[time, step, detail]`` a line; its reader is total, so it has no
    schema of its own.
    """
    return [[_time(each.at), clean_text(each.step), clean_text(each.detail)] for each in log]


def log_from_json(data: Sequence[Sequence[str]]) -> tuple[Step, ...]:
    """The log ``log_to_json`` was given."""
    try:
        return tuple(
            Step(at=datetime.fromisoformat(at), step=step, detail=detail)
            for at, step, detail in data
        )
    except DAMAGE as error:
        raise StoreDamaged(f"a stored decision log cannot be read: {error}") from error
