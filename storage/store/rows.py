"""Values as columns of rows, records as zstd blobs, and rows numbered in their order."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import cached_property, lru_cache
from inspect import Parameter, signature
from threading import get_ident
from types import UnionType
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

import msgspec
import zstandard

from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.cleaning.json_values import (
    DAMAGE,
    PREFIX,
    dump,
    dump_versioned,
    load_versioned,
    replace_surrogates,
    utc,
)
from crawlclean.cleaning.messages import read_line, stored
from crawlclean.cleaning.records import CleanRecord, HostStats, Image, Link, Outlink
from crawlclean.storage.crawl_types import CrawlSpec, Step
from crawlclean.storage.store.ports import Member, PackedRecord, Scan

# Crawl orders, statistics and logs as JSON bytes and back; times as microseconds.
#
# Their JSON is that of ``cleaning/json_values.py``, with the errors listed there. A record writes
# itself (``CleanRecord.to_json``); its blobs are in ``storage/store/rows.py``.

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
    return dump([(utc(each.at), each.step, stored(each.detail)) for each in log])


def log_from_json(data: bytes | str) -> tuple[Step, ...]:
    """Decodes the log that ``log_to_json`` wrote.

    Raises:
        StoreDamaged: This program never wrote it.
    """
    try:
        return tuple(
            Step(at=at, step=step, detail=read_line(line)) for at, step, line in _LOG.decode(data)
        )
    except DAMAGE as error:
        raise StoreDamaged(f"a stored decision log cannot be read: {error}") from error


# A record as two zstd blobs: the record without links, and its links, images and outlinks.
#
# So a reader of titles and bodies unpacks no links, and a reader of outlinks no bodies. Both are
# JSON of ``storage/store/rows.py``, with the errors listed there.

ZSTD_LEVEL = 3
"""Level 6 saves 6 % of the bytes for 2.6 times the time of writing."""

MAX_UNPACKED_BYTES = 1 << 30
"""A blob with a larger stated size was not written by us."""


class _Outlinks(msgspec.Struct, frozen=True):
    outlinks: tuple[Outlink, ...]


class _Images(msgspec.Struct, frozen=True):
    images: tuple[Image, ...]


class _LinkPart(msgspec.Struct, frozen=True):
    links: tuple[Link, ...]
    images: tuple[Image, ...]
    outlinks: tuple[Outlink, ...]


class HeadText(msgspec.Struct, frozen=True):
    """What is searched of a record."""

    host: str
    fetched_at: datetime
    title: str
    body: str


_RECORD_NAMES = ("schema", *(each.name for each in fields(CleanRecord)))
_LINK_NAMES = ("schema", *_LinkPart.__struct_fields__)
_NO_LINKS = b',"links":[],"images":[],"outlinks":[]'
"""Where the second part belongs in the first. No text holds it: JSON escapes quotes."""

_STORED_MESSAGE = b'"detail":"['
"""What a message among the warnings begins with: no other field is named so."""

_CAPPED = b'"kind":"capped_links"'
LEAST_CAPPED_BYTES = 20_000
"""A blob of 20,000 links is larger: the shortest ones take 2 bytes each when compressed."""

_T = TypeVar("_T")
_LINK_PART = msgspec.json.Decoder(_LinkPart)
_OUTLINKS = msgspec.json.Decoder(_Outlinks)
_HEAD_TEXT = msgspec.json.Decoder(HeadText)
_IMAGES = msgspec.json.Decoder(_Images)
_VALUES = msgspec.json.Decoder(dict[str, msgspec.Raw])


def compress(data: bytes, level: int = ZSTD_LEVEL) -> bytes:
    """Compresses data to one zstd frame with a checksum."""
    return _zstd(get_ident(), level)[0].compress(data)


def decompress(blob: bytes, most: int = MAX_UNPACKED_BYTES) -> bytes:
    """Decompresses a frame of ``compress`` of at most so many bytes.

    Raises:
        StoreDamaged: The blob is no whole frame, or its stated size is impossible.
    """
    try:
        # The library allocates the stated size at once, whatever limit is given.
        if not 0 <= zstandard.frame_content_size(blob) <= most:
            raise StoreDamaged("a stored blob has an impossible size")
        return _zstd(get_ident(), ZSTD_LEVEL)[1].decompress(blob)
    except (zstandard.ZstdError, *DAMAGE) as error:
        raise StoreDamaged(f"a stored blob cannot be read: {error}") from error


@lru_cache(maxsize=16)
def _zstd(_thread: int, level: int) -> tuple[zstandard.ZstdCompressor, zstandard.ZstdDecompressor]:
    """Those of a thread; to make one takes longer than to unpack a record (17 us)."""
    packer = zstandard.ZstdCompressor(level=level, write_checksum=True)
    return packer, zstandard.ZstdDecompressor()


def encode_record(record: CleanRecord) -> tuple[bytes, bytes]:
    """Encodes a record as (record without links; links, images and outlinks), both JSON."""
    warnings = tuple(replace(each, detail=stored(each.detail)) for each in record.warnings)
    head = replace(record, links=(), images=(), outlinks=(), warnings=warnings).in_utc()
    part = _LinkPart(links=record.links, images=record.images, outlinks=record.outlinks)
    return dump_versioned(head), dump_versioned(part)


def _head(data: bytes) -> CleanRecord:
    record = CleanRecord.from_json(data)
    if not record.warnings:
        return record
    warnings = tuple(replace(each, detail=read_line(each.detail)) for each in record.warnings)
    return replace(record, warnings=warnings)


def unpack_record(head: bytes, links: bytes) -> CleanRecord:
    """Decodes the record of two blobs."""
    part = _unpack(links, _LINK_PART)
    record = _head(decompress(head))
    return replace(record, links=part.links, images=part.images, outlinks=part.outlinks)


def unpack_text(head: bytes, links: bytes) -> CleanRecord:
    """Decodes the record of two blobs without its links and images: two thirds less work."""
    return replace(_head(decompress(head)), outlinks=unpack_outlinks(links))


def unpack_head_text(head: bytes) -> HeadText:
    """Decodes the texts of a record's first blob: a tenth of the work."""
    return _unpack(head, _HEAD_TEXT)


def unpack_line(head: bytes, links: bytes) -> bytes:
    """The ``to_json`` of a record, from its two blobs.

    A record of an older schema, without a field of ours, or with a message among its warnings, is
    read and written anew. The JSON is
    checked, the types of its values are not: zstd's checksum notices what was damaged.

    Raises:
        SchemaMismatch: A newer program wrote it.
        StoreDamaged: Nothing that was written by us.
    """
    record, part = decompress(head), decompress(links)
    is_worded = _STORED_MESSAGE not in record
    if is_worded and _has_fields(record, _RECORD_NAMES) and _has_fields(part, _LINK_NAMES):
        before, found, after = record.partition(_NO_LINKS)
        if found:
            return b"".join((before, b",", part[len(PREFIX) : -1], after))
    return unpack_record(head, links).to_json()


def _has_fields(data: bytes, names: tuple[str, ...]) -> bool:
    """Whether stored JSON has our schema and exactly these fields, in this order."""
    return data.startswith(PREFIX) and (*load_versioned(data, _VALUES, "record"),) == names


def unpack_outlinks(links: bytes) -> tuple[Outlink, ...]:
    """Decodes only the outlinks of a record's second blob: a third of the work."""
    return _unpack(links, _OUTLINKS).outlinks


def unpack_images(links: bytes) -> tuple[Image, ...]:
    """Decodes only the images of a record's second blob."""
    return _unpack(links, _IMAGES).images


def find_links(links: bytes, url: str) -> tuple[Link | Outlink, ...]:
    """Decodes the links and outlinks to a URL from a record's second blob; outlinks first.

    Most records do not link to it: their JSON is searched, not decoded (4 % of the work).
    """
    data = decompress(links)
    if msgspec.json.encode(url) not in data:
        return ()
    part = load_versioned(data, _LINK_PART, "record")
    found: list[Link | Outlink] = [*part.outlinks, *part.links]
    return tuple(each for each in found if each.url == url)


def find_signature(head: bytes, signature: str) -> CleanRecord | None:
    """Decodes a record, without its links, when it has this signature; else None."""
    data = decompress(head)
    has_it = b'"signature":"%b"' % signature.encode() in data  # texts have escaped quotes
    return _head(data) if has_it else None


def has_capped_links(packed: PackedRecord) -> bool:
    """Whether a record lacks links, because its page has more than a record keeps."""
    return len(packed.links) > LEAST_CAPPED_BYTES and _CAPPED in decompress(packed.head)


def _unpack(links: bytes, decoder: msgspec.json.Decoder[_T]) -> _T:
    return load_versioned(decompress(links), decoder, "record")


# Structs and dataclasses as rows of tables: a field is a column, and its type says what the column
# holds.
#
# A time is whole microseconds since 1970 UTC, an enum its value, a bool 0 or 1, a tuple a JSON
# array. A text has U+FFFD for a lone surrogate. A column without a value is None where the field
# may be None, else the default of the field.

_Row = TypeVar("_Row")


class RowType(Generic[_Row]):
    """How the values of one frozen struct, or dataclass, stand in a table."""

    def __init__(
        self,
        of: type[_Row],
        what: str,
        packed: Collection[str] = (),
        but: Collection[str] = (),
        line: str = "",
        **columns: str,
    ) -> None:
        """Reads no types yet.

        Args:
            of: The type.
            what: Its name in errors: ``event``.
            packed: Fields of bytes whose columns are compressed.
            but: Fields without a column, which are given to ``read``.
            line: The field that is a line for a person, which may be a ``Message``.
            columns: Columns that are not named as their field: ``group="grp"``.
        """
        self._of = of
        self._what = what
        self._packed = frozenset(packed)
        self._line = line
        self._fields = signature(of).parameters
        self._names = tuple(name for name in self._fields if name not in but)
        self.columns = tuple(columns.get(name, name) for name in self._names)

    def read(self, values: Sequence[Any], **more: Any) -> _Row:
        """Makes the value of those of ``columns``, and of fields without one.

        Raises:
            StoreDamaged: This program never wrote these values.
        """
        try:
            found = dict(zip(self._names, values, strict=True))
            for name in self._defaulted:
                if found[name] is None:
                    del found[name]
            for name, convert in self._readers:
                if name in found:
                    found[name] = convert(found[name])
            return self._of(**found, **more)
        except DAMAGE as error:
            raise StoreDamaged(f"a stored {self._what} cannot be read: {error}") from error

    def row(self, value: _Row) -> dict[str, Any]:
        """Makes the row of a value."""
        return {
            column: compress(held) if name in self._packed else _plain(held)
            for name, column in zip(self._names, self.columns, strict=True)
            for held in (getattr(value, name),)
        }

    @cached_property
    def _defaulted(self) -> tuple[str, ...]:
        hints = get_type_hints(self._of)
        return tuple(
            name
            for name in self._names
            if self._fields[name].default is not Parameter.empty and not _may_be_none(hints[name])
        )

    @cached_property
    def _readers(self) -> tuple[tuple[str, Callable[[Any], Any]], ...]:
        found = []
        for name, hint in get_type_hints(self._of).items():
            convert = _unpacked if name in self._packed else _reader(hint)
            if name == self._line:
                convert = read_line
            if convert is not None:
                found.append((name, convert))
        return tuple(found)


def _may_be_none(hint: Any) -> bool:
    return get_origin(hint) is UnionType and type(None) in get_args(hint)


def _reader(hint: Any) -> Callable[[Any], Any] | None:
    """What makes a field's value of a column's; None: the two are equal."""
    if _may_be_none(hint):
        (one,) = (each for each in get_args(hint) if each is not type(None))
        convert = _reader(one)
        return convert and (lambda value: None if value is None else convert(value))
    if hint is datetime:
        return from_microseconds
    if hint == tuple[Step, ...]:
        return log_from_json
    if get_origin(hint) is tuple:
        return lambda value: tuple(json.loads(value))
    is_class = isinstance(hint, type) and (hint in (bool, bytes) or issubclass(hint, Enum))
    return hint if is_class else None


def _unpacked(value: Any) -> bytes:
    return decompress(bytes(value))


def _plain(value: Any) -> Any:
    """The value of a column."""
    if isinstance(value, datetime):
        return to_microseconds(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return replace_surrogates(stored(value))
    if isinstance(value, bool):
        return int(value)
    return json.dumps(value) if isinstance(value, tuple) else value


# Tables whose rows are numbered from 1 in the order of their saves, and of which the newest stay.
#
# The number of the newest row stands in the table ``numbers``. So the newest rows are found by key,
# which every database does at once, and the row that is too old is deleted by its key. A number is
# taken by inserting its row: of two processes the second takes the next one. On MongoDB a process
# that dies may leave the stored number too low by a few; readers look behind it.

LOOK_BEHIND = 16
"""Numbers looked up behind the stored one, until none of them has a row."""
DROP_AT_ONCE = 4
"""Rows deleted with each new one: what a killed process left goes with the next rows."""


class NumberedRows(Member, Generic[_Row]):
    """A member whose rows have the key ``seq``.

    Attributes:
        table: A table whose key is ``seq``.
        rows: The type of its rows; its field ``seq`` is the number.
        kept: Rows that stay.
    """

    table: str
    rows: RowType[_Row]
    kept: int

    def _add(self, value: _Row) -> int:
        """Stores a row under the next number, which it returns."""
        # A column without a value is an absent field in MongoDB.
        row = {name: each for name, each in self.rows.row(value).items() if each is not None}
        with self._tables.together():
            number = self.newest() + 1
            while not self._tables.add(self.table, [{**row, "seq": number}]):
                number += 1
            self._tables.put("numbers", {"what": self.table, "n": number})
            last = number - self.kept
            if last > 0:
                gone = range(max(1, last - DROP_AT_ONCE + 1), last + 1)
                self._tables.delete(self.table, {"seq": list(gone)})
        return number

    def newest(self) -> int:
        """The number of the newest row; 0 before the first."""
        found = self._tables.get("numbers", [(self.table,)], ("n",))
        number: int = found[(self.table,)][0] if found else 0
        while True:
            behind = [(number + n,) for n in range(1, LOOK_BEHIND + 1)]
            later = self._tables.get(self.table, behind, ("seq",))
            if not later:
                return number
            number = max(key[0] for key in later)

    def get(self, number: int) -> _Row | None:
        """One row; None when it is gone."""
        found = self._tables.get(self.table, [(number,)], self.rows.columns)
        return next(map(self.rows.read, found.values()), None)

    def read(self, before: int | None = None, limit: int = 50, **of: str) -> list[_Row]:
        """Rows, newest first, at most ``limit``.

        Args:
            before: Only rows with a smaller number; None is all.
            limit: At most this many, >= 1.
            of: Only rows with these values of columns that have an index with ``seq``.
        """
        if of:
            after = () if before is None else (before,)
            wanted = Scan(
                self.table, self.rows.columns, of, ("seq",), backwards=True, after=after,
                limit=limit,
            )  # fmt: skip
            return [self.rows.read(values) for values in self._tables.scan(wanted)]
        top = self.newest() if before is None else before - 1
        keys = [(number,) for number in range(max(1, top - limit + 1), top + 1)]
        found = self._tables.get(self.table, keys, self.rows.columns)
        return [self.rows.read(found[key]) for key in reversed(keys) if key in found]
