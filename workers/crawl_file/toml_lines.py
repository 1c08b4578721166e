"""The lines of the keys and of the elements of arrays in a TOML file.

``tomllib`` gives values without their places. The text is read here a second time; it must be valid
TOML, so that its tokens alone show where each key stands.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crawlclean.cleaning.errors import ConfigError

# Reads the files that an operator writes: crawl files, hosts files, lists of sites.

MAX_LIST_BYTES = 16 << 20  # some 200,000 URLs: a longer file was named by mistake
MAX_TOML_BYTES = 1 << 20  # 1 MB takes a second to read; longer lists of seeds have a file


def read_text(path: Path, most_bytes: int) -> str:
    """Returns the text of a file in UTF-8, without its byte order mark.

    Raises:
        ConfigError: The file cannot be read, is too long, or is no UTF-8 text.
    """
    try:
        with path.open("rb") as file:
            data = file.read(most_bytes + 1)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    if len(data) > most_bytes:
        raise ConfigError(f"{path} is over {most_bytes >> 20} MB: split it")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: not UTF-8 text: save the file as UTF-8") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ConfigError(f"{path}:{line}: not a text file")
    return text


def read_toml(text: str, path: Path) -> dict[str, Any]:
    """Returns the tables of a TOML text; ``path`` is for errors.

    Raises:
        ConfigError: The text is no TOML; the message has line and column.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: {error}") from None
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply") from None


Place = tuple[str | int, ...]
"""Of a value: ``("seeds", 2)`` the third seed, ``("hosts", "a.example", "slots")`` a key."""

_TOKEN = re.compile(
    r'''"""(?:\\.|[^\\])*?"{3,5}|\'{3}.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\n]*'''
    r"""|[\[\]{}=,.\n]|[^\s\[\]{}=,."'#]+""",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)")


def find_lines(text: str) -> Mapping[Place, int]:
    """Returns the line, from 1, of each table, key and element of an array of valid TOML."""
    return _Lines(text).found


class _Lines:
    """One pass over the tokens of a file."""

    def __init__(self, text: str) -> None:
        self.found: dict[Place, int] = {}
        self._table: Place = ()
        self._key: list[str | int] = []  # the key or header that is being read
        self._place: Place | None = None  # the value that is being read
        self._open: list[str] = []  # brackets around the part
        self._elements: list[int] = []  # of each open bracket
        self._is_header = False
        line = 1
        for match in _TOKEN.finditer(text):
            part = match[0]
            if not part.startswith("#"):
                self._take(part, line)
            line += part.count("\n")
        self._end_line(line)

    def _take(self, part: str, line: int) -> None:
        if self._place is not None:
            self._take_value(part, line)
        elif part == "\n":
            self._end_line(line)
        elif part == "[" and not self._key:
            self._is_header = True
        elif part == "=":
            self._place = (*self._table, *self._key)
            self.found.setdefault(self._place, line)
        elif part not in ".[]":
            self._key.append(_plain(part))

    def _take_value(self, part: str, line: int) -> None:
        if part == "\n" and not self._open:
            self._end_line(line)
        elif part in ("[", "{"):
            self._note_element(line)
            self._open.append(part)
            self._elements.append(0)
        elif part in ("]", "}"):
            self._open.pop()
            self._elements.pop()
        elif part == "," and self._open:
            self._elements[-1] += 1
        elif part != "\n":
            self._note_element(line)

    def _note_element(self, line: int) -> None:
        """Notes the line of an element of the outermost array."""
        if self._open == ["["] and self._place is not None:
            self.found.setdefault((*self._place, self._elements[-1]), line)

    def _end_line(self, line: int) -> None:
        if self._is_header:
            self._table = tuple(self._key)
            self.found.setdefault(self._table, line)
        self._key, self._place, self._is_header = [], None, False


def _plain(part: str) -> str:
    """Returns a key without its quotes."""
    if part[:1] == "'":
        return part[1:-1]
    if part[:1] != '"':
        return part
    return _ESCAPE.sub(_unescaped, part[1:-1])


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    if len(code) > 1:
        return chr(int(code[1:], 16))
    return {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}.get(code, code)
