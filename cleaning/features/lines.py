"""The worth of a page's lines: running text is worth its words, links cost theirs.

The principle is paper 2's (text between links against links), taken line by line: a line of more
linked than own words is navigation and costs what it holds; a line that reads like sentences (long
enough, with punctuation) is worth its own words; every other line is nearly neutral. Two kinds of
running text are not the body's and are worth nothing: what a site says about its rights, and short
lines about the body (source, time, buttons). Code is text, however short its lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from cleaning.document.tree import Tree
from cleaning.features.params import Params
from cleaning.lexicon import pattern_of, word_list

# Marks inside and at the end of sentences, also Arabic, Urdu and Devanagari ones.
_MARKS = re.compile(r"[。！？；，、：,.!?;:…”\"』」）)،؛؟۔।॥]")
_LEAST_WORDS = 2
_META_COST = 8  # words about the body for one of it
_DATE = re.compile(r"\d{4}\s*[-/年.]\s*\d{1,2}\s*[-/月.]\s*\d{1,2}")


@dataclass(slots=True)
class Lines:
    """The lines of a tree; the lists run in parallel.

    Attributes:
        texts: White space collapsed; ``""`` for a line of links, see ``Tree.line_text``.
        own: Units outside links.
        linked: Units inside links.
        worth: Positive for running text.
    """

    texts: list[str]
    own: list[float]
    linked: list[float]
    worth: list[float]


def count_words(text: str) -> float:
    """Units of a text, estimated by its bytes: exact for one script, close for mixed text."""
    words = text.split()
    # A source's indentation is no text.
    return len(words) if text.isascii() else _estimate(" ".join(words), len(words))


def _estimate(text: str, words: int) -> float:
    """Units of a text of so many words, white space collapsed."""
    # Of a text in UTF-8, a CJK character takes two bytes more than one of ASCII.
    extra = len(text.encode("utf-8", "replace")) - len(text)
    if extra <= len(text):
        return words
    wide = extra / 2
    return wide + (len(text) - wide) / 6


def count_units(tree: Tree, texts: list[str] | None = None) -> tuple[list[float], list[float]]:
    """Own and linked units of each line.

    Args:
        tree: The page.
        texts: Where the runs outside links are put with white space collapsed, ``""`` for others.
    """
    own = [0.0] * len(tree.line_starts)
    linked = [0.0] * len(tree.line_starts)
    plain = [] if texts is None else texts
    for text, anchor, line in zip(tree.texts, tree.anchor_of, tree.line_of, strict=True):
        words = text.split()
        units: float = len(words)
        if anchor < 0:
            text = " ".join(words)
            plain.append(text)
            if not text.isascii():
                units = _estimate(text, len(words))
            own[line] += units
        else:
            if not text.isascii():
                units = _estimate(" ".join(words), len(words))
            plain.append("")
            linked[line] += units
    return own, linked


def weigh_lines(tree: Tree, params: Params) -> Lines:
    """Own and linked units and the worth of each line."""
    plain: list[str] = []
    own, linked = count_units(tree, plain)
    count = len(own)
    runs, starts = tree.texts, [*tree.line_starts, len(tree.texts)]
    texts = [""] * count
    worth = [params.plain_worth] * count
    chinese, english = _disclaimers()
    for i in range(count):
        mine = own[i]
        links = linked[i]
        if links > mine:
            worth[i] = -links - 1
            continue
        start, end = starts[i], starts[i + 1]
        text = plain[start] if end - start == 1 else ""
        texts[i] = text = text or " ".join("".join(runs[start:end]).split())
        if mine >= params.min_units and _is_running(text, mine, params):
            if mine < params.meta_units and is_meta(text):
                continue
            worth[i] = mine - links
            if mine < params.disclaimer_units:
                text = text.lower()
                if chinese.search(text) or english.search(text):
                    worth[i] = -1.0
    for block in tree.code_blocks:
        for i in range(tree.block_lines[block], tree.line_end(block)):
            if worth[i] == params.plain_worth and not texts[i].isdigit():
                worth[i] = own[i] - linked[i]
    tree.known_texts = texts.copy()
    return Lines(texts=texts, own=own, linked=linked, worth=worth)


def cut_repeats(tree: Tree, lines: Lines, params: Params) -> None:
    """Turn the worth of running text that stands in another part already below zero.

    Repeats side by side are the text's own: refrains, forms.
    """
    parents = tree.block_parents
    first_in: dict[str, int] = {}
    for i, worth in enumerate(lines.worth):
        if worth >= params.repeat_units:
            block = tree.line_blocks[i]
            first = first_in.setdefault(lines.texts[i], block)
            if first != block and parents[first] != parents[block]:
                lines.worth[i] = -1.0


def weigh_plain_lines(lines: Lines, title_line: int, params: Params) -> None:
    """Make lines that are neither running text nor links worth half of their words.

    Those about the body are worth little: some bodies have words like theirs.
    """
    for i, (own, linked) in enumerate(zip(lines.own, lines.linked, strict=True)):
        if lines.worth[i] == params.plain_worth and own >= _LEAST_WORDS and i != title_line:
            lines.worth[i] = (own - linked) / (_META_COST if is_meta(lines.texts[i]) else 2)


def is_meta(text: str) -> bool:
    """Whether a short line speaks about the body: source, author, time, buttons."""
    words, starts = _meta()
    text = text.lower()
    return bool(words.search(text) or starts.match(text) or _DATE.search(text))


def _is_running(text: str, units: float, params: Params) -> bool:
    if units <= params.units_per_mark:
        return _MARKS.search(text) is not None
    return len(_MARKS.findall(text)) * params.units_per_mark >= units


@lru_cache(maxsize=1)
def _meta() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What a line about the body holds, and what it begins with."""
    words = sorted(word_list("meta_words"))
    starts = (
        re.escape(word[1:]) + (r"\b" if word[-1].isalpha() else "")
        for word in words
        if word.startswith("^")
    )
    return (
        pattern_of(word for word in words if not word.startswith("^")),
        re.compile(rf"\W*(?:{'|'.join(starts)})"),
    )


@lru_cache(maxsize=1)
def _disclaimers() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What disclaimers in Chinese and in English hold; one pattern of both takes twice as long."""
    words = sorted(word_list("disclaimers"))
    chinese = pattern_of(word for word in words if not word.isascii()).pattern
    english = pattern_of(word for word in words if word.isascii())
    return re.compile(chinese.replace("…", ".{0,20}")), english
