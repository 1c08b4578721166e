"""Looks up the words of screens and commands, by key and language.

``words.toml`` has a line for each: ``"hosts.title" = ["Hosts", "主机"]``: English, Chinese. What is
counted has three, ``["{n} host", "{n} hosts", "{n} 个主机"]``: the value of ``n`` chooses.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import MappingProxyType

FILE = Path(__file__).with_name("words.toml")

Entry = tuple[str, str] | tuple[str, str, str]


class Language(StrEnum):
    """A language of screens and commands."""

    ENGLISH = "en"
    CHINESE = "zh"


@cache
def all_words() -> Mapping[str, Entry]:
    """Every entry by its key; a key that stands twice is no TOML."""
    import tomllib  # English commands need none

    with FILE.open("rb") as file:
        return MappingProxyType({key: tuple(entry) for key, entry in tomllib.load(file).items()})


def of_lines() -> Mapping[str, Entry]:
    """The entries of stored lines."""
    return {key: entry for key, entry in all_words().items() if key.startswith("line.")}


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
    if language is Language.CHINESE:
        text = entry[-1]
    elif len(entry) == 3:
        text = entry[0] if values.get("n") == 1 else entry[1]
    else:
        text = entry[0]
    grouped = {
        name: f"{value:,}" if isinstance(value, int) else value for name, value in values.items()
    }
    return text.format(**grouped)
