"""The records of a WARC file: one that is damaged costs itself, and the next one is found.

A file is plain, of one gzip member a record, or one gzip stream (``gzip x.warc``). All three are
read as one sequence of bytes, decompressed in small pieces:

- after a damaged gzip member reading goes on at the next member;
- after a record that does not end where its Content-Length says, at the next line that begins a
  record.
"""

from __future__ import annotations

import re
import zlib
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any, cast

GZIP = b"\x1f\x8b\x08"
SLICE_BYTES = 16 << 10  # read at once
PIECE_BYTES = 64 << 10  # decompressed at once
MAX_HEAD_BYTES = 256 << 10  # of a record's or a response's head lines, as in a crawl
_RECORD = re.compile(rb"WARC/[01]\.\d{1,2}\r?\n")  # at the begin of a line
_BETWEEN = re.compile(rb"\r?\n\r?\n|[\r\n]{0,8}WARC/[01]\.")  # what ends a record, or a next one
MAX_LINE_BYTES = 16  # no first line of a record is longer, with the line feed before it
PADDING = b"\0\r\n"
CUT = "ends in the middle"
NO_RECORD = "it has no WARC record"
_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WarcRecord:
    """A record, or why there is none.

    Attributes:
        member: Offset in the file of the gzip member that it begins in, bytes; 0 in a plain file.
        offset: Its own offset behind ``member``, in decompressed bytes.
        headers: Its WARC headers.
        block: Its content; no more than the head of one that is over the limit.
        error: Why its content cannot be used: ``ends in the middle``; ``""`` when it is whole.
    """

    member: int
    offset: int
    headers: Headers = ()
    block: bytes = b""
    error: str = ""

    def header(self, name: str) -> str:
        """The first header of a name; ``""`` without one."""
        return header_of(self.headers, name)


def header_of(headers: Headers, name: str) -> str:
    """The first header of a name in any case; ``""`` without one."""
    return next((value for key, value in headers if key.lower() == name.lower()), "")


def read_head(data: bytes) -> tuple[str, Headers]:
    """(first line, headers) of the head of a record or of an HTTP response."""
    first, *lines = data.decode("utf-8", "replace").split("\n")
    headers: list[tuple[str, str]] = []
    for line in lines:
        name, colon, value = line.partition(":")
        if line[:1] in (" ", "\t") and headers:  # the value goes on
            headers[-1] = (headers[-1][0], f"{headers[-1][1]} {line.strip()}")
        elif colon:
            headers.append((name.strip(), value.strip()))
    return first.strip(), tuple(headers)


def split_response(block: bytes) -> tuple[str, Headers, bytes] | None:
    """(status line, headers, body) of the block of a record; None when it is no HTTP response."""
    end = _END_OF_HEAD.search(block, 0, MAX_HEAD_BYTES)
    if not block.startswith(b"HTTP/") or end is None:
        return None
    return *read_head(block[: end.start()]), block[end.end() :]


def read_warc(stream: IO[bytes], max_bytes: int, skip_bytes: int = 0) -> Iterator[WarcRecord]:
    """Yields the records of a WARC file.

    Args:
        stream: The file, which can ``peek``, at the begin of a gzip member or of a plain file.
        max_bytes: Limit of a record's content; a longer one is an error.
        skip_bytes: Decompressed bytes before the first record to read.
    """
    data = _Unpacked(stream)
    data.skip(skip_bytes)
    last: WarcRecord | None = None
    while True:
        if data.find_record():
            last = _record(data, max_bytes)
            yield last
            if not last.error and not data.is_at_record():
                member, offset = data.place()
                yield WarcRecord(member=member, offset=offset, error="no record begins there")
        elif data.damage:
            member = data.member_at
            if last is None or not last.error or last.member != member:  # else it was that record
                last = WarcRecord(member=member, offset=0, error=data.damage)
                yield last
            data.go_on()
        else:
            break
    if last is None:
        yield WarcRecord(member=0, offset=0, error=NO_RECORD)


def _record(data: _Unpacked, max_bytes: int) -> WarcRecord:
    """The record that ``data`` are at; afterwards they are behind it, or inside of a broken one."""
    member, offset = data.place()
    headers: Headers = ()
    block, end = b"", 1  # of a record with a wrong length: the next may be inside of its content
    try:
        data.fill(MAX_HEAD_BYTES, until=_END_OF_HEAD)
        head = _END_OF_HEAD.search(data.ahead, 0, MAX_HEAD_BYTES)
        if head is None:
            is_cut = len(data.ahead) < MAX_HEAD_BYTES
            raise ValueError(data.damage or (CUT if is_cut else "its head does not end"))
        _, headers = read_head(bytes(data.ahead[: head.start()]))
        length = header_of(headers, "Content-Length")
        if not (length.isascii() and length.isdigit()):
            raise ValueError(f"its Content-Length is {length[:40]!r}")
        block_bytes = int(length[:20])
        is_over = block_bytes > max_bytes
        block_end = head.end() + min(block_bytes, MAX_HEAD_BYTES if is_over else max_bytes)
        data.fill(block_end + SLICE_BYTES)
        block = bytes(data.ahead[head.end() : block_end])
        if is_over:
            raise ValueError(f"over {max_bytes >> 20} MB")
        if len(data.ahead) < block_end:
            raise ValueError(data.damage or CUT)
        rest = bytes(data.ahead[block_end : block_end + SLICE_BYTES])
        if rest.strip(PADDING) and not _BETWEEN.match(rest):
            raise ValueError("it does not end where its Content-Length says")
        is_last = not rest.strip(PADDING) and data.damaged_from < data.position + block_end
        if is_last and data.damage:
            raise ValueError(data.damage)  # the checksum of its member
        end = block_end
    except ValueError as error:
        found = WarcRecord(
            member=member, offset=offset, headers=headers, block=block, error=str(error)
        )
    else:
        found = WarcRecord(member=member, offset=offset, headers=headers, block=block)
    data.skip(end)
    return found


class _Unpacked:
    """The bytes of a file, decompressed; a damaged gzip member ends them until ``go_on``.

    Attributes:
        ahead: Decompressed bytes that were not skipped; ``fill`` gets more.
        position: Of the first byte of ``ahead``, among all decompressed bytes.
        member_at: Offset in the file of the gzip member that is decompressed; 0 of a plain file.
        damage: Why this member cannot be read; ``""`` while it can.
        damaged_from: Position of the first byte of the damaged member.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self.ahead = bytearray()
        self.position = 0
        self.damage = ""
        self.damaged_from = 0
        self._stream = stream
        self._is_packed = cast(Any, stream).peek(len(GZIP)).startswith(GZIP)
        self._raw = b""  # read from the file, not decompressed
        self._raw_at = stream.tell() if stream.seekable() else 0  # its offset in the file
        self.member_at = self._raw_at
        self._unpacker: Any = None
        # (position of its first byte, offset in the file) of the members that ``ahead`` is of.
        self._members = deque([(0, self._raw_at)])

    def place(self) -> tuple[int, int]:
        """(offset of the member in the file, offset in it) of the first byte of ``ahead``."""
        while len(self._members) > 1 and self._members[1][0] <= self.position:
            self._members.popleft()
        position, offset = self._members[0]
        return offset, self.position - position

    def skip(self, count: int) -> None:
        """Leaves out bytes."""
        while count > 0:
            self.fill(min(count, PIECE_BYTES))
            left_out = min(count, len(self.ahead))
            if not left_out:
                return
            del self.ahead[:left_out]
            self.position += left_out
            count -= left_out

    def find_record(self) -> bool:
        """Leaves out all before the next line that begins a record; whether there is one."""
        while True:
            self.fill(PIECE_BYTES)
            starts = [found.start() for found in _RECORD.finditer(self.ahead)]
            at = next((at for at in starts if not at or self.ahead[at - 1 : at] == b"\n"), -1)
            if at >= 0:
                self.skip(at)
                return True
            if len(self.ahead) < PIECE_BYTES:
                return False
            self.skip(len(self.ahead) - MAX_LINE_BYTES)

    def is_at_record(self) -> bool:
        """Whether a record is next, or the end; leaves out blank lines and padding before it."""
        self.fill(SLICE_BYTES)
        self.skip(len(self.ahead) - len(self.ahead.lstrip(PADDING)))
        return not self.ahead or _RECORD.match(self.ahead) is not None

    def fill(self, count: int, until: re.Pattern[bytes] | None = None) -> None:
        """Gets ``count`` bytes into ``ahead``: fewer at the end, and once ``until`` is in it."""
        while len(self.ahead) < count and (until is None or not until.search(self.ahead)):
            if self.damage or not self._has_raw():
                return
            try:
                self._unpack()
            except zlib.error as error:
                self._set_damage(str(error).rpartition(": ")[2])

    def _has_raw(self) -> bool:
        """Whether bytes are left to decompress; reads some."""
        if len(self._raw) < len(GZIP):
            self._raw += self._stream.read(SLICE_BYTES)
        if self._is_packed and self._unpacker is None:
            kept = self._raw.lstrip(PADDING)  # behind the last member
            self._raw_at += len(self._raw) - len(kept)
            self._raw = kept
        if not self._raw and self._unpacker is not None:
            self._set_damage(CUT)
        return bool(self._raw)

    def _unpack(self) -> None:
        """Decompresses a piece.

        Raises:
            zlib.error: The member is damaged.
        """
        if not self._is_packed:
            self.ahead += self._raw
            self._raw = b""
            return
        if self._unpacker is None:
            self._begin_member()
        piece = self._unpacker.decompress(self._raw, PIECE_BYTES)
        left = self._unpacker.unused_data or self._unpacker.unconsumed_tail
        self._raw_at += len(self._raw) - len(left)
        self._raw = left
        self.ahead += piece
        if self._unpacker.eof:
            self._unpacker = None

    def _begin_member(self) -> None:
        self._unpacker = zlib.decompressobj(zlib.MAX_WBITS + 16)
        self.member_at = self._raw_at
        self._members.append((self.position + len(self.ahead), self._raw_at))

    def _set_damage(self, why: str) -> None:
        self.damage = why
        self.damaged_from = self._members[-1][0]

    def go_on(self) -> None:
        """Goes to the next gzip member that begins with a record, or to the end."""
        self.position += len(self.ahead)
        self.ahead.clear()
        self._unpacker = None
        self.damage = ""
        at = 1 if self.member_at == self._raw_at else 0
        while True:
            at = self._raw.find(GZIP, at)
            if at < 0:
                left_out = max(len(self._raw) - len(GZIP) + 1, 0)  # may begin in what is kept
                more = self._stream.read(SLICE_BYTES)
                self._raw_at += left_out if more else len(self._raw)
                self._raw = self._raw[left_out:] + more if more else b""
                at = 0
                if not more:
                    return
                continue
            if self._begins_record(at):
                self._raw_at += at
                self._raw = self._raw[at:]
                return
            at += 1

    def _begins_record(self, at: int) -> bool:
        """Whether the bytes from an offset are a gzip member with a record; reads enough of it."""
        if len(self._raw) - at < SLICE_BYTES:
            self._raw += self._stream.read(SLICE_BYTES)
        with suppress(zlib.error):
            begin = zlib.decompressobj(zlib.MAX_WBITS + 16).decompress(self._raw[at:], 5)
            return bool(begin == b"WARC/")
        return False
