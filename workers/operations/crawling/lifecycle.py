"""The steps in the life of a crawl: open its backends, take over, forget, end."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from crawlclean.cleaning.errors import QueueUnavailable
from crawlclean.storage.crawl_types import CrawlCounts, CrawlSpec, CrawlState
from crawlclean.storage.opening import open_store, start_queue
from crawlclean.storage.queue.embedded import EmbeddedServer
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.queue.ownership import announce, check_owner
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.answers.crawls import EndedBy
from crawlclean.workers.config import Settings
from crawlclean.workers.hooks.loading import load_hooks
from crawlclean.workers.operations.crawling.outcome import crawl_outcome
from crawlclean.workers.processes.fleet import fork_server
from crawlclean.workers.processes.fork_server import ForkServer

DRAIN_LIMIT_S = 120.0
REPEATED_PAGES = 100  # a job has no more; a worker that was killed between store and queue left one
RECLEANING = "re-cleaning pages with new site models"
COUNTDOWN_S = 10  # a log has a line each time that the note changes


class End(NamedTuple):
    """End of a crawl: the cause, and its line: ``--max-time reached``, ``""`` without URLs left."""

    by: EndedBy
    why: str


NO_URL_LEFT = End(EndedBy.DONE, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlBackends:
    """The backends of `run` and `sites`.

    Attributes:
        settings: Where the backends are, and everything else.
        server: The queue's embedded server; None when the queue is on a Redis server.
        frontier: The queue.
        store: The store.
        forks: Starts the processes; None: each is an interpreter of its own.
    """

    settings: Settings
    server: EmbeddedServer | None
    frontier: Frontier
    store: Store
    forks: ForkServer | None = None


@contextmanager
def open_backends(settings: Settings) -> Iterator[CrawlBackends]:
    """Starts the embedded server unless a Redis server is set; opens queue and store for a crawl.

    Raises:
        ServiceError: The data folder or a server cannot be used.
        ConfigError: A hook cannot be loaded.
    """
    # The fork server first: it must not share a lock or a connection.
    with fork_server(settings) as forks, _opened(settings, forks) as backends:
        yield backends


@contextmanager
def _opened(settings: Settings, forks: ForkServer | None) -> Iterator[CrawlBackends]:
    load_hooks(settings)  # before anything is fetched: workers would fail at their start
    server, frontier = start_queue(settings.storage)
    try:
        store = open_store(settings.storage, create=True)
        try:
            if isinstance(store, SqliteStore):
                store.check()
            # The queue has them, too, unless it was lost.
            frontier.keep_paused(store.pauses.all())
            announce(settings.storage, frontier, store)
            yield CrawlBackends(
                settings=settings, server=server, frontier=frontier, store=store, forks=forks
            )
        finally:
            store.close()
    finally:
        frontier.close()
        if server:
            server.stop()


def check_queue(
    backends: CrawlBackends, crawls: Collection[str], report: Callable[[str], None]
) -> None:
    """Checks that no other living queue of the store runs one of some crawls.

    Raises:
        StorageError: One does.
    """
    check_owner(backends.settings.storage, backends.frontier, backends.store, crawls, report)


def take_crawl(backends: CrawlBackends, crawl_id: str) -> str:
    """Stores that our queue runs a crawl, if the store has it; returns the queue's id.

    Must be called before the crawl runs: housekeepers stop what is not of their queue.
    """
    queue = backends.frontier.identity().queue_id
    backends.store.crawls.give_to(crawl_id, queue)
    return queue


def take_over(backends: CrawlBackends, report: Callable[[str], None]) -> None:
    """Stops the crawls that a killed run left running, and truncates half-written archive files.

    Does nothing on a Redis server: other runs may be using it.

    Args:
        backends: Store and queue.
        report: Gets a line when parts of the archive are gone.
    """
    if not backends.server:
        return
    frontier, store = backends.frontier, backends.store
    if isinstance(store, SqliteStore):
        store.repair_archive()
        if fault := store.archive_fault():
            report(fault)
    if backends.server.notice:
        report(backends.server.notice)
    frontier.hold_for_disk(is_full=False)
    frontier.forget_damage()
    frontier.expire_sessions()
    for name in frontier.crawl_ids():
        if frontier.counts(name).state is CrawlState.RUNNING:
            frontier.set_state(name, CrawlState.STOPPED)
            store.crawls.put(frontier.spec(name), CrawlState.STOPPED)


def records_before(
    backends: CrawlBackends, crawls: Collection[str], tell: Callable[[str], None]
) -> int:
    """Returns the stored records of crawls that go on; tells if the queue is older than these."""
    backends.store.statistics.refresh()
    outcome = crawl_outcome(backends.store, crawls)
    counts = backends.frontier.counts_of(crawls)
    again = outcome.records - sum(each.stored for each in counts.values())
    if again > REPEATED_PAGES * backends.settings.workers.count:
        tell(f"the queue is older than its store: {again} stored pages may be done again")
    return outcome.all_records


def forget_crawl(backends: CrawlBackends, crawl_id: str) -> None:
    """Forgets the URLs that an earlier run of a crawl left waiting; its records stay."""
    if crawl_id in backends.frontier.crawl_ids():
        backends.frontier.purge(crawl_id)
    backends.store.spills.forget(crawl_id)
    backends.store.images.forget_due(crawl_id)


def are_only_paused_left(frontier: Frontier, crawl_id: str, counts: CrawlCounts) -> bool:
    """Whether every URL left of a running crawl waits for a host that an operator paused."""
    if counts.state is not CrawlState.RUNNING or counts.in_flight or not counts.pending:
        return False
    return sum(frontier.paused_urls(crawl_id).values()) >= counts.pending


def finishing_note(until: float) -> str:
    """Says what a crawl that ends waits for, and how long: ``until`` is of the monotonic clock."""
    left = max(0.0, until - time.monotonic())
    seconds = COUNTDOWN_S * math.ceil(left / COUNTDOWN_S)
    return f"finishing what is in flight, {seconds} s at most; Ctrl-C again ends at once"


def queue_note(frontier: Frontier) -> str:
    """Says why nothing is taken from the queue; ``""``: its server takes what is written."""
    try:
        return "queue memory full, waiting" if frontier.is_memory_full() else ""
    except QueueUnavailable as error:
        return f"{str(error).rstrip('.')}: waiting"


def state_at_end(spec: CrawlSpec, counts: CrawlCounts) -> CrawlState:
    """Returns the state of a crawl that no process works on; one that keeps fresh never ends."""
    return CrawlState.STOPPED if counts.open or spec.keep_fresh else CrawlState.FINISHED


def end_crawl(backends: CrawlBackends, spec: CrawlSpec, counts: CrawlCounts) -> CrawlState:
    """Writes into queue and store that a crawl is FINISHED, or STOPPED with open URLs.

    Raises:
        NotFound: The crawl was purged.
    """
    state = state_at_end(spec, counts)
    backends.frontier.revisits.forget(spec.crawl_id)  # the store knows when they are due
    backends.frontier.set_state(spec.crawl_id, state)
    backends.store.crawls.put(spec, state)
    if state is CrawlState.FINISHED:
        backends.store.spills.forget(spec.crawl_id)
    return state
