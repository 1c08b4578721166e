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
from pathlib import Path
from typing import IO, Any, cast

from warcio.archiveiterator import ArchiveIterator

from cleaning import RawPage
from cleaning.document.sniffing import foreign_type
from cleaning.errors import NotHtml
from cleaning.model.site_model import SiteModel
from cleaning.records import Provenance, Via
from storage.archive.originals import Originals

UTF_8 = "text/html; charset=utf-8"
BEGINNING_BYTES = 1024
GZIP = b"\x1f\x8b\x08"
MAX_PAGE_BYTES = 256 << 20  # of an HTML file; a gzip bomb ends here
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
        fetched_at: Time of the response, else of the file.
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
        at = self.fetched_at and self.fetched_at.astimezone(UTC)
        return RawPage.from_bytes(
            self.url, self.body, self.content_type, at, provenance=self.provenance("")
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
        stream: The file; gzip is recognised.
        name: Of the file, for messages.
        at: Time of responses without a date.
        originals: Places of the bodies of the files that were read before; gets those of this one.
        file: The file, where it can be read again; None: bodies of revisits are not found.
    """
    entries = ArchiveIterator(stream)
    for entry in entries:
        if entry.rec_type not in ("response", "revisit") or entry.http_headers is None:
            continue
        kind = entry.http_headers.get_header("Content-Type") or ""
        status = entry.http_headers.get_statuscode() or ""
        if (kind and "html" not in kind.lower()) or not status.startswith("2"):
            continue
        url = entry.rec_headers.get_header("WARC-Target-URI") or ""
        digest = entry.rec_headers.get_header("WARC-Payload-Digest") or ""
        if entry.rec_type == "revisit":
            known = originals.body(digest) if originals else None
            yield _revisited(entry, f"{name}: {url}", at, known)
            continue
        body = entry.content_stream().read()
        if entry.raw_stream.read() or getattr(entry.raw_stream, "limit", 0) > 0:
            yield Source(name, error=f"{name}: broken: ends in the middle of {url}")
            return
        date = entry.rec_headers.get_header("WARC-Date")
        if originals and file and digest:
            originals.keep(digest, file, entries.get_record_offset())  # reads to its end
        yield Source(f"{name}: {url}", url, body, kind or None, _time(date or "") or at)


def _revisited(entry: Any, origin: str, at: datetime, body: bytes | None) -> Source:
    """The page of a ``revisit`` record; ``body`` is None where no file has it."""
    url = entry.rec_headers.get_header("WARC-Target-URI") or ""
    if body is None:
        return Source(origin, url, error=f"{origin}: a revisit, whose body no file before it has")
    kind = entry.http_headers.get_header("Content-Type") or None
    date = entry.rec_headers.get_header("WARC-Date") or ""
    return Source(origin, url, body, kind, _time(date) or at)


def _time(date: str) -> datetime | None:
    """Parses an ISO time such as a WARC-Date; UTC without a zone, None when it is invalid."""
    try:
        at = datetime.fromisoformat(date)
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def from_rows(stream: IO[bytes], name: str, at: datetime, columns: Columns) -> Iterator[Source]:
    """Yields the page of each line, ``{"url": "http://a.test/", "html": "<p>..."}``.

    Args:
        stream: The lines, as bytes: one that is not UTF-8 is one broken row, not the end.
        name: Of the file, for messages.
        at: Time of rows without ``fetched_at``.
        columns: Names of the columns.
    """
    for number, line in enumerate(unzipped(stream), 1):
        if not line.strip():
            continue
        origin = f"{name}:{number}"
        try:
            yield _from_row(line, origin, at, columns)
        except ValueError as error:
            why = f"{origin}: {error}"
            yield Source(origin, error=why.encode(errors="replace").decode())


def _from_row(line: bytes, origin: str, at: datetime, columns: Columns) -> Source:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is no JSON ({error})") from None
    if not isinstance(row, dict):
        raise ValueError("is no JSON object")
    url = row.get(columns.url)
    if not isinstance(url, str) or not url:
        raise ValueError(f"has no {columns.url}")
    url = url.encode().decode()  # half a surrogate pair raises
    at = _time(str(row.get("fetched_at", ""))) or at
    for column in columns.pages:
        if isinstance(row.get(column), str):
            return Source(origin, url, *_page_in(column, row[column]), at)
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
