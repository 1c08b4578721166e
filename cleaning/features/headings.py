"""Headings of blocks of links (相关阅读, Most read), their kinds, and the lines they govern.

A heading is a short line with a tag or class name of headings, or with words that head a block
of links (``data/link_headings.txt``). It governs the lines behind it in the smallest part that
holds more than the heading, up to the next heading of its tag and names. A heading in an empty box
governs at most the box beside it, and nothing where that has a heading of its own: the contents of
the empty box are loaded by a script. Lines that repeat belong to the cards of a list, not to the
list.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from cleaning.document.tree import Tree
from cleaning.features.lines import count_words
from cleaning.lexicon import (
    by_first_letter,
    find_words,
    hint_of,
    pattern_of,
    word_table,
)

_HEADING_CHARS = 40  # longest line that can be a heading
_HEADING_UNITS = 12
_TITLE_UNITS = 6  # shorter ones may be the name of a column, which titles hold too
_MARKER_CHARS = 16  # longest marker with other text behind it on its line
_MAX_LINKS = 2  # a heading and its 更多
_MAX_INLINE_LINES = 20  # governed by a heading on the line of its links
_MAX_REPEATS = 3
_MAX_LEVELS = 6
_MAX_DEPTH = 8  # headings within headings
_MAX_SIBLINGS = 8  # empty parts behind an empty box
_TAGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6", "dt", "th", "caption", "legend", "summary"))
_NAMES = re.compile(
    r"(?:^|[\s_-])(?:title|tit|hd|head|header|heading|bt|caption)(?:$|[\s_\d-])"
    r"|[Tt]itle\b|Head(?:er)?\b"
)
_EDGES = (
    " \t\r\n\u3000\u00a00123456789!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
    "：；，。、？！【】〖〗[]「」『』《》〈〉（）＜＞｜·•—～…▪■◆●»«›‹“”‘’◎○□★☆▼▲→"
)
_CLAUSE = re.compile(r"[，,。；;？?！!]|点击|請|请|没有|沒有|暂无|暫無")
_DIGIT = re.compile(r"\d")
_DATE = re.compile(r"\d{1,4}[-/年.月]\d{1,2}")
# Kinds that decide for a block, whatever stands beside the heading.
_STRONG = frozenset(("related", "maybe", "ad", "tag", "search", "author", "links"))
_KNOWN_SHARE = 0.2  # least share of known words in a heading; 图片来源 names a source


@dataclass(slots=True)
class Section:
    """The lines that one heading governs.

    Attributes:
        kind: Kind of its words, a word of ``data/link_headings.txt`` such as ``related``; ``""``
            without.
        line: The line of the heading.
        end: The line behind the last governed one.
        part: The part that bounds it.
        text: The heading.
        is_inline: Whether the links stand on its line, behind a colon.
    """

    kind: str
    line: int
    end: int
    part: int
    text: str
    is_inline: bool


def find_sections(
    tree: Tree, headlines: list[int], links: list[int]
) -> tuple[list[Section], list[int]]:
    """Finds the sections of a page in order, and the innermost one around each line (-1: none).

    Args:
        tree: The page.
        headlines: Running totals by line of links that read like titles; one more than lines.
        links: Running totals by line of links with a text.
    """
    found = _find_headings(tree, headlines, links)
    of_line = [-1] * len(tree.line_starts)
    blocks, tags, names = tree.line_blocks, tree.block_tags, tree.block_names
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
        fill(section.line)
        block = blocks[section.line]
        if open_:
            last = found[open_[-1]]
            if (
                last.line + 1 == section.line
                and last.end >= section.end
                and last.kind in _STRONG
                and section.kind not in _STRONG
            ):
                continue  # tabs and notes beside a heading do not replace it
        for m, other in enumerate(open_):
            before = blocks[found[other].line]
            if found[other].part == section.part or (
                tags[before] == tags[block] and names[before] == names[block]
            ):
                del open_[m:]
                break
        # A heading without a kind that governs one link belongs to the link.
        if section.kind or headlines[section.end] - headlines[section.line] > 1:
            del open_[: len(open_) - _MAX_DEPTH + 1]
            open_.append(n)
    fill(len(of_line))
    return found, of_line


def _find_headings(tree: Tree, headlines: list[int], links: list[int]) -> list[Section]:
    """Finds the headings of a page in order, each with the lines it governs."""
    found: list[Section] = []
    blocks, tags, names = tree.line_blocks, tree.block_tags, tree.block_names
    texts, anchor_of = tree.texts, tree.anchor_of
    seen: dict[str, int] = {}
    starts = [*tree.line_starts, len(texts)]
    latin, any_word, hint = (pattern.search for pattern in _any_word())
    for i, start in enumerate(tree.line_starts):
        text = texts[start]
        if len(text) > 2 * _HEADING_CHARS:
            continue
        text = text.strip()
        count = links[i + 1] - links[i]
        if count > _MAX_LINKS and text[-1] not in ":：":
            continue
        kind = ""
        if len(text) <= (_HEADING_CHARS if text.isascii() else _MARKER_CHARS):
            # ``heading_kind`` without a call for most lines.
            words = text.lower()
            if latin(words) if words.isascii() else hint(words) and any_word(words):
                kind = _kind_of_words(words)
        is_inline = count > 0 and kind in _STRONG and text[-1] in ":：" and anchor_of[start] < 0
        if not is_inline and kind not in ("related", "maybe"):
            if count > _MAX_LINKS or headlines[i + 1] > headlines[i]:
                continue
            if starts[i + 1] > start + 1:
                text = tree.line_text(i)
                kind = heading_kind(text) if len(text) <= _HEADING_CHARS else ""
        elif not is_inline and count > _MAX_LINKS:
            continue
        if not kind and (count or not _looks_like_heading(tags, names, blocks[i])):
            continue
        if not 1 < len(text) <= _HEADING_CHARS or _DATE.search(text):
            continue
        units = count_words(text)
        if units > _HEADING_UNITS or (kind and units >= _TITLE_UNITS and text in tree.title):
            continue  # the page's own title is no marker
        seen[text] = seen.get(text, 0) + 1
        if is_inline:
            part = blocks[i]
            end = tree.line_end(part)
            end = end if i < end <= i + _MAX_INLINE_LINES else i + 1
        else:
            end, part = _scope(tree, i, headlines, links, kind in _STRONG or not count)
        if end > i + 1 or is_inline:
            found.append(Section(kind, i, end, part, text, is_inline))
    return [section for section in found if seen[section.text] <= _MAX_REPEATS]


def _looks_like_heading(tags: list[str], names: list[str], block: int) -> bool:
    return tags[block] in _TAGS or _is_name_of_heading(names[block])


@lru_cache(maxsize=8192)
def _is_name_of_heading(names: str) -> bool:
    return _NAMES.search(names) is not None


def _scope(
    tree: Tree, line: int, headlines: list[int], links: list[int], is_firm: bool
) -> tuple[int, int]:
    """(line behind the last governed one, part that bounds the section)."""
    parents, ends = tree.block_parents, tree.block_ends
    own = part = tree.line_blocks[line]
    for _ in range(_MAX_LEVELS):
        end = tree.line_end(part)
        if part <= 0 or headlines[end] > headlines[line + 1] or end > line + 3:
            return end, part
        if any(after == before for before, after in pairwise(links[line + 1 : end + 1])):
            return end, part  # it governs text without links
        if part != own and end == line + 1 and ends[part] > ends[own]:
            return _beside_empty_box(tree, line, part)
        own, part = part, parents[part]
        if not is_firm and tree.block_lines[part] < line - 1:
            break  # a link in the middle of a menu
    return line, part


def _beside_empty_box(tree: Tree, line: int, box: int) -> tuple[int, int]:
    """The ``_scope`` of a heading in an empty box: the box beside it, if without a heading."""
    ends = tree.block_ends
    end = tree.line_end(box)
    blocks = tree.line_blocks
    for i in range(end, min(end + 2, len(blocks))):
        text = tree.line_text(i)
        if count_words(text) <= _HEADING_UNITS and (
            _looks_like_heading(tree.block_tags, tree.block_names, blocks[i]) or heading_kind(text)
        ):
            return line, box
    beside, stop = ends[box], ends[tree.block_parents[box]]
    for _ in range(_MAX_SIBLINGS):
        if beside >= stop:
            break
        if tree.line_end(beside) > end:
            return tree.line_end(beside), beside
        beside = ends[beside]
    return line, box


def heading_kind(text: str) -> str:
    """Returns the kind of a heading's words: ``related`` for 相关阅读; ``""`` without."""
    words = text.lower()
    latin, any_word, hint = _any_word()
    if words.isascii():
        return _kind_of_words(words) if latin.search(words) else ""
    return _kind_of_words(words) if hint.search(words) and any_word.search(words) else ""


@lru_cache(maxsize=4096)
def _kind_of_words(words: str) -> str:
    words = words.strip(_EDGES)
    if len(words) > _HEADING_CHARS:
        return ""
    index, ranks, whole = _words()
    if words in whole:
        return whole[words]
    if _CLAUSE.search(words):
        return ""
    best = len(ranks)
    kind = ""
    covered = known = 0
    for start, word in find_words(words, index):
        if start < covered:
            continue  # 搜索 of 相关搜索
        if word.isascii() and not _is_word(words, start, start + len(word)):
            continue
        covered = start + len(word)
        known += len(word)
        rank, named = ranks[word]
        if rank < best and (named != "links" or start == 0):  # 诚招合作伙伴 is an offer
            best, kind = rank, named
    if kind in _STRONG:
        return "" if _DIGIT.search(words) else kind
    return kind if known >= _KNOWN_SHARE * len(words) else ""


def _is_word(text: str, start: int, end: int) -> bool:
    """Whether no Latin letter stands beside ``text[start:end]``."""
    around = text[start - 1 : start] + text[end : end + 1] if start else text[end : end + 1]
    return not any("a" <= char <= "z" for char in around)


@lru_cache(maxsize=1)
def _any_word() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Patterns of all words: in Latin letters, all, and a quick one that excludes most lines."""
    _, ranks, whole = _words()
    words = [*ranks, *whole]
    latin = pattern_of(filter(str.isascii, words)).pattern
    return re.compile(rf"(?<![a-z])(?:{latin})"), pattern_of(words), hint_of(words)


@lru_cache(maxsize=1)
def _words() -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[int, str]], dict[str, str]]:
    """(words by first letter, word -> (rank, kind), whole heading -> kind)."""
    table = word_table("link_headings")
    whole = {word[1:]: kind for word, kind in table.items() if word.startswith("=")}
    parts = [(word, kind) for word, kind in table.items() if not word.startswith("=")]
    ranks = {word: (n, kind) for n, (word, kind) in enumerate(parts)}
    return by_first_letter(ranks), ranks, whole
