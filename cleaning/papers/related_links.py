"""Paper 1, related links: the link block whose anchor texts share most words with the title.

Source: Wang Fang, Yu Hao, Tan Hongye, Zhao Tiejun: 基于链接分块的相关链接提取方法 (Relation links
extracted approach based on blocking links). Computer Engineering and Applications
(计算机工程与应用), 2006, 42(31), article 1002-8331(2006)31-0110-04.

Equation or rule of the paper                                       Function
2.1      blocks: the source between ``<table>`` tags, linear        ``split_tables``
         our blocks: containers of today's pages, logical blocks    ``split_containers``,
                                                                    ``split_logical``
2.2.1.2  (Len, LT, LU, NUM) of a link                               ``measure_link``
2.2.1.2  rules 1-4                                                  ``score_by_rules``
Fig. 1   the rules as an algorithm, read in two ways                ``score_by_figure``
[10]     the competitor: links behind a start marker                ``marked_links``,
                                                                    ``marked_containers``
2.2.2    the block of the greatest mean NUM is the related one      ``related_links``
3.1      precision, recall, F (eq. 4-6)                             the benchmarks

Readings:

* Len counts bytes, two for a Chinese character: 10 is five characters.
* Rule 1 rejects with more than two short links, rules 2 and 3 with one stop word or stop URL; rule
  4 passes a mean equal to T. The mean is over all links of the block.
* Figure 1 differs (``Reading.FIGURE``): the second short link already rejects, short links count
  neither in Sum nor in Count, and a mean equal to T fails. "Continue" in the figure is read as
  "next block, score 0", or literally as "next link, Sum = 0, Count = 1"
  (``Reading.FIGURE_LITERAL``). A block without counted links scores 0.
* A stop word is a whole anchor text. With ``contains`` it is any part of the text, as printed:
  broad words then reject whole blocks.
* The text's T is .25, Table 2 was made with .30; Table 1 sweeps .25, .29, .30, .32, .35.
* Links around pictures alone are left out, as in the paper. Pages today have no tables: a container
  is the smallest of the usual elements around a link that holds three links with text.
* The paper only names the marker method. Ours takes the links behind a marker up to the first gap
  of ``max_gap`` text units (a date is shorter), or to the end of the first link's container.

Cost: O(n) in the characters of the source and the words of the links.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.lexicon import word_list
from crawlclean.cleaning.papers.link_blocks import (
    Params as LogicalParams,
    SourceLink,
    find_link_blocks,
    find_source_links,
    text_distance,
)
from crawlclean.cleaning.papers.scan import scan_tags, scan_texts

Words = Callable[[str], Iterable[str]]
"""Splits a text into words, such as ``Segmenter.words``."""


class Reading(StrEnum):
    """The followed description: the rules of the text, or Figure 1."""

    RULES = "rules"
    FIGURE = "figure1"
    FIGURE_LITERAL = "figure1_literal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The paper's values.

    Attributes:
        reading: The rules of the text or Figure 1.
        threshold: T of rule 4 (3.2: .25).
        min_bytes: Len below which a link is short (rule 1: 10).
        max_short: Most short links of a block (rule 1: 2).
        contains: Whether a stop word counts inside an anchor text (2.2.1.2).
        stop_words: 相关链接停用词, lower case (the paper's list is not printed).
        stop_urls: 相关链接停用 URL, lower case (2.2.1.2).
        min_word_chars: Shortest word that counts in NUM (the paper: 1).
        max_gap: Text distance that ends the links of a start marker (ours).
    """

    reading: Reading = Reading.RULES
    threshold: float = 0.25
    min_bytes: int = 10
    max_short: int = 2
    contains: bool = False
    stop_words: frozenset[str] = field(default_factory=lambda: word_list("related_stop_words"))
    stop_urls: tuple[str, ...] = ("javascript:", "mailto:", "mail to")
    min_word_chars: int = 1
    max_gap: int = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """(Len, LT, LU, NUM) of one link: length, stop text, stop URL, words shared with the title."""

    len_bytes: int
    is_stop_text: bool
    is_stop_url: bool
    shared_words: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedLinks:
    """The related links of one page.

    Attributes:
        block: Number of the related block; None without one, and for the marker method.
        links: The related links with text, in order.
        scores: Mean NUM of each block, 0 for rejected blocks; () for the marker method.
    """

    block: int | None
    links: tuple[SourceLink, ...]
    scores: tuple[float, ...] = ()


_CONTAINERS = frozenset(("table", "div", "ul", "ol", "dl", "section", "aside"))
_EDGES = " \t\r\n\u3000：:【】[]()（）「」《》<>|·•-—_/▪■◆●»«>…."


def split_tables(html: str) -> list[list[SourceLink]]:
    """Returns the links of each piece of source between two ``<table>`` tags, unnested (2.1)."""
    links = find_source_links(html)
    blocks: list[list[SourceLink]] = []
    depth = start = at = 0
    for tag in scan_tags(html):
        if tag.name not in ("table", "/table"):
            continue
        while at < len(links) and links[at].start < start:
            at += 1
        first = at
        while at < len(links) and links[at].start < tag.start:
            at += 1
        if depth and at > first:
            blocks.append(links[first:at])
        depth = depth + 1 if tag.name == "table" else max(depth - 1, 0)
        start = tag.end
    return blocks


def split_containers(tree: Tree, min_links: int = 3) -> list[list[SourceLink]]:
    """Returns the links of each smallest container with ``min_links`` links with text, in order.

    ``start`` and ``end`` of the links are numbers of runs of the tree.
    """
    found: dict[int, list[SourceLink]] = {}
    for container, link in _contained(tree, min_links):
        if container >= 0:
            found.setdefault(container, []).append(link)
    return [found[block] for block in sorted(found)]


def _contained(tree: Tree, min_links: int) -> list[tuple[int, SourceLink]]:
    """Each link with the block of its container, -1 without one: ``[(12, link)]``."""
    links = [
        SourceLink(
            href=anchor.href,
            text=" ".join(tree.text(anchor.start, anchor.end).split()),
            start=anchor.start,
            end=anchor.end,
        )
        for anchor in tree.anchors
    ]
    counts = [0] * len(tree.block_tags)
    for anchor, link in zip(tree.anchors, links, strict=True):
        counts[anchor.block] += bool(link.text)
    for block in range(len(counts) - 1, 0, -1):
        counts[tree.block_parents[block]] += counts[block]
    around = [-1]
    for block in range(1, len(counts)):
        is_one = tree.block_tags[block] in _CONTAINERS and counts[block] >= min_links
        around.append(block if is_one else around[tree.block_parents[block]])
    return [(around[anchor.block], link) for anchor, link in zip(tree.anchors, links, strict=True)]


def split_logical(html: str, params: LogicalParams | None = None) -> list[list[SourceLink]]:
    """Returns the links of each logical block of a source (``link_blocks``)."""
    links = find_source_links(html)
    return [links[block.first : block.end] for block in find_link_blocks(html, params).blocks]


def _long(words: Iterable[str], params: Params) -> list[str]:
    """The words long enough to count in NUM."""
    return [word for word in words if len(word) >= params.min_word_chars]


def measure_link(
    link: SourceLink, title_words: frozenset[str], words: Words, params: Params
) -> Measures:
    """Returns (Len, LT, LU, NUM) of a link (2.2.1.2)."""
    text = link.text.lower()
    if params.contains:
        is_stop_text = any(word in text for word in params.stop_words)
    else:
        is_stop_text = text.strip(_EDGES) in params.stop_words
    href = link.href.lower()
    return Measures(
        len_bytes=sum(1 if char.isascii() else 2 for char in link.text),
        is_stop_text=is_stop_text,
        is_stop_url=any(part in href for part in params.stop_urls),
        shared_words=len(title_words.intersection(_long(words(link.text), params))),
    )


def score_by_rules(block: Sequence[Measures], params: Params) -> float:
    """Returns the mean NUM of a block; 0 for a block that rules 1-3 reject."""
    short = sum(link.len_bytes < params.min_bytes for link in block)
    if short > params.max_short or any(link.is_stop_text or link.is_stop_url for link in block):
        return 0.0
    return sum(link.shared_words for link in block) / len(block) if block else 0.0


def score_by_figure(block: Sequence[Measures], params: Params) -> float:
    """Returns Sum / Count of a block as in Figure 1."""
    total = count = 0
    had_short = False
    for link in block:
        is_short = link.len_bytes < params.min_bytes
        if link.is_stop_text or link.is_stop_url or (is_short and had_short):
            if params.reading is Reading.FIGURE:
                return 0.0
            total, count = 0, 1
        elif is_short:
            had_short = True
        else:
            total += link.shared_words
            count += 1
    return total / count if count else 0.0


def marked_links(
    html: str, is_marker: Callable[[str], bool], params: Params | None = None
) -> RelatedLinks:
    """Returns the links behind start markers, the method the paper is compared with (table 2).

    Args:
        html: The decoded source.
        is_marker: Whether a line of text is a start marker, such as 相关阅读.
        params: None takes the paper's values.
    """
    params = params or Params()
    found: list[SourceLink] = []
    end = 0
    is_open = False
    for link in find_source_links(html):
        gap = html[end : link.start]
        lines = (line for text in scan_texts(gap) for line in text.split("\n"))
        if any(is_marker(line.strip(_EDGES)) for line in lines if line.strip()):
            is_open = True
        elif is_open and text_distance(gap) >= params.max_gap:
            is_open = False
        if is_open and link.text:
            found.append(link)
        end = link.end
        if is_marker(link.text.strip(_EDGES)):
            is_open = True
            if found and found[-1] is link:
                found.pop()
    return RelatedLinks(block=None, links=tuple(found))


def marked_containers(
    tree: Tree, is_marker: Callable[[str], bool], min_links: int = 3
) -> RelatedLinks:
    """Returns the links behind start markers up to the end of the first link's container.

    Args:
        tree: The page.
        is_marker: Whether a line of text is a start marker, such as 相关阅读.
        min_links: Number of links with text that make a container.
    """
    contained = _contained(tree, min_links)
    starts = [*tree.line_starts, len(tree.texts)]
    found: list[SourceLink] = []
    at = judged = 0  # links, runs
    for line in range(len(tree.line_starts)):
        if not is_marker(tree.line_text(line).strip(_EDGES)):
            continue
        while at < len(contained) and contained[at][1].start < starts[line + 1]:
            at += 1
        if starts[line] < judged or at == len(contained) or contained[at][0] < 0:
            continue
        end = starts[tree.line_end(contained[at][0])]
        while at < len(contained) and contained[at][1].start < end:
            if contained[at][1].text:
                found.append(contained[at][1])
            at += 1
        judged = end
    return RelatedLinks(block=None, links=tuple(found))


def related_links(
    blocks: Iterable[Sequence[SourceLink]],
    title: str,
    words: Words,
    params: Params | None = None,
) -> RelatedLinks:
    """Returns the related links of a page, the block of the greatest mean NUM (2.2.2).

    Args:
        blocks: The link blocks of the page, from any source.
        title: The page's title.
        words: Splits a text into words.
        params: None takes the paper's values.
    """
    params = params or Params()
    is_figure = params.reading is not Reading.RULES
    score = score_by_figure if is_figure else score_by_rules
    title_words = frozenset(_long(words(title), params))
    texts = [[link for link in block if link.text] for block in blocks]
    scores = tuple(
        score([measure_link(link, title_words, words, params) for link in block], params)
        for block in texts
    )
    best = max(range(len(scores)), key=scores.__getitem__, default=None)
    if best is None or scores[best] < params.threshold or not scores[best]:
        return RelatedLinks(block=None, links=(), scores=scores)
    if is_figure and scores[best] == params.threshold:
        return RelatedLinks(block=None, links=(), scores=scores)
    return RelatedLinks(block=best, links=tuple(texts[best]), scores=scores)
