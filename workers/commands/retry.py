"""`retry`: failed URLs are fetched again."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from contextlib import closing

from cleaning.errors import NotFound
from storage.crawl_types import CrawlState, FailureReason
from storage.opening import open_store
from storage.queue.frontier import Frontier
from storage.queue.maintenance import UrlReopener
from storage.store.protocol import Store
from storage.store.urls import EndedUrl
from workers.config import Settings
from workers.operations.backends import any_queue

PASSING = frozenset(
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


def retry(settings: Settings, crawl: str, host: str, reasons: Collection[FailureReason]) -> int:
    """Offers failed URLs again, of one crawl or of all.

    Args:
        settings: Where store and queue are.
        crawl: Its name; ``""``: every crawl in the queue.
        host: Only of this host; ``""``: of all.
        reasons: Why they failed; none: what may pass, and status 5xx and 429.

    Raises:
        NotFound: No such crawl.
    """
    with any_queue(settings) as frontier, closing(open_store(settings.storage)) as store:
        crawls = _crawls(frontier, store, crawl)
        with closing(UrlReopener(frontier.url)) as retrying:
            total = 0
            for name in crawls:
                offered = sum(
                    retrying.reopen(name, batch) for batch in _wanted(store, name, host, reasons)
                )
                if offered:
                    _record_state(frontier, store, name)
                    sys.stdout.write(f"{offered} failed URLs of {name} wait to be fetched again\n")
                total += offered
        if not total:
            sys.stdout.write("no URL failed like this; `failures` lists those that did\n")
    return 0


def _crawls(frontier: Frontier, store: Store, crawl: str) -> list[str]:
    queued = frontier.crawl_ids()
    if not crawl:
        return queued
    if crawl in queued:
        return [crawl]
    if crawl in {row.spec.crawl_id for row in store.crawls.all()}:
        raise NotFound(f"the queue has lost crawl {crawl}; `recover {crawl}` rebuilds it")
    raise NotFound(f"no crawl is named {crawl}; `crawls` lists them")


def _wanted(
    store: Store, crawl: str, host: str, reasons: Collection[FailureReason]
) -> Iterator[list[EndedUrl]]:
    batch: list[EndedUrl] = []
    for end in store.urls.ended(crawl, host or None, failed=True):
        if end.reason in reasons or (not reasons and _may_pass(end)):
            batch.append(end)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _may_pass(end: EndedUrl) -> bool:
    if end.reason is FailureReason.HTTP_STATUS:
        return end.status >= 500 or end.status == TOO_MANY_REQUESTS
    return end.reason in PASSING


def _record_state(frontier: Frontier, store: Store, crawl: str) -> None:
    """A crawl that was finished is not any more."""
    row = next((row for row in store.crawls.all() if row.spec.crawl_id == crawl), None)
    state = frontier.counts(crawl).state
    if row and row.state is CrawlState.FINISHED and state is not row.state:
        store.crawls.put(row.spec, state)
