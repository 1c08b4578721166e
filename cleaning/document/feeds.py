"""Files that list the URLs of a site: sitemaps, and feeds of its newest pages."""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from html import escape, unescape

from lxml import etree

from crawlclean.cleaning.document.source import FEED, decode
from crawlclean.cleaning.urls.normal_form import normal_form, normalize, resolve

# The items of an XML file that lists URLs (sitemap, feed), one after another in bounded memory.
#
# Read without entities, DTD or network. Each item is parsed alone, so a slip (a bare ``&``, a tag
# without end, a notice before the file, a wrong checksum) costs at most the item that it is in.

MAX_BYTES = 64 * 2**20  # after decompression
MAX_ITEM_CHARS = 2**20  # the rest of a longer item is left out: an entry with its page has a tenth
PIECE_BYTES = 65_536  # unpacked at once, so that a bomb is noticed before it fills the memory
SAMPLE_BYTES = 2**20  # that the charset is found by
GZIP = b"\x1f\x8b\x08"

# Comments and character data are passed over: they may hold what looks like an item.
_OPAQUE = r"<!--(?:.*?-->|.*)|<!\[CDATA\[(?:.*?\]\]>|.*)"
_AMPERSAND = re.compile(_OPAQUE + r"|&(?!(?:#\d{1,7}|#x[\da-f]{1,6}|amp|lt|gt|quot|apos);)"
                        r"(?:[a-z]\w{0,31};)?", re.S | re.I)  # fmt: skip


def unpacked(body: bytes) -> tuple[bytes, int]:
    """Returns the file without gzip, at most 64 MB, and how many gzip members are damaged.

    What stands before the damage counts; reading goes on at the next member.
    """
    if not body.startswith(GZIP[:2]):
        return body[:MAX_BYTES], 0
    pieces: list[bytes] = []
    room, damaged, at = MAX_BYTES, 0, 0
    while at >= 0 and room > 0:
        at, is_whole, room = _unpack_member(body, at, pieces, room)
        damaged += not is_whole
        at = body.find(GZIP, at)
    return b"".join(pieces), damaged


def _unpack_member(body: bytes, at: int, pieces: list[bytes], room: int) -> tuple[int, bool, int]:
    """Unpacks the gzip member at an offset; returns (where it ends, whether it is whole, room)."""
    unpacker = zlib.decompressobj(wbits=31)
    step = PIECE_BYTES
    while at < len(body) and room > 0 and not unpacker.eof:
        before = unpacker.copy() if step > 1 else None
        try:
            piece = unpacker.decompress(body[at : at + step], room)
        except zlib.error:
            if before is None:
                return at + 1, False, room
            unpacker, step = before, 1  # byte by byte: what stands before the error is kept
            continue
        pieces.append(piece)
        room -= len(piece)
        at += step
    return min(at, len(body)) - len(unpacker.unused_data), unpacker.eof or room <= 0, room


class Items:
    """The elements with one of the names, ``{"url"}``, whole and in document order.

    Attributes:
        body: The file without gzip, at most 64 MB.
        damaged: How many of its gzip members are damaged.
        slips: How many errors were read over so far, these included.
    """

    def __init__(self, body: bytes, names: Collection[str]) -> None:
        """Unpacks and decodes the file."""
        self.body, self.damaged = unpacked(body)
        encoding = decode(self.body[:SAMPLE_BYTES]).encoding
        self._text = self.body.decode(encoding, "replace")
        self._tags = re.compile(
            _OPAQUE + rf"|<(/?)(?:[\w.-]{{1,40}}:)?(?:{'|'.join(sorted(names))})(?:\s[^<>]*)?>",
            re.S | re.I,
        )
        self._parser = etree.XMLParser(
            recover=True,
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            dtd_validation=False,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
        )
        self.slips = self.damaged

    def __iter__(self) -> Iterator[etree._Element]:
        """Yields the items; one that is not closed ends where the next one begins."""
        begin = -1
        for tag in self._tags.finditer(self._text):
            if tag[1] is None:
                continue
            if begin >= 0:
                yield from self._item(begin, tag.end() if tag[1] else tag.start())
            self.slips += bool(tag[1]) == (begin < 0)
            begin = -1 if tag[1] or tag[0].endswith("/>") else tag.start()
        if begin >= 0:
            self.slips += 1
            yield from self._item(begin, len(self._text))

    def _item(self, begin: int, end: int) -> Iterator[etree._Element]:
        source = self._text[begin : min(end, begin + MAX_ITEM_CHARS)]
        try:
            yield etree.fromstring(_AMPERSAND.sub(self._mended, source), self._parser)
        except etree.XMLSyntaxError:
            self.slips += 1

    def _mended(self, found: re.Match[str]) -> str:
        """A bare ampersand, or a name that only HTML knows, as XML has it."""
        if found[0].startswith("<"):
            return found[0]
        self.slips += 1
        return escape(unescape(found[0]) if found[0].endswith(";") else found[0])


def local_name(element: etree._Element) -> str:
    """The local name of an element; ``""`` for an entity that was not resolved."""
    tag = element.tag
    return re.split("[}:]", tag)[-1].lower() if isinstance(tag, str) else ""


# Sitemaps: the URLs that a site lists for crawlers (https://www.sitemaps.org/protocol.html).
#
# Read without entities, DTD or network; errors are read over and counted. A page of
# news has the date of its publication; the other languages of a page are pages, too.

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
    head = found.body[:512].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not (pages or sitemaps or head.startswith((b"<", b"\xff\xfe", b"\xfe\xff"))):
        return Sitemap(pages=_plain(found.body), slips=found.damaged)
    pages |= {url: None for url in alternates if url not in pages}
    listed = tuple(pages.items())[:MAX_URLS]
    return Sitemap(pages=listed, sitemaps=tuple(sitemaps), slips=found.slips)


def _plain(body: bytes) -> tuple[tuple[str, str | None], ...]:
    """The URLs of a file with one URL a line."""
    found: dict[str, str | None] = {}
    for tried, line in enumerate(_LINE.finditer(decode(body).html)):
        if len(found) >= MAX_URLS or tried >= 4 * MAX_URLS:
            break
        if url := normal_form(line[0]):
            found.setdefault(url, None)
    return tuple(found.items())


# Feeds: the newest pages of a site, as RSS (0.9 to 2.0) or Atom list them; pages name feeds.
#
# A feed is read like a sitemap: without entities, DTD or network, over its errors, in bounded
# memory. Its entries lead to pages; their text is that of the pages, which are fetched anyway.

MAX_ENTRIES = 5_000  # a feed has 10 to 100; longer ones list a whole site
MAX_TITLE_CHARS = 300  # a longer one is the text of its entry
NAMES = frozenset({"rss", "feed", "rdf:RDF"})
DATES = ("updated", "pubdate", "date", "published", "modified")  # the newest first
MOST_NAMED = 5  # of a page
HEAD_CHARS = 100_000  # where a page names its feeds
FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml", "application/rdf+xml"})
_LINK = re.compile(r"<link\s([^<>]{1,2000})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"(?:^|\s)(rel|type|href)\s{0,9}=\s{0,9}(\"[^\"]*\"|'[^']*'|[^\s\"']+)", re.IGNORECASE
)
_SPACE = re.compile(r"\s+")
_TAG = re.compile(r"<[^<>]{0,1000}>")  # titles of RSS are often HTML


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """The entries of a feed.

    Attributes:
        entries: Each URL once, in document order; at most 5,000.
        slips: Errors in the file that were read over.
    """

    entries: tuple[FeedEntry, ...]
    slips: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedEntry:
    """An entry of a feed.

    Attributes:
        url: Of its page, in normal form.
        title: In one line, at most 300 characters.
        lastmod: When the page was changed or published, as written, or None:
            ``Mon, 06 Sep 2024 00:01:00 GMT``, ``2024-09-06T00:01:00Z``.
    """

    url: str
    title: str = ""
    lastmod: str | None = None


def is_feed(body: bytes) -> bool:
    """Whether bytes begin as RSS or Atom does, or with a program's notice and then so."""
    head = body[:4096].removeprefix(b"\xef\xbb\xbf")
    declared = head.find(b"<?xml")
    begin = FEED.match(head, max(declared, 0))
    return begin is not None and begin[1].decode() in NAMES


def named_feeds(html: str, url: str) -> tuple[str, ...]:
    """Returns the feeds that the head of a page names, at most 5; feeds of comments are left out.

    ``<link rel="alternate" type="application/rss+xml" href="/feed">``

    Args:
        html: Source of the page.
        url: URL of the page, which relative URLs are resolved against.
    """
    base = normalize(url)
    found: dict[str, None] = {}
    for link in _LINK.finditer(html, 0, HEAD_CHARS):
        values = {name.lower(): text.strip("\"'") for name, text in _ATTRIBUTE.findall(link[1])}
        is_alternate = "alternate" in values.get("rel", "").lower().split()
        if not is_alternate or values.get("type", "").lower() not in FEED_TYPES:
            continue
        href = values.get("href", "")
        target = resolve(base, unescape(href)) if href else None
        if target and "comment" not in target and len(found) < MOST_NAMED:
            found.setdefault(target, None)
    return tuple(found)


def read_feed(body: bytes, url: str) -> Feed:
    """Reads the entries of a feed.

    Args:
        body: The file, gzipped or not; at most 64 MB of it are read after unpacking.
        url: URL of the file, which relative URLs are resolved against.

    Raises:
        InvalidUrl: ``url`` is no absolute http(s) URL.
    """
    base = normalize(url)
    found: dict[str, FeedEntry] = {}
    items = Items(body, {"item", "entry"})
    for element in items:
        entry = _entry(element, base)
        if entry is not None:
            found.setdefault(entry.url, entry)
        if len(found) >= MAX_ENTRIES:
            break
    return Feed(entries=tuple(found.values()), slips=items.slips)


def _entry(element: etree._Element, base: str) -> FeedEntry | None:
    """The entry of an ``<item>`` or ``<entry>``; None without a usable URL."""
    texts: dict[str, str] = {}
    links: dict[str, str] = {}
    for child in element:
        name = local_name(child)
        if name == "link" and child.get("href"):
            links.setdefault(child.get("rel", "alternate"), child.get("href", ""))
        elif name == "guid" and child.get("isPermaLink", "true") != "true":
            continue
        elif name:
            texts.setdefault(name, (child.text or "").strip())
    for target in (links.get("alternate"), texts.get("link"), texts.get("guid")):
        resolved = resolve(base, target) if target else None
        if resolved:
            title = _SPACE.sub(" ", _TAG.sub("", texts.get("title", "")[: 4 * MAX_TITLE_CHARS]))
            lastmod = next((texts[name] for name in DATES if texts.get(name)), None)
            return FeedEntry(url=resolved, title=title.strip()[:MAX_TITLE_CHARS], lastmod=lastmod)
    return None
