"""The items of an XML file that lists URLs (sitemap, feed), one after another in bounded memory.

Read without entities, DTD or network; a broken file is read up to its first error.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection, Iterator

from lxml import etree

MAX_BYTES = 64 * 2**20  # after decompression
MAX_ELEMENTS = 10_000  # of one item: a feed's entry has about ten
MAX_OTHERS = 200_000  # elements between the items: a feed has about ten, each costs 5 us
PIECE_BYTES = 65_536

# These formats know no document type; without one there are no entities to expand.
_DOCTYPE_BEGIN = re.compile(rb"<!DOCTYPE", re.I)
_DOCTYPE = re.compile(rb"<!DOCTYPE[^\[>]*+(?:\[.*?\]\s*+)?>", re.I | re.S)


def unpacked(body: bytes) -> bytes:
    """The file without gzip, at most 64 MB; empty when broken."""
    if not body.startswith(b"\x1f\x8b"):
        return body[:MAX_BYTES]
    unpacker = zlib.decompressobj(wbits=31)
    try:
        return unpacker.decompress(body, MAX_BYTES)
    except zlib.error:
        return b""


def items(body: bytes, names: Collection[str]) -> Iterator[etree._Element]:
    """Yields the elements with one of the names, ``{"url"}``, whole and in document order.

    An item is emptied once the next one is asked for: 64 MB of XML never become one tree. An item
    of more than 10,000 elements, or 200,000 elements between the items, end the reading.
    """
    begin = _DOCTYPE_BEGIN.search(body)  # only the first is one: the search for its end is long
    doctype = _DOCTYPE.match(body, begin.start()) if begin else None
    if doctype:
        body = body[: doctype.start()] + body[doctype.end() :]
    parser = etree.XMLPullParser(
        events=("start", "end"),
        recover=True,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    open_item: etree._Element | None = None
    elements = others = 0
    try:
        for start in range(0, len(body), PIECE_BYTES):
            parser.feed(body[start : start + PIECE_BYTES])
            for event, element in parser.read_events():
                if event == "start":
                    if open_item is None and local_name(element) in names:
                        open_item, elements = element, 0
                    elements += 1
                elif element is open_item:
                    open_item = None
                    yield element
                    _forget(element)
                elif open_item is None:
                    others += 1
                    _forget(element)
                if (open_item is not None and elements > MAX_ELEMENTS) or others > MAX_OTHERS:
                    return
    except etree.XMLSyntaxError:
        pass  # what came before the error counts


def local_name(element: etree._Element) -> str:
    """The local name of an element; ``""`` for an entity that was not resolved."""
    tag = element.tag
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""


def _forget(element: etree._Element) -> None:
    """Empties an element that has ended, and deletes those before it in its parent."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]
