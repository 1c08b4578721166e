"""Looks up the words of screens and commands, by key and language.

``words.toml`` has a line for each: ``"hosts.title" = ["Hosts", "主机"]``: English, Chinese. What is
counted has three, ``["{n} host", "{n} hosts", "{n} 个主机"]``: the value of ``n`` chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path

from crawlclean.cleaning.messages import Entry, Message, catalogue, english, places, read_entries

FILE = Path(__file__).with_name("words.toml")


class Language(StrEnum):
    """A language of screens and commands."""

    ENGLISH = "en"
    CHINESE = "zh"


@cache
def all_words() -> Mapping[str, Entry]:
    """Every entry by its key."""
    return read_entries(FILE)


def say(language: Language, key: str, **values: object) -> str:
    """The words of a key, as text.

    Args:
        language: Which language.
        key: ``hosts.title``.
        **values: Values of the placeholders; whole numbers are grouped.

    Raises:
        KeyError: The key has no words.
    """
    entry = all_words()[key]
    text = entry[-1] if language is Language.CHINESE else english(entry, values.get("n"))
    grouped = {
        name: f"{value:,}" if isinstance(value, int) else value for name, value in values.items()
    }
    return text.format(**grouped)


def tell(language: Language, line: str, shown: Callable[[str], str] = str) -> str:
    """A line that a process has stored, in a language; a text without a key as it is.

    Args:
        language: Which language.
        line: A ``Message``, or the words of somebody else.
        shown: What is made of these words, and of texts in a message: for HTML, they are escaped.
    """
    if language is Language.ENGLISH or not isinstance(line, Message):
        return shown(line)
    named = zip(places(line.key), line.values, strict=True)
    return catalogue()[line.key][-1].format(
        **{place: _worded(language, place, value, shown) for place, value in named}
    )


def _worded(
    language: Language, place: str, value: int | str, shown: Callable[[str], str]
) -> int | str:
    """A value of a message: a number, a message, or a text, which may have words of its own."""
    if isinstance(value, int):
        return value
    if isinstance(value, Message):
        return tell(language, value, shown)
    # As stored or with spaces, of several with commas: ``new_classes``, ``new classes``.
    keys = [f"{place.rstrip('2')}.{part.replace(' ', '_')}" for part in value.split(", ")]
    if all(key in all_words() for key in keys):
        return "、".join(say(language, key) for key in keys)
    return shown(value)
