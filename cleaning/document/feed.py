"""Feeds: the newest pages of a site, as RSS (0.9 to 2.0) or Atom list them; pages name feeds.

A feed is read like a sitemap: without entities, DTD or network, over its errors, in bounded memory.
Its entries lead to pages; their text is that of the pages, which are fetched anyway.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape

from lxml import etree

from crawlclean.cleaning.document.sniffing import FEED
from crawlclean.cleaning.document.xml_items import Items, local_name, unpacked
from crawlclean.cleaning.urls.normal_form import normalize, resolve

MAX_ENTRIES = 5_000  # a feed has 10 to 100; longer ones list a whole site
MAX_TITLE_CHARS = 300
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
    plain, damaged = unpacked(body)
    items = Items(plain, {"item", "entry"})
    for element in items:
        entry = _entry(element, base)
        if entry is not None:
            found.setdefault(entry.url, entry)
        if len(found) >= MAX_ENTRIES:
            break
    return Feed(entries=tuple(found.values()), slips=damaged + items.slips)


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
