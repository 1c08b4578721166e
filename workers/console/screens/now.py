"""Now: whether it crawls, as fast as usual, and what holds it back."""

from __future__ import annotations

from collections.abc import Mapping

from flask import g

from crawlclean.storage.live_state import ProcessRole
from crawlclean.workers.answers.moments import SeriesAnswer
from crawlclean.workers.console.holding import said, sentence
from crawlclean.workers.console.routes import Console, Page, render
from crawlclean.workers.console.screens.series import panel
from crawlclean.workers.operations.watching.now.now import Moment, this_moment
from crawlclean.workers.operations.watching.now.series import RATES, Range, full_in_s, ranged

COUNTED = ("fetched", "stored", "failed")
"""Names of the tiles of ``RATES``."""


def show_now(console: Console) -> Page:
    """The page."""
    return render("now.html", **_live(console), **panel(console))


def live_now(console: Console) -> Page:
    """The part that is asked for every two seconds."""
    return render("now_live.html", **_live(console))


def _live(console: Console) -> dict[str, object]:
    moment = this_moment(console.backends)
    told = sentence(moment)
    hour = ranged(console.backends, Range.HOUR)
    return {
        "moment": moment,
        "told": told,
        "words": said(told, g.language),
        "rates": _rates(console, moment, hour),
        "full_in_s": full_in_s(hour.free_bytes, hour.step_s) if hour else None,
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


def _rates(console: Console, moment: Moment, hour: SeriesAnswer | None) -> Mapping[str, float]:
    """Events per second of the last half minute; on the first page, those of the last sample."""
    if moment.queue is None:
        return {}
    rates = console.backends.meter.read(moment.queue)
    if rates or hour is None:
        return rates
    of_hour = zip(RATES, (hour.fetched, hour.records, hour.failed), strict=True)
    newest = {name: [rate for rate in values if rate is not None][-1:] for name, values in of_hour}
    return {name: rate[0] for name, rate in newest.items() if rate}


def _alive(moment: Moment) -> dict[str, int]:
    """Processes by role: spiders by their sessions, the others by their heartbeats."""
    if moment.queue is None:
        return {}
    found = {role.value: len(moment.queue.of_role(role)) for role in ProcessRole}
    return found | {ProcessRole.SPIDER.value: moment.queue.spiders}
