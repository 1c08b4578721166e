"""Figures over time, of everything, a crawl or a host: for charts and programs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import Annotated, Final

import msgspec
from msgspec import Struct

from crawlclean.cleaning.errors import ServiceError
from crawlclean.storage.queue.counters import Counter
from crawlclean.storage.store.journal import (
    ANSWERED_IN,
    ANSWERS,
    BOUNDS_S,
    DAY_S,
    HOUR_S,
    KEPT_S,
    MINUTE_S,
    QUARTER_S,
    Event,
    Flow,
    Gauge,
)
from crawlclean.workers.answers.moments import SeriesAnswer
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.topics.topics import find_topic
from crawlclean.workers.operations.watching.journal import events
from crawlclean.workers.operations.watching.kept_backends import KeptBackends

RATES = (Counter.PAGES_PUT, Counter.RECORDS, Counter.FAILED)
"""Counters whose rates at this moment are told beside the figures."""

CHARTS_S = 30.0  # a chart gets a sample a minute
FEWEST_VALUES = 15
"""Fewer show no trend: a database grows in steps."""

FULL_WITHIN_S = 30 * DAY_S
"""A disk that would be full later than this is not announced."""

MOST_VALUES = 3_000
"""Of a figure, more than a screen has columns: all figures of a host take 200 KB and 20 ms."""

Time = Annotated[datetime, msgspec.Meta(tz=True)]


class SeriesStep(StrEnum):
    """The time from value to value."""

    MINUTE = "minute"  # kept for two days
    QUARTER = "quarter"  # of an hour; kept for 40 days
    DAY = "day"  # in UTC; kept for three years


STEPS_S: Final[Mapping[SeriesStep, int]] = {
    SeriesStep.MINUTE: MINUTE_S,
    SeriesStep.QUARTER: QUARTER_S,
    SeriesStep.DAY: DAY_S,
}


class Range(StrEnum):
    """A time that charts show."""

    HOUR = "hour"
    DAY = "day"
    MONTH = "month"
    YEARS = "years"


_LENGTHS_S: Final[Mapping[Range, int]] = {
    Range.HOUR: HOUR_S,
    Range.DAY: DAY_S,
    Range.MONTH: 30 * DAY_S,
    Range.YEARS: 2 * 366 * DAY_S,
}

_GAUGES = {
    "waiting": Gauge.PENDING_URLS,
    "backlog": Gauge.PAGES_IN_FLIGHT,
    "oldest_job_s": Gauge.OLDEST_JOB_S,
    "memory_bytes": Gauge.MEMORY_BYTES,
    "free_bytes": Gauge.FREE_BYTES,
}
_RATES = {**{each.value: each for each in ANSWERS}, "records": Flow.RECORDS, "failed": Flow.FAILED}
_Values = Sequence[float | None]


def series(
    backends: Backends,
    host: str = "",
    crawl: str = "",
    topic: str = "",
    since: Time | None = None,
    until: Time | None = None,
    step: SeriesStep | None = None,
) -> SeriesAnswer:
    """Figures over time, in equal steps: of everything, or of one host, crawl or topic.

    Of hosts the 200 busiest are kept, of crawls the 100 busiest. A value is null where nothing was
    kept; a figure that is not kept of what was asked for is an empty list.

    Args:
        backends: Queue and store.
        host: Of this host, in all crawls; ``topic`` and ``crawl`` do not count then.
        crawl: Of this crawl.
        topic: Of the crawl of this topic; ``crawl`` does not count then.
        since: The first value is of the step that this time is in; an hour before ``until``. Of
            more than 3,000 values the last ones are given.
        until: The last value is of a step that begins before, and not in the future; now.
        step: From value to value, or a longer one where it would be more than 3,000 values; the
            shortest that is kept since then.
    """
    now = datetime.now(UTC)
    end = min(max(until or now, _FIRST), now)
    begin = min(since or end - timedelta(seconds=HOUR_S), end)
    length_s, age_s = (end - begin).total_seconds(), (now - begin).total_seconds()
    fit = (
        step_s
        for step_s in STEPS_S.values()
        if length_s <= MOST_VALUES * step_s
        and (step_s >= STEPS_S[step] if step else age_s <= KEPT_S[step_s])
    )
    step_s = next(fit, DAY_S)
    begin = max(begin, end - timedelta(seconds=MOST_VALUES * step_s))
    with backends.store() as store:
        if topic and not host:
            crawl = find_topic(store, topic).crawl_id
    of = f"@{host.lower()}" if host else f":{crawl}" if crawl else ""
    return _series(backends, of, begin, end, step_s)


_FIRST = datetime(2000, 1, 1, tzinfo=UTC)
"""No figure is older."""


def ranged(backends: KeptBackends, span: Range, of: str = "") -> SeriesAnswer | None:
    """Returns the figures of a range that ends now; None while the store has none, or is away.

    Args:
        backends: Queue and store.
        span: The range.
        of: ``:news`` of a crawl, ``@www.example.com`` of a host, ``""`` of everything.
    """

    def ask() -> SeriesAnswer:
        until = datetime.now(UTC)
        length_s = _LENGTHS_S[span]
        step_s = next(each for each in STEPS_S.values() if length_s <= MOST_VALUES * each)
        return _series(backends, of, until - timedelta(seconds=length_s), until, step_s)

    try:
        return backends.remembered(("series", span, of), CHARTS_S, ask)
    except ServiceError:
        return None


def _series(
    backends: Backends, of: str, since: datetime, until: datetime, step_s: int
) -> SeriesAnswer:
    day = timedelta(seconds=DAY_S)
    names = [
        *ANSWERS,
        *ANSWERED_IN,
        *_GAUGES.values(),
        Flow.RECORDS,
        Flow.FAILED,
        Flow.JUDGED,
        Flow.RELEVANT,
    ]
    with backends.store() as store:
        found = store.samples.read([name + of for name in names], step_s, since, until)
        names_before = [name + of for name in ANSWERS if step_s == MINUTE_S]
        before = store.samples.read(names_before, step_s, since - day, until - day)
    values = {name: found.values[name + of] for name in names}
    counted = [not math.isnan(each) for each in values[ANSWERS[0]]]

    def flow(name: str) -> list[float]:
        """What was counted in each step: 0 where others of its kind were counted alone."""
        return [
            0.0 if is_counted and math.isnan(each) else each
            for each, is_counted in zip(values[name], counted, strict=True)
        ]

    def rate(*flows: Sequence[float]) -> list[float | None]:
        return [_known(sum(some) / step_s) for some in zip(*flows, strict=True)]

    def gauge(name: str) -> _Values:
        known = [_known(each) for each in values[name]]
        return known if any(each is not None for each in known) else ()

    times = list(zip(*map(flow, ANSWERED_IN), strict=True))
    judged, relevant = flow(Flow.JUDGED), flow(Flow.RELEVANT)
    shares = [
        some / each if each else math.nan for some, each in zip(relevant, judged, strict=True)
    ]
    has_topic = any(each > 0 for each in judged)
    return SeriesAnswer(
        since=found.start,
        until=until,
        step_s=step_s,
        fetched=rate(*map(flow, ANSWERS)),
        fetched_day_before=rate(*before.values.values()),
        p50_s=[_quantile(each, 0.5) for each in times],
        p95_s=[_quantile(each, 0.95) for each in times],
        relevant=rate(relevant) if has_topic else (),
        harvest=[_known(each) for each in shares] if has_topic else (),
        **{name: rate(flow(figure)) for name, figure in _RATES.items()},
        **{name: gauge(figure) for name, figure in _GAUGES.items()},
    )


def _known(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 4)


def _quantile(counts: Sequence[float], share: float) -> float | None:
    """The time that this share of the answers took at most, seconds; None without an answer.

    As Prometheus' ``histogram_quantile``: times are taken as equally spread between two bounds.
    """
    wanted, below, low = share * sum(counts), 0.0, 0.0
    if not wanted > 0:
        return None
    for n, bound in zip(counts, BOUNDS_S, strict=True):
        if n and below + n >= wanted:
            break
        below, low = below + n, bound
    return _known(low + (bound - low) * (wanted - below) / n) if bound < math.inf else low


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
"""How old the events of charts may be, as the look behind the signs: a mark is of a minute."""

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


def events_of(backends: KeptBackends, found: SeriesAnswer, of: str = "") -> Marked:
    """Returns the events of the time that charts show; none while the store is away."""
    crawl, host = (of[1:] if of[:1] == kind else "" for kind in ":@")
    try:
        ask = partial(events, backends, crawl=crawl, host=host, limit=MOST_EVENTS)
        newest = backends.remembered(("events", of), EVENTS_S, ask).items
    except ServiceError:
        return Marked((), found.since)
    shown = [each for each in newest if each.at and found.since <= each.at <= found.until]
    is_whole = len(newest) < MOST_EVENTS or len(shown) < len(newest)
    oldest = shown[-1].at if shown else None
    return Marked(shown, found.since if is_whole or oldest is None else oldest)
