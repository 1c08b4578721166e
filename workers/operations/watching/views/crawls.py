"""The crawls with their counts, and one crawl in full, without refreshing a figure."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from crawlclean.cleaning.errors import NotFound, ServiceError
from crawlclean.storage.crawl_types import CrawlRow, CrawlState
from crawlclean.storage.live_state import Waits
from crawlclean.storage.store.crawls import StateSince
from crawlclean.storage.store.overview import FailureCause, FailureGroup
from crawlclean.workers.operations.controlling.crawls import CrawlStatus, queued_only
from crawlclean.workers.operations.watching.kept_backends import KeptBackends

ROWS_S = 3.0
"""How old the list of crawls may be: 10,000 of them (`sites`) take 0.1 s to read."""

EXAMINED_HOSTS = 200
"""Hosts of a crawl whose waits and queues are read: 20 ms."""

WAITS_S = 4.0
"""How old these waits may be: several who look at a crawl ask once."""

MOST_GROUPS = 20
NEWEST = 100
"""Crawls among which those at work are looked for: one read; older ones rarely run."""

BEFORE_ALL = 253_402_300_799_999_999
"""Place of crawls that are only in the queue, in microseconds since 1970: the end of 9999."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlPage:
    """A part of the list of crawls.

    Attributes:
        crawls: Newest first.
        after: Place behind the last one, as in the address; ``""`` at the end.
        as_of: When the store's figures were computed; None: they are of this moment.
    """

    crawls: Sequence[CrawlStatus]
    after: str
    as_of: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlDetails:
    """One crawl in full.

    Attributes:
        line: The crawl, with what its examined hosts wait for.
        causes: Its failures by cause, the most frequent first.
        groups: Its hosts with most failures of one cause.
        pause: Since when it is paused, and by whom; None: it is not.
    """

    line: CrawlStatus
    causes: Sequence[FailureCause]
    groups: Sequence[FailureGroup]
    pause: StateSince | None = None


def list_crawls(
    backends: KeptBackends, after: tuple[int, str] | None = None, limit: int = 50
) -> CrawlPage:
    """Returns crawls, newest first.

    Args:
        backends: Queue and store.
        after: Only crawls behind this (microseconds since 1970 of the first run, name).
        limit: At most this many.
    """
    rows = [row for row in _rows(backends) if after is None or _place(row) < after]
    some = rows[:limit]
    with backends.store() as store:
        as_of = backends.figures(store).as_of()
    place = _place(some[-1]) if len(rows) > limit else None
    return CrawlPage(
        crawls=_lines(backends, some), after=f"{place[0]}~{place[1]}" if place else "", as_of=as_of
    )


def newest_crawls(backends: KeptBackends) -> list[CrawlStatus]:
    """Returns the newest crawls; NotFound: the data folder holds none."""
    return _lines(backends, _rows(backends)[:NEWEST])


def crawl_names(backends: KeptBackends) -> list[str]:
    """Returns the names of all crawls, newest first; NotFound: the data folder holds none."""
    return [row.spec.crawl_id for row in _rows(backends)]


def has_crawl(backends: KeptBackends, name: str) -> bool:
    """Whether the store has a crawl of this name; NotFound: it holds none at all."""
    return any(row.spec.crawl_id == name for row in _rows(backends))


def find_crawl(backends: KeptBackends, crawl: str) -> CrawlDetails:
    """Returns one crawl in full.

    Raises:
        NotFound: No crawl has this name.
    """
    rows = [row for row in _rows(backends) if row.spec.crawl_id == crawl]
    if not rows:
        raise NotFound(f"no crawl is named {crawl}")
    (line,) = _lines(backends, rows)
    with backends.store() as store:
        return CrawlDetails(
            line=replace(
                line,
                waits=_waits(backends, crawl) if line.counts else None,
                next_visit=store.revisits.next_due(crawl) if line.row.spec.keep_fresh else None,
                as_of=backends.figures(store).as_of(),
            ),
            causes=backends.figures(store).causes(crawl),
            groups=backends.figures(store).failure_groups(crawl, limit=MOST_GROUPS),
            pause=store.crawls.state_since(crawl, CrawlState.PAUSED)
            if line.state is CrawlState.PAUSED
            else None,
        )


def _rows(backends: KeptBackends) -> list[CrawlRow]:
    """Every crawl, newest first, before them those that are only in the queue."""

    def ask() -> list[CrawlRow]:
        with backends.store() as store:
            rows = store.crawls.all()
        with suppress(ServiceError), backends.queue() as frontier:
            rows += queued_only(frontier, {row.spec.crawl_id for row in rows})
        return sorted(rows, key=_place, reverse=True)

    return backends.remembered("crawls", ROWS_S, ask)


def _place(row: CrawlRow) -> tuple[int, str]:
    at = row.created_at
    return (round(at.timestamp() * 1_000_000) if at else BEFORE_ALL), row.spec.crawl_id


def _lines(backends: KeptBackends, rows: Sequence[CrawlRow]) -> list[CrawlStatus]:
    try:
        with backends.queue() as frontier:
            counts = frontier.counts_of([row.spec.crawl_id for row in rows])
    except ServiceError:
        counts = {}
    return [CrawlStatus(row=row, counts=counts.get(row.spec.crawl_id)) for row in rows]


def _waits(backends: KeptBackends, crawl: str) -> Waits | None:
    def ask() -> Waits:
        with backends.queue() as frontier:
            return frontier.waits.of_crawl(crawl, EXAMINED_HOSTS)

    try:
        return backends.remembered(("waits of", crawl), WAITS_S, ask)
    except ServiceError:
        return None
