"""Words of the headings of blocks of links (相关阅读, Most read), and what each says of its block.

The words are in ``data/link_headings.txt``. Which lines of a page are headings, and what they
govern, is in ``sections``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from crawlclean.cleaning.lexicon import (
    by_first_letter,
    find_words,
    hint_of,
    pattern_of,
    word_table,
)

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
    index, ranks, whole = _words()
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
    _, ranks, whole = _words()
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
def _words() -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[int, str]], dict[str, str]]:
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
