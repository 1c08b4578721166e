"""Sitemaps: the URLs that a site lists for crawlers (https://www.sitemaps.org/protocol.html).

Read without entities, DTD or network; errors are read over and counted. A page of
news has the date of its publication; the other languages of a page are pages, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from crawlclean.cleaning.document.charset import decode
from crawlclean.cleaning.document.xml_items import Items, local_name, unpacked
from crawlclean.cleaning.urls.normal_form import normal_form, normalize, resolve

MAX_URLS = 50_000  # the protocol's own limit

_LINE = re.compile(r"[^\s][^\r\n]*+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitemap:
    """The URLs of one sitemap, each once, in document order.

    Attributes:
        pages: (URL in normal form, ``lastmod`` or ``news:publication_date`` as written, or None):
            ``("http://a.example/x", "2024-05-01")``. The alternates (``hreflang``) come last.
        sitemaps: URLs of further sitemaps.
        slips: Errors in the file that were read over.
    """

    pages: tuple[tuple[str, str | None], ...] = ()
    sitemaps: tuple[str, ...] = ()
    slips: int = 0


def read_sitemap(body: bytes, url: str) -> Sitemap:
    """Reads the URLs of a sitemap, a sitemap index or a plain list; at most 50,000.

    Args:
        body: The file, gzipped or not; at most 64 MB of it are read after unpacking.
        url: URL of the file, which relative URLs are resolved against.

    Raises:
        InvalidUrl: ``url`` is no absolute http(s) URL.
    """
    base = normalize(url)
    body, damaged = unpacked(body)
    found = _from_xml(body, base, damaged)
    head = body[:512].lstrip(b"\xef\xbb\xbf \t\r\n")
    is_xml = found.pages or found.sitemaps or head.startswith((b"<", b"\xff\xfe", b"\xfe\xff"))
    return found if is_xml else Sitemap(pages=_plain(body), slips=damaged)


def _plain(body: bytes) -> tuple[tuple[str, str | None], ...]:
    """The URLs of a file with one URL a line."""
    found: dict[str, str | None] = {}
    for tried, line in enumerate(_LINE.finditer(decode(body).html)):
        if len(found) >= MAX_URLS or tried >= 4 * MAX_URLS:
            break
        if url := normal_form(line[0]):
            found.setdefault(url, None)
    return tuple(found.items())


def _from_xml(body: bytes, base: str, damaged: int) -> Sitemap:
    pages: dict[str, str | None] = {}
    alternates: dict[str, None] = {}
    sitemaps: dict[str, None] = {}
    found = Items(body, {"url", "sitemap"})
    for element in found:
        values = {local_name(child): (child.text or "").strip() for child in element}
        target = resolve(base, values["loc"]) if values.get("loc") else None
        if target is None:
            continue
        if local_name(element) == "sitemap":
            sitemaps.setdefault(target, None)
            continue
        for part in element.iter():
            name = local_name(part)
            if name == "publication_date":
                values.setdefault(name, (part.text or "").strip())
            elif name == "link" and part.get("hreflang"):
                other = resolve(base, part.get("href", ""))
                alternates.update({other: None} if other else {})
        pages.setdefault(target, values.get("lastmod") or values.get("publication_date") or None)
        if len(pages) + len(sitemaps) >= MAX_URLS:
            break
    pages |= {url: None for url in alternates if url not in pages}
    return Sitemap(
        pages=tuple(pages.items())[:MAX_URLS],
        sitemaps=tuple(sitemaps),
        slips=damaged + found.slips,
    )
