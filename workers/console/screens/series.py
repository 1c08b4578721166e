"""Charts of figures over time, as panels of screens; and the figures, for those who draw them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from flask import Response, abort, g, request, url_for
from markupsafe import Markup
from msgspec import Struct

from crawlclean.workers.answers.moments import SeriesAnswer
from crawlclean.workers.answers.schema import encode
from crawlclean.workers.console.routes import Console, Page, render
from crawlclean.workers.console.screens.events import LEVELS
from crawlclean.workers.console.strangers_text import plain
from crawlclean.workers.console.words import say
from crawlclean.workers.operations.watching.now.series import (
    Marked,
    Range,
    events_of,
    ranged,
)
from crawlclean.workers.output.charts import Happening, Line, drawn_marks
from crawlclean.workers.words import tell

MIB, GIB = 1 << 20, 1 << 30  # units of the charts of memory and disk
CHARTS: Final = {
    "fetched": (("fetched", 1), ("records", 3), ("failed", 2), ("fetched_day_before", 4)),
    "answers": (
        ("answers_2xx", 3), ("answers_3xx", 1), ("answers_4xx", 4), ("answers_5xx", 5),
        ("answers_none", 2),
    ),
    "times": (("p50_s", 1), ("p95_s", 2)),
    "waiting": (("waiting", 1),),
    "backlog": (("backlog", 2),),
    "harvest": (("harvest", 3),),
    "oldest": (("oldest_job_s", 2),),
    "memory": (("memory_bytes", 3),),
    "disk": (("free_bytes", 3),),
}  # fmt: skip
"""Charts with their figures, and the colour of each line."""
DASHED = frozenset({"fetched_day_before", "answers_none", "p95_s"})
UNITS: Final = {"memory": MIB, "disk": GIB}


class Chart(Struct, frozen=True):
    """A chart.

    Attributes:
        name: Key of its title behind ``chart.``.
        lines: Its lines.
        unit: What its figures are divided by.
    """

    name: str
    lines: Sequence[Line]
    unit: int


def panel(console: Console, of: str = "") -> dict[str, object]:
    """What the panel of charts (``series.html``) needs.

    Args:
        console: What screens share.
        of: ``:news`` of a crawl, ``@www.example.com`` of a host, ``""`` of everything.
    """
    span = _asked_range()
    found = ranged(console.backends, span, of)
    charts = _charts(found) if found else []
    values: dict[str, object] = {"span": span, "spans": Range, "of": of, "charted": None}
    if found and any(line.values for chart in charts for line in chart.lines):
        values["charted"] = _drawn(console, found, charts, of)
    return values


def live_series(console: Console) -> Page:
    """The figures of a range as the API gives them: ``?range=day&of=:news``."""
    found = ranged(console.backends, _asked_range(), request.args.get("of", ""))
    if found is None:
        abort(404)
    return Response(encode(found), 200, content_type="application/json")


def _asked_range() -> Range:
    asked = request.args.get("range", "")
    return Range(asked) if asked in set(Range) else Range.HOUR


def _charts(found: SeriesAnswer) -> list[Chart]:
    charts = []
    for name, figures in CHARTS.items():
        unit = UNITS.get(name, 1)
        lines = [
            Line(
                name=str(say(g.language, f"figure.{figure}")), key=figure, style=style,
                is_dashed=figure in DASHED,
                values=[None if each is None else each / unit for each in getattr(found, figure)],
            )
            for figure, style in figures
        ]  # fmt: skip
        known = [line for line in lines if any(each is not None for each in line.values)]
        if known:
            charts.append(Chart(name, known, unit))
    return charts


def _drawn(console: Console, found: SeriesAnswer, charts: Sequence[Chart], of: str) -> Markup:
    """The charts; drawn once for each sample and event, language and time zone."""
    marked = events_of(console.backends, found, of)
    newest = marked.events[0].seq if marked.events else 0
    key = (of, found.since, found.until, marked.since, newest, len(marked.events))

    def draw() -> Markup:
        until = found.since + timedelta(seconds=found.step_s * (len(found.fetched) - 1))
        page = render(
            "charts_drawn.html",
            charted=charts,
            ends=[found.since, found.since + (until - found.since) / 2, until],
            marked=marked,
            since=found.since,
            marks=_marks(marked, found.since, until),
            levels=LEVELS,
        )
        return Markup(page)  # noqa: S704 - our own template, whose values are escaped

    return console.drawings.ask((*key, g.language, str(g.zone)), draw, math.inf)


def _marks(marked: Marked, since: datetime, until: datetime) -> Markup:
    """Events as the charts name them; a mark leads to the event as the first row of its list."""
    found = [
        Happening(
            at=event.at,
            title=f"{say(g.language, f'event.{event.kind}')} {plain(event.host or event.crawl_id)} "
            f"{tell(g.language, event.text, plain)}",
            to=url_for("show_events", after=event.seq + 1),
            level=LEVELS[event.kind],
        )
        for event in marked.events
        if event.at
    ]
    return drawn_marks(found, since, until)
