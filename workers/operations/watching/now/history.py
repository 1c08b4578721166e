"""Figures over time, for charts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import Final

from msgspec import Struct

from crawlclean.cleaning.errors import ServiceError
from crawlclean.storage.queue.counters import Counter
from crawlclean.storage.store.journal import (
    DAY_S,
    HOUR_S,
    MINUTE_S,
    QUARTER_S,
    Event,
    Gauge,
    Series,
)
from crawlclean.workers.operations.watching.journal import events
from crawlclean.workers.operations.watching.kept_backends import KeptBackends

CHARTS_S = 30.0  # a chart gets a sample a minute
FEWEST_VALUES = 15
"""Fewer show no trend: a database grows in steps."""

FULL_WITHIN_S = 30 * DAY_S
"""A disk that would be full later than this is not announced."""


class Range(StrEnum):
    """A time that charts show."""

    HOUR = "hour"
    DAY = "day"
    MONTH = "month"


_RANGES: Final[Mapping[Range, tuple[int, int]]] = {
    Range.HOUR: (HOUR_S, MINUTE_S),
    Range.DAY: (DAY_S, MINUTE_S),
    Range.MONTH: (30 * DAY_S, QUARTER_S),
}
"""Length and step, seconds."""

RATES = (Counter.PAGES_PUT, Counter.RECORDS, Counter.FAILED)
GAUGES = (
    Gauge.PAGES_IN_FLIGHT,
    Gauge.OLDEST_JOB_S,
    Gauge.PENDING_URLS,
    Gauge.MEMORY_BYTES,
    Gauge.FREE_BYTES,
)


class History(Struct, frozen=True, kw_only=True):
    """Figures over a time, in equal steps; None where nothing was sampled.

    Attributes:
        since: The first value's time.
        until: The end of the last value's step.
        step_s: Seconds from value to value.
        rates: Events per second by counter: ``{"pages_put": [3.5, None, ...]}``.
        rates_before: The same a day earlier; empty for a month.
        gauges: Values by gauge: ``{"pages_in_flight": [120, ...]}``.
    """

    since: datetime
    until: datetime
    step_s: int
    rates: Mapping[str, Sequence[float | None]]
    rates_before: Mapping[str, Sequence[float | None]]
    gauges: Mapping[str, Sequence[float | None]]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was sampled in this time."""
        every = (*self.rates.values(), *self.gauges.values())
        return all(value is None for values in every for value in values)


def history(backends: KeptBackends, asked: Range) -> History | None:
    """Returns the figures of a range that ends now; None while the store has none, or is away."""
    try:
        return backends.remembered(("history", asked), CHARTS_S, lambda: _history(backends, asked))
    except ServiceError:
        return None


def _history(backends: KeptBackends, asked: Range) -> History:
    length, step = _RANGES[asked]
    until = datetime.now(UTC)
    since = until - timedelta(seconds=length)
    first, day = since - timedelta(seconds=step), timedelta(seconds=DAY_S)
    with backends.store() as store:
        found = store.samples.read((*RATES, *GAUGES), step, first, until)
        before = {}
        if asked is not Range.MONTH:
            before = _rates(store.samples.read(RATES, step, first - day, until - day))
    return History(
        since=since,
        until=until,
        step_s=step,
        rates=_rates(found),
        rates_before=before,
        gauges={name: [_known(value) for value in found.values[name][1:]] for name in GAUGES},
    )


def _rates(found: Series) -> dict[str, list[float | None]]:
    return {name: [_known(value) for value in found.per_second(name)] for name in RATES}


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def full_in_s(values: Sequence[float | None], step_s: int) -> float | None:
    """Seconds until falling free bytes reach 0 by the trend of a time; None: not in a month."""
    known = [(place, value) for place, value in enumerate(values) if value is not None]
    if len(known) < FEWEST_VALUES:
        return None
    (first, high), (last, low) = known[0], known[-1]
    if low >= high:
        return None
    left = low / ((high - low) / ((last - first) * step_s))
    return left if left <= FULL_WITHIN_S else None


# Events that charts mark.

EVENTS_S = 10.0
"""How old the events of charts may be."""

MOST_EVENTS = 500
"""Events that are read, the newest of a range: a month of a busy crawl has more."""


class Marked(Struct, frozen=True):
    """Events of a range.

    Attributes:
        events: Newest first.
        since: The range's beginning; where not all events were read, the time of the oldest one.
    """

    events: Sequence[Event]
    since: datetime


def events_of(backends: KeptBackends, found: History) -> Marked:
    """Returns the events of the time that charts show; none while the store is away."""
    try:
        ask = partial(events, backends, limit=MOST_EVENTS)
        newest = backends.remembered("events", EVENTS_S, ask).items
    except ServiceError:
        return Marked((), found.since)
    shown = [each for each in newest if each.at and found.since <= each.at <= found.until]
    is_whole = len(newest) < MOST_EVENTS or len(shown) < len(newest)
    oldest = shown[-1].at if shown else None
    return Marked(shown, found.since if is_whole or oldest is None else oldest)
