"""Charts as inline SVG, for the console and for reports: lines, bars, parts, marks of events.

A drawing stretches to the width of its place and its lines keep their width; text inside would
stretch, too. Scales and titles are HTML around it (``charts.html``). Colours are classes of the
style sheets: ``s1`` to ``s5`` of lines, ``k1`` to ``k8`` of parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import accumulate
from math import ceil, floor, log10

from markupsafe import Markup
from msgspec import Struct

from crawlclean.workers.answers.topics import HarvestStep

WIDTH, HEIGHT = 1000, 300
"""Units of a drawing; the page stretches them."""

TICKS = 5
"""Lines of a grid at most, beside that of 0: more would touch on a telephone."""

LEAST = 1e-9  # of a value that is drawn: a float may be too small to divide

COLUMNS = 500
"""Points a line is thinned to are two a column, the least and the greatest of each."""

MARKS = 80
"""Marks of a drawing: events whose marks would touch share one."""

MOST_TITLES = 8
"""Events of one mark that its title names."""

KINDS, STYLES = 8, 5  # as many colours and dashes has the style sheet; eyes tell no more apart

_GRAVITY = {"": 0, "ok": 1, "info": 2, "warn": 3, "bad": 4}


class Line(Struct, frozen=True, kw_only=True):
    """One line of a chart.

    Attributes:
        name: Its name in the legend.
        values: In equal steps; None: not known, drawn as a gap.
        style: 1 to 5, its colour.
        is_dashed: Whether it is dashed, so that no line is told by its colour alone.
        at: Places of the values, 0..1, where the steps are not equal.
        is_filled: Whether the area below it is filled.
        key: The figure that it shows: ``p95_s``.
    """

    name: str
    values: Sequence[float | None]
    style: int = 1
    is_dashed: bool = False
    at: Sequence[float] = ()
    is_filled: bool = False
    key: str = ""


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


class Column(Struct, frozen=True, kw_only=True):
    """A column of bars on top of each other, which can be pointed at.

    Attributes:
        values: From below, each >= 0.
        title: What it says when pointed at.
        to: Where it leads; ``""``: nowhere.
    """

    values: Sequence[float]
    title: str
    to: str = ""


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


def scale_of(most: float) -> list[float]:
    """Round numbers from 0 to at least ``most``: ``[0, 50, 100, 150]`` for 121.

    0 and 1 for less than ``LEAST``.
    """
    if most < LEAST:
        return [0, 1]
    power = floor(log10(most / TICKS))
    step = next(n for n in (1, 2, 5, 10) if n * 10.0**power * TICKS >= most * (1 - 1e-9))
    steps = ceil(most / (step * 10.0**power) * (1 - 1e-9))
    return [round(n * step * 10.0**power, max(0, -power)) for n in range(steps + 1)]


def scale(lines: Sequence[Line]) -> list[float]:
    """The scale of lines in one drawing."""
    return scale_of(max((value for line in lines for value in known(line.values)), default=0))


def labels(values: Sequence[float]) -> list[str]:
    """The numbers of a scale: with as many digits as its first step needs."""
    digits = max(0, -floor(log10(values[1]) + 1e-9))
    return [f"{value:,.{digits}f}" for value in values]


def rounded(value: float) -> str:
    """A value of a line in three digits: ``0.0124``, ``3.1``, ``1,234,567``."""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


def drawn(lines: Sequence[Line], scale: Sequence[float]) -> Markup:
    """Lines in one drawing, over the grid of a scale."""
    paths = Markup("").join(_line(line, scale[-1]) for line in lines)
    return _svg("drawing", HEIGHT, _grid(scale) + paths)


def harvest_lines(steps: Sequence[HarvestStep], names: Sequence[str]) -> list[Line]:
    """The lines of the harvest curve, of relevant pages and below them of stories.

    Args:
        steps: What each number of pages brought.
        names: Of both lines, that of stories first.
    """
    pages = [0, *accumulate(each.pages for each in steps)]
    stories = [0, *accumulate(each.stories for each in steps)]
    relevant = [0, *accumulate(each.stories + each.copies for each in steps)]
    at = [each / max(1, pages[-1]) for each in pages]
    return [
        Line(name=names[1], values=relevant, at=at, style=2, is_dashed=True, is_filled=True),
        Line(name=names[0], values=stories, at=at, is_filled=True),
    ]


def _line(line: Line, top: float) -> Markup:
    style = (line.style - 1) % STYLES + 1
    path = _path(line, top)
    drawing = Markup('<path class="line s{style}{dashed}" d="{d}"/>').format(
        style=style, dashed=" dashed" if line.is_dashed else "", d=path
    )
    if not line.is_filled:
        return drawing
    area = Markup('<path class="area s{}" d="{}L{} {}L0 {}Z"/>')
    return area.format(style, path, WIDTH, HEIGHT, HEIGHT) + drawing


def _grid(scale: Sequence[float]) -> Markup:
    lines = "".join(f"M0 {HEIGHT - HEIGHT * each / scale[-1]:.1f}H{WIDTH}" for each in scale)
    return Markup('<path class="grid" d="{}"/>').format(lines)


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


def bars(columns: Sequence[Column], scale: Sequence[float] = ()) -> Markup:
    """Columns beside each other, over the grid of a scale; a column that leads somewhere links."""
    top = scale[-1] if scale else max((sum(each.values) for each in columns), default=0) or 1
    wide = WIDTH / max(1, len(columns))
    gap = min(wide / 4, 6.0)
    found = _grid(scale) if scale else Markup("")
    for place, column in enumerate(columns):
        low = 0.0
        boxes = _box("column", place * wide, 0, wide, HEIGHT)
        for kind, value in enumerate(column.values, 1):
            high = low + HEIGHT * value / top
            if value:
                boxes += _box(
                    f"k{kind}", place * wide + gap / 2, HEIGHT - high, wide - gap, high - low
                )
            low = high
        boxes += Markup("<title>{}</title>").format(column.title)
        if column.to:
            found += Markup('<a href="{}" tabindex="-1">{}</a>').format(column.to, boxes)
        else:
            found += Markup("<g>{}</g>").format(boxes)
    return _svg("drawing", HEIGHT, found)


def _box(name: str, x: float, y: float, width: float, height: float) -> Markup:
    box = Markup('<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>')
    return box.format(name, x, y, width, height)


def meter(share: float) -> Markup:
    """A bar that is filled to a share, 0..1."""
    filled = Markup('<rect class="k1" width="{}" height="10"/>').format(f"{WIDTH * share:.1f}")
    return _svg("bar", 10, filled)


def _svg(name: str, height: int, content: Markup) -> Markup:
    return Markup(
        '<svg class="{}" viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true">{}</svg>'
    ).format(name, WIDTH, height, content)


def _path(line: Line, top: float) -> str:
    """The ``d`` of a line; a gap begins a new part of it."""
    step = 1 / max(1, len(line.values) - 1)
    parts = []
    begins = True
    for index, value in _thinned(line.values):
        if value is None:
            begins = True
            continue
        sign = "M" if begins else "L"
        x = line.at[index] if line.at else index * step
        parts.append(f"{sign}{WIDTH * x:.1f} {HEIGHT - HEIGHT * value / top:.1f}")
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
