"""The packed form of a parcel: pending URLs that wait in the store.

A parcel is the tail of one host's queue. Packed it has no page ids, which are the hash of what is
there anyway and would not compress; numbers are columns of differences, texts one after the other.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

import zstandard

from cleaning.errors import InvalidUrl, StoreDamaged
from storage.queue.entries import read_pending
from storage.store.images import id_of
from storage.store.record_blobs import decompress

LEVEL = 9
_HEAD = struct.Struct("<3sII")
_MAGIC = b"cp1"
_PID_BYTES, _STAMP_BYTES = 16, 6
_TEXT = _PID_BYTES + 1 + _STAMP_BYTES


Entry = tuple[int, bytes]
"""Score and member of a pending entry (``entries.py``)."""


def pack_entries(host: str, entries: Sequence[Entry]) -> bytes:
    """A host's entries, by score, in few bytes."""
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
    """The entries that ``pack_entries`` was given.

    Raises:
        StoreDamaged: It is no parcel.
    """
    data = decompress(packed)
    try:
        magic, n, kept = _HEAD.unpack_from(data)
        if magic != _MAGIC:
            raise StoreDamaged("a stored parcel is of another kind")
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
        raise StoreDamaged(f"a stored parcel cannot be read: {error}") from error


def _hashed(host: str, entry: bytes) -> bytes:
    """The page id that the entry's URL has; empty when it cannot be told."""
    try:
        found = read_pending(host, 0, entry)
        return bytes.fromhex(id_of(found.url, found.role))
    except (InvalidUrl, ValueError):
        return b""


def _differences(numbers: Sequence[int]) -> Iterator[int]:
    return (after - before for before, after in pairwise((0, *numbers)))
