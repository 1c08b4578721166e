"""JSON lines, plain tables and wrapped text on standard output."""

from __future__ import annotations

import math
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from crawlclean.workers.control_characters import CONTROL, readable_line
from crawlclean.workers.spoken import is_chinese, say, term

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


_HAN = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60"  # with the punctuation of full width
_UNITS = re.compile(rf"( *)([（《“]*(?:[^ {_HAN}]+|[{_HAN}])[，。；：、！？）》”]*)")
"""Spaces, and what no line break may cut: a word, or a Han character with its punctuation."""


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
    sys.stdout.write(lines_text(lines))


def lines_text(lines: Iterable[str]) -> str:
    """Lines for people as text."""
    return "".join(readable_line(line) + "\n" for line in lines)


def terminal_columns() -> int | None:
    """Width of the terminal; None in a file or a pipe, where tables are whole."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def table(
    rows: Sequence[Sequence[str]], columns: int | None = None, drop: Sequence[str] = ()
) -> str:
    """Formats rows with aligned columns; Han characters are two columns wide.

    Args:
        rows: The first row holds the names of the columns, in English.
        columns: Width of the terminal; None: without limit.
        drop: Names of the columns that are left out, one after the other, until the table fits.
            After them the widest cells are cut.
    """
    if not rows:
        return ""
    shown = [list(map(say, rows[0])), *([readable_line(cell) for cell in row] for row in rows[1:])]
    if columns is not None:
        shown = _fitted(shown, columns, [say(name) for name in drop])
    widths = [max(text_width(row[i]) for row in shown) for i in range(len(shown[0]))]
    lines = []
    for row in shown:
        cells = [padded(cell, widths[i]) for i, cell in enumerate(row)]
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
    """Wraps a text at spaces and between Han characters; longer words are cut."""
    lines: list[str] = []
    line = ""
    for space, word in _UNITS.findall(text):
        longer = f"{line}{space}{word}" if line else word
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


def padded(text: str, columns: int) -> str:
    """A text with spaces behind it, up to a width."""
    return text + " " * (columns - text_width(text))


# Labelled rows and bar charts for a terminal of 80 columns.

Row = tuple[str, str]
"""(label, value): ``("pages", "128: record 61")``; label ``""`` continues the row above."""

LABEL_CHARS = 9  # the longest label of a row
COLUMNS = 79  # of a terminal, as it begins, less one: a full line may be followed by an empty one
BAR_CHARS = 24  # in eighths of a character they show half a percent
NAME_CHARS = 12  # as "certificate", one of the longest names
NUMBER_CHARS = 11  # 999,999,999
MOST_BARS = 4  # in one chart; the last bar sums up all smaller counts
EIGHTHS = " ▏▎▍▌▋▊▉"
FULL, EMPTY = "█", "░"
PLAIN = str.maketrans(EIGHTHS + FULL + EMPTY, " :::#####.")
PLAIN_LOCALES = frozenset({"C", "POSIX"})


def bar(value: float, most: float, chars: int = BAR_CHARS) -> str:
    """Draws a bar of ``chars`` characters; the filled part is ``value`` of ``most``."""
    eighths = math.ceil(8 * chars * value / most) if most > 0 and value > 0 else 0
    whole, rest = divmod(min(eighths, 8 * chars), 8)
    return (FULL * whole + (EIGHTHS[rest] if rest else "")).ljust(chars)


def chart(
    name: str, counts: Mapping[Any, int], most_bars: int = MOST_BARS, kind: str = ""
) -> list[Row]:
    """Returns a row for each count, largest first; the last row sums up the smaller counts.

    Args:
        name: Label of the first row.
        counts: By what is counted.
        most_bars: Rows, at most.
        kind: What ``term`` calls that which is counted; ``""``: it has a text.
    """
    ordered = sorted(((str(k), n) for k, n in counts.items() if n), key=lambda i: (-i[1], i[0]))
    ordered = [(term(kind, k), n) for k, n in ordered]
    if len(ordered) > most_bars:
        rest = ordered[most_bars - 1 :]
        more = say("{n} more", n=len(rest))
        ordered = [*ordered[: most_bars - 1], (more, sum(n for _, n in rest))]
    total = sum(n for _, n in ordered)
    wide = max((text_width(label) for label, _ in ordered if is_chinese()), default=0)
    ordered = [(padded(label, wide), n) for label, n in ordered]
    return [
        ("" if place else name, _bar_text(label, n, total, bar(n, total)))
        for place, (label, n) in enumerate(ordered)
    ]


def gauge(name: str, label: str, part: int, whole: int) -> list[Row]:
    """Returns a row with the bar of one share; no row when ``whole`` is 0."""
    if not whole:
        return []
    drawn = bar(part, whole).rstrip().ljust(BAR_CHARS, EMPTY)
    return [(name, _bar_text(label, part, whole, drawn))]


def _bar_text(label: str, part: int, whole: int, drawn: str) -> str:
    share = percent(part, whole)
    return f"{padded(say(label), NAME_CHARS)} {drawn} {part:>{NUMBER_CHARS},} {share:>5}"


def percent(part: float, whole: float) -> str:
    """Percent as text; partial shares show ``<1%`` and ``>99%`` instead of ``0%`` and ``100%``."""
    if not whole:
        return "-"
    shown = f"{part / whole:.0%}"
    return {"0%": "<1%", "100%": ">99%"}.get(shown, shown) if 0 < part < whole else shown


def listed(counts: Mapping[Any, int], kind: str = "") -> str:
    """Counts in one line, largest first: ``record 61, failed 7``; ``kind`` as for ``chart``."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))
    return say(", ").join(f"{term(kind, name)} {n:,}" for name, n in ordered if n)


def rows_text(rows: Iterable[Row]) -> str:
    """Formats rows as lines; long values are wrapped, rows without value are left out."""
    lines = []
    for label, value in rows:
        for place, part in enumerate(wrap(readable_line(value), COLUMNS - LABEL_CHARS - 3)):
            shown = padded("" if place else say(label), LABEL_CHARS)
            lines.append(f"  {shown} {part}".rstrip() + "\n")
    return "".join(lines)


def draw(text: str, encoding: str, environ: Mapping[str, str]) -> str:
    """Replaces bars by ``#`` where the terminal cannot show them.

    Args:
        text: The output.
        encoding: Encoding of the terminal.
        environ: The environment. In the locales C and POSIX Python writes UTF-8, but the
            terminal may not show it.
    """
    locale = environ.get("LC_ALL") or environ.get("LANG") or ""
    try:
        (EIGHTHS + FULL + EMPTY).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return text.translate(PLAIN)
    return text.translate(PLAIN) if locale in PLAIN_LOCALES else text
