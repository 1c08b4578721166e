"""The packaged word lists of ``cleaning/data``: read once, never changed.

A list has one entry a line. A table has a name, a tab and a value a line: ``发布时间\tpublished``.
Empty lines and comments, which begin with ``#`` and give the source, are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from importlib.resources import files


@lru_cache(maxsize=32)
def word_list(name: str) -> frozenset[str]:
    """Returns the entries of ``data/<name>.txt``, lower case."""
    return frozenset(line.strip().lower() for line in _lines(name))


@lru_cache(maxsize=32)
def word_table(name: str) -> dict[str, str]:
    """Returns name -> value of ``data/<name>.txt``."""
    rows = (line.partition("\t") for line in _lines(name))
    return {key: value for key, _, value in rows}


@lru_cache(maxsize=1)
def month_names() -> dict[str, dict[str, int]]:
    """Returns language -> name -> month, ``{"de": {"marz": 3}}``, all without accents.

    Those of the language ``""`` are all names that mean one month wherever they are used.
    """
    found: dict[str, dict[str, int]] = {"": {}}
    every = found[""]
    doubtful: set[str] = set()
    for code, line in word_table("month_names").items():
        months = enumerate(line.split(), 1)
        names = found[code] = {name: n for n, forms in months for name in forms.split("|")}
        doubtful.update(name for name, n in names.items() if every.setdefault(name, n) != n)
    for name in doubtful:
        del every[name]
    return found


def simplify(text: str) -> str:
    """Returns a text in simplified Chinese, in which lists of words are: 隐私 of 隱私."""
    return text if text.isascii() else text.translate(_simplified())


@lru_cache(maxsize=1)
def _simplified() -> dict[int, int]:
    pairs = "".join(_lines("traditional_characters"))
    return str.maketrans(pairs[::2], pairs[1::2])


def by_first_letter(words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Returns words by their first character, longer ones first: ``{"a": ("abc", "ab")}``."""
    index: dict[str, list[str]] = {}
    for word in sorted(words, key=len, reverse=True):
        index.setdefault(word[0], []).append(word)
    return {first: tuple(found) for first, found in index.items()}


def pattern_of(words: Iterable[str]) -> re.Pattern[str]:
    """Returns a pattern for any of the words, as one alternative for each first letter."""
    return re.compile(
        "|".join(
            f"{re.escape(first)}(?:{'|'.join(re.escape(word[1:]) for word in found)})"
            for first, found in by_first_letter(words).items()
        )
    )


def hint_of(words: Iterable[str]) -> re.Pattern[str]:
    """Returns a pattern for two letters: the first of some word, then the second of some word.

    Two sets of letters match far faster than a hundred alternatives; a text without a match holds
    none of the words.
    """
    firsts: set[str] = set()
    seconds: set[str] = set()
    single: set[str] = set()
    for word in words:
        firsts.add(word[0])
        (seconds if len(word) > 1 else single).add(word[1:2] or word)
    after = f"(?:{_any_of(seconds)}|(?<={_any_of(single)}))" if single else _any_of(seconds)
    return re.compile(_any_of(firsts) + after)


def _any_of(letters: set[str]) -> str:
    return f"[{''.join(map(re.escape, sorted(letters)))}]" if letters else "(?!)"


def find_words(text: str, index: dict[str, tuple[str, ...]]) -> list[tuple[int, str]]:
    """Returns (index, word) of each word in a text, in order: ``[(0, "发布"), (2, "时间")]``.

    Faster than a pattern of a hundred alternatives, which tries each of them at each index.

    Args:
        text: The text to search.
        index: The words as ``by_first_letter`` returns them.
    """
    found: list[tuple[int, str]] = []
    get = index.get
    for i, char in enumerate(text):
        words = get(char)
        if words is not None and text.startswith(words, i):
            found += [(i, word) for word in words if text.startswith(word, i)]
    return found


def _lines(name: str) -> list[str]:
    text = (files("crawlclean.cleaning") / "data" / f"{name}.txt").read_text("utf-8")
    return [line for line in text.split("\n") if line.strip() and not line.startswith("#")]


# Numbers and times as sentences for people have them; one form for the whole program.


def counted(number: int, noun: str, several: str = "") -> str:
    """``1 story``, ``98 stories``, ``1,204 failed URLs``.

    Args:
        number: How many.
        noun: Of one, with the words before it: ``failed URL``.
        several: Of several, where it is not formed by s, es or ies: ``pages of its list``.
    """
    if number != 1 and not several:
        is_y = noun.endswith("y") and noun[-2] not in "aeiou"
        several = f"{noun[:-1]}ies" if is_y else f"{noun}{'es' if noun.endswith('s') else 's'}"
    return f"{number:,} {noun if number == 1 else several}"


def some_of(names: Sequence[str], most: int) -> str:
    """``a.example, b.example and 3 more``: the first names, and how many there are behind them."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def minute(at: datetime | None) -> str:
    """``2026-01-31 12:00``, in UTC, or ``-``: a cell of a table; in a sentence UTC follows."""
    return f"{_utc(at):%Y-%m-%d %H:%M}" if at else "-"


def second(at: datetime) -> str:
    """``2026-01-31 12:00:09 UTC``."""
    return f"{_utc(at):%Y-%m-%d %H:%M:%S} UTC"


def duration(seconds: float) -> str:
    """Formats a duration: ``7s``, ``3m07s``, ``2h05m``."""
    s = int(seconds)
    if s < 60:
        return f"{s}s"
    if s < 3600:
        return f"{s // 60}m{s % 60:02d}s"
    return f"{s // 3600}h{s % 3600 // 60:02d}m"


def _utc(at: datetime) -> datetime:
    return at.astimezone(UTC) if at.tzinfo else at
