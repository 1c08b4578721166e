"""The steps in the life of a crawl: its backends opened, taken over, forgotten, ended."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from storage.crawl_types import CrawlCounts, CrawlSpec, CrawlState
from storage.opening import open_store, start_queue
from storage.queue.embedded import EmbeddedServer
from storage.queue.frontier import Frontier
from storage.sqlite.store import SqliteStore
from storage.store.protocol import Store
from workers.config import Settings

DRAIN_LIMIT_S = 120.0


@contextmanager
def opened(settings: Settings) -> Iterator[tuple[EmbeddedServer | None, Frontier, Store]]:
    """The queue's server if it is ours, the queue and the store, open for a crawl.

    Raises:
        ServiceError: The data folder or a server cannot be used.
    """
    server, frontier = start_queue(settings.storage)
    try:
        store = open_store(settings.storage, create=True)
        try:
            yield server, frontier, store
        finally:
            store.close()
    finally:
        frontier.close()
        if server:
            server.stop()


def take_over(frontier: Frontier, store: Store) -> None:
    """Stops what a killed run left running, and cuts what it left half written.

    Only for the one who has started the server.
    """
    if isinstance(store, SqliteStore):
        store.repair_archive()
    frontier.hold_for_disk(is_full=False)
    frontier.expire_sessions()
    for name in frontier.crawl_ids():
        if frontier.counts(name).state is CrawlState.RUNNING:
            frontier.set_state(name, CrawlState.STOPPED)
            store.crawls.put(frontier.spec(name), CrawlState.STOPPED)


def forget_crawl(frontier: Frontier, store: Store, crawl_id: str) -> None:
    """Forgets what an earlier run of a crawl left to do; its records stay."""
    if crawl_id in frontier.crawl_ids():
        frontier.purge(crawl_id)
    store.spills.forget(crawl_id)
    store.images.forget_due(crawl_id)


def end_crawl(frontier: Frontier, store: Store, spec: CrawlSpec, counts: CrawlCounts) -> CrawlState:
    """Writes into queue and store that a crawl is finished, or stopped with something left.

    Raises:
        NotFound: It was purged.
    """
    state = CrawlState.STOPPED if counts.open else CrawlState.FINISHED
    frontier.set_state(spec.crawl_id, state)
    store.crawls.put(spec, state)
    if state is CrawlState.FINISHED:
        store.spills.forget(spec.crawl_id)
    return state
