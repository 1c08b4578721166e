"""Lists, pauses, resumes, stops and purges the crawls and hosts of a data folder."""

from __future__ import annotations

import threading
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cleaning.errors import NotFound, QueueUnavailable, ServiceError
from storage.crawl_types import CrawlCounts, CrawlRow, CrawlState
from storage.host_waits import Waits
from storage.opening import join_queue
from storage.queue.receipts import check_store
from workers.config import Settings
from workers.operations.backends import any_queue, existing_store
from workers.operations.near_matches import hosts_hint

if TYPE_CHECKING:  # the queue's client is slow to import, and `crawls` often does without
    from storage.queue.frontier import Frontier
    from storage.store.protocol import Store

MOST_EXAMINED = 2_000  # hosts whose waits are read, of all crawls: about 0.2 s
FEWEST_EXAMINED = 20  # of each crawl, however many crawls there are
PURGE_WAIT_S = 20.0
LOOK_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlStatus:
    """One crawl.

    Attributes:
        row: The crawl in the store.
        counts: Its counts in the queue; None when no queue runs.
        state: Its state in the queue; without a queue its state in the store, where RUNNING
            becomes STOPPED.
        waits: What its hosts wait for; None when no queue runs.
    """

    row: CrawlRow
    counts: CrawlCounts | None
    state: CrawlState
    waits: Waits | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Purged:
    """Counts of what was deleted: URLs of the queue, records of the store."""

    urls: int
    records: int


def list_crawls(settings: Settings, only: str = "") -> list[CrawlStatus]:
    """Returns every crawl of the store, oldest first; ``only``: just this crawl.

    Raises:
        NotFound: The store has no crawl named ``only``.
    """
    with existing_store(settings) as store:
        rows = [row for row in store.crawls.all() if only in ("", row.spec.crawl_id)]
    if only and not rows:
        raise NotFound(f"no crawl is named {only}; `crawls` lists them")
    live = _live(settings, only)
    found = []
    for row in rows:
        counts, waits = live.get(row.spec.crawl_id, (None, None))
        at_rest = CrawlState.STOPPED if row.state is CrawlState.RUNNING else row.state
        state = counts.state if counts else at_rest
        found.append(CrawlStatus(row=row, counts=counts, state=state, waits=waits))
    return found


def _live(settings: Settings, only: str) -> dict[str, tuple[CrawlCounts, Waits]]:
    """Returns counts and waits of the crawls in a running queue; empty when none runs."""
    with suppress(ServiceError), closing(join_queue(settings.storage)) as frontier:
        crawls = [crawl for crawl in frontier.crawl_ids() if only in ("", crawl)]
        most = max(FEWEST_EXAMINED, MOST_EXAMINED // max(1, len(crawls)))
        return {
            crawl: (frontier.counts(crawl), frontier.waits.of_crawl(crawl, most))
            for crawl in crawls
        }
    return {}


def change_state(settings: Settings, target: str, state: CrawlState) -> CrawlState | None:
    """Pauses, resumes or stops a crawl, or pauses and resumes a host for every crawl.

    Args:
        settings: Where store and queue are.
        target: Name of a crawl, or a host.
        state: RUNNING resumes; a host is paused by every other state.

    Returns:
        State of the crawl afterwards: a resumed one that nothing runs is STOPPED or FINISHED. None
        for a host.

    Raises:
        NotFound: Neither a crawl nor a host has this name.
    """
    with any_queue(settings) as frontier:
        if target in frontier.crawl_ids():
            return _change_crawl(settings, frontier, target, state)
        if state is CrawlState.RUNNING:
            frontier.resume_host(_known(settings, frontier, target))
        else:
            frontier.pause_host(_known(settings, frontier, target))
    return None


def _change_crawl(
    settings: Settings, frontier: Frontier, crawl: str, state: CrawlState
) -> CrawlState:
    """Sets the state of a crawl; returns it.

    Raises:
        StorageError: The crawl resumes, and the store is older than the queue.
    """
    if state is CrawlState.RUNNING:
        with existing_store(settings) as store:
            check_store(frontier, store.urls, crawl)
        counts = frontier.counts(crawl)
        if counts.state is CrawlState.FINISHED and not counts.open:
            return CrawlState.FINISHED
        if not frontier.is_fetching():
            state = CrawlState.STOPPED
    with existing_store(settings) as store:
        frontier.set_state(crawl, state)
        store.crawls.put(frontier.spec(crawl), state)
    return state


def _known(settings: Settings, frontier: Frontier, target: str) -> str:
    if not frontier.crawls_of(target):
        hint = hosts_hint(settings, target, frontier.crawl_ids())
        raise NotFound(
            f"no crawl and no host is named {target}; `crawls` and `hosts` list them{hint}"
        )
    return target


def purge(settings: Settings, target: str, *, keep_records: bool) -> Purged:
    """Deletes a crawl, or a host in every crawl, from the queue and from the store.

    Waits for running workers that hold pages of it and may be about to save them.

    Args:
        settings: Where store and queue are.
        target: Name of a crawl, or a host.
        keep_records: Delete only the URLs in the queue.

    Raises:
        NotFound: Neither a crawl nor a host has this name.
    """
    with any_queue(settings) as frontier, existing_store(settings) as store:
        stored = {row.spec.crawl_id for row in store.crawls.all()}
        if target in frontier.crawl_ids() or target in stored:
            return _purge_crawl(frontier, store, target, keep_records=keep_records)
        host = _known(settings, frontier, target)
        return _purge_host(frontier, store, host, keep_records=keep_records)


def _purge_crawl(frontier: Frontier, store: Store, crawl: str, *, keep_records: bool) -> Purged:
    for row in store.crawls.all():
        if row.spec.crawl_id == crawl:  # first: a process that misses its queue reads why
            store.crawls.put(row.spec, CrawlState.PURGED)
    urls = frontier.purge(crawl) if crawl in frontier.crawl_ids() else 0
    _await_workers(frontier, crawl)
    store.spills.forget(crawl)
    store.images.forget_due(crawl)
    return Purged(urls=urls, records=0 if keep_records else store.delete_crawl(crawl))


def _purge_host(frontier: Frontier, store: Store, host: str, *, keep_records: bool) -> Purged:
    urls = records = 0
    for crawl in frontier.crawls_of(host):
        urls += frontier.purge(crawl, host)
        _await_workers(frontier, crawl, host)
        frontier.forget_receipts(crawl)
        store.spills.forget(crawl, host)
        store.images.forget_due(crawl, host)
        records += 0 if keep_records else store.delete_host(crawl, host)
    if not keep_records:
        store.models.delete(host)
        store.drifts.delete(host)
        frontier.learning.forget(host)
    return Purged(urls=urls, records=records)


def _await_workers(frontier: Frontier, crawl_id: str, host: str = "") -> None:
    """Waits until no worker holds pages, at most ``PURGE_WAIT_S``."""
    deadline = time.monotonic() + PURGE_WAIT_S
    between_looks = threading.Event()
    with suppress(QueueUnavailable):  # the run has ended, its workers before it
        while frontier.has_claims(crawl_id, host) and time.monotonic() < deadline:
            between_looks.wait(LOOK_S)
