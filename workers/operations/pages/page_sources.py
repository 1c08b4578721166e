"""Pages inside a file of other crawlers: an HTML page, WARC responses, rows of JSON."""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import re
import zlib
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import IO, Any, cast

from warcio.bufferedreaders import ChunkedDataReader

from crawlclean.cleaning.document.document import RawPage
from crawlclean.cleaning.document.source import foreign_type
from crawlclean.cleaning.errors import NotFound, NotHtml, ServiceError
from crawlclean.cleaning.json_values import replace_surrogates
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.cleaning.records import Provenance, Via
from crawlclean.crawler.transfer.content_encoding import undo_codings
from crawlclean.storage.archive.warc import FirstBodies

# The records of a WARC file: one that is damaged costs itself, and the next one is found.
#
# A file is plain, of one gzip member a record, or one gzip stream (``gzip x.warc``). All three are
# read as one sequence of bytes, decompressed in small pieces:
#
# - after a damaged gzip member reading goes on at the next member;
# - after a record that does not end where its Content-Length says, at the next line that begins a
#   record.

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
    error = ""
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
    except ValueError as fault:
        error = str(fault)
    data.skip(end)
    return WarcRecord(member=member, offset=offset, headers=headers, block=block, error=error)


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


UTF_8 = "text/html; charset=utf-8"
BEGINNING_BYTES = 1024  # where browsers look for the type and the charset of a page
MAX_PAGE_BYTES = 64 << 20  # at every stage of decompression, as max_page_bytes of a crawl
# Of a row: base64 is 4/3 of a page, Chinese text in escapes (\\u4e2d) twice its UTF-8.
MAX_ROW_BYTES = 2 * MAX_PAGE_BYTES
_BEGINS_HTML = re.compile(rb"<!doctype\s{1,9}html|<html[\s>]", re.I)
# Tags that open a page or a part of one. Not <p> in the middle of a list of e-mail addresses.
_TAG = re.compile(
    rb"<(?:!--|(?:html|head|body|title|meta|link|base|script|style|frameset|div|span|p|br|hr|h[1-6]"
    rb"|a|b|i|em|strong|font|center|img|ul|ol|li|dl|table|tr|td|form|pre|blockquote|section|article"
    rb"|main|header|footer|nav|iframe)(?:\s[^<>]{0,900})?/?>)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Source:
    """One page to clean, or the error of a page that could not be read.

    Attributes:
        origin: Where the page comes from: ``pages.warc.gz: http://a.test/``, ``rows.jsonl:7``.
        url: Its URL as found.
        body: Its bytes.
        content_type: Header of the response, if there was one.
        fetched_at: Time of the response, else of the file; in UTC.
        error: Why there is no page, ``""`` when there is one.
        model: The model of its host.
    """

    origin: str
    url: str = ""
    body: bytes = b""
    content_type: str | None = None
    fetched_at: datetime | None = None
    error: str = ""
    model: SiteModel | None = None

    @property
    def place(self) -> str:
        """The file, or the file and the line: ``pages.warc.gz``, ``rows.jsonl:12``."""
        return self.origin.removesuffix(f": {self.url}")

    def page(self) -> RawPage:
        """Decodes the page.

        Raises:
            ServiceError: The bytes are not HTML, or the URL is invalid.
        """
        foreign = foreign_type(self.body)
        if foreign:
            raise NotHtml(f"this is {foreign}, not HTML")
        return RawPage.from_bytes(
            self.url,
            self.body,
            self.content_type,
            self.fetched_at,
            provenance=self.provenance(""),
        )

    def provenance(self, crawl_id: str) -> Provenance:
        """How the page came to a crawl, or to none (``""``): from this file."""
        return Provenance(crawl_id=crawl_id, referrer=self.place, via=Via.IMPORT)


@dataclass(frozen=True, slots=True)
class Columns:
    """Names of the columns of rows.

    Attributes:
        url: The column of the page's URL.
        html: The column of the page: text, or base64 when the name ends in ``_base64``. ``""``:
            ``html_base64``, else ``html``.
    """

    url: str = "url"
    html: str = ""

    @property
    def pages(self) -> tuple[str, ...]:
        """The columns that may hold the page, the first that a row has counts."""
        return (self.html,) if self.html else ("html_base64", "html")


def begins_html(beginning: bytes) -> bool:
    """Whether the first KB has a document type or the root element of HTML."""
    return _BEGINS_HTML.search(_narrow(beginning)) is not None


def has_tag(beginning: bytes) -> bool:
    """Whether the first KB has a tag of HTML."""
    return begins_html(beginning) or _TAG.search(_narrow(beginning)) is not None


def _narrow(beginning: bytes) -> bytes:
    """The first KB without the zero bytes of UTF-16."""
    return beginning[:BEGINNING_BYTES].replace(b"\0", b"")


def from_warc(
    stream: IO[bytes],
    name: str,
    at: datetime,
    originals: FirstBodies | None = None,
    file: Path | None = None,
) -> Iterator[Source]:
    """Yields the HTML responses of a WARC file, revisits with the body that they name.

    Args:
        stream: The file, which can ``peek``; gzip is recognised.
        name: Of the file, for messages.
        at: Time of responses without a date.
        originals: Places of the bodies of the files that were read before; gets those of this one.
        file: The file, where it can be read again; None: bodies of revisits are not found.
    """
    for record in read_warc(stream, MAX_PAGE_BYTES):
        url = record.header("WARC-Target-URI").strip("<>")
        response = split_response(record.block)
        if response is None or not _is_page(record, response):
            if record.error and response is None:
                yield _broken(name, record, url)
            continue
        if record.error or not url:
            yield _broken(name, record, url)
            continue
        _, headers, coded = response
        digest = record.header("WARC-Payload-Digest")
        origin = f"{name}: {url}"
        try:
            body = _decoded(coded, headers)
            if record.header("WARC-Type") == "revisit":
                body = _original_body(digest, originals)
        except ServiceError as error:
            yield Source(origin, url, error=f"{origin}: {error}")
            continue
        if originals and file and digest and record.header("WARC-Type") == "response":
            place = str(file), str(record.member), str(record.offset)
            originals.keep(digest, place)
        kind = header_of(headers, "Content-Type") or None
        yield Source(origin, url, body, kind, _time(record.header("WARC-Date")) or at)


def _is_page(record: WarcRecord, response: tuple[str, Headers, bytes]) -> bool:
    """Whether a record has an HTML response with status 2xx."""
    status_line, headers, _ = response
    kind = header_of(headers, "Content-Type")
    return (
        record.header("WARC-Type") in ("response", "revisit")
        and (not kind or "html" in kind.lower())
        and status_line.partition(" ")[2].startswith("2")
    )


def _broken(name: str, record: WarcRecord, url: str) -> Source:
    of = url or f"the record at byte {record.member + record.offset}"
    why = record.error or "it has no WARC-Target-URI"
    line = f"{why} of {of}" if why == CUT else why if why == NO_RECORD else f"{of}: {why}"
    return Source(name, error=f"{name}: broken: {line}")


def _decoded(body: bytes, headers: Headers) -> bytes:
    """A body with transfer and content coding undone, where it has them.

    Raises:
        FetchError, PageTooLarge: The body is broken, or over the limit.
    """
    if "chunked" in header_of(headers, "Transfer-Encoding").lower():
        # A body that is not in chunks, as some programs store it, is returned as it is.
        body = ChunkedDataReader(BytesIO(body)).read()
    return undo_codings(body, headers, MAX_PAGE_BYTES)


def _original_body(digest: str, originals: FirstBodies | None) -> bytes:
    """The body that a ``revisit`` record names.

    Raises:
        NotFound: No file has it.
        FetchError, PageTooLarge: It is broken, or over the limit.
    """
    place = originals.find(digest) if originals else None
    if place is not None:
        file, member, offset = place
        with Path(file).open("rb") as stream:
            stream.seek(int(member))
            for record in read_warc(stream, MAX_PAGE_BYTES, int(offset)):
                response = split_response(record.block)
                if response is not None:
                    return _decoded(response[2], response[1])
                break
    raise NotFound("a revisit, whose body no file before it has")


def _time(date: str) -> datetime | None:
    """Parses an ISO time such as a WARC-Date, UTC without a zone; None when it is invalid."""
    try:
        at = datetime.fromisoformat(date)
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):  # in UTC, the first hours of the year 1 are before it
        return None


def from_rows(stream: IO[bytes], name: str, at: datetime, columns: Columns) -> Iterator[Source]:
    """Yields the page of each line, ``{"url": "http://a.test/", "html": "<p>..."}``.

    Args:
        stream: The lines, as bytes: one that is not UTF-8 is one broken row, not the end.
        name: Of the file, for messages.
        at: Time of rows without ``fetched_at``.
        columns: Names of the columns.
    """
    rows = unzipped(stream)
    for number, line in enumerate(iter(partial(rows.readline, MAX_ROW_BYTES), b""), 1):
        if len(line) == MAX_ROW_BYTES and not line.endswith(b"\n"):
            while (more := rows.readline(1 << 20)) and not more.endswith(b"\n"):
                pass  # the rest of the line, in small pieces
            yield Source(
                f"{name}:{number}", error=f"{name}:{number}: over {MAX_ROW_BYTES >> 20} MB"
            )
        elif not line.strip():
            continue
        else:
            yield _from_row(line, f"{name}:{number}", at, columns)


def _from_row(line: bytes, origin: str, at: datetime, columns: Columns) -> Source:
    """The page of a row, or why there is none."""
    try:
        return _page_of_row(line, origin, at, columns)
    except ValueError as error:
        why = f"{origin}: {error}"
        return Source(origin, error=why.encode(errors="replace").decode())


def _page_of_row(line: bytes, origin: str, at: datetime, columns: Columns) -> Source:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is no JSON ({error})") from None
    if not isinstance(row, dict):
        raise ValueError("is no JSON object")
    url = row.get(columns.url)
    if not isinstance(url, str) or not url:
        raise ValueError(f"has no {columns.url}")
    if replace_surrogates(url) != url:
        raise ValueError(f"has half of a character (a lone surrogate) in {columns.url}")
    at = _time(str(row.get("fetched_at", ""))) or at
    for column in columns.pages:
        if isinstance(row.get(column), str):
            body, content_type = _page_in(column, row[column])
            if len(body) > MAX_PAGE_BYTES:
                raise ValueError(f"has a page over {MAX_PAGE_BYTES >> 20} MB")
            return Source(origin, url, body, content_type, at)
    raise ValueError(f"has no {' or '.join(reversed(columns.pages))}")


def _page_in(column: str, text: str) -> tuple[bytes, str | None]:
    """(page, content type) of the value of a column."""
    if not column.endswith("_base64"):
        return text.encode(errors="replace"), UTF_8
    try:
        return base64.b64decode(text, validate=True), None
    except binascii.Error as error:
        raise ValueError(f"{column} is no base64 ({error})") from None


def unzipped(stream: IO[bytes]) -> IO[bytes]:
    """The stream, decompressed when it begins like gzip; ``stream`` can ``peek``."""
    if cast(Any, stream).peek(len(GZIP)).startswith(GZIP):
        return cast(IO[bytes], gzip.open(stream, "rb"))
    return stream
