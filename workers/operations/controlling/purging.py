"""Deletes a crawl, or a host in every crawl, or its raw pages; counts beforehand what would go."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from crawlclean.cleaning.errors import ConfigError, QueueUnavailable
from crawlclean.storage.crawl_types import CrawlState, UrlState
from crawlclean.storage.queue.ownership import check_owner
from crawlclean.workers.answers.control import DroppedRaw, Purged, PurgePlan, TargetKind
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.controlling.fetching_again import crawls_of_target
from crawlclean.workers.operations.topics.crawls import hand_over
from crawlclean.workers.operations.urls.near_matches import unknown_name

if TYPE_CHECKING:
    from crawlclean.storage.queue.frontier import Frontier
    from crawlclean.storage.store.protocol import Store

PURGE_WAIT_S = 20.0  # a job of pages takes seconds; one that hangs must not hold up a purge
LOOK_S = 0.1  # between two looks: as long as a person does not notice


def plan_purge(backends: Backends, target: str) -> PurgePlan:
    """Counts what `crawl purge` of a crawl or a host would delete; deletes nothing.

    Raises:
        NotFound: Neither a crawl nor a host has this name.
    """
    with backends.queue(at_rest=True) as frontier, backends.store() as store:
        queued = frontier.crawl_ids()
        store.statistics.refresh()  # who deletes decides by these numbers
        for row in store.crawls.all():
            if row.spec.crawl_id == target:
                return PurgePlan(
                    kind=TargetKind.CRAWL,
                    target=target,
                    crawls=(target,),
                    records=row.pages.get(UrlState.RECORD, 0),
                    failed=row.pages.get(UrlState.FAILED, 0),
                    waiting=frontier.counts(target).open if target in queued else 0,
                    model_versions=0,
                )
        crawls = _crawls_of(frontier, store, target)
        stats = store.statistics.get(target)
        pages = stats.pages_by_state if stats else {}
        return PurgePlan(
            kind=TargetKind.HOST,
            target=target,
            crawls=tuple(crawls),
            records=pages.get(UrlState.RECORD, 0),
            failed=pages.get(UrlState.FAILED, 0),
            waiting=sum(frontier.pending_of(crawl, target) for crawl in crawls if crawl in queued),
            model_versions=len(store.models.versions(target)),
        )


def _crawls_of(frontier: Frontier, store: Store, host: str) -> list[str]:
    """Returns the crawls of queue and store that have a host: imports are in the store alone.

    Raises:
        NotFound: None has.
    """
    stored = [row.spec.crawl_id for row in store.crawls.all()]
    found = {crawl for crawl in stored if store.statistics.get(host, crawl)}
    found.update(frontier.crawls_of(host))
    if not found:
        raise unknown_name(store, host)
    return sorted(found)


def purge(backends: Backends, target: str, *, keep_records: bool) -> Purged:
    """Deletes a crawl, or a host in every crawl, from the queue and from the store.

    Waits for running workers that hold pages of it and may be about to save them.

    Args:
        backends: Queue and store.
        target: Name of a crawl, or a host.
        keep_records: Delete only the URLs in the queue.

    Raises:
        NotFound: Neither a crawl nor a host has this name.
        StorageError: Another living queue runs the crawl.
    """
    with backends.queue(at_rest=True) as frontier, backends.store() as store:
        check_owner(backends.settings.storage, frontier, store, [target])
        if target in frontier.crawl_ids() or store.crawls.get(target):
            return _purge_crawl(frontier, store, target, keep_records=keep_records)
        return _purge_host(frontier, store, target, keep_records=keep_records)


def _purge_crawl(frontier: Frontier, store: Store, crawl: str, *, keep_records: bool) -> Purged:
    if row := store.crawls.get(crawl):  # first: a process that misses its queue reads why
        store.crawls.put(row.spec, CrawlState.PURGED)
    urls = frontier.purge(crawl) if crawl in frontier.crawl_ids() else 0
    _await_workers(frontier, crawl)
    store.spills.forget(crawl)
    store.images.forget_due(crawl)
    if keep_records:
        return Purged(kind=TargetKind.CRAWL, target=crawl, urls=urls, records=0)
    hand_over(store, crawl)
    records = store.delete_crawl(crawl)
    if crawl in store.topics.crawls():
        store.topics.delete(crawl)
    store.statistics.refresh()  # other crawls have the pages that were handed over
    return Purged(kind=TargetKind.CRAWL, target=crawl, urls=urls, records=records)


def _purge_host(frontier: Frontier, store: Store, host: str, *, keep_records: bool) -> Purged:
    urls = records = 0
    queued = frontier.crawls_of(host)
    for crawl in _crawls_of(frontier, store, host):
        if crawl in queued:
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
    return Purged(kind=TargetKind.HOST, target=host, urls=urls, records=records)


def _await_workers(frontier: Frontier, crawl_id: str, host: str = "") -> None:
    """Waits until no worker holds pages, at most ``PURGE_WAIT_S``."""
    deadline = time.monotonic() + PURGE_WAIT_S
    between_looks = threading.Event()
    with suppress(QueueUnavailable):  # the run has ended, its workers before it
        while frontier.has_claims(crawl_id, host) and time.monotonic() < deadline:
            between_looks.wait(LOOK_S)


# Drops archived responses of a crawl or a host, to free room; their records stay.

STEP = 1000
"""Responses that are dropped between two looks at whether to go on: about 0.2 s."""


def raw_place(backends: Backends, store: Store, target: str) -> tuple[str | None, str | None]:
    """The (crawl, host) of what is dropped; None: any.

    Raises:
        NotFound: The store has neither crawl nor host of this name.
        ConfigError: The crawl is not at rest: it learns hosts from its archive.
    """
    _, host = crawls_of_target(store, target)
    if host:
        return None, host
    # A queue at rest is started for this, and its file written anew when it is stopped.
    with backends.queue_side(at_rest=True) as side:
        if side.frontier is not None:
            counts = side.frontier.counts_of([target]).get(target)
            if counts and counts.state in (CrawlState.RUNNING, CrawlState.PAUSED) and counts.open:
                raise ConfigError(f"crawl {target} is not finished: stop it first, or name a host")
    return target, None


def drop_raw(backends: Backends, target: str, *, dry_run: bool = False) -> DroppedRaw:
    """Drops the archived responses of a crawl, or of a host in every crawl.

    Args:
        backends: Queue and store.
        target: Name of a crawl, or a host.
        dry_run: Drop nothing, count what would be dropped.

    Raises:
        NotFound: No such crawl or host.
        ConfigError: The crawl is not at rest.
    """
    with backends.store() as store:
        crawl, host = raw_place(backends, store, target)
        responses, _, freed_bytes = store.raw_space(crawl, host)
        if not dry_run:
            store.drop_raw(crawl, host)
    return DroppedRaw(
        kind=TargetKind.HOST if host else TargetKind.CRAWL,
        target=target,
        responses=responses,
        freed_bytes=freed_bytes,
    )
