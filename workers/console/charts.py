"""Charts as inline SVG: lines over time with their numbers and marks of events, stacked bars.

A drawing stretches to the width of its place and its lines keep their width; text inside would
stretch, too. Labels, titles and the numbers as a table are HTML around it (``ui.html``). Colours
are classes of the style sheet: ``s1`` to ``s4`` of lines, ``k1`` to ``k8`` of parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from math import floor, log10

from markupsafe import Markup
from msgspec import Struct

from crawlclean.workers.formats import number

WIDTH, HEIGHT = 1000, 120
"""Units of a drawing; the page stretches them."""

COLUMNS = 500
"""Points a line is thinned to are two a column, the least and the greatest of each."""

MOST_DIGITS = 4
"""Behind the point, of the numbers beside a chart."""

MOST_ROWS = 62
"""Rows of the numbers of a chart: an hour has each minute, a day means of 24 minutes."""

MARKS = 80
"""Marks of a drawing: events whose marks would touch share one."""

MOST_TITLES = 8
"""Events of one mark that its title names."""

KINDS, STYLES = 8, 4  # as many colours and dashes has the style sheet; eyes tell no more apart

_GRAVITY = {"": 0, "ok": 1, "info": 2, "warn": 3, "bad": 4}


class Line(Struct, frozen=True, kw_only=True):
    """One line of a chart.

    Attributes:
        name: Its name in the legend.
        values: In equal steps of time; None: not known, drawn as a gap.
        style: 1 to 4, its colour.
        is_dashed: Whether it is dashed, so that no line is told by its colour alone.
    """

    name: str
    values: Sequence[float | None]
    style: int = 1
    is_dashed: bool = False


class Part(Struct, frozen=True, kw_only=True):
    """A part of a stacked bar.

    Attributes:
        name: Its name in the legend.
        value: Its size, >= 0.
        kind: 1 to 8, its colour.
    """

    name: str
    value: float
    kind: int = 1


class NumberRow(Struct, frozen=True):
    """A row of the numbers behind a chart.

    Attributes:
        at: Its first value's time.
        means: The mean of each line in the row's time; None where nothing is known.
    """

    at: datetime
    means: Sequence[float | None]


class Happening(Struct, frozen=True, kw_only=True):
    """An event that is marked on charts.

    Attributes:
        at: When it was.
        title: What it was, for a person.
        to: Where its mark leads: ``/events?after=481``.
        level: Its colour: ``""``, ``ok``, ``info``, ``warn``, ``bad``.
    """

    at: datetime
    title: str
    to: str
    level: str


def known(values: Sequence[float | None]) -> list[float]:
    """The values of a line without its gaps."""
    return [value for value in values if value is not None]


def top_of(lines: Sequence[Line]) -> float:
    """The number at the upper edge: 1, 2 or 5 times a power of ten, > 0, above every value."""
    most = max((value for line in lines for value in known(line.values)), default=0)
    if most <= 0:
        return 1.0
    power = 10.0 ** floor(log10(most))
    return next(float(step * power) for step in (1, 2, 5, 10) if step * power >= most)


def labels(values: Sequence[float]) -> list[str]:
    """Numbers that stand beside each other, with so many digits that different ones differ."""
    for digits in range(MOST_DIGITS + 1):
        found = [f"{value:,.{digits}f}" if digits else number(value) for value in values]
        if len(set(found)) == len(set(values)) and not any(
            value and not float(text.replace(",", ""))
            for value, text in zip(values, found, strict=True)
        ):
            return found
    return found


def drawn(lines: Sequence[Line]) -> Markup:
    """Lines in one drawing, the least value 0, with a grid of four."""
    top = top_of(lines)
    grid = Markup("").join(
        Markup('<path class="grid" d="M0 {y}H{w}"/>').format(y=HEIGHT * part // 4, w=WIDTH)
        for part in range(5)
    )
    paths = Markup("").join(
        Markup('<path class="line s{style}{dashed}" d="{d}"/>').format(
            style=(line.style - 1) % STYLES + 1,
            dashed=" dashed" if line.is_dashed else "",
            d=_path(line.values, top),
        )
        for line in lines
    )
    return _svg("drawing", HEIGHT, grid + paths)


def bar(parts: Sequence[Part]) -> Markup:
    """A bar of parts beside each other, as wide as its place; empty without any value."""
    total = sum(part.value for part in parts)
    x = 0.0
    found = []
    for part in parts:
        width = WIDTH * part.value / total if total else 0.0
        if width:
            found.append(
                Markup('<rect class="k{}" x="{}" width="{}" height="10"/>').format(
                    (part.kind - 1) % KINDS + 1, f"{x:.1f}", f"{width:.1f}"
                )
            )
        x += width
    return _svg("bar", 10, Markup("").join(found))


def bars(values: Sequence[int], titles: Sequence[str], to: Sequence[str]) -> Markup:
    """Bars beside each other, each a link with its title: for pointers, as ``drawn_marks``."""
    top, width = max(values, default=0) or 1, WIDTH / max(1, len(values))
    each = Markup(
        '<a href="{to}" tabindex="-1"><rect class="column" x="{x}" width="{w}" height="{all}"/>'
        '<rect class="k1" x="{x}" y="{y}" width="{w}" height="{h}"/><title>{title}</title></a>'
    )
    found = (
        each.format(
            to=link, x=f"{place * width:.1f}", w=f"{0.85 * width:.1f}", all=HEIGHT, title=title,
            y=f"{HEIGHT - HEIGHT * value / top:.1f}", h=f"{HEIGHT * value / top:.1f}",
        )
        for place, (value, title, link) in enumerate(zip(values, titles, to, strict=True))
    )  # fmt: skip
    return _svg("drawing timeline-bars", HEIGHT, Markup("").join(found))


def meter(share: float) -> Markup:
    """A bar that is filled to a share, 0..1."""
    filled = Markup('<rect class="k1" width="{}" height="10"/>').format(f"{WIDTH * share:.1f}")
    return _svg("bar", 10, filled)


def _svg(name: str, height: int, content: Markup) -> Markup:
    return Markup(
        '<svg class="{}" viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true">{}</svg>'
    ).format(name, WIDTH, height, content)


def _path(values: Sequence[float | None], top: float) -> str:
    """The ``d`` of a line; a gap begins a new part of it."""
    step = WIDTH / max(1, len(values) - 1)
    parts = []
    begins = True
    for index, value in _thinned(values):
        if value is None:
            begins = True
            continue
        sign = "M" if begins else "L"
        parts.append(f"{sign}{index * step:.1f} {HEIGHT - HEIGHT * value / top:.1f}")
        begins = False
    return "".join(parts)


def _thinned(values: Sequence[float | None]) -> Iterator[tuple[int, float | None]]:
    """(index, value) of the points to draw: the least and the greatest of each column."""
    width = -(-len(values) // COLUMNS)
    if width < 3:
        yield from enumerate(values)
        return
    for start in range(0, len(values), width):
        some = range(start, min(start + width, len(values)))
        there = [(value, index) for index in some if (value := values[index]) is not None]
        if not there:
            yield start, None
            continue
        for index in sorted({min(there)[1], max(there)[1]}):
            yield index, values[index]


def steps_of_row(lines: Sequence[Line]) -> int:
    """How many values a row of the numbers has, >= 1."""
    return max(1, -(-max((len(line.values) for line in lines), default=0) // MOST_ROWS))


def rows_of(lines: Sequence[Line], since: datetime, step_s: int) -> list[NumberRow]:
    """The numbers behind a chart, newest first, at most ``MOST_ROWS``.

    Args:
        lines: The lines of the chart.
        since: The first value's time.
        step_s: Seconds from value to value.
    """
    steps = steps_of_row(lines)
    longest = max((len(line.values) for line in lines), default=0)
    rows = []
    for start in range(0, longest, steps):
        some = (known(line.values[start : start + steps]) for line in lines)
        means = [sum(values) / len(values) if values else None for values in some]
        rows.append(NumberRow(since + timedelta(seconds=start * step_s), means))
    return rows[::-1]


def drawn_marks(events: Sequence[Happening], since: datetime, until: datetime) -> Markup:
    """Ticks over a drawing, each a link with its title; events whose ticks would touch share one.

    They are for pointers: keys and screen readers have the list of the events beside the charts.

    Args:
        events: Newest first.
        since: The left edge of the chart.
        until: Its right edge.
    """
    length = (until - since).total_seconds()
    columns: dict[int, list[Happening]] = {}
    for event in events:
        share = (event.at - since).total_seconds() / length
        if 0 <= share <= 1:
            columns.setdefault(min(MARKS - 1, int(share * MARKS)), []).append(event)
    ticks = [_tick(column, columns[column]) for column in sorted(columns)]
    return _svg("marks", HEIGHT, Markup("").join(ticks)) if ticks else Markup("")


def _tick(column: int, events: Sequence[Happening]) -> Markup:
    """A tick in the colour of the gravest of its events, which leads to the newest of them."""
    lines = [event.title for event in events[:MOST_TITLES]]
    if len(events) > MOST_TITLES:
        lines.append(f"+{len(events) - MOST_TITLES}")
    return Markup(
        '<a href="{to}" tabindex="-1"><path class="tick {level}" d="M{x} 0V{height}"/>'
        '<path class="reach" d="M{x} 0V{height}"/><title>{title}</title></a>'
    ).format(
        to=events[0].to,
        level=max((event.level for event in events), key=_GRAVITY.__getitem__),
        x=f"{(column + 0.5) * WIDTH / MARKS:.0f}",
        height=HEIGHT,
        title="\n".join(lines),
    )
