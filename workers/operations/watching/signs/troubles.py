"""The hosts that need a look, each with the signs of its trouble."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final

from crawlclean.cleaning.errors import ServiceError
from crawlclean.storage.crawl_types import CrawlState
from crawlclean.storage.live_state import WaitingHost, WaitReason
from crawlclean.storage.store.journal import EventKind
from crawlclean.storage.store.overview import HostRow
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.operations.watching.kept_backends import KeptBackends
from crawlclean.workers.operations.watching.views.crawls import newest_crawls
from crawlclean.workers.operations.watching.views.hosts import pauses_of

EXAMINED_HOSTS = 500
"""Hosts whose waits are read, of all running crawls: 50 ms, once in ``EXAMINED_S``."""

EXAMINED_S = 15.0
MOST_FAILING = 100
"""Hosts with the most failures that are compared with their records."""

FEWEST_FAILURES = 10
MOST_DRIFTS = 50
RECENT = timedelta(days=7)
MOST_SHOWN = 200


class TroubleSign(StrEnum):
    """Why a host needs a look."""

    PAUSED = "paused"  # by an operator
    SLOW_DOWN = "slow_down"  # it answered 429 or 503
    ROBOTS = "robots"  # its robots.txt cannot be had
    AWAY = "away"  # connections fail
    GONE = "gone"  # connections failed for so long that its URLs end without a request
    FAILING = "failing"  # more URLs failed than gave a record
    CHANGED = "changed"  # its pages do not fit its model, in the last week


_OF_WAIT: Final = {
    WaitReason.SLOW_DOWN: TroubleSign.SLOW_DOWN,
    WaitReason.ROBOTS: TroubleSign.ROBOTS,
    WaitReason.AWAY: TroubleSign.AWAY,
    WaitReason.GONE: TroubleSign.GONE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """A host that needs a look.

    Attributes:
        host: Lower-case authority.
        signs: Why, in the order of ``TroubleSign``.
        until: End of its wait; None when it is not known, or it waits for nothing.
        row: Its figures; None before anything of it is stored.
    """

    host: str
    signs: Sequence[TroubleSign]
    until: datetime | None
    row: HostRow | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TroubleList:
    """The hosts that need a look.

    Attributes:
        hosts: Those with most signs first, at most 200.
        examined: Hosts of running crawls whose waits were read.
        at: When the waits were read; None when no queue runs.
        as_of: When the figures were computed; None: they are of this moment.
    """

    hosts: Sequence[Trouble]
    examined: int
    at: datetime | None
    as_of: datetime | None


def troubled_hosts(backends: KeptBackends) -> TroubleList:
    """Returns the hosts that need a look."""
    waits = _waits(backends)
    signs: dict[str, set[TroubleSign]] = {}
    for wait in waits:
        if wait.reason in _OF_WAIT:
            signs.setdefault(wait.host, set()).add(_OF_WAIT[wait.reason])
    with backends.store() as store:
        for host in pauses_of(backends, store):
            signs.setdefault(host, set()).add(TroubleSign.PAUSED)
        for host in _failing(backends, store):
            signs.setdefault(host, set()).add(TroubleSign.FAILING)
        for host in _changed(store):
            signs.setdefault(host, set()).add(TroubleSign.CHANGED)
        until = {wait.host: wait.until for wait in waits}
        order = list(TroubleSign)
        found = [
            Trouble(
                host=host,
                signs=sorted(signs[host], key=order.index),
                until=until.get(host),
                row=backends.figures(store).host(host),
            )
            for host in sorted(signs, key=lambda each: (-len(signs[each]), each))[:MOST_SHOWN]
        ]
        return TroubleList(
            hosts=found,
            examined=len(waits),
            at=datetime.now(UTC) if waits else None,
            as_of=backends.figures(store).as_of(),
        )


def _waits(backends: KeptBackends) -> list[WaitingHost]:
    def ask() -> list[WaitingHost]:
        running = [
            each.name
            for each in newest_crawls(backends)
            if each.state is CrawlState.RUNNING and each.counts
        ]
        most = max(1, EXAMINED_HOSTS // max(1, len(running)))
        with backends.queue() as frontier:
            return [
                wait for crawl in running for wait in frontier.waits.of_crawl(crawl, most).hosts
            ]

    with suppress(ServiceError):
        return backends.remembered("troubled waits", EXAMINED_S, ask)
    return []


def _failing(backends: KeptBackends, store: Store) -> list[str]:
    rows = backends.figures(store).hosts("failed", limit=MOST_FAILING)
    return [row.host for row in rows if row.failed >= FEWEST_FAILURES and row.failed > row.records]


def _changed(store: Store) -> list[str]:
    since = datetime.now(UTC) - RECENT
    events = store.events.read(limit=MOST_DRIFTS, kind=EventKind.DRIFT.value)
    return [event.host for event in events if event.host and event.at and event.at >= since]
