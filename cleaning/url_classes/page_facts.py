"""What one fetched page says about the class of its URL."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass

from cleaning.document.raw_page import RawPage
from cleaning.document.tree import Tree
from cleaning.features.lines import count_units, count_words, plain_title
from cleaning.records import CleanRecord, Link, PageKind
from cleaning.urls.normal_form import normalize

MAX_LINES = 64
LEAST_UNITS = 6.0  # of a line that tells one page from another
MAX_LINKS = 200
MAX_TEXT_CHARS = 80

# ``type = "password"``; begins with the mark, which ``re`` finds seven times as quickly.
_PASSWORD = re.compile(
    r"=(?=\s{0,4}[\"']?password)"
    r"(?:(?<=type=)|(?<=type\s=)|(?<=type\s\s=)|(?<=type\s\s\s=)|(?<=type\s\s\s\s=))",
    re.I,
)


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
    units: tuple[list[float], list[float]] | None = None,
) -> PageFacts:
    """The facts of a page.

    Args:
        page: The page, decoded.
        tree: The same, parsed.
        links: Its links.
        kind: What it looks like alone.
        title: Its title.
        canonical_url: What it says its address is, or None.
        units: Own and linked units of each line, where they are known.
    """
    url = normalize(page.url)
    counted = enumerate(zip(*(units or count_units(tree)), strict=True))
    return PageFacts(
        url=url,
        kind=kind,
        title=plain_title(title),
        lines=_longest(
            (tree.line_text(i), own)
            for i, (own, linked) in counted
            if own > linked and own >= LEAST_UNITS
        ),
        links=_texts(url, links),
        canonical_url=_canonical(url, canonical_url),
        has_password=bool(_PASSWORD.search(page.html)),
    )


def facts_of_record(record: CleanRecord) -> PageFacts:
    """The facts of a page whose source is gone: less sure, for a body is all that is left of it."""
    url = normalize(record.url)
    anchors = {link.text for link in record.links}
    lines = [line for line in record.body.splitlines() if line not in anchors]
    return PageFacts(
        url=url,
        kind=record.kind,
        title=plain_title(record.title),
        lines=_longest((line, count_words(line)) for line in lines),
        links=_texts(url, record.links),
        canonical_url=_canonical(url, record.canonical_url),
    )


def _longest(lines: Iterable[tuple[str, float]]) -> tuple[tuple[int, float], ...]:
    said: dict[int, float] = {}
    for text, units in lines:
        if units >= LEAST_UNITS:
            said[zlib.crc32("".join(text.split()).encode("utf-8", "replace"))] = round(units, 1)
    return tuple(sorted(said.items(), key=lambda line: (-line[1], line[0]))[:MAX_LINES])


def _texts(url: str, links: Iterable[Link]) -> tuple[tuple[str, str], ...]:
    base = _base(url)
    found = {
        (link.url, link.text[:MAX_TEXT_CHARS])
        for link in links
        if link.text and link.url.startswith(base)
    }
    return tuple(sorted(found, key=_order)[:MAX_LINKS])


def _canonical(url: str, canonical_url: str | None) -> str:
    canonical = normalize(canonical_url) if canonical_url else url
    return canonical if canonical != url and canonical.startswith(_base(url)) else ""


def _base(url: str) -> str:
    return url[: url.find("/", url.find("//") + 2) + 1]


def _order(link: tuple[str, str]) -> tuple[int, tuple[str, str]]:
    return zlib.crc32(link[0].encode()), link
