"""The packaged word lists of ``cleaning/data``: read once, never changed.

A list holds one entry a line; empty lines and lines that begin with ``#`` say where it comes from.
A table holds a name and a value with a tab between them.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files


@lru_cache(maxsize=32)
def word_list(name: str) -> frozenset[str]:
    """The entries of ``data/<name>.txt``, lower case."""
    return frozenset(line.strip().lower() for line in _lines(name))


@lru_cache(maxsize=32)
def word_table(name: str) -> dict[str, str]:
    """The values of ``data/<name>.txt`` by their names."""
    rows = (line.partition("\t") for line in _lines(name))
    return {key: value for key, _, value in rows}


def by_first_letter(words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Words by their first character, longer ones first, for ``find_words``."""
    index: dict[str, list[str]] = {}
    for word in sorted(words, key=len, reverse=True):
        index.setdefault(word[0], []).append(word)
    return {first: tuple(found) for first, found in index.items()}


def pattern_of(words: Iterable[str]) -> re.Pattern[str]:
    """What finds any of the words; alternatives begin with different letters, so one is tried."""
    return re.compile(
        "|".join(
            f"{re.escape(first)}(?:{'|'.join(re.escape(word[1:]) for word in found)})"
            for first, found in by_first_letter(words).items()
        )
    )


def hint_of(words: Iterable[str]) -> re.Pattern[str]:
    """What finds how any of the words may begin: a first letter of one and a second of another.

    Two sets of letters are passed over far quicker than a hundred alternatives; where it finds
    nothing there is no word.
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
    """Where which words begin in a text, in order.

    Faster than a pattern of a hundred alternatives, which tries each of them at each place.
    """
    found: list[tuple[int, str]] = []
    get = index.get
    for i, char in enumerate(text):
        words = get(char)
        if words is not None and text.startswith(words, i):
            found += [(i, word) for word in words if text.startswith(word, i)]
    return found


def _lines(name: str) -> list[str]:
    text = (files("cleaning") / "data" / f"{name}.txt").read_text("utf-8")
    return [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
