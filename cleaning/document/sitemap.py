"""Sitemaps: the URLs that a site lists for crawlers (https://www.sitemaps.org/protocol.html).

Read without entities, DTD or network; a broken file is read up to its first error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cleaning.document.charset import decode
from cleaning.document.xml_items import items, local_name, unpacked
from cleaning.errors import InvalidUrl
from cleaning.urls.normal_form import normalize, resolve

MAX_URLS = 50_000  # the protocol's own limit

_LINE = re.compile(r"[^\s][^\r\n]*+")


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
    body = unpacked(body)
    head = body[:512].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not head.startswith(b"<") and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Sitemap(pages=_plain(body))
    return _from_xml(body, base)


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
    pages: dict[str, str | None] = {}
    sitemaps: dict[str, None] = {}
    for element in items(body, {"url", "sitemap"}):
        values = {local_name(child): (child.text or "").strip() for child in element}
        target = resolve(base, values["loc"]) if values.get("loc") else None
        if target is None:
            continue
        if local_name(element) == "sitemap":
            sitemaps.setdefault(target, None)
        else:
            pages.setdefault(target, values.get("lastmod") or None)
        if len(pages) + len(sitemaps) >= MAX_URLS:
            break
    return Sitemap(pages=tuple(pages.items()), sitemaps=tuple(sitemaps))
