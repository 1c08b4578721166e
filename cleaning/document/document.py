"""The parsed page: its address, its tree, and what head and JSON-LD declare.

Declared values are kept as written, not judged. JSON-LD gives types, headline, authors, date and
site. It is read leniently: a script that is no JSON gives nothing, and only the first 2,000 objects
are read. Comments, lists of other pages and what an article is about are not followed.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from crawlclean.cleaning.document.reader import Follow, parse
from crawlclean.cleaning.document.source import decode
from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.page_warnings import PageWarning, WarningKind
from crawlclean.cleaning.records import Provenance
from crawlclean.cleaning.urls.normal_form import host_of, normalize, page_id as page_id_of, resolve

# The fetched page before parsing: status, headers, and the body decoded to text once.

CUT_SHORT_HEADER = "X-Cut-Short"
"""Added by the spider to a response that ended early: the archive keeps headers, nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawPage:
    """One fetched page, decoded but not parsed.

    Build it with ``from_bytes``; the constructor is for pages that are text already.

    Attributes:
        url: Absolute URL of the response, as fetched.
        host: Lower-case authority without the default port: ``news.example:8080``.
        status: HTTP status, 100-599.
        headers: (name, value) pairs in order, as received.
        fetched_at: End of the response; aware UTC.
        html: The decoded source, whole.
        encoding: Python's name of the charset, such as ``gb18030``.
        referrer: URL of the page that linked here, or None.
        depth: Links from the nearest seed, >= 0.
        provenance: The link that led here, or None outside a crawl.
        warnings: Guessed charset, replaced bytes, a response that was cut short.
    """

    url: str
    host: str
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    fetched_at: datetime
    html: str
    encoding: str
    referrer: str | None = None
    depth: int = 0
    provenance: Provenance | None = None
    warnings: tuple[PageWarning, ...] = ()

    @classmethod
    def from_bytes(
        cls,
        url: str,
        body: bytes,
        content_type: str | None = None,
        fetched_at: datetime | None = None,
        status: int = 200,
        headers: tuple[tuple[str, str], ...] = (),
        referrer: str | None = None,
        depth: int = 0,
        provenance: Provenance | None = None,
    ) -> RawPage:
        """Decodes the body of a response (``document.source``).

        Args:
            url: Absolute http(s) URL.
            body: The response body after content decoding.
            content_type: The Content-Type header; taken from ``headers`` when None.
            fetched_at: Aware datetime; the epoch when None, so that the same bytes always give
                the same record.

        Raises:
            InvalidUrl: ``url`` is no absolute http(s) URL.
            TypeError: ``body`` is text.
        """
        if isinstance(body, str):
            raise TypeError("body is str: give bytes (clean_html takes both)")
        if content_type is None:
            content_type = next((v for k, v in headers if k.lower() == "content-type"), None)
        text = decode(body, content_type)
        is_cut = any(name == CUT_SHORT_HEADER for name, _ in headers)
        cut = (PageWarning(kind=WarningKind.CUT_SHORT),) if is_cut else ()
        return cls(
            url=url,
            host=host_of(url),
            status=status,
            headers=tuple(headers),
            fetched_at=(fetched_at or datetime.fromtimestamp(0, UTC)).astimezone(UTC),
            html=text.html,
            encoding=text.encoding,
            referrer=referrer,
            depth=depth,
            provenance=provenance,
            warnings=text.warnings + cut,
        )

    @property
    def page_id(self) -> str:
        """Key of the page: 32 hex digits of the hash of its URL's normal form."""
        return page_id_of(self.url)


MAX_BASE_CHARS = 2048  # of a base URL, which every relative URL of the page would repeat
_MAX_VALUE_CHARS = 2000  # of a meta that are read: a title or a list of names is shorter
_AUTHOR_NAMES = frozenset(
    ("author", "article:author", "og:article:author", "dc.creator", "byl", "parsely-author")
)
_MAX_OBJECTS = 2000  # of JSON-LD, so that a script of a million objects costs no more
_MAX_CHARS = 500  # of a value of JSON-LD: headlines and lists of names have fewer
# Parts that describe the page itself.
_FOLLOWED = ("@graph", "mainEntity", "mainEntityOfPage")
_ARTICLE_ENDINGS = ("article", "posting", "report")
# Baidu's form of JSON-LD has no types and calls the date pubDate.
_DATE_KEYS = ("datePublished", "pubDate", "dateCreated", "uploadDate")
_NOT_ITS_OWN = frozenset(("breadcrumblist", "imageobject", "person", "comment"))
_WRAPPER = re.compile(
    r"(?://|/\*)?\s{0,4}(?:<!\[CDATA\[|\]\]>)(?:\s{0,4}\*/)?|<!--|(?://)?\s{0,4}-->"
)
_COMMA_AT_END = re.compile(r",(?=\s*+[}\]])")
_DECODER = json.JSONDecoder(strict=False)
_SITE_TYPES = frozenset(("website", "organization", "newsmediaorganization"))


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedData:
    """The values of a page's JSON-LD.

    Attributes:
        types: Lower-case schema.org types of the objects that describe the page: ``newsarticle``.
        headline: Headline of the article, ``""`` without.
        authors: Names of its authors who are persons, as written.
        makers: All names in their place, those of organisations among them.
        published: Date of its publication as written, ``2024-05-01T08:00``; ``""`` without.
        sites: Names of the site and its publisher.
    """

    types: frozenset[str] = frozenset()
    headline: str = ""
    authors: tuple[str, ...] = ()
    makers: tuple[str, ...] = ()
    published: str = ""
    sites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """The values that head and JSON-LD declare.

    Attributes:
        meta: Content of each ``<meta>`` by lower-case name, as in the source (``Tree.metas``).
        authors: Contents of all metas that name an author.
        canonical_url: Absolute canonical URL, or None.
        data: The values of the JSON-LD.
    """

    meta: dict[str, str] = field(default_factory=dict)
    authors: tuple[str, ...] = ()
    canonical_url: str | None = None
    data: LinkedData = field(default_factory=LinkedData)

    def metas(self, *names: str) -> list[str]:
        """The contents of the metas of these names, white space collapsed."""
        meta = self.meta
        return [_collapsed(meta[name]) for name in names if name in meta]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One parsed page.

    Attributes:
        page: The page as fetched: ``page.url``, ``page.host``, ``page.encoding``.
        tree: Its text, blocks, links and pictures.
        base: Absolute URL that relative URLs are resolved against: ``http://news.example/2024/``.
        declared: The values of head and JSON-LD.
        warnings: Capped or guessed input, from decoding and parsing.
        alone: Its links by its own evidence, with the body and the title that they were read for:
            the pages a host is learned from are read twice.
    """

    page: RawPage
    tree: Tree
    base: str
    declared: Declared
    warnings: tuple[PageWarning, ...] = ()
    alone: list[Any] = field(default_factory=list, compare=False, repr=False)


def read_document(page: RawPage, follow: Follow | None = None) -> Document:
    """Parses a page and collects the values it declares.

    Args:
        page: The decoded page.
        follow: Makes a target that sees the parser's events, too (``reader.parse``).

    Raises:
        InvalidUrl: The page's own URL is no absolute http(s) URL.
    """
    tree = parse(page.html, follow=follow)
    base, base_warnings = _base_of(tree, page.url, page.encoding)
    return Document(
        page=page,
        tree=tree,
        base=base,
        declared=read_declared(tree, base, page.encoding),
        warnings=page.warnings + tree.warnings + base_warnings,
    )


def _base_of(tree: Tree, url: str, encoding: str) -> tuple[str, tuple[PageWarning, ...]]:
    """The first ``<base href>`` as an absolute URL, else the page's own URL; and warnings.

    A base of more than 2,048 characters is not used, with a warning.
    """
    for tag, attributes, _ in tree.head:
        href = attributes.get("href") if tag == "base" else None
        if href is not None:
            base = resolve(url, href, encoding) or normalize(url)
            if len(base) <= MAX_BASE_CHARS:
                return base, ()
            detail = Message("long_base", len(base))
            return normalize(url), (PageWarning(kind=WarningKind.LONG_BASE, detail=detail),)
    return normalize(url), ()


def read_declared(tree: Tree, base: str, encoding: str) -> Declared:
    """Collects the values that head and JSON-LD declare.

    Args:
        tree: The parsed page.
        base: Absolute URL that relative URLs are resolved against.
        encoding: Python's name of the page's charset.
    """
    canonical: str | None = None
    for tag, attributes, _ in tree.head:
        if tag == "link" and canonical is None:
            rel, href = attributes.get("rel"), attributes.get("href")
            if rel and href and "canonical" in rel.lower().split():
                canonical = resolve(base, href, encoding)
    meta = tree.metas
    authors = [(name, meta[name]) for name in meta if name in _AUTHOR_NAMES]
    authors += [each for each in tree.more_metas if each[0] in _AUTHOR_NAMES]
    return Declared(
        meta=meta,
        authors=tuple(dict.fromkeys(_collapsed(content) for _, content in authors)),
        canonical_url=canonical,
        data=read_linked_data(tree.scripts.data),
    )


def _collapsed(content: str) -> str:
    return " ".join(content[:_MAX_VALUE_CHARS].split())


def is_article(name: str) -> bool:
    """Whether a lower-case schema.org type is an article or a post: ``newsarticle``."""
    return name.endswith(_ARTICLE_ENDINGS)


def read_linked_data(sources: Iterable[str]) -> LinkedData:
    """Collects the values of all JSON-LD scripts of a page; articles come before other objects."""
    objects = [each for source in sources for each in _objects(source)][:_MAX_OBJECTS]
    if not objects:
        return LinkedData()
    by_id = {each["@id"]: each for each in objects if isinstance(each.get("@id"), str)}
    types = [_types(each) for each in objects]
    # Articles before all other objects.
    order = sorted(range(len(objects)), key=lambda i: not any(map(is_article, types[i])))
    headline = published = ""
    authors: tuple[str, ...] = ()
    makers: tuple[str, ...] = ()
    sites: list[str] = []
    for i in order:
        each = objects[i]
        if types[i] & _SITE_TYPES:
            sites += _names(each, by_id)
            continue
        sites += _names(each.get("publisher"), by_id)
        if types[i] & _NOT_ITS_OWN:
            continue
        if any(map(is_article, types[i])):
            headline = headline or _text(each.get("headline")) or _text(each.get("name"))
        published = published or next(filter(None, map(_text, map(each.get, _DATE_KEYS))), "")
        stated = each.get("author") or each.get("creator")
        each_maker = stated if isinstance(stated, list) else [stated]
        persons = [x for x in each_maker if not isinstance(x, dict) or not _types(x) & _SITE_TYPES]
        authors = authors or tuple(_names(persons, by_id))
        makers = makers or tuple(_names(each_maker, by_id))
    return LinkedData(
        types=frozenset().union(*types),
        headline=headline,
        authors=authors,
        makers=makers,
        published=published,
        sites=tuple(dict.fromkeys(sites)),
    )


def _objects(source: str) -> list[dict[str, Any]]:
    """The objects of a JSON-LD script that describe the page; [] when it is no JSON."""
    # Templates wrap it in CDATA or a comment, and leave a comma behind the last value.
    for text in (source, _COMMA_AT_END.sub("", _WRAPPER.sub("", source))):
        try:
            root = _DECODER.decode(text.strip().strip(";"))
            break
        except (ValueError, RecursionError):
            continue
    else:
        return []
    found: list[dict[str, Any]] = []
    waiting = deque((root,))
    while waiting and len(found) < _MAX_OBJECTS:
        each = waiting.popleft()
        if isinstance(each, list):
            waiting += each[:_MAX_OBJECTS]
        elif isinstance(each, dict):
            found.append(each)
            waiting += [each[key] for key in _FOLLOWED if isinstance(each.get(key), (dict, list))]
    return found


def _types(each: dict[str, Any]) -> frozenset[str]:
    """The lower-case types of an object, without their vocabulary."""
    types = each.get("@type")
    if isinstance(types, str):
        types = [types]
    if not isinstance(types, list):
        return frozenset()
    return frozenset(x.rpartition("/")[2].lower() for x in types if isinstance(x, str))


def _names(value: Any, by_id: dict[str, dict[str, Any]]) -> list[str]:
    """The names of one or several persons or organisations."""
    names: list[Any] = []
    for each in value if isinstance(value, list) else [value]:
        name = each
        if isinstance(each, dict):
            parts = map(_text, map(each.get, ("givenName", "familyName")))
            name = each.get("name") or " ".join(filter(None, parts))
            if not name and isinstance(each.get("@id"), str):
                name = by_id.get(each["@id"], {}).get("name")
        names += name if isinstance(name, list) else [name]
    return [text for name in names if (text := _text(name))]


def _text(value: Any) -> str:
    """A value as text, white space collapsed, at most 500 characters; ``""`` for other types."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return " ".join(value[:_MAX_CHARS].split()) if isinstance(value, str) else ""


# What a page says to robots: ``<meta name=robots>`` and the header ``X-Robots-Tag``.
#
# ``noindex`` asks that the page is not kept, ``nofollow`` that its links are not followed, ``none``
# both. Directives for another robot (``googlebot: noindex``) are not for us. All that are for us
# hold together, as search engines read them.

# Names with a value; before any other colon stands the name of a robot.
VALUED = frozenset(
    ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")
)  # fmt: skip
_NAMED = re.compile(r"\s*+([\w.-]++)\s*+:(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRobots:
    """Whether a page asks not to be kept, and whether it asks that no link of it is followed."""

    is_noindex: bool = False
    is_nofollow: bool = False


def page_robots(document: Document, robot: str) -> PageRobots:
    """Returns what a page says to the robot with this name in lower case, and to all robots."""
    metas = (*document.tree.metas.items(), *document.tree.more_metas)
    said = [content for name, content in metas if name in ("robots", robot)]
    for name, value in document.page.headers:
        if name.lower() == "x-robots-tag":
            named = _NAMED.fullmatch(value)
            if not named or named[1].lower() in VALUED:
                said.append(value)
            elif named[1].lower() == robot:
                said.append(named[2])
    words = set(re.split(r"[\s,;]+", " ".join(said).lower()))
    return PageRobots(
        is_noindex=not words.isdisjoint(("noindex", "none")),
        is_nofollow=not words.isdisjoint(("nofollow", "none")),
    )
