"""Packed form of a spill: a block of one host's pending URLs in the store.

Zstd over these parts, in this order:

- the marker ``cp1``, the number of entries n, the number of kept page ids (4 bytes each);
- columns of n values: scores and times of discovery (differences, 8 bytes each), lengths of the
  texts (4 bytes each), role letters (``p``, ``s`` or ``i``);
- the kept page ids, each as 4 bytes of entry number and 16 bytes of id;
- the texts: the packed URLs of ``entries.py``.

A page id is the hash of its URL and would not compress: only ids that are no such hash are kept.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

import zstandard

from crawlclean.cleaning.errors import InvalidUrl, StoreDamaged
from crawlclean.storage.queue.entries import read_pending
from crawlclean.storage.store.images import id_of
from crawlclean.storage.store.record_blobs import decompress

LEVEL = 9
_HEAD = struct.Struct("<3sII")
_MAGIC = b"cp1"
_PID_BYTES, _STAMP_BYTES = 16, 6
_TEXT = _PID_BYTES + 1 + _STAMP_BYTES


Entry = tuple[int, bytes]
"""A pending entry with its score: ``(50000000000007, b"\\x4f\\x11...")`` (``entries.py``)."""


def pack_entries(host: str, entries: Sequence[Entry]) -> bytes:
    """Packs entries of a host, sorted by score; the reverse of ``unpack_entries``."""
    scores = [score for score, _ in entries]
    stamps = [int.from_bytes(entry[_PID_BYTES + 1 : _TEXT], "big") for _, entry in entries]
    texts = [entry[_TEXT:] for _, entry in entries]
    kept = [
        number.to_bytes(4, "little") + entry[:_PID_BYTES]
        for number, (_, entry) in enumerate(entries)
        if _hashed(host, entry) != entry[:_PID_BYTES]
    ]
    n = len(entries)
    parts = [
        _HEAD.pack(_MAGIC, n, len(kept)),
        struct.pack(f"<{n}q", *_differences(scores)),
        struct.pack(f"<{n}q", *_differences(stamps)),
        struct.pack(f"<{n}I", *map(len, texts)),
        b"".join(entry[_PID_BYTES : _PID_BYTES + 1] for _, entry in entries),
        *kept,
        *texts,
    ]
    packer = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
    return packer.compress(b"".join(parts))


def unpack_entries(host: str, packed: bytes) -> list[Entry]:
    """Decodes the entries that ``pack_entries`` packed.

    Raises:
        StoreDamaged: The bytes are no spill.
    """
    data = decompress(packed)
    try:
        magic, n, kept = _HEAD.unpack_from(data)
        if magic != _MAGIC:
            raise StoreDamaged("a stored spill is of another kind")
        at = _HEAD.size
        scores = list(accumulate(struct.unpack_from(f"<{n}q", data, at)))
        stamps = list(accumulate(struct.unpack_from(f"<{n}q", data, at + 8 * n)))
        lengths = struct.unpack_from(f"<{n}I", data, at + 16 * n)
        at += 20 * n
        roles = data[at : at + n]
        at += n
        other: dict[int, bytes] = {}
        for _ in range(kept):
            other[int.from_bytes(data[at : at + 4], "little")] = data[at + 4 : at + 4 + _PID_BYTES]
            at += 4 + _PID_BYTES
        entries = []
        for number in range(n):
            tail = roles[number : number + 1] + stamps[number].to_bytes(_STAMP_BYTES, "big")
            tail += data[at : at + lengths[number]]
            at += lengths[number]
            pid = other.get(number) or _hashed(host, bytes(_PID_BYTES) + tail)
            entries.append((scores[number], pid + tail))
        return entries
    except (struct.error, ValueError, OverflowError, IndexError) as error:
        raise StoreDamaged(f"a stored spill cannot be read: {error}") from error


def _hashed(host: str, entry: bytes) -> bytes:
    """The 16 bytes of the id of the entry's URL; empty when the URL cannot be read."""
    try:
        found = read_pending(host, 0, entry)
        return bytes.fromhex(id_of(found.url, found.role))
    except (InvalidUrl, ValueError):
        return b""


def _differences(numbers: Sequence[int]) -> Iterator[int]:
    return (after - before for before, after in pairwise((0, *numbers)))
