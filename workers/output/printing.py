"""JSON lines, plain tables and wrapped text on standard output."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from workers.control_characters import CONTROL, printable, readable_line

MOST_NAMED = 5  # hosts in one line

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


def paused_line(hosts: Sequence[str]) -> str:
    """Names paused hosts: ``1 host is paused: a.example (`resume a.example` ends the pause)``."""
    named = printable(", ".join(hosts[:MOST_NAMED]))
    more = f" and {len(hosts) - MOST_NAMED} more" if len(hosts) > MOST_NAMED else ""
    if len(hosts) == 1:
        return f"1 host is paused: {named} (`resume {named}` ends the pause)"
    return f"{len(hosts)} hosts are paused: {named}{more} (`resume HOST` ends a pause)"


def print_answer(answer: Any) -> None:
    """Prints a value of a type in ``ANSWERS`` as one line of JSON, control characters escaped."""
    from workers.answers.schema import encode

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
        return _escaped(line.decode()).encode()
    return line


def _escaped(line: str) -> str:
    return CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", line)


def write_lines(lines: Iterable[str]) -> None:
    """Prints lines for people."""
    sys.stdout.write("".join(readable_line(line) + "\n" for line in lines))


def table(rows: Sequence[Sequence[str]]) -> str:
    """Formats rows with aligned columns; Han characters are two columns wide."""
    if not rows:
        return ""
    rows = [[readable_line(cell) for cell in row] for row in rows]
    widths = [max(text_width(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [cell + " " * (widths[i] - text_width(cell)) for i, cell in enumerate(row)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"


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
