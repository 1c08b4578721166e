"""Whether queue and store go together: which queue runs a crawl, and whether the store is older.

Where several queues share a store, none takes a crawl of another that lives. A crawl's row names
its queue. Another queue does not have the crawl, which looks like a queue that has lost it: rebuilt
there, the crawl would be fetched twice, and its hosts be asked by two clocks.

The queue of an embedded store is the only one (a lock on the folder). Another queue at our own
address was replaced by ours as a rule; but two machines may each call their server ``redis``. So
unless the run of the server shows that it is the same, we listen whether the other is heard again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from crawlclean.cleaning.errors import StorageError
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import CrawlState
from crawlclean.storage.store.crawls import QueueRow

if TYPE_CHECKING:
    from crawlclean.storage.queue.frontier import Frontier
    from crawlclean.storage.store.protocol import Store
    from crawlclean.storage.store.urls import Urls

LISTEN_S = 25.0
"""A housekeeper is heard every ten seconds."""
LOOK_S = 0.5  # between two looks at the store while we listen


def ignore(_line: str) -> None:
    """Reports nothing."""


def announce(config: StorageConfig, frontier: Frontier, store: Store) -> str:
    """Stores that our queue lives; returns its id."""
    ours = frontier.queue_id()
    store.queues.hear(ours, config.queue_place, frontier.server_run())
    return ours


def other_owners(
    config: StorageConfig,
    frontier: Frontier,
    store: Store,
    report: Callable[[str], None] = ignore,
) -> dict[str, QueueRow]:
    """Returns the crawls of the store that another living queue runs, each with this queue.

    Args:
        config: Where queue and store are.
        frontier: Our queue.
        store: The store.
        report: Called with a line before it takes seconds.
    """
    if config.is_embedded:
        return {}
    ours = frontier.queue_id()
    alive = {
        row.queue_id: row for row in store.queues.all() if row.queue_id != ours and row.is_alive
    }
    if not alive:
        return {}
    owned = {
        row.spec.crawl_id: row.queue
        for row in store.crawls.all()
        if row.queue in alive and row.state is not CrawlState.PURGED
    }
    for queue_id in set(owned.values()):
        other = alive[queue_id]
        if other.place != config.queue_place:
            continue
        if other.server == frontier.server_run() or not _is_heard_again(store, other, report):
            store.queues.forget(queue_id)  # one that lives after all is back with its next sign
            del alive[queue_id]
    return {crawl: alive[queue] for crawl, queue in owned.items() if queue in alive}


def _is_heard_again(store: Store, old: QueueRow, report: Callable[[str], None]) -> bool:
    """Whether a queue at our address lives, beside ours; waits ``LISTEN_S`` at most."""
    report(f"another queue at {old.place} was heard {old.silent_s:.0f} s ago: does it live?")
    until = time.monotonic() + LISTEN_S
    while time.monotonic() < until:
        found = [row for row in store.queues.all() if row.queue_id == old.queue_id]
        if not found or not found[0].is_alive:
            return False
        if found[0].heard_at > old.heard_at:
            return True
        time.sleep(LOOK_S)
    return False


def check_owner(
    config: StorageConfig,
    frontier: Frontier,
    store: Store,
    crawls: Collection[str],
    report: Callable[[str], None] = ignore,
) -> None:
    """Checks that no other living queue runs one of some crawls.

    Raises:
        StorageError: One does; the message is one line with what to do. Or queue or store failed.
    """
    others = other_owners(config, frontier, store, report)
    for crawl in crawls:
        if crawl in others:
            raise StorageError(owned_line(crawl, others[crawl]))


def owned_line(crawl: str, owner: QueueRow) -> str:
    """Says that another queue runs a crawl, and what to do."""
    return (
        f"crawl {crawl} is run by another queue, {owner.place}, heard {owner.silent_s:.0f} s ago: "
        f"work on it there, or take it over with `crawl recover {crawl} --force`"
    )


# Receipts: by them a store that is older than its queue is noticed (ADR 28).
#
# A page is stored before its acknowledgement. So every page that ended in the queue has a row in
# the store whose response is not older, after a kill at any moment as well. The queue keeps the
# last pages of each crawl that ended, one for each acknowledgement, as receipts. A store that was
# put back lacks the pages that were stored last, and these are the pages of the receipts.


def find_gap(frontier: Frontier, urls: Urls, crawl_id: str) -> int:
    """Returns how many of a crawl's receipts the store lacks; 0 unless the store is older.

    It lacks a receipt when the page is not there, or only with an older response.

    A page that is purged meanwhile is not missing: its receipt is deleted first.

    Raises:
        StorageError: Queue or store failed.
    """
    receipts = frontier.receipts(crawl_id)
    stored = urls.response_times(crawl_id, receipts.keys())
    missing = {page for page, stored_ms in receipts.items() if stored.get(page, -1) < stored_ms}
    if missing:
        missing &= frontier.receipts(crawl_id).keys()
    return len(missing)


def check_store(frontier: Frontier, urls: Urls, crawl_id: str) -> None:
    """Checks that the store is not older than the queue of a crawl.

    Raises:
        StorageError: The store is older; or queue or store failed.
    """
    missing = find_gap(frontier, urls, crawl_id)
    if missing:
        raise StorageError(
            f"the store is older than its queue: it lacks at least {missing} finished URLs of "
            f"crawl {crawl_id}; put the newer store back, or run `crawl recover {crawl_id}`: then "
            "`run` fetches them again"
        )
