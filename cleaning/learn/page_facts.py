"""What one fetched page says about the class of its URL."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass

from cleaning.extract.lines import weigh_lines
from cleaning.extract.params import Params
from cleaning.extract.title_line import plain_title
from cleaning.records import Link, PageKind, RawPage
from cleaning.source.tree import Tree
from cleaning.source.urls import normalize

MAX_LINES = 64
LEAST_UNITS = 6.0  # of a line that tells one page from another
MAX_LINKS = 200
MAX_TEXT_CHARS = 80

_PASSWORD = re.compile(r"type\s{0,4}=\s{0,4}[\"']?password", re.I)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class PageFacts:
    """What one fetched page says about the class of its URL.

    Attributes:
        url: Its address in normal form.
        kind: What the page alone looks like.
        title: Letters and digits of its title.
        lines: Its longest lines of text outside links: number of the text, units; longest first.
        links: On-host pages it links to, with the anchor text.
        canonical_url: What it says its address is, ``""`` when that is its own.
        moved_to: Where the server redirected to instead of answering, else ``""``.
        has_password: Whether it asks for a password.
    """

    url: str
    kind: PageKind = PageKind.OTHER
    title: str = ""
    lines: tuple[tuple[int, float], ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    canonical_url: str = ""
    moved_to: str = ""
    has_password: bool = False


def facts_of(
    page: RawPage,
    tree: Tree,
    links: Iterable[Link],
    kind: PageKind,
    title: str = "",
    canonical_url: str | None = None,
) -> PageFacts:
    """The facts of a page.

    Args:
        page: The page, decoded.
        tree: The same, parsed.
        links: Its links.
        kind: What it looks like alone.
        title: Its title.
        canonical_url: What it says its address is, or None.
    """
    url = normalize(page.url)
    lines = weigh_lines(tree, Params())
    said: dict[int, float] = {}
    for text, own, linked in zip(lines.texts, lines.own, lines.linked, strict=True):
        if own >= LEAST_UNITS and own > linked:
            said[zlib.crc32("".join(text.split()).encode("utf-8", "replace"))] = round(own, 1)
    longest = sorted(said.items(), key=lambda line: (-line[1], line[0]))[:MAX_LINES]
    base = url[: url.find("/", url.find("//") + 2) + 1]
    texts: dict[str, str] = {}
    for link in links:
        if link.url.startswith(base) and len(link.text) > len(texts.get(link.url, "")):
            texts[link.url] = link.text[:MAX_TEXT_CHARS]
    canonical = normalize(canonical_url) if canonical_url else url
    return PageFacts(
        url=url,
        kind=kind,
        title=plain_title(title),
        lines=tuple(longest),
        links=tuple(sorted(texts.items(), key=_order)[:MAX_LINKS]),
        canonical_url=canonical if canonical != url and canonical.startswith(base) else "",
        has_password=bool(_PASSWORD.search(page.html)),
    )


def _order(link: tuple[str, str]) -> tuple[int, tuple[str, str]]:
    return zlib.crc32(link[0].encode()), link
