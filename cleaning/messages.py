"""Lines for a person that processes store: a key with values, in English and Chinese.

``messages.toml`` has a line for each key. A ``Message`` is a text, its English words, so that
whatever prints, compares or writes a line goes on as with any other text. Stored, it is key and
values, ``["killed",3]``; any other text is stored and shown as it is: the words of a colleague, a
server, a library, or of an older version of this program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial, reduce
from pathlib import Path
from types import MappingProxyType
from typing import Any

FILE = Path(__file__).with_name("messages.toml")

Entry = tuple[str, ...]
"""English and Chinese; of what is counted: of one, of several, and Chinese."""


def read_entries(file: Path) -> Mapping[str, Entry]:
    """The entries of a file of words by their keys; a key that stands twice is no TOML."""
    import tomllib  # `--help` words no message

    entries = tomllib.loads(file.read_text("utf-8"))
    return MappingProxyType({key: tuple(entry) for key, entry in entries.items()})


def english(entry: Entry, n: object) -> str:
    """The English words for a number, if they differ by it."""
    return entry[0] if len(entry) == 2 or n == 1 else entry[1]


@cache
def catalogue() -> Mapping[str, Entry]:
    """Every message by its key."""
    return read_entries(FILE)


@cache
def places(key: str) -> Sequence[str]:
    """The names of a message's values, in the order of its English words."""
    from string import Formatter  # `--help` words no message

    parts = Formatter().parse(english(catalogue()[key], 0))
    return tuple(name for _, name, *_ in parts if name)


class Message(str):
    """A line for a person: its text is English.

    Attributes:
        key: Of the catalogue: ``reason``.
        values: Its values in the order of their places: ``("http_status", "too slow")``.
    """

    __slots__ = ("key", "values")

    key: str
    values: tuple[int | str, ...]

    def __new__(cls, key: str, *values: int | str) -> Message:
        """Words the line.

        Raises:
            KeyError: The catalogue has no such key.
            ValueError: It has other places.
        """
        named = dict(zip(places(key), values, strict=True))
        text = english(catalogue()[key], named.get("n")).format(**named)
        message = super().__new__(cls, text)
        message.key, message.values = key, values
        return message

    def __str__(self) -> str:
        """Itself: the text of an error that was raised with a message is the message."""
        return self

    def __getnewargs__(self) -> Any:
        return self.key, *self.values


def stored(line: str) -> str:
    """What is stored of a line: ``["reason","http_status",["status",404]]``."""
    if not isinstance(line, Message):
        return line
    from crawlclean.cleaning.json_values import dump  # `--help` stores nothing

    return dump(_parts(line)).decode()


def _parts(line: Message) -> list[Any]:
    return [line.key, *(_parts(v) if isinstance(v, Message) else v for v in line.values)]


def read_line(text: str) -> str:
    """The line of a stored text: a ``Message``, or the text itself if it is none."""
    if not text.startswith('["'):
        return text
    import msgspec  # `--help` reads nothing

    try:
        return _made(*msgspec.json.decode(text))
    except (ValueError, LookupError, TypeError, RecursionError):
        return text


def _made(key: str, *values: Any) -> Message:
    if not {str, int, list}.issuperset(map(type, values)):
        raise ValueError(key)
    return Message(key, *(_made(*v) if isinstance(v, list) else v for v in values))


def joined(lines: Sequence[Message]) -> Message:
    """Lines as one, ``it asks for JavaScript; the element #root is empty``."""
    return reduce(partial(Message, "and"), lines)


def shortened(line: str, most_chars: int) -> str:
    """A text as one line of at most so many characters; one that was cut is no message."""
    text = " ".join(line.split())[:most_chars]
    return line if line == text else text
