"""What stands behind and on a chart: its numbers as rows, events as marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from markupsafe import Markup

from workers.console.charts import HEIGHT, WIDTH, Line

MOST_ROWS = 62
"""Rows of the numbers of a chart: an hour has each minute, a day means of 24 minutes."""

COLUMNS = 80
"""Marks of a drawing: events whose marks would touch share one."""

MOST_TITLES = 8
"""Events of one mark that its title names."""

_TICK = f"V{HEIGHT}"


@dataclass(frozen=True, slots=True)
class NumberRow:
    """A row of the numbers behind a chart.

    Attributes:
        at: Its first value's time.
        means: The mean of each line in the row's time; None where nothing is known.
    """

    at: datetime
    means: Sequence[float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A mark on a chart.

    Attributes:
        x: Its place, 0..``WIDTH``.
        title: Its events, a line each.
        to: Where it leads: to the newest of them.
        level: The colour of the gravest of them.
    """

    x: float
    title: str
    to: str
    level: str


_GRAVITY = {"": 0, "ok": 1, "info": 2, "warn": 3, "bad": 4}


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
    rows = [
        NumberRow(
            since + timedelta(seconds=start * step_s),
            [_mean(line.values[start : start + steps]) for line in lines],
        )
        for start in range(0, longest, steps)
    ]
    return rows[::-1]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def marks_of(events: Sequence[Happening], since: datetime, until: datetime) -> list[Mark]:
    """Marks of events, from left to right; those that would touch are one.

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
            columns.setdefault(min(COLUMNS - 1, int(share * COLUMNS)), []).append(event)
    return [_mark(column, columns[column]) for column in sorted(columns)]


def _mark(column: int, events: Sequence[Happening]) -> Mark:
    lines = [event.title for event in events[:MOST_TITLES]]
    if len(events) > MOST_TITLES:
        lines.append(f"+{len(events) - MOST_TITLES}")
    return Mark(
        x=(column + 0.5) * WIDTH / COLUMNS,
        title="\n".join(lines),
        to=events[0].to,
        level=max((event.level for event in events), key=_GRAVITY.__getitem__),
    )


def drawn_marks(marks: Sequence[Mark]) -> Markup:
    """Marks as ticks over a drawing, each a link with its title.

    They are for pointers: keys and screen readers have the list of the events beside the charts.
    """
    ticks = Markup("").join(
        Markup(
            '<a href="{to}" tabindex="-1"><path class="tick {level}" d="M{x} 0{down}"/>'
            '<path class="reach" d="M{x} 0{down}"/><title>{title}</title></a>'
        ).format(to=mark.to, level=mark.level, x=f"{mark.x:.0f}", down=_TICK, title=mark.title)
        for mark in marks
    )
    return Markup(
        '<svg class="marks" viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true">'
        "{}</svg>"
    ).format(WIDTH, HEIGHT, ticks)
