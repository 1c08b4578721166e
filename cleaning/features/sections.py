"""Sections: the headings of blocks of links, and the lines that each of them governs.

A heading is a short line with a tag or class name of headings, or with words that head a block of
links (``headings``). It governs the lines behind it in the smallest part that holds more than the
heading, up to the next heading of its tag. A heading in an empty box governs at most the
box beside it, and nothing where that has a heading of its own: the contents of the empty box are
loaded by a script. A heading that is a label in a row governs its panel (``label_rows``).

No heading is a button, and a line that stands on a card (``cards``), which belongs to the card and
not to the list. A link without known words, such as the name of a channel, is a
heading except below a heading with words that say more than list: there it may be a short title.

A part whose class or id says that its links are related (``related-posts``) is a section without a
heading. It is of lower rank: a heading around or inside it decides before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.features.cards import Cards
from crawlclean.cleaning.features.headings import (
    BUTTON,
    HEADING_CHARS,
    MARKER_CHARS,
    STRONG_KINDS,
    head_patterns,
    heading_kind,
    kind_of_words,
)
from crawlclean.cleaning.features.label_rows import find_panels, find_row
from crawlclean.cleaning.features.lines import count_words
from crawlclean.cleaning.features.parts import link_kind_of_names, related_names

_HEADING_UNITS = 12
_TITLE_UNITS = 6  # shorter ones may be the name of a column, which titles hold too
_MAX_LINKS = 2  # a heading and its 更多
_MAX_LEVELS = 6
_MAX_DEPTH = 8  # headings within headings
_MAX_SIBLINGS = 8  # empty parts behind an empty box
_MAX_NAMED_LINES = 120  # longer parts are columns
_TELLING = STRONG_KINDS - {"ad"}  # kinds of headings that may be long, or stand on a card
_WEAK_KINDS = frozenset(("", "list"))
_TAGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6", "dt", "th", "caption", "legend", "summary"))
_NAMES = re.compile(
    r"(?:^|[\s_-])(?:title|tit|hd|head|header|heading|bt|caption)(?:$|[\s_\d-])"
    r"|[Tt]itle\b|Head(?:er)?\b"
)


@dataclass(slots=True)
class Section:
    """The lines that one heading governs.

    Attributes:
        kind: Kind of its words, a word of ``data/link_headings.txt`` such as ``related``; ``""``
            without.
        line: The line of the heading; -1 where the name of a part stands for one.
        first: The first governed line, the heading's own where links may stand on it.
        end: The line behind the last governed one.
        part: The part that bounds it.
        text: The heading, or the names of the part.
        is_inline: Whether the links stand on its line, behind a colon.
    """

    kind: str
    line: int
    first: int
    end: int
    part: int
    text: str
    is_inline: bool = False


def find_sections(
    tree: Tree, headlines: list[int], links: list[int], cards: Cards
) -> tuple[list[Section], list[int]]:
    """Finds the sections of a page in order, and the innermost one around each line (-1: none).

    Args:
        tree: The page.
        headlines: Running totals by line of links that read like titles; one more than lines.
        links: Running totals by line of links with a text.
        cards: The cards of the page.
    """
    found = _Headings(tree, headlines, links, cards).read()
    named = _named_parts(tree, headlines)
    of_line = [-1] * len(tree.line_starts)
    open_: list[int] = []
    line = 0

    def fill(to: int) -> None:
        nonlocal line
        while line < to:
            while open_ and found[open_[-1]].end <= line:
                open_.pop()
            stop = min(to, found[open_[-1]].end) if open_ else to
            of_line[line:stop] = [open_[-1] if open_ else -1] * (stop - line)
            line = stop

    for n, section in enumerate(found):
        fill(section.first)
        while open_ and found[open_[-1]].end <= section.first:
            open_.pop()
        around = found[open_[-1]] if open_ else None
        if section.kind or around is None or _parts(section, around, links):
            _close(tree, found, open_, section)
            del open_[: len(open_) - _MAX_DEPTH + 1]
            open_.append(n)
    fill(len(of_line))
    if named:
        telling = {n for n, section in enumerate(found) if section.kind not in _WEAK_KINDS}
        for n, section in enumerate(named, len(found)):
            first, end = section.first, section.end
            of_line[first:end] = [m if m in telling else n for m in of_line[first:end]]
        found += named
    return found, of_line


def _parts(section: Section, around: Section, links: list[int]) -> bool:
    """Whether a heading without known words parts a section: one with a telling heading only
    where it is no link, which may be a short title of that section."""
    return around.kind in _WEAK_KINDS or links[section.line + 1] == links[section.line]


def _close(tree: Tree, found: list[Section], open_: list[int], section: Section) -> None:
    """Closes the sections that a heading like theirs ends."""
    blocks, tags = tree.line_blocks, tree.block_tags
    block = blocks[section.line]
    for m, other in enumerate(open_):
        if tags[blocks[found[other].line]] == tags[block]:
            del open_[m:]
            return


def _named_parts(tree: Tree, headlines: list[int]) -> list[Section]:
    """The parts whose names say that they hold related links."""
    related = related_names(tree.block_names)
    found: list[Section] = []
    if not related:
        return found
    for block, names in enumerate(tree.block_names):
        if names not in related or link_kind_of_names(names) != "related":
            continue
        start, end = tree.block_lines[block], tree.line_end(block)
        if headlines[end] > headlines[start] and end - start <= _MAX_NAMED_LINES:
            found.append(Section("related", -1, start, end, block, names))
    return found


class _Headings:
    """Finds the headings of a page in order, each with the lines it governs."""

    def __init__(self, tree: Tree, headlines: list[int], links: list[int], cards: Cards) -> None:
        self._tree, self._headlines, self._links, self._cards = tree, headlines, links, cards
        self._line_ends = cards.line_ends
        self._found: list[Section] = []

    def read(self) -> list[Section]:
        """Returns the sections by their first line."""
        tree, links = self._tree, self._links
        texts, blocks = tree.texts, tree.line_blocks
        latin, any_word, hint = head_patterns()
        row_end = 0
        for i, start in enumerate(tree.line_starts):
            text = texts[start]
            if i < row_end or len(text) > 2 * HEADING_CHARS:
                continue
            text = text.strip()
            count = links[i + 1] - links[i]
            if count > _MAX_LINKS and text[-1] not in ":：":
                continue
            words, has_words = "", False
            is_latin = text.isascii()
            if len(text) <= (HEADING_CHARS if is_latin else MARKER_CHARS):
                words = text.lower()
                found = latin(words) if is_latin else hint(words) and any_word(words)
                has_words = found is not None
            if not has_words and not _looks_like_heading(tree, blocks[i]):
                continue  # most lines
            heading = self._read_line(i, text, words if has_words else "")
            if heading is None:
                continue
            text, kind, is_inline = heading
            row = self._row(i)
            if row:
                row_end = self._line_ends[row]
                self._add_labels(row)
            else:
                self._add(i, text, kind, is_inline)
        return sorted(self._found, key=lambda section: section.first)

    def _read_line(self, i: int, text: str, words: str) -> tuple[str, str, bool] | None:
        """(heading, kind, whether links stand behind it on its line), None for no heading.

        Args:
            i: The line.
            text: Its first run.
            words: That in lower case where it may hold words of headings, else ``""``.
        """
        tree, headlines, links = self._tree, self._headlines, self._links
        block = tree.line_blocks[i]
        count = links[i + 1] - links[i]
        kind = kind_of_words(words) if words else ""
        is_inline = count > 0 and text[-1] in ":："
        if not is_inline and kind not in _TELLING and headlines[i + 1] > headlines[i]:
            return None
        if not kind and not _looks_like_heading(tree, block):
            return None
        units = count_words(text)
        if kind == BUTTON or units > _HEADING_UNITS:
            return None
        if kind and units >= _TITLE_UNITS and text in tree.title:
            return None  # the page's own title is no marker
        if kind not in _TELLING and self._cards.around(block):
            return None
        return text, kind, is_inline

    def _add(self, i: int, text: str, kind: str, is_inline: bool) -> None:
        tree = self._tree
        if is_inline:
            part = tree.line_blocks[i]
            end = self._line_ends[part]
            end = end if i < end else i + 1
        else:
            is_firm = self._links[i + 1] == self._links[i]
            end, part = self._scope(i, tree.line_blocks[i], is_firm)
        if end > i + 1 or is_inline:
            self._found.append(Section(kind, i, i, end, part, text, is_inline))

    def _row(self, i: int) -> int:
        row = find_row(self._tree, i, self._line_ends)
        has_headlines = row and self._headlines[self._line_ends[row]] > self._headlines[i]
        return 0 if has_headlines else row

    def _add_labels(self, row: int) -> None:
        """Adds the sections of a row: each label's panel, or what the strongest label governs."""
        tree = self._tree
        start, end = tree.block_lines[row], self._line_ends[row]
        texts = [tree.line_text(i) for i in range(start, end)]
        kinds = [heading_kind(text) for text in texts]
        kinds = ["" if kind == BUTTON else kind for kind in kinds]
        panels = find_panels(tree, row, len(texts), self._links)
        if panels:
            for i, (text, kind, panel) in enumerate(zip(texts, kinds, panels, strict=True)):
                first, last = tree.block_lines[panel], self._line_ends[panel]
                self._found.append(Section(kind, start + i, first, last, panel, text))
            return
        ranks = [(kind not in STRONG_KINDS, not kind) for kind in kinds]
        n = ranks.index(min(ranks))
        last, part = self._scope(end - 1, row, True)
        if last > end:
            line = start + n
            self._found.append(Section(kinds[n], line, line, last, part, texts[n]))

    def _scope(self, line: int, box: int, is_firm: bool) -> tuple[int, int]:
        """(line behind the last governed one, part that bounds the section).

        Args:
            line: The line of the heading, or the last of a row of labels.
            box: The part of the heading.
            is_firm: Whether it heads a block wherever it stands.
        """
        tree, links, sought = self._tree, self._links, self._headlines
        parents, ends = tree.block_parents, tree.block_ends
        own = part = box
        linked_to = line + 1
        for _ in range(_MAX_LEVELS):
            end = self._line_ends[part]
            if part <= 0 or sought[end] > sought[line + 1]:
                return end, part
            while linked_to < end:
                if links[linked_to + 1] == links[linked_to]:
                    return end, part  # it governs text without links
                linked_to += 1
            if part != own and end == line + 1 and ends[part] > ends[own]:
                return _beside_empty_box(tree, line, part)
            own, part = part, parents[part]
            if not is_firm and tree.block_lines[part] < line - 1:
                break  # a link in the middle of a menu
        return line, part


def _looks_like_heading(tree: Tree, block: int) -> bool:
    return tree.block_tags[block] in _TAGS or _is_name_of_heading(tree.block_names[block])


@lru_cache(maxsize=8192)
def _is_name_of_heading(names: str) -> bool:
    return _NAMES.search(names) is not None


def _beside_empty_box(tree: Tree, line: int, box: int) -> tuple[int, int]:
    """The scope of a heading in an empty box: the box beside it, if without a heading."""
    ends = tree.block_ends
    end = tree.line_end(box)
    for i in range(end, min(end + 2, len(tree.line_starts))):
        if heading_kind(tree.line_text(i)):
            return line, box
    beside, stop = ends[box], ends[tree.block_parents[box]]
    for _ in range(_MAX_SIBLINGS):
        if beside >= stop:
            break
        if tree.line_end(beside) > end:
            return tree.line_end(beside), beside
        beside = ends[beside]
    return line, box
