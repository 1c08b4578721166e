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
_STATES = frozenset(
    ("has", "have", "with", "without", "no", "not", "bg", "background", "color", "colour", "border",
     "shadow")
)  # fmt: skip
_FOOTERS = frozenset(("footer", "foot"))


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
    table = word_table("part_names")
    found_words = _roles(_WORD.findall(name))
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


def _roles(words: list[str]) -> list[str]:
    """The words of a name up to those of what its part has or looks like: ``page-with-sidebar``."""
    for i, word in enumerate(words):
        if word.lower() in _STATES:
            return words[:i]
    return words


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


@lru_cache(maxsize=4096)
def kind_beside(name: str, silent: frozenset[str]) -> PartKind:
    """Returns the kind of one name where some names are no evidence.

    What follows a silent name is read alone: beside ``elementor-widget``, the kind of
    ``elementor-widget-menu`` is that of ``menu``.
    """
    if name in silent:
        return PartKind.PLAIN
    begun = [each for each in silent if name.startswith(each) and not name[len(each)].isalnum()]
    return _kind_of_name(name[max(map(len, begun)) :]) if begun else _kind_of_name(name)


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
