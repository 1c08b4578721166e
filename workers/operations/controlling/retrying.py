"""Lets failed URLs wait to be fetched again."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime

from crawlclean.cleaning.errors import NotFound
from crawlclean.storage.crawl_types import CrawlState, FailureReason
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.queue.maintenance import UrlReopener
from crawlclean.storage.queue.ownership import check_owner, other_owners
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.urls import EndedUrl
from crawlclean.workers.config import Settings
from crawlclean.workers.operations.backends import any_queue, existing_store

TRANSIENT = frozenset(
    {
        FailureReason.DNS,
        FailureReason.CONNECT,
        FailureReason.TIMEOUT,
        FailureReason.TLS,
        FailureReason.BROKEN_ANSWER,
    }
)
BATCH = 1000
TOO_MANY_REQUESTS = 429


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureFilter:
    """Which failed URLs of a crawl.

    Attributes:
        host: Only of this host; ``""``: of all.
        reasons: Only failures of these reasons; none: transient ones, and status 5xx and 429.
        status: Only with this HTTP status; None: with any.
        until: Only URLs that failed until then: one that fails again is not taken twice.
    """

    host: str = ""
    reasons: Collection[FailureReason] = ()
    status: int | None = None
    until: datetime | None = None

    def holds(self, end: EndedUrl) -> bool:
        """Whether a URL of the host is meant."""
        if self.until is not None and end.ended_at > self.until:
            return False
        if self.status is not None and end.status != self.status:
            return False
        return end.reason in self.reasons if self.reasons else is_transient(end.reason, end.status)


def retry_failed(
    settings: Settings, target: str, host: str, reasons: Collection[FailureReason]
) -> dict[str, int]:
    """Offers failed URLs again; returns how many of each crawl wait to be fetched again.

    Args:
        settings: Where store and queue are.
        target: Name of a crawl, or a host in every crawl of the queue; ``""``: every crawl.
        host: Only of this host of the crawl; ``""``: of all.
        reasons: Only failures of these reasons; none: transient ones, and status 5xx and 429.

    Returns:
        Offered URLs by crawl: ``{"example.com-3f2a": 12}``; crawls without any are left out.

    Raises:
        NotFound: The queue has no crawl, and the store no host, of this name.
        StorageError: Another living queue runs the crawl.
    """
    offered = {}
    with any_queue(settings) as frontier, existing_store(settings) as store:
        if target and not host and store.statistics.get(target) is not None:
            target, host = "", target
        wanted = FailureFilter(host=host, reasons=reasons)
        for name in _crawls(settings, frontier, store, target):
            with closing(UrlReopener(frontier.url)) as retrying:
                batches = failed_batches(store, name, wanted)
                count = sum(retrying.reopen(name, batch) for batch in batches)
            if count:
                record_state(frontier, store, name)
                offered[name] = count
    return offered


def retry_some(settings: Settings, crawl: str, wanted: FailureFilter, most: int) -> int:
    """Offers at most ``most`` failed URLs of one crawl again; returns how many.

    Page ids are hashes: the URLs are a sample.

    Raises:
        NotFound: The queue has no crawl of this name.
        StorageError: Another living queue runs the crawl.
    """
    with any_queue(settings) as frontier, existing_store(settings) as store:
        (name,) = _crawls(settings, frontier, store, crawl)
        count = 0
        with closing(UrlReopener(frontier.url)) as retrying:
            for batch in failed_batches(store, name, wanted, size=most):
                count += retrying.reopen(name, batch[: most - count])
                if count >= most:
                    break
        if count:
            record_state(frontier, store, name)
    return count


def _crawls(settings: Settings, frontier: Frontier, store: Store, crawl: str) -> list[str]:
    queued = frontier.crawl_ids()
    if not crawl:
        others = other_owners(settings.storage, frontier, store)
        return [each for each in queued if each not in others]
    check_owner(settings.storage, frontier, store, [crawl])
    if crawl in queued:
        return [crawl]
    if store.crawls.get(crawl):
        raise NotFound(f"the queue has lost crawl {crawl}; `recover {crawl}` rebuilds it")
    raise NotFound(f"no crawl and no host is named {crawl}; `crawls` and `hosts` list them")


def failed_batches(
    store: Store, crawl: str, wanted: FailureFilter, *, after: str = "", size: int = BATCH
) -> Iterator[list[EndedUrl]]:
    """Yields failed URLs of a crawl by page id, ``size`` at a time; ``after``: behind this one."""
    batch: list[EndedUrl] = []
    for end in store.urls.ended(crawl, wanted.host or None, failed=True, after=after):
        if wanted.holds(end):
            batch.append(end)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def is_transient(reason: FailureReason | None, status: int) -> bool:
    """Whether URLs that failed so may succeed when they are fetched again."""
    if reason is FailureReason.HTTP_STATUS:
        return status >= 500 or status == TOO_MANY_REQUESTS
    return reason in TRANSIENT


def record_state(frontier: Frontier, store: Store, crawl: str) -> None:
    """Stores the new state of a finished crawl that has URLs to fetch again."""
    row = store.crawls.get(crawl)
    state = frontier.counts(crawl).state
    if row and row.state is CrawlState.FINISHED and state is not row.state:
        store.crawls.put(row.spec, state)
