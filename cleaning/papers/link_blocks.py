"""Paper 4, logical link blocks: adjacent links with little text or code between them.

Source: chapter 5, "Web 页面逻辑链接块研究" (logical link blocks of web pages), of a dissertation
whose other chapters are not in our copy.

Equation or rule of the chapter                                    Function
5.3  code distance: characters between two links, attributes out   ``code_distance``
5.3  blocks are found in one scan from front to back               ``scan_links``
5.3  text distance: units of text between two links                ``text_distance``
5-1  a block has C_t links or more, every distance is below d_t    ``group_links``,
                                                                   ``find_link_blocks``
5-2  LCR = links in blocks / links of the page                     ``LinkBlocks.lcr``
5-3  CCR = characters of blocks / characters of the page           ``LinkBlocks.ccr``
5.5  text extraction: the text outside the blocks                  ``text_outside``

Readings:

* "At least C_t" in equation 5-1 is "exceeds C_t" in the prose: the equation is followed.
* The distance runs from the ``</a>`` of one link to the ``<a>`` of the next; a link without an end
  tag ends where the next begins. An ``<a>`` without href is no link.
* Code: attributes go, and each run of white space counts one character, else the shape of Figure
  5-6 does not appear. Scripts and comments are code.
* Text: a Chinese, Japanese or Korean character is 1, a word of another script 1, a number 1, a
  date 1, a punctuation mark 1 and a run of one mark 1. A word with digits is a word and a number.
  Scripts, styles and comments are no text.
* Text outside the blocks begins behind ``<body>``; block elements end a line.
* The characters of a block run from its first ``<a`` to its last ``</a>`` in the unchanged source.

Cost: O(n) in the characters of the source, without a tag tree; a page of 100 KB takes about 2 ms.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from html import unescape
from itertools import islice, pairwise

from crawlclean.cleaning.document.tree import BREAK, REGION, ROLES
from crawlclean.cleaning.papers.scan import Tag, scan_tags, scan_texts
from crawlclean.cleaning.records import LinkBlock


class Distance(StrEnum):
    """The measure of the distance between two links (5.3)."""

    TEXT = "text"
    CODE = "code"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The chapter's values.

    Attributes:
        distance: The measure.
        min_links: C_t, fewest links of a block (5.4: 3).
        max_gap: d_t, distance from which two links are apart; None is the chapter's value, 40 for
            text and 80 for code (5.4).
    """

    distance: Distance = Distance.TEXT
    min_links: int = 3
    max_gap: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLink:
    """One hyperlink of a source: href, text, first character, and the character after its last."""

    href: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkBlocks:
    """The blocks of a page in order, with the counts for equations 5-2 and 5-3."""

    blocks: tuple[LinkBlock, ...]
    link_count: int
    char_count: int

    @property
    def lcr(self) -> float:
        """Link coverage rate, 0..1; 0 for a page without links (5-2)."""
        linked = sum(block.end - block.first for block in self.blocks)
        return linked / self.link_count if self.link_count else 0.0

    @property
    def ccr(self) -> float:
        """Code coverage rate, 0..1; 0 for an empty page (5-3)."""
        chars = sum(block.end_char - block.start_char for block in self.blocks)
        return chars / self.char_count if self.char_count else 0.0


_DEFAULT_GAPS = {Distance.TEXT: 40, Distance.CODE: 80}
_CJK = (
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_SPACES = re.compile(r"\s+")
_HREF = re.compile(r"[\s\"'/]href\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]*))", re.I)
_UNIT = re.compile(
    r"\d{4}年\d{1,2}月(?:\d{1,2}[日号])?|\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}月\d{1,2}[日号]"
    rf"|\d+(?:[.,]\d+)*|[{_CJK}]|[^\W\d_{_CJK}]+(?:['’][^\W\d_{_CJK}]+)*|(_|[^\w\s])\2*"
)


def text_distance(source: str, stop: int | None = None) -> int:
    """Counts the text units of a piece of source, up to ``stop`` (5.3, rules 1-5)."""
    units = (unit for text in scan_texts(source) for unit in _UNIT.finditer(text))
    return sum(1 for _ in islice(units, stop))


def code_distance(source: str) -> int:
    """Counts the characters of a piece of source without attributes and extra space (5.3)."""
    count = at = 0
    for tag in scan_tags(source):
        count += _collapsed_chars(source[at : tag.start]) + _bare_chars(source, tag)
        at = tag.end
    return count + _collapsed_chars(source[at:])


def _bare_chars(source: str, tag: Tag) -> int:
    """Characters of a tag without attributes; of a comment, script or style all characters."""
    return len(tag.name) + 2 if tag.name else _collapsed_chars(source[tag.start : tag.end])


def _collapsed_chars(text: str) -> int:
    return len(_SPACES.sub(" ", text))


def find_source_links(html: str) -> list[SourceLink]:
    """Returns the hyperlinks of a source in order, without those in scripts and comments."""
    return scan_links(html, None, 0)[0]


def scan_links(
    html: str, distance: Distance | None, stop: int
) -> tuple[list[SourceLink], list[int]]:
    """Returns the hyperlinks of a source and the distance of each to the next, by one scan.

    Args:
        html: The decoded source.
        distance: The measure; None measures nothing.
        stop: Distances above it need not be exact.
    """
    links: list[SourceLink] = []
    distances: list[int] = []
    is_text, is_code = distance is Distance.TEXT, distance is Distance.CODE
    href: str | None = None
    start = at = gap = 0
    texts: list[str] = []
    for tag in scan_tags(html):
        piece = html[at : tag.start]
        at = tag.end
        if href is not None:
            texts.append(piece)
            if tag.name in ("a", "/a"):
                end = tag.end if tag.name == "/a" else tag.start
                links.append(_link(href, texts, start, end))
                href, gap = None, 0
                texts.clear()
        elif gap < stop:
            if is_text and piece and not piece.isspace():
                gap += sum(1 for _ in islice(_UNIT.finditer(unescape(piece)), stop))
            elif is_code:
                gap += _collapsed_chars(piece)
        is_start = tag.name == "a"
        found = _HREF.search(tag.attributes) if is_start else None
        if found:
            href = unescape(found[1] or found[2] or found[3] or "")
            start = tag.start
            if links:
                distances.append(gap)
        elif is_code and href is None and gap < stop and links and links[-1].end <= tag.start:
            gap += _bare_chars(html, tag)
    if href is not None:
        links.append(_link(href, [*texts, html[at:]], start, len(html)))
    return links, distances


def _link(href: str, texts: Sequence[str], start: int, end: int) -> SourceLink:
    text = " ".join(unescape(" ".join(texts)).split())
    return SourceLink(href=href, text=text, start=start, end=end)


def group_links(
    links: Sequence[SourceLink], distances: Sequence[int], min_links: int, max_gap: int
) -> tuple[LinkBlock, ...]:
    """Groups links with given distances into blocks, in order (5-1)."""
    starts = [0, *(i for i, distance in enumerate(distances, 1) if distance >= max_gap), len(links)]
    return tuple(
        LinkBlock(first=first, end=end, start_char=links[first].start, end_char=links[end - 1].end)
        for first, end in pairwise(starts)
        if end - first >= min_links
    )


def text_outside(html: str, params: Params | None = None) -> str:
    """Returns the text outside a page's link blocks, one line a block element (5.5).

    Args:
        html: The decoded source.
        params: None takes the chapter's values.
    """
    blocks = iter(find_link_blocks(html, params).blocks)
    block = next(blocks, None)
    pieces: list[str] = []
    at = 0
    for tag in scan_tags(html):
        while block and at >= block.end_char:
            block = next(blocks, None)
        if block is None or at < block.start_char:
            pieces.append(unescape(html[at : tag.start]))
        role = ROLES.get(tag.name.removeprefix("/"))
        if role is not None and (role <= REGION or role is BREAK):
            pieces.append("\n")
        if tag.name == "body":
            pieces.clear()
        at = tag.end
    if block is None or at < block.start_char or at >= block.end_char:
        pieces.append(unescape(html[at:]))
    lines = (" ".join(line.split()) for line in "".join(pieces).split("\n"))
    return "\n".join(line for line in lines if line)


def find_link_blocks(html: str, params: Params | None = None) -> LinkBlocks:
    """Returns the logical link blocks of a page by equation 5-1.

    Args:
        html: The decoded source.
        params: None takes the chapter's values.
    """
    params = params or Params()
    most = _DEFAULT_GAPS[params.distance] if params.max_gap is None else params.max_gap
    links, distances = scan_links(html, params.distance, most)
    return LinkBlocks(
        blocks=group_links(links, distances, params.min_links, most),
        link_count=len(links),
        char_count=len(html),
    )
