"""Hosts: all with their statistics, a list by a figure, and one host in full."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from msgspec import UNSET, Struct

from crawlclean.cleaning.errors import ConfigError, NotFound, ServiceError
from crawlclean.cleaning.lexicon import second
from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.records import HostStats
from crawlclean.storage.live_state import Waits
from crawlclean.storage.store.hosts import Pause, Slowdown
from crawlclean.storage.store.models import DriftEvent
from crawlclean.storage.store.overview import HostRow
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.rows import to_microseconds
from crawlclean.storage.store.tables import HostColumn
from crawlclean.workers.answers.hosts import Drift, HostAnswer
from crawlclean.workers.answers.making import answer_of
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.parts import Part, Place, part_of
from crawlclean.workers.operations.urls.near_matches import did_you_mean, near_hosts
from crawlclean.workers.spoken import say, told

BY_MODEL_S = 30.0
"""How old the numbers of records by model may be: 10,000 records are counted in 20 ms."""

LEAST_SURE = 5
"""Pages of a host to look at first: they fit below its figures."""

NAMED_ROWS = 20
"""Rows of host and crawl that begin with a name: who sees more types one letter more."""


class HostDetails(Struct, frozen=True, kw_only=True):
    """One host in full.

    Attributes:
        answer: Its statistics, all 0 while nothing of it is stored, and what is told besides.
        waits: What it waits for in each of its crawls; None when no queue runs.
        pause: Who paused it; None: it is not paused.
        drifts: When it changed, newest first.
    """

    answer: HostAnswer
    waits: Waits | None
    pause: Pause | None
    drifts: Sequence[DriftEvent]


def host_statistics(backends: Backends) -> Part[HostStats]:
    """The statistics of every host, most pages first."""
    with backends.store() as store:
        as_of = backends.settled(store)
        return Part(items=store.statistics.all(), as_of=as_of)


def hosts_by_figure(
    backends: Backends,
    sort: HostColumn = "records",
    q: str = "",
    paused: bool = False,
    after: Place | None = None,
    limit: int = 50,
) -> Part[HostRow]:
    """Hosts by a figure, largest first.

    The figures are kept ones, which cost nothing to read: fewer than those of `hosts`.

    Args:
        backends: Queue and store.
        sort: The figure to sort by, largest first.
        q: Only the first hosts whose names begin so, also behind ``www.``; without ``after``.
        paused: Only paused hosts, by name; without ``after`` and ``limit``.
        after: Only hosts behind this (value of the figure, host).
        limit: At most this many.

    Raises:
        ConfigError: ``after`` with ``q`` or ``paused``.
    """
    if after and (q or paused):
        raise ConfigError("after: the hosts of q and paused are in one part")
    text = q.strip().lower()
    with backends.store() as store:
        figures = backends.figures(store)
        if text:
            begins = (text, f"www.{text}")
            names = [name for each in begins for name in store.statistics.names(each, NAMED_ROWS)]
        elif paused:
            names = sorted(pauses_of(backends, store))
        else:
            rows = figures.hosts(sort, after, limit + 1)
            return part_of(rows, limit, lambda row: _place(row, sort), figures.as_of())
        found = [row for name in names if (row := figures.host(name))]
        return Part(items=found, as_of=figures.as_of())


def host_waits(backends: Backends, host: str) -> tuple[Waits | None, Pause | None, Slowdown | None]:
    """Returns what a host waits for, its pause, and how it is slowed down, without its figures."""
    with backends.store() as store:
        pause, slowdown = pauses_of(backends, store).get(host), store.slowdowns.get(host)
    return _waits_of(backends, host), pause, slowdown


def host_details(backends: Backends, host: str) -> HostDetails:
    """Returns one host in full.

    Raises:
        NotFound: Nothing of the host is stored, and no running queue knows it.
    """
    waits = _waits_of(backends, host)
    with backends.store() as store:
        as_of = backends.settled(store)
        stats = store.statistics.get(host)
        if stats is None and not (waits and waits.hosts):
            near = near_hosts(store, host) if backends.names_near else ()
            why = Message("no_host", host)
            raise NotFound(f"{why}{did_you_mean(near)}" if near else why)
        fresh = [row.spec.crawl_id for row in store.crawls.all() if row.spec.keep_fresh]
        due = {crawl: store.revisits.next_due(crawl, host) for crawl in fresh}
        drifts, pause = store.drifts.of(host), pauses_of(backends, store).get(host)
        by_model = backends.remembered(
            ("records by model", host), BY_MODEL_S, lambda: store.hosts.by_model(host)
        )
        answer = answer_of(
            HostAnswer,
            stats or HostStats(host=host),
            exact=as_of is None,
            as_of=as_of,
            records_by_model=dict(by_model),
            is_paused=pause is not None,
            slowed=store.slowdowns.get(host),
            waits=tuple(waits.hosts) if waits else UNSET,
            holds=tuple(waits.holds) if waits else UNSET,
            next_visits={crawl: at for crawl, at in due.items() if at is not None},
            drifts=tuple(map(drift_answer, drifts)),
            least_sure=tuple(store.hosts.least_sure(host, LEAST_SURE)),
        )
        return HostDetails(answer=answer, waits=waits, pause=pause, drifts=drifts)


def host_answer(backends: Backends, host: str) -> HostAnswer:
    """One host in full: statistics, what it waits for, changes.

    As `hosts HOST` prints it, but for `image_requests`, which are left out: they are counted from
    all rows. `exact` is false when figures are older than this moment.
    """
    return host_details(backends, host).answer


def drift_answer(event: DriftEvent) -> Drift:
    """A change of a host as an answer."""
    alarm = event.alarm
    return answer_of(
        Drift,
        alarm,
        model_version=event.model_version,
        observed=round(alarm.observed, 4),
        classes=dict(alarm.classes),
        examples=tuple(alarm.examples),
        outcome=event.outcome,
        new_version=event.new_version,
        detail=event.detail,
    )


def changed_since(events: Sequence[DriftEvent]) -> datetime:
    """Since when pages do not fit the model of the newest change.

    Args:
        events: The kept changes of a host, newest first; at least one.
    """
    version = events[0].model_version
    return min(each.alarm.since for each in events if each.model_version == version)


def paused_hosts(backends: Backends) -> list[str]:
    """The names of the paused hosts."""
    with backends.store() as store:
        return [*pauses_of(backends, store)]


def pauses_of(backends: Backends, store: Store) -> dict[str, Pause]:
    """Returns the paused hosts by name: of the queue while it runs, else of the store."""
    with suppress(ServiceError), backends.queue() as frontier:  # none runs, or it is away
        return {pause.host: pause for pause in frontier.pauses()}
    return {pause.host: pause for pause in store.pauses.all()}


def as_of_text(as_of: datetime | None) -> str:
    """The age of kept figures: ``these numbers are as of 2026-11-22 14:05:09 UTC``."""
    if as_of is None:
        return say("these numbers are of this moment")
    return say("these numbers are as of {time}", time=second(as_of))


def moving_line(backends: Backends, as_of: datetime | None) -> str:
    """Why figures that a command has read are changing, and their age; ``""`` at rest."""
    why = backends.was_moving or backends.why_moving()  # a crawl may have begun meanwhile
    return f"{told(why)}: {as_of_text(as_of)}" if why else ""


def _place(row: HostRow, by: HostColumn) -> Place:
    value = getattr(row, by)
    return to_microseconds(value) if isinstance(value, datetime) else value or 0, row.host


def _waits_of(backends: Backends, host: str) -> Waits | None:
    with suppress(ServiceError), backends.queue() as frontier:  # none runs, or it is away
        return frontier.waits.of([(crawl, host) for crawl in frontier.crawls_of(host)])
    return None
