"""Sections: the headings of blocks of links, and the lines that each of them governs.

A heading is a short line with a tag or class name of headings, or with words that head a block of
links. It governs the lines behind it in the smallest part that holds more than the
heading, up to the next heading of its tag. A heading in an empty box governs at most the
box beside it, and nothing where that has a heading of its own: the contents of the empty box are
loaded by a script. A heading that is a label in a row governs its panel (``parts``).

No heading is a button, and a line that stands on a card (``parts``), which belongs to the card and
not to the list. A link without known words, such as the name of a channel, is a
heading except below a heading with words that say more than list: there it may be a short title.

A part whose class or id says that its links are related (``related-posts``) is a section without a
heading. It is of lower rank: a heading around or inside it decides before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.features.lines import (
    SENTENCE_END,
    TEASER_UNITS,
    Lines,
    Sums,
    count_words,
    trim_to,
)
from crawlclean.cleaning.features.parts import (
    Cards,
    find_panels,
    find_row,
    link_kind_of_names,
    related_names,
)
from crawlclean.cleaning.lexicon import (
    by_first_letter,
    find_words,
    hint_of,
    pattern_of,
    word_list,
    word_table,
)
from crawlclean.cleaning.records import VerdictReason

# Words of the headings of blocks of links (相关阅读, Most read), and what each says of its block.
#
# The words are in ``data/link_headings.txt``. Which lines of a page are headings, and what they
# govern, is in ``sections``.

HEADING_CHARS = 40  # longest line that can be a heading
Search = Callable[[str], re.Match[str] | None]
BUTTON = "button"  # the kind of words of buttons, which head nothing
# Kinds that decide for a block, whatever stands beside the heading.
STRONG_KINDS = frozenset(("related", "maybe", "ad", "tag", "search", "author", "links"))
MARKER_CHARS = 16  # longest marker with other text behind it on its line
_EDGES = (
    " \t\r\n\u3000\u00a00123456789!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
    "：；，。、？！【】〖〗[]「」『』《》〈〉（）＜＞｜·•—～…▪■◆●»«›‹“”‘’◎○□★☆▼▲→"
)
_CLAUSE = re.compile(r"[，,。；;？?！!]|点击|請|请|没有|沒有|暂无|暫無")
# 查看更多标签, View all topics: the way to more of what stands above.
_MORE = re.compile(
    r"(?:查看|点击|點擊|加载|載入|浏览|瀏覽|[显顯]示)(?:更多|全部|所有)"
    r"|(?:view|see|show|load) (?:all|more)\b"
)
_IN_WORD = re.compile("(?<=[a-z])(?=[a-z])")  # between two Latin letters
# Least share of known words. A note holds them among others: 推荐中, 举报文章问题, 图片来源.
_KNOWN_SHARE = 0.5


def heading_kind(text: str) -> str:
    """Returns the kind of a heading's words: ``related`` for 相关阅读; ``""`` without.

    Args:
        text: The line, or its first run.
    """
    words = text.lower()
    latin, any_word, hint = _any_word()
    if words.isascii():
        return kind_of_words(words) if latin.search(words) else ""
    if hint.search(words) and any_word.search(words):
        return kind_of_words(words)
    return ""


@lru_cache(maxsize=4096)
def kind_of_words(words: str) -> str:
    """Returns the kind of a lower-case text that ``head_patterns`` find a word in."""
    words = words.strip(_EDGES)
    if len(words) > HEADING_CHARS:
        return ""
    index, ranks, whole = _heading_words()
    if words in whole:
        return whole[words]
    if _MORE.match(words):
        return BUTTON
    if _CLAUSE.search(words):
        return ""
    best = len(ranks)
    kind = ""
    known = 0
    for start, word in find_words(words, index):
        if not _is_word(words, start, start + len(word)):
            continue
        known += len(word)
        rank, named = ranks[word]
        if rank < best:
            best, kind = rank, named
    if kind in STRONG_KINDS:
        return kind
    return kind if known >= _KNOWN_SHARE * len(words) else ""


def head_patterns() -> tuple[Search, Search, Search]:
    """Returns what finds words of headings in a lower-case text: Latin ones, all, a hint of all.

    For loops over all lines, which a call for each line would make twice as long. A text of
    Latin letters has at most ``HEADING_CHARS``, another ``MARKER_CHARS``.
    """
    latin, any_word, hint = (pattern.search for pattern in _any_word())
    return latin, any_word, hint


def _is_word(text: str, start: int, end: int) -> bool:
    """Whether ``text[start:end]`` neither begins nor ends between two Latin letters."""
    return not (_IN_WORD.match(text, start) or _IN_WORD.match(text, end))


@lru_cache(maxsize=1)
def _any_word() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Patterns of all words: in Latin letters, all, and a quick one that excludes most lines."""
    _, ranks, whole = _heading_words()
    words = [*ranks, *whole]
    latin = pattern_of(filter(str.isascii, words)).pattern
    return re.compile(rf"(?<![a-z])(?:{latin})"), pattern_of(words), hint_of(words)


def _compounds(line: str) -> list[str]:
    """The words that a line of the table stands for: 相关阅读, 相關阅读 of ``相关|相關+阅读``."""
    beginnings, plus, ends = line.partition("+")
    if not plus:
        return [line]
    return [begin + end for begin in beginnings.split("|") for end in ends.split("|")]


@lru_cache(maxsize=1)
def _heading_words() -> tuple[
    dict[str, tuple[str, ...]], dict[str, tuple[int, str]], dict[str, str]
]:
    """(words by first letter, word -> (rank, kind), whole heading -> kind)."""
    table = {
        word: kind
        for line, kind in word_table("link_headings").items()
        for word in _compounds(line)
    }
    whole = {word[1:]: kind for word, kind in table.items() if word.startswith("=")}
    parts = [(word, kind) for word, kind in table.items() if not word.startswith("=")]
    ranks = {word: (n, kind) for n, (word, kind) in enumerate(parts)}
    return by_first_letter(ranks), ranks, whole


# Promotions in a body: lines that ask the reader to follow, scan, download or share.
#
# Their words are in ``data/promotions.txt``; only short lines are looked at. A sentence with such
# words in a quotation, or in its middle while the text goes on behind it, tells of them. A box goes
# with its line: the largest part around it that is short and, unless the line is a label of
# advertising, holds no running text. Lines behind a promotion at the end go too, where no sentence
# follows; never those behind a label that says that the text goes on, such as 展开全文. Headings
# such as 延伸阅读 go when the links below them are not in the body (chapter 5 of the link block
# paper, Figure 5-2: blocks of links inside a body).

_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_GAP = ".{0,20}"
_MAX_LEVELS = 6  # parts around a line that may be its box; boxes nest no deeper
_PROMOTION_UNITS = 40  # longest line, and largest box, of a promotion
_PARAGRAPH_UNITS = 30  # shortest line that is surely a paragraph, whatever it ends with
_OUTER_HEADING_UNITS = 14  # longest heading of links that are not in the body
_QUOTES = ("“”", "「」", "『』", "«»", "„“")
_WHOLLY_QUOTED = frozenset((*_QUOTES, '""'))
_TOLD_ENDS = tuple('。.”"」』')  # of a sentence of a text; promotions like to end with !
# Before words that turn to the reader: a sentence or clause begins with them.
_TURN_CHARS = 40  # of a line before such a word that are looked at: a run of marks has no end
_TURNS_TO = re.compile(
    r"(?:^|[.。!?！？:：,，;；、—-])\W*(?:请|請|欢迎|歡迎|please|to|and|or)?\s*$"
)


def drop_promotions(lines: Lines, kept: list[int], container: int) -> list[int]:
    """Removes promotions, their boxes and the lines behind them at the end from the body's lines.

    Args:
        lines: The lines of the page.
        kept: Numbers of the body's lines, growing.
        container: The part of the body; boxes are smaller.
    """
    tree, sums = lines.tree, lines.sums
    last = max(
        (
            line for line in kept
            if lines.worth[line] > 0
            and (
                lines.own[line] >= _PARAGRAPH_UNITS
                or (not lines.linked[line] and lines.texts[line].endswith(_TOLD_ENDS))
            )
            and not promotes(lines.texts[line])
        ),
        default=-1,
    )  # fmt: skip
    promoting = {
        line
        for line in kept
        if lines.own[line] + lines.linked[line] <= _PROMOTION_UNITS
        and promotes(lines.texts[line] or tree.line_text(line), goes_on=line < last)
    }
    bare = _bare_headings(lines, kept)
    promoting |= bare
    if not promoting or len(promoting) == len(kept):
        return kept
    dropped = set(promoting)
    prose = {n for n, worth in enumerate(lines.worth) if worth > 0} - promoting
    for line in promoting:
        of_ads = heading_kind(lines.texts[line]) == "ad"
        box = _box(tree, sums, line, container, set() if of_ads else prose)
        dropped.update(range(tree.block_lines[box], tree.line_end(box)) if box else ())
    onward = _promotion_words()[1]
    end = min(
        (n for n in promoting if n > last >= 0 and _label(lines.texts[n]) not in onward),
        default=len(lines.own),
    )
    lines.cut((n for n in kept if n >= end), VerdictReason.BEHIND_PROMOTION)
    lines.cut(dropped.intersection(kept), VerdictReason.PROMOTION)
    lines.cut(bare, VerdictReason.NO_LINKS_BELOW)
    return [n for n in kept if n not in dropped and n < end]


def _bare_headings(lines: Lines, kept: list[int]) -> set[int]:
    """Finds headings such as 延伸阅读 whose links right below, titles of pages, are not kept."""
    found = set()
    for n, line in enumerate(kept[:-1]):
        below = line + 1
        if (
            kept[n + 1] > below
            and lines.linked[below] > lines.own[below]
            and lines.linked[below] >= TEASER_UNITS
            and lines.own[line] <= _OUTER_HEADING_UNITS
            and heading_kind(lines.texts[line]) == "related"
            and not SENTENCE_END.search(lines.texts[line])
        ):
            found.add(line)
    return found


def _box(tree: Tree, sums: Sums, line: int, container: int, prose: set[int]) -> int:
    """Finds the largest small part around a line without a line of ``prose``; 0 for none."""
    part, box = tree.line_blocks[line], 0
    for _ in range(_MAX_LEVELS):
        is_small = sums.own[part] + sums.linked[part] <= _PROMOTION_UNITS
        if part <= container or not is_small:
            break
        if not prose.isdisjoint(range(tree.block_lines[part], tree.line_end(part))):
            break
        box, part = part, tree.block_parents[part]
    return box


@lru_cache(maxsize=8192)
def promotes(text: str, *, goes_on: bool = False) -> bool:
    """Whether a short line asks to follow, scan or share, or is a label of advertising.

    Args:
        text: The line.
        goes_on: Whether a text goes on behind it.
    """
    labels, onward, inside = _promotion_words()
    text = text.lower()
    match = inside.search(text)
    if match is None:
        return _label(text) in labels | onward
    before = text[: match.start()]
    if before.count('"') % 2 or any(before.count(q[0]) > before.count(q[1]) for q in _QUOTES):
        return text[:1] + text[-1:] in _WHOLLY_QUOTED  # else somebody says so
    return not (
        goes_on and text.endswith(_TOLD_ENDS) and _TURNS_TO.search(before[-_TURN_CHARS:]) is None
    )


def _label(text: str) -> str:
    """The words of a line as they stand in the list."""
    return trim_to(text.lower(), _LETTER_OR_DIGIT)


@lru_cache(maxsize=1)
def _promotion_words() -> tuple[frozenset[str], frozenset[str], re.Pattern[str]]:
    """(whole lines, those that say that the text goes on, pattern of words inside) that promote."""
    words = word_list("promotions")
    inside = by_first_letter(word for word in words if word[0] not in "=>")
    # Alternatives that begin with different letters: one of them is tried at a place.
    pieces = (
        f"{re.escape(first)}(?:{'|'.join(re.escape(word[1:]) for word in found)})"
        for first, found in inside.items()
    )
    return (
        frozenset(word[1:] for word in words if word[0] == "="),
        frozenset(word[1:] for word in words if word[0] == ">"),
        re.compile("|".join(pieces).replace("…", _GAP)),
    )


_HEADING_UNITS = 12  # longest heading of a block of links; a longer line is a title
_TITLE_UNITS = 6  # shorter ones may be the name of a column, which titles hold too
_MAX_LINKS = 2  # a heading and its 更多
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
        # Below a heading that tells more a link without known words may be a short title.
        is_weak = around is None or around.kind in _WEAK_KINDS
        if section.kind or is_weak or links[section.line + 1] == links[section.line]:
            # It ends the sections of headings like it.
            tags = [tree.block_tags[tree.line_blocks[found[m].line]] for m in open_]
            tag = tree.block_tags[tree.line_blocks[section.line]]
            if tag in tags:
                del open_[tags.index(tag) :]
            del open_[: len(open_) - _MAX_DEPTH + 1]
            open_.append(n)
    fill(len(of_line))
    if related := related_names(tree.block_names):
        telling = {n for n, section in enumerate(found) if section.kind not in _WEAK_KINDS}
        for block, names in enumerate(tree.block_names):
            if names not in related or link_kind_of_names(names) != "related":
                continue
            first, end = tree.block_lines[block], tree.line_end(block)
            if headlines[end] > headlines[first] and end - first <= _MAX_NAMED_LINES:
                n = len(found)
                of_line[first:end] = [m if m in telling else n for m in of_line[first:end]]
                found.append(Section("related", -1, first, end, block, names))
    return found, of_line


class _Headings:
    """Finds the headings of a page in order, each with the lines it governs."""

    def __init__(self, tree: Tree, headlines: list[int], links: list[int], cards: Cards) -> None:
        self._tree, self._headlines, self._links, self._cards = tree, headlines, links, cards
        self._line_ends = cards.line_ends
        self._found: list[Section] = []

    def read(self) -> list[Section]:
        """Returns the sections by their first line."""
        tree, links, headlines = self._tree, self._links, self._headlines
        latin, any_word, hint = head_patterns()
        row_end = 0
        for i, start in enumerate(tree.line_starts):
            text, block = tree.texts[start], tree.line_blocks[i]
            if i < row_end or len(text) > 2 * HEADING_CHARS:
                continue
            text = text.strip()
            count = links[i + 1] - links[i]
            is_inline = count > 0 and text[-1] in ":："  # its links stand behind it
            if count > _MAX_LINKS and not is_inline:
                continue
            kind, has_words, is_latin = "", False, text.isascii()
            if len(text) <= (HEADING_CHARS if is_latin else MARKER_CHARS):
                words = text.lower()
                found = latin(words) if is_latin else hint(words) and any_word(words)
                has_words = found is not None
            looks_like_one = tree.block_tags[block] in _TAGS or _is_name_of_heading(
                tree.block_names[block]
            )
            if not has_words and not looks_like_one:
                continue  # most lines
            if has_words:
                kind = kind_of_words(words)
            if not is_inline and kind not in _TELLING and headlines[i + 1] > headlines[i]:
                continue
            if not kind and not looks_like_one:
                continue
            units = count_words(text)
            if kind == BUTTON or units > _HEADING_UNITS:
                continue
            if kind and units >= _TITLE_UNITS and text in tree.title:
                continue  # the page's own title is no marker
            if kind not in _TELLING and self._cards.around(block):
                continue
            row = find_row(tree, i, self._line_ends)
            if row and headlines[self._line_ends[row]] == headlines[i]:
                row_end = self._line_ends[row]
                self._add_labels(row)
            elif is_inline:
                end = max(self._line_ends[block], i + 1)
                self._found.append(Section(kind, i, i, end, block, text, is_inline))
            else:
                end, part = self._scope(i, block, links[i + 1] == links[i])
                if end > i + 1:
                    self._found.append(Section(kind, i, i, end, part, text))
        return sorted(self._found, key=lambda section: section.first)

    def _add_labels(self, row: int) -> None:
        """Adds the sections of a row: each label's panel, or what the strongest label governs."""
        tree = self._tree
        start, end = tree.block_lines[row], self._line_ends[row]
        texts = [tree.line_text(i) for i in range(start, end)]
        kinds = [heading_kind(text).replace(BUTTON, "") for text in texts]
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
