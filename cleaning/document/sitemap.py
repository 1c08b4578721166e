"""Sitemaps: the URLs that a site lists for crawlers (https://www.sitemaps.org/protocol.html).

Read without entities, DTD or network; a broken file is read up to its first error.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

from lxml import etree

from cleaning.document.charset import decode
from cleaning.errors import InvalidUrl
from cleaning.urls.normal_form import normalize, resolve

MAX_URLS = 50_000  # the protocol's own limit
MAX_BYTES = 64 * 2**20  # after decompression

# The protocol knows no document type; without one there are no entities to expand.
_LINE = re.compile(r"[^\s][^\r\n]*+")
_DOCTYPE_BEGIN = re.compile(rb"<!DOCTYPE", re.I)
_DOCTYPE = re.compile(rb"<!DOCTYPE[^\[>]*+(?:\[.*?\]\s*+)?>", re.I | re.S)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitemap:
    """The URLs of one sitemap, each once, in document order.

    Attributes:
        pages: (URL in normal form, ``lastmod`` as written or None): ``("http://a.example/x",
            "2024-05-01")``.
        sitemaps: URLs of further sitemaps.
    """

    pages: tuple[tuple[str, str | None], ...] = ()
    sitemaps: tuple[str, ...] = ()


def read_sitemap(body: bytes, url: str) -> Sitemap:
    """Reads the URLs of a sitemap, a sitemap index or a plain list; at most 50,000.

    Args:
        body: The file, gzipped or not; at most 64 MB of it are read after unpacking.
        url: URL of the file, which relative URLs are resolved against.

    Raises:
        InvalidUrl: ``url`` is no absolute http(s) URL.
    """
    base = normalize(url)
    body = _unpacked(body)[:MAX_BYTES]
    head = body[:512].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not head.startswith(b"<") and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Sitemap(pages=_plain(body))
    return _from_xml(body, base)


def _unpacked(body: bytes) -> bytes:
    """The file without gzip, at most 64 MB; empty when broken."""
    if not body.startswith(b"\x1f\x8b"):
        return body
    unpacker = zlib.decompressobj(wbits=31)
    try:
        return unpacker.decompress(body, MAX_BYTES)
    except zlib.error:
        return b""


def _plain(body: bytes) -> tuple[tuple[str, str | None], ...]:
    """The URLs of a file with one URL a line."""
    found: dict[str, str | None] = {}
    for tried, line in enumerate(_LINE.finditer(decode(body).html)):
        if len(found) >= MAX_URLS or tried >= 4 * MAX_URLS:
            break
        try:
            found.setdefault(normalize(line[0]), None)
        except InvalidUrl:
            continue
    return tuple(found.items())


def _from_xml(body: bytes, base: str) -> Sitemap:
    begin = _DOCTYPE_BEGIN.search(body)  # only the first is one: the search for its end is long
    doctype = _DOCTYPE.match(body, begin.start()) if begin else None
    if doctype:
        body = body[: doctype.start()] + body[doctype.end() :]
    # Fed in pieces and cleared as it is read: 64 MB of XML never become one tree.
    parser = etree.XMLPullParser(
        events=("end",),
        recover=True,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    pages: dict[str, str | None] = {}
    sitemaps: dict[str, None] = {}
    try:
        for start in range(0, len(body), 65536):
            parser.feed(body[start : start + 65536])
            if not _collect(parser, base, pages, sitemaps):
                break
    except etree.XMLSyntaxError:
        pass  # what came before the error counts
    return Sitemap(pages=tuple(pages.items()), sitemaps=tuple(sitemaps))


def _collect(
    parser: etree.XMLPullParser,
    base: str,
    pages: dict[str, str | None],
    sitemaps: dict[str, None],
) -> bool:
    """Moves the elements read so far into the tables; returns False when these are full."""
    for _, element in parser.read_events():
        name = _name(element)
        if name not in {"url", "sitemap"}:
            continue
        values = {_name(child): (child.text or "").strip() for child in element}
        element.clear()
        target = resolve(base, values["loc"]) if values.get("loc") else None
        if target is None:
            continue
        if name == "sitemap":
            sitemaps.setdefault(target, None)
        else:
            pages.setdefault(target, values.get("lastmod") or None)
        if len(pages) + len(sitemaps) >= MAX_URLS:
            return False
    return True


def _name(element: etree._Element) -> str:
    """The local name of an element; ``""`` for an entity that was not resolved."""
    tag = element.tag
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""
