"""The kind of a part (comments, noise, weak noise, about a user, content) by tag, class and id.

Names are split into words at every change of case, digit and mark (``postSideBar-2``: ``post``,
``Side``, ``Bar``); the words are looked up in ``data/part_names.txt``. What a part has or looks
like (``with-ads``, ``bg-secondary``) does not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import IntEnum
from functools import lru_cache
from itertools import islice, takewhile

from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.features.lines import TEASER_UNITS, Lines
from crawlclean.cleaning.lexicon import word_table

_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_RELATED_ROOTS = ("relat", "similar", "xg", "also", "reading", "article")  # one in every phrase


class PartKind(IntEnum):
    """The kind of a part by its names; the greater is the stronger evidence against it."""

    PLAIN = 0
    USER = 1
    WEAK = 2
    NOISE = 3
    COMMENT = 4


_KINDS = {
    "user": PartKind.USER,
    "quote": PartKind.USER,
    "weak": PartKind.WEAK,
    "noise": PartKind.NOISE,
    "comment": PartKind.COMMENT,
}
TAG_KINDS = {
    "nav": PartKind.NOISE,
    "footer": PartKind.NOISE,
    "dialog": PartKind.NOISE,
    "aside": PartKind.WEAK,
    "button": PartKind.WEAK,
    "form": PartKind.WEAK,
}
# Tags that hold a page's body whatever their names are.
NEVER_NOISE = frozenset(("html", "body", "main", "article"))
# What a user wrote in a thread; a signature's content is none.
_USER_TEXTS = [["user", "content"], ["user", "text"], ["user", "body"]]
_OF_SCRIPTS = ("js-", "js_")  # what a script does with a part says nothing about the part
_STATES = frozenset(
    ("has", "have", "with", "without", "no", "not", "bg", "background", "color", "colour", "border",
     "shadow")
)  # fmt: skip
_FOOTERS = frozenset(("footer", "foot"))
_CAPTIONS = re.compile(
    r"caption|(?:pic|img|image|photo|pict)[-_]?(?:text|txt|desc|info|note|tit|intro|word)"
    r"|tushuo|tuzhu|zhaiyao-?pic|legend\b|cutline",
    re.I,
)
_CAPTION_LEVELS = 4  # parts around a line of a caption: a paragraph, a box of its layout


def kind_of_part(tag: str, names: str) -> PartKind:
    """Returns the kind of a part by its tag and its names: ``("div", "sidebar p2")`` is NOISE.

    Args:
        tag: Lower-case tag.
        names: Class and id, separated by spaces.
    """
    return max(TAG_KINDS.get(tag, PartKind.PLAIN), kind_of_names(names))


@lru_cache(maxsize=8192)
def kind_of_names(names: str) -> PartKind:
    """Returns the kind of a part by class and id alone."""
    if _evidence_words().isdisjoint(map(str.lower, _WORD.findall(names))):
        return PartKind.PLAIN  # the common case
    parts = names.split()
    if not _FOOTERS.isdisjoint(map(str.lower, parts)):
        return PartKind.NOISE
    return max(map(_kind_of_name, parts))


def _kind_of_name(name: str) -> PartKind:
    if name[:3].lower() in _OF_SCRIPTS:
        return PartKind.PLAIN
    table = word_table("part_names")
    # Up to those of what a part has or looks like: ``page-with-sidebar``.
    found_words = [*takewhile(lambda word: word.lower() not in _STATES, _WORD.findall(name))]
    words = [table.get(word.lower(), "") for word in found_words]
    is_content = "content" in words
    if words and words[0] == "edge":
        words[0] = "weak"
    kind = PartKind.PLAIN
    for word in words:
        found = _KINDS.get(word, kind)
        if found > kind and not (found is PartKind.WEAK and is_content):
            kind = found
    if kind is PartKind.USER and [word.lower() for word in found_words[-2:]] in _USER_TEXTS:
        return PartKind.PLAIN
    return kind


@lru_cache(maxsize=8192)
def telling_names(names: str) -> tuple[tuple[str, PartKind], ...]:
    """Returns the names that are evidence against a part, without digits, each with its kind.

    ``("post has-profile p58028")`` gives ``(("has-profile", USER),)``.
    """
    found = []
    for name in names.split():
        is_footer = name.lower() in _FOOTERS
        kind = PartKind.NOISE if is_footer else _kind_of_name(name)
        if kind:
            found.append((_DIGITS.sub("", name), kind))
    return tuple(found)


def is_caption(tree: Tree, block: int, outermost: int = 1) -> bool:
    """Whether a part is or lies in the caption of a picture, by a tag or name of captions.

    Args:
        tree: The page.
        block: The part.
        outermost: The part that the caption is or lies in.
    """
    for _ in range(_CAPTION_LEVELS):
        if block < outermost:
            return False
        if tree.block_tags[block] == "figcaption" or _CAPTIONS.search(tree.block_names[block]):
            return True
        block = tree.block_parents[block]
    return False


@lru_cache(maxsize=4096)
def is_quote(names: str) -> bool:
    """Whether the names of a part mark a quote of another post: ``quote``."""
    table = word_table("part_names")
    return any(table.get(word.lower()) == "quote" for word in _WORD.findall(names))


@lru_cache(maxsize=1)
def _evidence_words() -> frozenset[str]:
    """The words of ``part_names`` that are evidence against a part, and of footers."""
    table = word_table("part_names")
    return _FOOTERS.union(word for word, kind in table.items() if kind != "content")


@lru_cache(maxsize=8192)
def link_kind_of_names(names: str) -> str:
    """Returns what class and id say of the links of a part: ``related`` of ``box relatedPosts``.

    The kinds are those of ``data/link_headings.txt``, the words are in
    ``data/link_part_names.txt``; ``""`` without one.
    """
    plain = f" {' '.join(_WORD.findall(names)).lower()} "
    for phrase, kind in _link_phrases():
        if phrase in plain:
            return kind
    return ""


def related_names(names: Iterable[str]) -> frozenset[str]:
    """Returns those of a page's classes and ids that may say ``related``; mostly none."""
    names = set(names)
    page = "\n".join(names).lower()  # one search for all: most roots occur in no name
    found = [each for root, each in _related_words() if root in page and each.search(page)]
    if not found:
        return frozenset()
    return frozenset(each for each in names if any(words.search(each.lower()) for words in found))


@lru_cache(maxsize=1)
def _related_words() -> list[tuple[str, re.Pattern[str]]]:
    """(root, pattern of the phrases for related links with that root)."""
    phrases = [words for words, kind in word_table("link_part_names").items() if kind == "related"]
    by_root: dict[str, list[str]] = {}
    for phrase in phrases:
        if not any(other in phrase for other in phrases if other != phrase):
            root = next(root for root in _RELATED_ROOTS if root in phrase)
            by_root.setdefault(root, []).append(r"[\s\d_-]*".join(phrase.split()))
    return [(root, re.compile("|".join(words))) for root, words in by_root.items()]


@lru_cache(maxsize=1)
def _link_phrases() -> list[tuple[str, str]]:
    return [(f" {words} ", kind) for words, kind in word_table("link_part_names").items()]


# Rows of labels, as tabs are, and the panels that the labels govern by their place.
#
# A *row* is a part with several short texts, each in a part of its own with the same tag; at most
# one leads to a page (更多). With as many parts of one shape behind the row as it has labels, each
# label governs the part of its place, shown or hidden. Else the strongest label governs what stands
# behind the row, and the others are notes and buttons (换一换).

_MAX_LABELS = 12  # in a row; a longer one is a menu
_MAX_LEVELS = 3  # parts around a row that hold nothing else
_BUTTONS = frozenset(("button",))
_LEAST_LINKS = 2  # of a panel; the items of a list are none
_NO_PAGE = ("#", "javascript:")


def find_row(tree: Tree, line: int, line_ends: list[int]) -> int:
    """Returns the part with a row of labels that a line is the first of; 0 without one.

    Args:
        tree: The page.
        line: The line of a heading.
        line_ends: The line behind the last of each block.
    """
    parents, starts = tree.block_parents, tree.block_lines
    cell = tree.line_blocks[line]
    row = parents[cell]
    while row > 0 and line_ends[row] == line + 1 and starts[row] == line:
        cell, row = row, parents[row]
    if row <= 0:
        return 0
    end = line_ends[row]
    if not 1 < end - line <= _MAX_LABELS:
        return 0
    cells = [child for child in tree.children(row) if line_ends[child] > starts[child]]
    if len(cells) < end - line or len({tree.block_tags[child] for child in cells} - _BUTTONS) > 1:
        return 0
    pages = sum(tree.anchor_of[tree.line_starts[i]] >= 0 for i in range(line, end))
    return row if pages <= 1 else 0


def find_panels(tree: Tree, row: int, count: int, links: list[int]) -> list[int]:
    """Returns the parts behind a row, or inside the part behind it, where there are ``count``."""
    behind = _behind(tree, row, count)
    if not behind:
        return []
    for parts in (behind, list(tree.children(behind[0]))):
        if len(parts) == count and len({_shape(tree, part) for part in parts}) == 1:
            found = [links[tree.line_end(part)] - links[tree.block_lines[part]] for part in parts]
            if all(n >= _LEAST_LINKS for n in found):
                return parts
    return []


def _behind(tree: Tree, row: int, count: int) -> list[int]:
    """The first parts behind a row, or behind the parts that hold nothing else."""
    ends, parents = tree.block_ends, tree.block_parents
    for _ in range(_MAX_LEVELS):
        around = parents[row]
        behind: list[int] = []
        block = ends[row]
        while block < ends[around] and len(behind) < count:
            behind.append(block)
            block = ends[block]
        if behind or row <= 0:
            return behind
        row = around
    return []


def _shape(tree: Tree, part: int) -> tuple[str, str]:
    """(tag, first name without digits) of a part."""
    name = tree.block_names[part].partition(" ")[0]
    return tree.block_tags[part], name.rstrip("0123456789")


# Cards: parts side by side that hold one title each, with what stands on them.
#
# A *card* shows another page in a list: its title, and beside it a picture, an abstract, an author,
# a channel, a date, counters. It is the largest part around a title that holds no other title, and
# at least three such parts with the same tag stand in one part, none of them with nearly all the
# links of all, as the main column of a page has. What is on a card describes the page of its title,
# whatever its words are: 新闻 on a card is the channel of a story, no menu, and 专栏 no heading of
# a list.

_LEAST = 3  # cards in a list
_MAX_SHARE = 0.8  # of the links of all cards on one of them; a column of a page has more
_MAX_SEEN = 40  # parts of a list that are looked at


class Cards:
    """The cards of a page, found where they are asked for.

    Attributes:
        line_ends: The line behind the last of each block.

    Args:
        tree: The page.
        line_ends: As the attribute.
        titles: Running totals by line of titles; titles of one URL in a row count once.
        links: Running totals by line of links with a text.
    """

    def __init__(
        self, tree: Tree, line_ends: list[int], titles: list[int], links: list[int]
    ) -> None:
        self._tree, self.line_ends = tree, line_ends
        self._titles, self._links = titles, links
        self._known = {0: 0}
        self._has_any = titles[-1] >= _LEAST
        self._is_repeated: dict[tuple[int, str], bool] = {}

    def around(self, block: int) -> int:
        """Returns the card a block lies in or is; 0 where it is on none."""
        known = self._known
        if not self._has_any or block in known:
            return known.get(block, 0)
        parents, starts = self._tree.block_parents, self._tree.block_lines
        titles, ends = self._titles, self.line_ends
        path = []
        here = titles[ends[block]] - titles[starts[block]]
        while block not in known:
            path.append(block)
            parent = parents[block]
            around = titles[ends[parent]] - titles[starts[parent]]
            if around > 1:  # the block is the largest with one title, or with none
                known[block] = self._card(block) if here == 1 else 0
                break
            block, here = parent, around
        found = known[block]
        for each in path:
            known[each] = found
        return found

    def _card(self, block: int) -> int:
        """The largest part with one title if others stand beside it, else 0."""
        tree, titles, links, ends = self._tree, self._titles, self._links, self.line_ends
        tags, starts = tree.block_tags, tree.block_lines
        key = tree.block_parents[block], tags[block]
        if key not in self._is_repeated:
            sizes = [
                links[ends[child]] - links[starts[child]]
                for child in islice(tree.children(key[0]), _MAX_SEEN)
                if tags[child] == key[1] and titles[ends[child]] - titles[starts[child]] == 1
            ]
            # One with nearly all links is a column of the page.
            are_cards = len(sizes) >= _LEAST and max(sizes) <= _MAX_SHARE * sum(sizes)
            self._is_repeated[key] = are_cards
        return block if self._is_repeated[key] else 0


# Teasers of other pages: like parts side by side, each small and with a linked title.

_CARD_UNITS = 250  # largest part that can be a teaser of another page
_MIN_CARDS = 3  # fewest like parts side by side that are a list of teasers
_CARD_TEXT_TAGS = frozenset(("tr", "td", "p", "blockquote"))  # texts are written in them


def find_cards(lines: Lines) -> set[int]:
    """Finds teasers of other pages: like parts side by side, each small and with a linked title.

    Rows, cells and paragraphs are no cards: texts are written in them. Nor are sections that each
    end with one button.
    """
    tree, sums = lines.tree, lines.sums
    own, linked, teases = sums.own, sums.linked, sums.teases
    tags, parents = tree.block_tags, tree.block_parents
    small: dict[int, int] = {}
    for block, is_teaser in enumerate(teases):
        if is_teaser and block and own[block] + linked[block] < _CARD_UNITS:
            parent = parents[block]
            small[parent] = small.get(parent, 0) + 1
    cards: set[int] = set()
    for parent, count in small.items():
        if count < _MIN_CARDS:
            continue
        groups: dict[tuple[str, str], list[int]] = {}
        for child in tree.children(parent):
            tag = tags[child]
            if tag not in _CARD_TEXT_TAGS:
                kind = tree.block_names[child].partition(" ")[0] if tag == "div" else ""
                groups.setdefault((tag, kind), []).append(child)
        for group in groups.values():
            if len(group) < _MIN_CARDS:
                continue
            linking = [
                part for part in group
                if linked[part] and own[part] + linked[part] < _CARD_UNITS
            ]  # fmt: skip
            teasing = [part for part in linking if teases[part]]
            # Nearly all of them, and most of these with a title.
            if (
                len(linking) >= 0.8 * len(group)
                and 10 * len(teasing) >= 7 * len(linking)
                and (tags[group[0]] == "article" or _differ(lines, teasing))
                and not _end_with_links(lines, teasing)
            ):
                cards.update(group)
    return cards


def _differ(lines: Lines, teasing: list[int]) -> bool:
    """Whether parts link to different titles; equal words in each are a button."""
    tree = lines.tree
    first = ""
    for part in teasing:
        for i in range(tree.block_lines[part], tree.line_end(part)):
            links = lines.linked[i]
            if links >= TEASER_UNITS and links >= lines.own[i] and leads_away(tree, i):
                text = tree.line_text(i)
                if first and text != first:
                    return True
                first = text
    return False


def _end_with_links(lines: Lines, teasing: list[int]) -> bool:
    """Whether most parts have text before their first link: it is a button, and no title."""
    tree = lines.tree
    count = 0
    for part in teasing:
        for i in range(tree.block_lines[part], tree.line_end(part)):
            if lines.worth[i] > 0 and tree.block_tags[tree.line_blocks[i]] not in TAG_KINDS:
                count += 1
                break
            if lines.linked[i] >= TEASER_UNITS and lines.linked[i] >= lines.own[i]:
                break
    return 2 * count > len(teasing)


def leads_away(tree: Tree, line: int) -> bool:
    """Returns whether a line has a link that leads away; one that unfolds a text stays here."""
    last = -1
    for run in range(*tree.line_runs(line)):
        anchor = tree.anchor_of[run]
        if anchor != last:
            last = anchor
            href = tree.anchors[anchor].href.strip() if anchor >= 0 else ""
            if href and not href.startswith(("#", "javascript:")):
                return True
    return False
