"""Labelled rows and bar charts for a terminal of 80 columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from crawlclean.workers.control_characters import readable_line
from crawlclean.workers.output.printing import wrap

Row = tuple[str, str]
"""(label, value): ``("pages", "128: record 61")``; label ``""`` continues the row above."""

LABEL_CHARS = 9
COLUMNS = 79
BAR_CHARS = 24
NAME_CHARS = 12
NUMBER_CHARS = 11
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


def chart(name: str, counts: Mapping[Any, int], most_bars: int = MOST_BARS) -> list[Row]:
    """Returns a row for each count, largest first; the last row sums up the smaller counts."""
    ordered = sorted(((str(k), n) for k, n in counts.items() if n), key=lambda i: (-i[1], i[0]))
    if len(ordered) > most_bars:
        rest = ordered[most_bars - 1 :]
        ordered = [*ordered[: most_bars - 1], (f"{len(rest)} more", sum(n for _, n in rest))]
    total = sum(n for _, n in ordered)
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
    return f"{label:<{NAME_CHARS}} {drawn} {part:>{NUMBER_CHARS},} {percent(part, whole):>5}"


def percent(part: float, whole: float) -> str:
    """Percent as text; partial shares show ``<1%`` and ``>99%`` instead of ``0%`` and ``100%``."""
    if not whole:
        return "-"
    shown = f"{part / whole:.0%}"
    return {"0%": "<1%", "100%": ">99%"}.get(shown, shown) if 0 < part < whole else shown


def listed(counts: Mapping[Any, int]) -> str:
    """Counts in one line, largest first: ``record 61, failed 7``."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))
    return ", ".join(f"{name} {n:,}" for name, n in ordered if n)


def rows_text(rows: Iterable[Row]) -> str:
    """Formats rows as lines; long values are wrapped, rows without value are left out."""
    lines = []
    for label, value in rows:
        for place, part in enumerate(wrap(readable_line(value), COLUMNS - LABEL_CHARS - 3)):
            shown = "" if place else label
            lines.append(f"  {shown:<{LABEL_CHARS}} {part}".rstrip() + "\n")
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
