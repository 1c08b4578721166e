"""A record as two zstd blobs: the record without links, and its links, images and outlinks.

So a reader of titles and bodies unpacks no links, and a reader of outlinks no bodies. Both are JSON
of ``storage/store/codec.py``, with the errors listed there.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields, replace
from datetime import datetime
from functools import lru_cache
from threading import get_ident
from typing import TypeVar

import msgspec
import zstandard

from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.cleaning.json_values import DAMAGE, PREFIX, dump_versioned, load_versioned
from crawlclean.cleaning.records import CleanRecord, Image, Link, Outlink
from crawlclean.storage.store.ports import PackedRecord

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

_CAPPED = b'"kind":"capped_links"'
LEAST_CAPPED_BYTES = 20_000
"""A blob of 20,000 links is larger: the shortest ones take 2 bytes each when compressed."""

_T = TypeVar("_T")
_LINK_PART = msgspec.json.Decoder(_LinkPart)
_OUTLINKS = msgspec.json.Decoder(_Outlinks)
_HEAD_TEXT = msgspec.json.Decoder(HeadText)
_IMAGES = msgspec.json.Decoder(_Images)
_VALUES = msgspec.json.Decoder(dict[str, msgspec.Raw])


def compress(data: bytes) -> bytes:
    """Compresses data to one zstd frame with a checksum."""
    return zstandard.ZstdCompressor(level=ZSTD_LEVEL, write_checksum=True).compress(data)


def decompress(blob: bytes) -> bytes:
    """Decompresses a frame of ``compress``.

    Raises:
        StoreDamaged: The blob is no whole frame, or its stated size is impossible.
    """
    try:
        if not 0 <= zstandard.frame_content_size(blob) <= MAX_UNPACKED_BYTES:
            raise StoreDamaged("a stored blob has an impossible size")
        return _decompressor(get_ident()).decompress(blob)
    except (zstandard.ZstdError, *DAMAGE) as error:
        raise StoreDamaged(f"a stored blob cannot be read: {error}") from error


@lru_cache(maxsize=16)
def _decompressor(_thread: int) -> zstandard.ZstdDecompressor:
    """The decompressor of a thread; to make one takes longer than to unpack a record (17 us)."""
    return zstandard.ZstdDecompressor()


def encode_record(record: CleanRecord) -> tuple[bytes, bytes]:
    """Encodes a record as (record without links; links, images and outlinks), both JSON."""
    head = replace(record, links=(), images=(), outlinks=()).in_utc()
    part = _LinkPart(links=record.links, images=record.images, outlinks=record.outlinks)
    return dump_versioned(head), dump_versioned(part)


def unpack_record(head: bytes, links: bytes) -> CleanRecord:
    """Decodes the record of two blobs."""
    part = _unpack(links, _LINK_PART)
    record = CleanRecord.from_json(decompress(head))
    return replace(record, links=part.links, images=part.images, outlinks=part.outlinks)


def unpack_text(head: bytes, links: bytes) -> CleanRecord:
    """Decodes the record of two blobs without its links and images: two thirds less work."""
    return replace(CleanRecord.from_json(decompress(head)), outlinks=unpack_outlinks(links))


def unpack_head_text(head: bytes) -> HeadText:
    """Decodes the texts of a record's first blob: a tenth of the work."""
    return _unpack(head, _HEAD_TEXT)


def unpack_line(head: bytes, links: bytes) -> bytes:
    """The ``to_json`` of a record, from its two blobs.

    A record of an older schema, or without a field of ours, is read and written anew. The JSON is
    checked, the types of its values are not: zstd's checksum notices what was damaged.

    Raises:
        SchemaMismatch: A newer program wrote it.
        StoreDamaged: Nothing that was written by us.
    """
    record, part = decompress(head), decompress(links)
    if _has_fields(record, _RECORD_NAMES) and _has_fields(part, _LINK_NAMES):
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


def find_links(links: bytes, urls: Collection[str]) -> tuple[Link | Outlink, ...]:
    """Decodes the links and outlinks to some URLs from a record's second blob; outlinks first.

    Most records link to none of the URLs: their JSON is searched, not decoded (4 % of the work).
    """
    data = decompress(links)
    if not any(msgspec.json.encode(url) in data for url in urls):
        return ()
    part = load_versioned(data, _LINK_PART, "record")
    found: list[Link | Outlink] = [*part.outlinks, *part.links]
    return tuple(each for each in found if each.url in urls)


def find_signature(head: bytes, signature: str) -> CleanRecord | None:
    """Decodes a record, without its links, when it has this signature; else None."""
    data = decompress(head)
    has_it = b'"signature":"%b"' % signature.encode() in data  # texts have escaped quotes
    return CleanRecord.from_json(data) if has_it else None


def has_capped_links(packed: PackedRecord) -> bool:
    """Whether a record lacks links, because its page has more than a record keeps."""
    return len(packed.links) > LEAST_CAPPED_BYTES and _CAPPED in decompress(packed.head)


def _unpack(links: bytes, decoder: msgspec.json.Decoder[_T]) -> _T:
    return load_versioned(decompress(links), decoder, "record")
