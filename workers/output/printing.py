"""How commands print: JSON lines and plain tables."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from workers.control_characters import CONTROL, printable


def print_json(data: Mapping[str, Any]) -> None:
    """One object on one line of standard output, control characters escaped."""
    line = json.dumps(data, ensure_ascii=False)
    sys.stdout.write(CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", line) + "\n")


def print_lines(lines: Iterable[str]) -> None:
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
