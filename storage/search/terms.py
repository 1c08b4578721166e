"""What a phrase is, and where it stands in a text.

A text is folded (width, case), then cut into *runs*: letters of scripts without spaces between
words (Han, kana, hangul, Thai, ...), or a word of other letters and digits. What is between runs
does not count. The first kind is indexed as pairs of neighbours, and the last letter alone; the
second as words::

    使用Python 清洗数据   ->   使用 用 python 清洗 洗数 数据 据

So a phrase is a row of neighbours in the index, wherever it begins among letters of the first kind,
at the beginning of a word of the second; its last word may be cut short.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

DENSE = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u318f"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
"""Letters that stand without spaces between words."""

_RUN = re.compile(f"[{DENSE}]+|[^\\W_{DENSE}]+")
_DENSE = re.compile(f"[{DENSE}]")

MOST_CHARS, MOST_PHRASES = 200, 8
"""Of what is searched for at once."""

FEWEST_LETTERS = 2
"""A single letter is in most texts."""

SNIPPET_BEFORE, SNIPPET_AFTER = 40, 120
"""Characters around a hit."""


class _Folds(dict[int, str]):
    """Folded characters by their code, computed when first met: 0.1 MB for a Chinese site."""

    def __missing__(self, code: int) -> str:
        folded = unicodedata.normalize("NFKC", chr(code)).casefold()
        self[code] = folded
        return folded


def fold(text: str) -> str:
    """A text without differences of width and case: ``ＡＢＣ`` and ``abc`` are equal."""
    return unicodedata.normalize("NFC", text).translate(_FOLDS)


_FOLDS = _Folds()


def _runs(folded: str) -> list[str]:
    return _RUN.findall(folded)


def _is_dense(run: str) -> bool:
    return _DENSE.match(run) is not None


def terms_of(text: str) -> str:
    """The terms of a text for the index, a space between two."""
    return " ".join(term for run in _runs(fold(text)) for term in _terms(run))


def _terms(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run))] if _is_dense(run) else [run]


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase that is searched for.

    Attributes:
        runs: Its runs, folded, at least one: ``("用", "python", "清洗")``.
    """

    runs: tuple[str, ...]

    @property
    def query(self) -> str:
        """The phrase in the language of FTS5: ``"用 python 清洗"``.

        A single letter at its end is left to the comparison with the text: a third of all terms may
        begin with it, and joining them takes 70 ms in an index of 4,000 texts.
        """
        *before, last = self.runs
        found = [term for run in before for term in _terms(run)]
        if before and len(last) == 1:
            return f'"{" ".join(found)}"'
        if _is_dense(last) and len(last) > 1:
            found += _terms(last)[:-1]
            return f'"{" ".join(found)}"'
        return f'"{" ".join([*found, last])}" *'

    @property
    def needle(self) -> str:
        """What ``joined`` of a text contains when the text has the phrase."""
        return ("" if _is_dense(self.runs[0]) else " ") + " ".join(self.runs)


def joined(text: str) -> str:
    """The runs of a text, folded, with a space before, between and behind them."""
    return f" {' '.join(_runs(fold(text)))} "


def phrases_of(asked: str) -> tuple[Phrase, ...]:
    """The phrases of what somebody typed: a word each, or what stands between quotation marks.

    ``数据清洗 "topic crawl"`` are two phrases. What has less than two letters is left out, as are
    the ninth phrase and those behind it.
    """
    text = re.sub("[“”„‟＂]", '"', asked[:MOST_CHARS])
    found: list[Phrase] = []
    for place, part in enumerate(text.split('"')):
        for each in [part] if place % 2 else part.split():
            runs = _runs(fold(each))
            if runs and sum(map(len, runs)) >= FEWEST_LETTERS:
                found.append(Phrase(tuple(runs)))
    return tuple(dict.fromkeys(found))[:MOST_PHRASES]


def has_all(text: str, phrases: Sequence[Phrase]) -> bool:
    """Whether a text has every phrase."""
    whole = joined(text)
    return all(phrase.needle in whole for phrase in phrases)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnippetPart:
    """A part of a snippet.

    Attributes:
        text: As it stands in the text.
        is_hit: Whether it is what was searched for.
    """

    text: str
    is_hit: bool


def snippet(text: str, phrases: Sequence[Phrase]) -> tuple[SnippetPart, ...]:
    """The part of a text around the first hit, hits apart from the rest; empty without a hit.

    Args:
        text: A text as it was indexed.
        phrases: What was searched for.
    """
    text = unicodedata.normalize("NFC", text)
    whole, origins = _placed(text)
    spans = sorted(
        (origins[at], origins[at + len(needle) - 1] + 1)
        for needle in (phrase.needle.lstrip() for phrase in phrases)
        for at in _starts(whole, needle)
    )
    if not spans:
        return ()
    begin = max(0, spans[0][0] - SNIPPET_BEFORE)
    end = min(len(text), spans[0][0] + SNIPPET_AFTER)
    parts: list[SnippetPart] = []
    at = begin
    for first, last in spans:
        first, last = max(first, at), min(last, end)
        if last <= first:
            continue
        if first > at:
            parts.append(SnippetPart(text=text[at:first], is_hit=False))
        parts.append(SnippetPart(text=text[first:last], is_hit=True))
        at = last
    if at < end:
        parts.append(SnippetPart(text=text[at:end], is_hit=False))
    return tuple(parts)


def _placed(text: str) -> tuple[str, list[int]]:
    """``joined`` of a text in NFC without its first space, and the place of each character."""
    folded: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for each in _FOLDS[ord(character)]:
            folded.append(each)
            places.append(place)
    whole: list[str] = []
    origins: list[int] = []
    for run in _RUN.finditer("".join(folded)):
        whole += [*run[0], " "]
        origins += [*places[run.start() : run.end()], places[run.end() - 1]]
    return "".join(whole), origins


def _starts(whole: str, needle: str) -> Iterator[int]:
    """Where a phrase stands, a word of it not inside another word."""
    is_word = not _is_dense(needle)
    at = whole.find(needle)
    while at >= 0:
        if not is_word or at == 0 or whole[at - 1] == " ":
            yield at
        at = whole.find(needle, at + 1)
