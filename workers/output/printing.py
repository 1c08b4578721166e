"""How commands print: JSON lines and plain tables."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from workers.control_characters import CONTROL, printable

# What JSON in UTF-8 may hold of CONTROL. Each begins with one literal byte, for which Python looks
# fastest: a record of 70 KB is searched in 0.04 ms, by longer literals in 0.1, by CONTROL in 0.45.
_CONTROL_BYTES = tuple(
    (first, re.compile(first + rest))
    for first, rest in (
        (b"\x7f", b""),
        (b"\xc2", rb"[\x80-\x9f]"),
        (b"\xe2", rb"(?:\x80[\xa8-\xae]|\x81[\xa6-\xa9])"),
    )
)


def print_json(data: Mapping[str, Any]) -> None:
    """One object on one line of standard output, control characters escaped."""
    sys.stdout.write(_escaped(json.dumps(data, ensure_ascii=False)) + "\n")


def print_line(line: bytes) -> None:
    """One line of JSON in UTF-8 on standard output, control characters escaped."""
    if any(first in line and control.search(line) for first, control in _CONTROL_BYTES):
        line = _escaped(line.decode()).encode()
    if sys.stdout.encoding.lower() == "utf-8":
        sys.stdout.flush()
        sys.stdout.buffer.writelines((line, b"\n"))
    else:
        sys.stdout.write(line.decode() + "\n")


def _escaped(line: str) -> str:
    return CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", line)


def write_lines(lines: Iterable[str]) -> None:
    """Lines on standard output, without control characters."""
    sys.stdout.write("".join(printable(line) + "\n" for line in lines))


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows with aligned columns, printable; Han characters count two columns wide."""
    if not rows:
        return ""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(_width(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [cell + " " * (widths[i] - _width(cell)) for i, cell in enumerate(row)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"


def wrap(text: str, columns: int) -> list[str]:
    """The text in lines of at most so many columns, cut at spaces; a longer word is cut, too."""
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if _width(longer) <= columns:
            line = longer
            continue
        if line:
            lines.append(line)
        *whole, line = _pieces(word, columns)
        lines += whole
    return [*lines, line] if line else lines


def _pieces(word: str, columns: int) -> list[str]:
    pieces, room = [""], columns
    for character in word:
        room -= _width(character)
        if room < 0:
            pieces.append("")
            room = columns - _width(character)
        pieces[-1] += character
    return pieces


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
