"""Words of the headings of blocks of links (相关阅读, Most read), and what each says of its block.

The words are in ``data/link_headings.txt``. Which lines of a page are headings, and what they
govern, is in ``sections``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from cleaning.lexicon import (
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
_DIGIT = re.compile(r"\d")
# Least share of known words. A note holds them among others: 推荐中, 举报文章问题, 图片来源.
_KNOWN_SHARE = 0.5
_ENDING_SHARE = 0.2  # where one ends the heading: the last word says what a thing is, 诗人活跃榜


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
    if kind in STRONG_KINDS:
        return kind
    is_last = covered == len(words) and not _DIGIT.search(words)
    least = _ENDING_SHARE if is_last else _KNOWN_SHARE
    return kind if known >= least * len(words) else ""


def head_patterns() -> tuple[Search, Search, Search]:
    """Returns what finds words of headings in a lower-case text: Latin ones, all, a hint of all.

    For loops over all lines, which a call for each line would make twice as long. A text of
    Latin letters has at most ``HEADING_CHARS``, another ``MARKER_CHARS``.
    """
    latin, any_word, hint = (pattern.search for pattern in _any_word())
    return latin, any_word, hint


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
