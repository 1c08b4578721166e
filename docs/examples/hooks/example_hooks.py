"""Three hooks: a link filter, a record step and an exporter (docs/python.md, "Hooks")."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import BinaryIO
from xml.sax.saxutils import escape

from crawlclean import CleanRecord, Outlink

PRICE = re.compile(r"(\d+(?:\.\d\d)?) ?(?:元|€|USD)")


def no_tag_lists(outlink: Outlink, page_url: str) -> str | None:
    """Refuses links to lists of keywords: the crawl never queues their URLs.

    Args:
        outlink: The link: ``url``, ``text`` (its anchor text), ``kind``, ``via``.
        page_url: The page with the link.

    Returns:
        None: the link is kept; a text: why it is refused.
    """
    if "/tag/" in outlink.url and not page_url.endswith("/tags.html"):
        return "a list of keywords"
    return None


def prices(record: CleanRecord) -> CleanRecord | None:
    """Adds the prices of a page to its record, and drops pages that are sold out.

    Returns:
        A changed copy (records cannot be changed in place), or None: no record is stored.
    """
    if "sold out" in record.body:
        return None
    found = [float(price) for price in PRICE.findall(record.body)]
    return replace(record, extra={**record.extra, "prices": found})


class XmlWriter:
    """Writes `export --format xml`."""

    suffix = ".xml"

    def __init__(self, stream: BinaryIO) -> None:
        """Begins a file."""
        self._stream = stream
        stream.write(b"<records>\n")

    def write(self, record: CleanRecord) -> None:
        """Writes a record."""
        title, body = escape(record.title), escape(record.body)
        line = f'<record url="{escape(record.url)}"><title>{title}</title>{body}</record>\n'
        self._stream.write(line.encode())

    def close(self) -> None:
        """Ends the file; the stream is closed by the caller."""
        self._stream.write(b"</records>\n")
