"""One page in memory becomes a record, or its text alone, in one call."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from crawlclean.cleaning.document.document import RawPage
from crawlclean.cleaning.document.source import foreign_type
from crawlclean.cleaning.errors import NotHtml
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.cleaning.page import clean, read_text
from crawlclean.cleaning.records import CleanRecord

UTF_8 = "text/html; charset=utf-8"
_NO_URL = "http://page.invalid/"


def clean_html(
    html: bytes | str,
    url: str,
    *,
    content_type: str | None = None,
    fetched_at: datetime | None = None,
    model: SiteModel | None = None,
) -> CleanRecord:
    """Cleans one page into its whole record.

    Args:
        html: The page's source. Bytes are decoded as browsers do, by ``content_type``, byte order
            mark, ``<meta>`` or what the bytes look like; text is taken as it is.
        url: The page's address, ``https://example.com/a.html``: links are resolved against it.
        content_type: Header value, ``text/html; charset=gbk``; only for bytes.
        fetched_at: When it was fetched, aware or UTC; None: now. Dates such as "3 days ago" count
            from it.
        model: What the page's host taught, or None.

    Raises:
        TypeError: ``html`` is neither bytes nor text.
        InvalidUrl: ``url`` is no absolute http(s) address.
        NotHtml: It is a PDF, an image or another file, or has no tag.
        PageTooLarge: It has more than 64 MB.
        ConfigError: The model is of another host.
    """
    return clean(_raw_page(html, url, content_type, fetched_at), model)


class Text(NamedTuple):
    """Title and body of a page, as its record has them."""

    title: str
    text: str


def clean_text(
    html: bytes | str,
    url: str = _NO_URL,
    *,
    content_type: str | None = None,
    model: SiteModel | None = None,
) -> Text:
    """Reads title and text of one page, and nothing else: two thirds of the cost of ``clean_html``.

    The text is ``clean_html(html, url).body``, byte for byte. Arguments and errors are those of
    ``clean_html``; an address helps to know forums, and is no must.
    """
    return Text(*read_text(_raw_page(html, url, content_type), model))


def _raw_page(
    html: bytes | str, url: str, content_type: str | None, fetched_at: datetime | None = None
) -> RawPage:
    if isinstance(html, str):
        source, content_type = html.encode(errors="replace"), UTF_8
    elif isinstance(html, (bytes, bytearray, memoryview)):
        source = bytes(html)
    else:
        raise TypeError(f"html is {type(html).__name__}: give bytes or str")
    foreign = foreign_type(source)
    if foreign:
        raise NotHtml(f"this is not HTML: {foreign}")
    if b"<" not in source:
        raise NotHtml("this is not HTML: it has no tag")
    fetched_at = fetched_at or datetime.now(UTC)
    return RawPage.from_bytes(url, source, content_type, fetched_at)
