"""Pages inside a file of other crawlers: an HTML page, WARC responses, rows of JSON."""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import re
from collections.abc import Iterator
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
from crawlclean.storage.archive.warc import Originals
from crawlclean.workers.operations.pages.warc_records import (
    CUT,
    GZIP,
    NO_RECORD,
    Headers,
    WarcRecord,
    header_of,
    read_warc,
    split_response,
)

UTF_8 = "text/html; charset=utf-8"
BEGINNING_BYTES = 1024
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
    originals: Originals | None = None,
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
            originals.keep(digest, file, record.member, record.offset)
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


def _original_body(digest: str, originals: Originals | None) -> bytes:
    """The body that a ``revisit`` record names.

    Raises:
        NotFound: No file has it.
        FetchError, PageTooLarge: It is broken, or over the limit.
    """
    place = originals.place(digest) if originals else None
    if place is not None:
        file, member, offset = place
        with file.open("rb") as stream:
            stream.seek(member)
            for record in read_warc(stream, MAX_PAGE_BYTES, offset):
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
