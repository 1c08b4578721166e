"""A record as two zstd blobs: the record without links, and its links, images and outlinks.

So a reader of titles and bodies unpacks no links, and a reader of outlinks no bodies. Both are JSON
of ``storage/store/codec.py``, with the errors listed there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import msgspec
import zstandard

from cleaning.errors import StoreDamaged
from cleaning.records import CleanRecord, Image, Link, Outlink
from storage.store.codec import DAMAGE, dump_versioned, in_utc, load_versioned, record_from_json

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


_T = TypeVar("_T")
_LINK_PART = msgspec.json.Decoder(_LinkPart)
_OUTLINKS = msgspec.json.Decoder(_Outlinks)
_IMAGES = msgspec.json.Decoder(_Images)


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
        return zstandard.ZstdDecompressor().decompress(blob)
    except (zstandard.ZstdError, *DAMAGE) as error:
        raise StoreDamaged(f"a stored blob cannot be read: {error}") from error


def encode_record(record: CleanRecord) -> tuple[bytes, bytes]:
    """Encodes a record as (record without links; links, images and outlinks), both JSON."""
    head = in_utc(replace(record, links=(), images=(), outlinks=()))
    part = _LinkPart(links=record.links, images=record.images, outlinks=record.outlinks)
    return dump_versioned(head), dump_versioned(part)


def pack_record(record: CleanRecord) -> tuple[bytes, bytes]:
    """Encodes and compresses a record as its two blobs."""
    head, links = encode_record(record)
    return compress(head), compress(links)


def unpack_record(head: bytes, links: bytes) -> CleanRecord:
    """Decodes the record of two blobs."""
    part = _unpack(links, _LINK_PART)
    record = record_from_json(decompress(head))
    return replace(record, links=part.links, images=part.images, outlinks=part.outlinks)


def unpack_outlinks(links: bytes) -> tuple[Outlink, ...]:
    """Decodes only the outlinks of a record's second blob: a third of the work."""
    return _unpack(links, _OUTLINKS).outlinks


def unpack_images(links: bytes) -> tuple[Image, ...]:
    """Decodes only the images of a record's second blob."""
    return _unpack(links, _IMAGES).images


def _unpack(links: bytes, decoder: msgspec.json.Decoder[_T]) -> _T:
    return load_versioned(decompress(links), decoder, "record")
