"""Central types to JSON and back, with a schema version; and a record as two small blobs.

``record_to_json`` is what an export shows. ``pack_record`` is what a store keeps: the record
without its links as one zstd blob, and links, images and outlinks together as another. In the
second one equal things stand side by side (one list per field) and what follows from a field
already written is left out: most URLs are a prefix plus their href, most outlinks are links.

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

import zstandard

from cleaning.errors import SchemaMismatch, StoreDamaged
from cleaning.records import (
    BodySource,
    CleanRecord,
    HostStats,
    Image,
    ImageKind,
    ImageReason,
    Link,
    LinkKind,
    LinkReason,
    Outlink,
    PageKind,
    PageWarning,
    Post,
    Provenance,
    Via,
    WarningKind,
)
from storage.base import CrawlSpec, KeepRaw, Scope, Step

SCHEMA = 1
"""Version of every JSON form in this module; raise it when an older reader would misread."""

ZSTD_LEVEL = 3
MAX_UNPACKED_BYTES = 1 << 30
"""A blob that claims to be larger was not written by us."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_SURROGATE = re.compile("[\ud800-\udfff]")
_DAMAGE = (
    zstandard.ZstdError,
    ValueError,
    KeyError,
    TypeError,
    IndexError,
    AttributeError,
    OverflowError,
    RecursionError,
    MemoryError,
)

_T = TypeVar("_T")
_Readers = Mapping[str, Callable[[Any], Any]]


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
    except _DAMAGE as error:
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


def _plain(value: Any) -> Any:
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
        return [_plain(each) for each in value]
    if isinstance(value, Mapping):
        return {clean_text(key): _plain(each) for key, each in value.items()}
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _versioned(value: Any) -> dict[str, Any]:
    return {"schema": SCHEMA, **_plain(value)}


def _check_schema(data: Mapping[str, Any]) -> None:
    version = data.get("schema")
    if not isinstance(version, int) or version < 1:
        raise StoreDamaged("stored JSON names no schema version")
    if version > SCHEMA:
        raise SchemaMismatch(
            f"stored data has schema {version}, this program reads up to {SCHEMA}: "
            "use the newer version that wrote it"
        )


def _build(kind: Callable[..., _T], data: Mapping[str, Any], readers: _Readers) -> _T:
    """The dataclass of a JSON object; ``readers`` convert the fields that JSON changed."""
    return kind(
        **{
            name: readers[name](value) if name in readers else value
            for name, value in data.items()
            if name != "schema"
        }
    )


def _read(kind: Callable[..., _T], data: Mapping[str, Any], readers: _Readers, what: str) -> _T:
    try:
        _check_schema(data)
        return _build(kind, data, readers)
    except _DAMAGE as error:
        raise StoreDamaged(f"a stored {what} cannot be read: {error}") from error


def _many(kind: Callable[..., _T], readers: _Readers) -> Callable[[Any], tuple[_T, ...]]:
    return lambda rows: tuple(_build(kind, row, readers) for row in rows)


_LINK: _Readers = {"kind": LinkKind, "reason": LinkReason}
_IMAGE: _Readers = {"kind": ImageKind, "reason": ImageReason}
_OUTLINK: _Readers = {"via": Via, "kind": LinkKind}
_RECORD: _Readers = {
    "fetched_at": _read_time,
    "published_at": _read_time,
    "kind": PageKind,
    "body_source": BodySource,
    "posts": _many(Post, {"published_at": _read_time}),
    "links": _many(Link, _LINK),
    "images": _many(Image, _IMAGE),
    "outlinks": _many(Outlink, _OUTLINK),
    "warnings": _many(PageWarning, {"kind": WarningKind}),
}
_SPEC: _Readers = {"seeds": tuple, "scope": Scope, "keep_raw": KeepRaw}
_PROVENANCE: _Readers = {"via": Via, "discovered_at": _read_time}
_STEP: _Readers = {"at": _read_time}


def _counts(key: Callable[[str], Any]) -> Callable[[Mapping[str, int]], dict[Any, int]]:
    return lambda counts: {key(name): n for name, n in counts.items()}


_STATS: _Readers = {
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
    return _read(CleanRecord, data, _RECORD, "record")


def spec_to_json(spec: CrawlSpec) -> dict[str, Any]:
    """A crawl's order as JSON values."""
    return _versioned(spec)


def spec_from_json(data: Mapping[str, Any]) -> CrawlSpec:
    """The order ``spec_to_json`` was given."""
    return _read(CrawlSpec, data, _SPEC, "crawl")


def provenance_to_json(provenance: Provenance) -> dict[str, Any]:
    """A provenance as JSON values."""
    return _versioned(provenance)


def provenance_from_json(data: Mapping[str, Any]) -> Provenance:
    """The provenance ``provenance_to_json`` was given."""
    return _read(Provenance, data, _PROVENANCE, "provenance")


def stats_to_json(stats: HostStats) -> dict[str, Any]:
    """A host's statistics as JSON values."""
    return _versioned(stats)


def stats_from_json(data: Mapping[str, Any]) -> HostStats:
    """The statistics ``stats_to_json`` was given."""
    return _read(HostStats, data, _STATS, "host's statistics")


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
    except _DAMAGE as error:
        raise StoreDamaged(f"a stored decision log cannot be read: {error}") from error


# --- a record as two blobs -----------------------------------------------------------------------


def compress(data: bytes) -> bytes:
    """One zstd frame with its checksum."""
    return zstandard.ZstdCompressor(level=ZSTD_LEVEL, write_checksum=True).compress(data)


def decompress(blob: bytes) -> bytes:
    """What ``compress`` was given.

    Raises:
        StoreDamaged: The blob is no whole frame of ours.
    """
    try:
        if not 0 <= zstandard.frame_content_size(blob) <= MAX_UNPACKED_BYTES:
            raise StoreDamaged("a stored blob has an impossible size")
        return zstandard.ZstdDecompressor().decompress(blob)
    except _DAMAGE as error:
        raise StoreDamaged(f"a stored blob cannot be read: {error}") from error


def encode_record(record: CleanRecord) -> tuple[bytes, bytes]:
    """The record without its links, and its links, images and outlinks, both as JSON."""
    head = {"schema": SCHEMA}
    for each in fields(record):
        if each.name not in ("links", "images", "outlinks"):
            head[each.name] = _plain(getattr(record, each.name))
    return dump(head), dump(_pack_links(record))


def pack_record(record: CleanRecord) -> tuple[bytes, bytes]:
    """The two parts of ``encode_record`` compressed."""
    head, links = encode_record(record)
    return compress(head), compress(links)


def unpack_record(head: bytes, links: bytes) -> CleanRecord:
    """The record ``pack_record`` was given."""
    data = load(decompress(head))
    packed = load(decompress(links))
    try:
        _check_schema(packed)
        data |= _unpack_links(packed)
        return _read(CleanRecord, data, _HEAD, "record")
    except _DAMAGE as error:
        raise StoreDamaged(f"a stored record cannot be read: {error}") from error


_HEAD: _Readers = {k: v for k, v in _RECORD.items() if k not in ("links", "images", "outlinks")}


def _pack_urls(pairs: Sequence[tuple[str, str]]) -> tuple[list[str], list[str | int]]:
    """(prefixes, forms) of (tail, url) pairs: a form is the URL, or n for prefix n plus tail."""
    known: dict[str, int] = {}
    forms: list[str | int] = []
    for tail, url in pairs:
        if tail and url.endswith(tail):
            forms.append(known.setdefault(url[: -len(tail)], len(known)))
        else:
            forms.append(url)
    return list(known), forms


def _unpack_url(prefixes: Sequence[str], tail: str, form: str | int) -> str:
    return form if isinstance(form, str) else prefixes[form] + tail


def _pack_links(record: CleanRecord) -> dict[str, Any]:
    links, images, outlinks = record.links, record.images, record.outlinks
    link_prefixes, link_urls = _pack_urls([(each.href, each.url) for each in links])
    image_prefixes, image_urls = _pack_urls([(each.src, each.url) for each in images])
    first: dict[str, int] = {}
    for number, link in enumerate(links):
        first.setdefault(link.url, number)
    out_urls: list[str | int] = []
    out_texts: list[str | int] = []
    for each in outlinks:
        number = first.get(each.url, -1)
        out_urls.append(each.url if number < 0 else number)
        same_text = number >= 0 and links[number].text[:80] == each.text
        out_texts.append(0 if same_text else each.text)
    return {
        "schema": SCHEMA,
        "links": [
            [each.href for each in links],
            link_prefixes,
            link_urls,
            [each.text for each in links],
            [each.title for each in links],
            [each.rel for each in links],
            [each.kind for each in links],
            [each.score for each in links],
            [each.reason for each in links],
        ],
        "images": [
            [each.src for each in images],
            image_prefixes,
            image_urls,
            [each.alt for each in images],
            [each.width for each in images],
            [each.height for each in images],
            [each.link for each in images],
            [each.kind for each in images],
            [each.score for each in images],
            [each.reason for each in images],
        ],
        "outlinks": [
            out_urls,
            [each.via for each in outlinks],
            [each.kind for each in outlinks],
            [each.score for each in outlinks],
            out_texts,
        ],
    }


def _unpack_links(packed: Mapping[str, Any]) -> dict[str, Any]:
    hrefs, prefixes, urls, *rest = packed["links"]
    links = tuple(
        Link(
            href=href,
            url=_unpack_url(prefixes, href, url),
            text=text,
            title=title,
            rel=rel,
            kind=LinkKind(kind),
            score=score,
            reason=LinkReason(reason),
        )
        for href, url, text, title, rel, kind, score, reason in zip(hrefs, urls, *rest, strict=True)
    )
    sources, prefixes, urls, *rest = packed["images"]
    images = tuple(
        Image(
            src=src,
            url=_unpack_url(prefixes, src, url),
            alt=alt,
            width=width,
            height=height,
            link=link,
            kind=ImageKind(kind),
            score=score,
            reason=ImageReason(reason),
        )
        for src, url, alt, width, height, link, kind, score, reason in zip(
            sources, urls, *rest, strict=True
        )
    )
    outlinks = tuple(
        Outlink(
            url=url if isinstance(url, str) else links[url].url,
            via=Via(via),
            kind=LinkKind(kind),
            score=score,
            text=text if isinstance(text, str) else links[url].text[:80],
        )
        for url, via, kind, score, text in zip(*packed["outlinks"], strict=True)
    )
    return {"links": links, "images": images, "outlinks": outlinks}
