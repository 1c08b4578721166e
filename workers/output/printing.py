"""JSON lines, plain tables and wrapped text on standard output."""

from __future__ import annotations

import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from crawlclean.workers.control_characters import CONTROL, readable_line

LEAST_CELL = 12  # columns of a cell that was cut, with the gap behind it
GAP = 2  # between two columns

# The characters of CONTROL that JSON in UTF-8 may contain. Each pattern begins with one literal
# byte: searching a record of 70 KB takes 0.04 ms, with longer literals 0.10, with CONTROL 0.45.
_CONTROL_BYTES = tuple(
    (first, re.compile(first + rest))
    for first, rest in (
        (b"\x7f", b""),
        (b"\xc2", rb"[\x80-\x9f]"),
        (b"\xd8", rb"\x9c"),
        (b"\xe2", rb"(?:\x80[\x8e\x8f\xa8-\xae]|\x81[\xa6-\xa9])"),
    )
)


def print_answer(answer: Any) -> None:
    """Prints a value of a type in ``ANSWERS`` as one line of JSON, control characters escaped."""
    from crawlclean.workers.answers.schema import encode

    print_line(encode(answer))


def print_line(line: bytes) -> None:
    """Prints a line of JSON given in UTF-8, control characters escaped."""
    line = escape_line(line)
    if sys.stdout.encoding.lower() == "utf-8":
        sys.stdout.flush()
        sys.stdout.buffer.writelines((line, b"\n"))
    else:
        sys.stdout.write(line.decode() + "\n")


def escape_line(line: bytes) -> bytes:
    """Returns a line of JSON in UTF-8 with control characters as ``\\u`` escapes."""
    if any(first in line and control.search(line) for first, control in _CONTROL_BYTES):
        return CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", line.decode()).encode()
    return line


def write_lines(lines: Iterable[str]) -> None:
    """Prints lines for people."""
    sys.stdout.write("".join(readable_line(line) + "\n" for line in lines))


def terminal_columns() -> int | None:
    """Width of the terminal; None in a file or a pipe, where tables are whole."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def table(
    rows: Sequence[Sequence[str]], columns: int | None = None, drop: Sequence[str] = ()
) -> str:
    """Formats rows with aligned columns; Han characters are two columns wide.

    Args:
        rows: The first row holds the names of the columns.
        columns: Width of the terminal; None: without limit.
        drop: Names of the columns that are left out, one after the other, until the table fits.
            After them the widest cells are cut.
    """
    if not rows:
        return ""
    shown = [[readable_line(cell) for cell in row] for row in rows]
    if columns is not None:
        shown = _fitted(shown, columns, drop)
    widths = [max(text_width(row[i]) for row in shown) for i in range(len(shown[0]))]
    lines = []
    for row in shown:
        cells = [cell + " " * (widths[i] - text_width(cell)) for i, cell in enumerate(row)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"


def _fitted(rows: list[list[str]], columns: int, drop: Sequence[str]) -> list[list[str]]:
    """Leaves out columns, then cuts the widest cells, until the rows fit."""
    waiting = list(drop)
    while waiting and sum(_widths(rows)) - GAP > columns:
        at = rows[0].index(waiting.pop(0))
        rows = [[*row[:at], *row[at + 1 :]] for row in rows]
    while sum(widths := _widths(rows)) - GAP > columns and max(widths) > LEAST_CELL:
        at = widths.index(max(widths))
        most = max(LEAST_CELL, widths[at] - (sum(widths) - GAP - columns)) - GAP
        rows = [[*row[:at], _cut(row[at], most), *row[at + 1 :]] for row in rows]
    return rows


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """Width of each column with the gap behind it."""
    return [max(text_width(row[i]) for row in rows) + GAP for i in range(len(rows[0]))]


def _cut(text: str, most: int) -> str:
    """Cuts the middle of a text: ``http://www....ve/1.html``; both ends tell URLs apart."""
    if text_width(text) <= most:
        return text
    kept = len(text) - 1
    while kept and text_width(_ends(text, kept)) > most:
        kept -= 1
    return _ends(text, kept)


def _ends(text: str, kept: int) -> str:
    """The first and last characters of a text, ``kept`` in all."""
    tail = kept // 2
    return f"{text[: kept - tail]}...{text[len(text) - tail :]}"


def wrap(text: str, columns: int) -> list[str]:
    """Wraps a text at spaces; words longer than ``columns`` are cut."""
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if text_width(longer) <= columns:
            line = longer
            continue
        if line:
            lines.append(line)
        *whole, line = _pieces(word, columns)
        lines += whole
    return [*lines, line] if line else lines


def clip(text: str, columns: int) -> str:
    """Cuts a text to a width; ``~`` is where text is missing."""
    return text if text_width(text) <= columns else _pieces(text, columns - 1)[0] + "~"


def _pieces(word: str, columns: int) -> list[str]:
    pieces, room = [""], columns
    for character in word:
        room -= text_width(character)
        if room < 0:
            pieces.append("")
            room = columns - text_width(character)
        pieces[-1] += character
    return pieces


def text_width(text: str) -> int:
    """The columns of a text on a terminal; a Han character takes two, a combining mark none."""
    if text.isascii():
        return len(text)
    wide = unicodedata.east_asian_width
    return sum(0 if unicodedata.combining(c) else 1 + (wide(c) in "WF") for c in text)
