"""The crawls with their counts and waits, for commands, API and console; which are paused."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import UNSET, Struct
from msgspec.structs import replace

from crawlclean.cleaning.errors import NotFound, ServiceError
from crawlclean.cleaning.lexicon import minute
from crawlclean.cleaning.messages import Message
from crawlclean.storage.crawl_types import CrawlCounts, CrawlRow, CrawlState, UrlState
from crawlclean.storage.live_state import Waits
from crawlclean.storage.store.crawls import QueueRow
from crawlclean.workers.answers.control import Paused, TargetKind
from crawlclean.workers.answers.crawls import CrawlLine
from crawlclean.workers.answers.making import answer_of
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.controlling.waits import hosts_left, wait_counts
from crawlclean.workers.operations.parts import Part, Place, part_of
from crawlclean.workers.spoken import say

if TYPE_CHECKING:  # the queue's client is slow to import, and lists often do without
    from crawlclean.storage.queue.frontier import Frontier

ROWS_S = 3.0
"""How old the rows of all crawls may be: 10,000 of them (`sites`) take 0.1 s to read."""

WAITS_S = 4.0
"""How old the waits of a crawl's hosts may be: several who look at a crawl ask once."""

FEWEST_EXAMINED = 20
"""Hosts of each crawl whose waits are read, however many crawls there are."""

NEWEST = 100
"""Crawls among which those at work are looked for: one read; older ones rarely run."""

BEFORE_ALL = 253_402_300_799_999_999
"""Place of crawls that are only in the queue, in microseconds since 1970: the end of 9999."""


class CrawlStatus(Struct, frozen=True, kw_only=True):
    """One crawl.

    Attributes:
        row: The crawl in the store; without a time where it is only in the queue.
        counts: Its counts in the queue; None when no queue runs.
        waits: What its hosts wait for; None when no queue runs.
        next_visit: When the next page of a crawl that keeps fresh is due, in the past when pages
            are; None of other crawls.
        as_of: When the figures of ``row`` were computed; None: they are of this moment.
        other_queue: The queue that runs it or ran it last, if that is another than ours.
    """

    row: CrawlRow
    counts: CrawlCounts | None
    waits: Waits | None = None
    next_visit: datetime | None = None
    as_of: datetime | None = None
    other_queue: QueueRow | None = None

    @property
    def name(self) -> str:
        """Its name."""
        return self.row.spec.crawl_id

    @property
    def state(self) -> CrawlState:
        """Its state in the queue; without a queue that in the store, where RUNNING is STOPPED."""
        if self.counts:
            return self.counts.state
        state = self.row.state
        return CrawlState.STOPPED if state is CrawlState.RUNNING else state

    @property
    def records(self) -> int:
        """Pages with a record: by the queue while it runs, which is ahead of the store."""
        stored = self.row.pages.get(UrlState.RECORD, 0)
        return max(stored, self.counts.stored) if self.counts else stored

    @property
    def failed(self) -> int:
        """URLs that gave no record."""
        stored = self.row.pages.get(UrlState.FAILED, 0)
        return max(stored, self.counts.failed) if self.counts else stored


def crawl_line(
    crawl: CrawlStatus, pauses: Collection[Paused], *, with_hosts: bool = False
) -> CrawlLine:
    """One crawl; what the queue holds only while the queue runs.

    Args:
        crawl: The crawl.
        pauses: The paused hosts of all crawls.
        with_hosts: Whether each examined host is in it.
    """
    row, counts, waits = crawl.row, crawl.counts, crawl.waits
    return CrawlLine(
        crawl=crawl.name,
        state=crawl.state,
        records=row.pages.get(UrlState.RECORD, 0),
        failed=row.pages.get(UrlState.FAILED, 0),
        pages=dict(row.pages),
        created_at=row.created_at,
        as_of=crawl.as_of,
        seeds=tuple(row.spec.seeds),
        include=row.spec.include,
        exclude=row.spec.exclude,
        paused_hosts=tuple(each.target for each in pauses if crawl.name in each.crawls),
        keep_fresh=row.spec.keep_fresh,
        next_visit=crawl.next_visit,
        other_queue=crawl.other_queue.place if crawl.other_queue else UNSET,
        to_visit_again=counts.revisits if counts else UNSET,
        visited_again=counts.revisited if counts else UNSET,
        waiting=counts.pending if counts else UNSET,
        in_flight=counts.in_flight if counts else UNSET,
        hosts=counts.hosts if counts else UNSET,
        waiting_in_store=counts.spilled if counts else UNSET,
        waits=wait_counts(waits) if waits else UNSET,
        hosts_examined=len(waits.hosts) if waits else UNSET,
        holds=tuple(waits.holds) if waits else UNSET,
        spiders=waits.spiders if waits else UNSET,
        hosts_left=tuple(hosts_left(waits)) if waits and with_hosts else UNSET,
    )


def get_crawls(backends: Backends, after: Place | None = None, limit: int = 50) -> Part[CrawlLine]:
    """Crawls, newest first.

    The fields that tell what hosts wait for are left out here.

    Args:
        backends: Queue and store.
        after: Only crawls behind this (microseconds since 1970 of the first run, name).
        limit: At most this many.
    """
    part = list_crawls(backends, after, limit)
    return Part(items=lines_of(backends, part.items), after=part.after, as_of=part.as_of)


def get_crawl(backends: Backends, crawl: str) -> CrawlLine:
    """One crawl, with what its hosts wait for; at most 200 hosts are examined."""
    (found,) = crawls_in_full(backends, crawl)
    return crawl_line(found, list_pauses(backends), with_hosts=True)


def lines_of(backends: Backends, crawls: Sequence[CrawlStatus]) -> list[CrawlLine]:
    """Some crawls as answers."""
    pauses = list_pauses(backends) if crawls else ()
    return [crawl_line(each, pauses) for each in crawls]


def list_crawls(
    backends: Backends, after: Place | None = None, limit: int = 50
) -> Part[CrawlStatus]:
    """Returns crawls, newest first, without what their hosts wait for.

    Args:
        backends: Queue and store.
        after: Only crawls behind this (microseconds since 1970 of the first run, name).
        limit: At most this many.
    """
    rows = [row for row in _rows(backends) if after is None or _place(row) < after]
    part = part_of(rows, limit, _place)
    with backends.store() as store:
        as_of = backends.figures(store).as_of()
    return Part(items=_statuses(backends, part.items, as_of), after=part.after, as_of=as_of)


def newest_crawls(backends: Backends) -> list[CrawlStatus]:
    """Returns the newest crawls; NotFound: the data folder holds none."""
    return list(list_crawls(backends, limit=NEWEST).items)


def running_crawls(backends: Backends) -> list[CrawlStatus]:
    """Returns every crawl that runs, newest first; NotFound: the data folder holds none."""
    rows = [row for row in _rows(backends) if row.state is CrawlState.RUNNING]
    return [each for each in _statuses(backends, rows)
            if each.counts and each.state is CrawlState.RUNNING]  # fmt: skip


def crawl_names(backends: Backends) -> list[str]:
    """Returns the names of all crawls, newest first; NotFound: the data folder holds none."""
    return [row.spec.crawl_id for row in _rows(backends)]


def crawls_in_full(backends: Backends, only: str = "") -> list[CrawlStatus]:
    """Returns every crawl, oldest first, then those only in the queue; ``only``: just this crawl.

    Raises:
        NotFound: There is no crawl named ``only``.
    """
    with backends.store() as store:
        as_of = backends.settled(store)
        rows = [row for row in reversed(_rows(backends)) if only in ("", row.spec.crawl_id)]
        if only and not rows:
            raise NotFound(Message("no_crawl" if backends.names_near else "no_such_crawl", only))
        fresh = [row.spec.crawl_id for row in rows if row.spec.keep_fresh]
        due = {crawl: store.revisits.next_due(crawl) for crawl in fresh}
        queues = {each.queue_id: each for each in other_queues(backends)}
    found = _statuses(backends, rows, as_of)
    live = sum(each.counts is not None for each in found)
    most = max(FEWEST_EXAMINED, backends.examined_hosts // max(1, live))
    return [
        replace(
            each,
            waits=_waits(backends, each.name, most) if each.counts else None,
            next_visit=due.get(each.name),
            other_queue=queues.get(each.row.queue),
        )
        for each in found
    ]


def _rows(backends: Backends) -> list[CrawlRow]:
    """Every crawl, newest first, before them those that are only in the queue."""

    def ask() -> list[CrawlRow]:
        with backends.store() as store:
            rows = store.crawls.all()
        with suppress(ServiceError), backends.queue() as frontier:  # none runs, or it is away
            rows += _queued_only(frontier, {row.spec.crawl_id for row in rows})
        return sorted(rows, key=_place, reverse=True)

    return backends.remembered("crawls", ROWS_S, ask)


def _queued_only(frontier: Frontier, stored: Collection[str]) -> list[CrawlRow]:
    """Returns the crawls of the queue that the store does not have, as rows without a time.

    Args:
        frontier: The queue.
        stored: Names of the store's crawls.
    """
    rows = []
    names = [crawl_id for crawl_id in frontier.crawl_ids() if crawl_id not in stored]
    for crawl_id, counts in frontier.counts_of(names).items():
        with suppress(NotFound):  # deleted meanwhile
            spec = frontier.spec(crawl_id)
            rows.append(CrawlRow(spec=spec, created_at=None, state=counts.state))
    return rows


def _place(row: CrawlRow) -> Place:
    at = row.created_at
    return (round(at.timestamp() * 1_000_000) if at else BEFORE_ALL), row.spec.crawl_id


def _statuses(
    backends: Backends, rows: Sequence[CrawlRow], as_of: datetime | None = None
) -> list[CrawlStatus]:
    """The rows with their counts in the queue, while it runs."""
    counts: dict[str, CrawlCounts] = {}
    with suppress(ServiceError), backends.queue() as frontier:  # none runs, or it is away
        counts = frontier.counts_of([row.spec.crawl_id for row in rows])
    return [CrawlStatus(row=row, counts=counts.get(row.spec.crawl_id), as_of=as_of) for row in rows]


def _waits(backends: Backends, crawl: str, most: int) -> Waits | None:
    def ask() -> Waits:
        with backends.queue() as frontier:
            return frontier.waits.of_crawl(crawl, most)

    with suppress(ServiceError):  # away: shown without it
        return backends.remembered(("waits of", crawl), WAITS_S, ask)
    return None


# Queues that share the store.


def other_queues(backends: Backends) -> list[QueueRow]:
    """Returns the queues of the store's crawls that are not ours; none without our queue."""
    if backends.settings.storage.is_embedded:
        return []
    with suppress(ServiceError), backends.queue() as frontier, backends.store() as store:
        ours = frontier.queue_id(make=False)
        return [each for each in store.queues.all() if each.queue_id != ours]
    return []


def queue_text(queue: QueueRow) -> str:
    """Says where a queue is, and when it was heard: ``redis://db1:6379/0, heard 3 s ago``."""
    if queue.is_alive:
        return say("{place}, heard {s:.0f} s ago", place=queue.place, s=queue.silent_s)
    told = "{place}, silent since {time} UTC"
    return say(told, place=queue.place, time=minute(queue.heard_at))


# What is paused.


def all_paused(backends: Backends) -> list[Paused]:
    """Returns the paused crawls, then the paused hosts.

    Raises:
        NotFound: The data folder holds no crawl.
    """
    crawls = [
        Paused(kind=TargetKind.CRAWL, target=each.name, since=None, crawls=(each.name,))
        for each in reversed(_statuses(backends, _rows(backends)))
        if each.state is CrawlState.PAUSED
    ]
    return crawls + list_pauses(backends)


def pause_of(backends: Backends, crawl: CrawlStatus) -> tuple[datetime, str, str] | None:
    """Returns (since when a crawl is paused, by whom, why); None: it is not."""
    if crawl.state is not CrawlState.PAUSED:
        return None
    with backends.store() as store:
        return store.crawls.state_since(crawl.name, CrawlState.PAUSED)


def list_pauses(backends: Backends) -> list[Paused]:
    """Returns the paused hosts: of the queue while it runs, else of the store.

    Raises:
        NotFound: The data folder holds no crawl.
    """
    with backends.store() as store:
        found = [(pause, pause.crawls) for pause in store.pauses.all()]
    with suppress(ServiceError), backends.queue() as frontier:  # none runs, or it is away
        found = [(pause, tuple(frontier.crawls_of(pause.host))) for pause in frontier.pauses()]
    return [
        answer_of(Paused, pause, kind=TargetKind.HOST, target=pause.host, crawls=crawls)
        for pause, crawls in found
    ]
