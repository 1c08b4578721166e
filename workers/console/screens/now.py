"""Now: whether it crawls, as fast as usual, and what holds it back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from flask import g, request, url_for
from markupsafe import Markup
from msgspec import Struct

from crawlclean.storage.live_state import ProcessRole
from crawlclean.workers.console.charts import (
    Happening,
    Line,
    NumberRow,
    drawn_marks,
    rows_of,
    steps_of_row,
)
from crawlclean.workers.console.holding import said, sentence
from crawlclean.workers.console.routes import Console, Page, render
from crawlclean.workers.console.screens.events import LEVELS
from crawlclean.workers.console.strangers_text import plain
from crawlclean.workers.console.words import say
from crawlclean.workers.operations.watching.now.history import (
    GAUGES,
    RATES,
    History,
    Marked,
    Range,
    events_of,
    full_in_s,
    history,
)
from crawlclean.workers.operations.watching.now.now import Moment, this_moment
from crawlclean.workers.words import tell

MIB, GIB = 1 << 20, 1 << 30  # units of the charts of memory and disk
COUNTED = ("fetched", "stored", "failed")
"""Names of the tiles of ``RATES``."""


class Chart(Struct, frozen=True):
    """A chart of Now.

    Attributes:
        name: Key of its title behind ``now.chart_``.
        lines: Its lines.
        numbers: What its lines show.
    """

    name: str
    lines: tuple[Line, ...]
    numbers: Sequence[NumberRow]


def show_now(console: Console) -> Page:
    """The page."""
    asked = request.args.get("range", "")
    span = Range(asked) if asked in set(Range) else Range.HOUR
    found = history(console.backends, span)
    values = _live(console) | {"span": span, "spans": Range, "charted": None}
    if found and not found.is_empty:
        values |= {"charted": _drawn(console, found)}
    return render("now.html", **values)


def _drawn(console: Console, found: History) -> Markup:
    """The charts; drawn once for each sample and event, language and time zone."""
    marked = events_of(console.backends, found)
    newest = marked.events[0].seq if marked.events else 0
    key = (found.since, found.until, marked.since, newest, len(marked.events))

    def draw() -> Markup:
        charts = _charts(found)
        page = render(
            "now_charts.html",
            charted=charts,
            history=found,
            marked=marked,
            marks=drawn_marks(_happenings(marked), found.since, found.until),
            levels=LEVELS,
            row_s=steps_of_row(charts[0].lines) * found.step_s,
        )
        return Markup(page)  # noqa: S704 - our own template, whose values are escaped

    return console.drawings.ask((*key, g.language, str(g.zone)), draw, math.inf)


def live_now(console: Console) -> Page:
    """The part that is asked for every two seconds."""
    return render("now_live.html", **_live(console))


def _live(console: Console) -> dict[str, object]:
    moment = this_moment(console.backends)
    told = sentence(moment)
    day = history(console.backends, Range.HOUR)
    free = day.gauges[GAUGES[-1]] if day else []
    return {
        "moment": moment,
        "told": told,
        "words": said(told, g.language),
        "rates": _rates(console, moment, day),
        "full_in_s": full_in_s(free, day.step_s) if day else None,
        "counted": dict(zip(COUNTED, RATES, strict=True)),
        "totals": _totals(moment),
        "alive": _alive(moment),
        "waits": sorted(moment.waits.items(), key=lambda each: -each[1]),
    }


def _totals(moment: Moment) -> Mapping[str, int]:
    """What was counted since the queue began, by tile.

    Workers count at the end of a job, spiders every few seconds: what has ended was fetched.
    """
    if moment.queue is None:
        return {}
    fetched, stored, failed = (moment.queue.counters.get(each, 0) for each in RATES)
    return dict(zip(COUNTED, (max(fetched, stored + failed), stored, failed), strict=True))


def _rates(console: Console, moment: Moment, found: History | None) -> Mapping[str, float]:
    """Events per second of the last half minute; on the first page, those of the last sample."""
    if moment.queue is None:
        return {}
    rates = console.backends.meter.read(moment.queue)
    if rates or found is None:
        return rates
    newest = {name: [rate for rate in values if rate is not None][-1:] for name, values in
              found.rates.items()}  # fmt: skip
    return {name: rate[0] for name, rate in newest.items() if rate}


def _alive(moment: Moment) -> dict[str, int]:
    """Processes by role: spiders by their sessions, the others by their heartbeats."""
    if moment.queue is None:
        return {}
    found = {role.value: len(moment.queue.of_role(role)) for role in ProcessRole}
    return found | {ProcessRole.SPIDER.value: moment.queue.spiders}


def _happenings(marked: Marked) -> list[Happening]:
    """Events as the charts name them; a mark leads to the event as the first row of its list."""
    return [
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


def _charts(found: History) -> list[Chart]:
    fetched, stored, failed = RATES
    backlog, oldest, pending, memory, free = GAUGES
    before = found.rates_before.get(fetched, ())
    is_known = any(value is not None for value in before)
    yesterday = [_line("now.yesterday", before, 4, is_dashed=True)] if is_known else []
    rates = found.rates
    lines = {
        "fetched": (
            _line("now.fetched", rates[fetched]),
            _line("now.stored", rates[stored], 3),
            _line("now.failed", rates[failed], 2),
            *yesterday,
        ),
        "backlog": (_line("now.chart_backlog", found.gauges[backlog], 2),),
        "pending": (_line("now.chart_pending", found.gauges[pending]),),
        "oldest": (_line("now.chart_oldest", found.gauges[oldest], 2),),
        "memory": (_line("now.chart_memory", _scaled(found.gauges[memory], MIB), 3),),
        "disk": (_line("now.chart_disk", _scaled(found.gauges[free], GIB), 3),),
    }
    return [
        Chart(name, each, rows_of(each, found.since, found.step_s)) for name, each in lines.items()
    ]


def _line(
    key: str, values: Sequence[float | None], style: int = 1, *, is_dashed: bool = False
) -> Line:
    return Line(name=say(g.language, key), values=values, style=style, is_dashed=is_dashed)


def _scaled(values: Sequence[float | None], unit: int) -> list[float | None]:
    return [None if value is None else value / unit for value in values]
