"""Which queue runs a crawl, where several share a store; none takes a crawl of another that lives.

A crawl's row names its queue. Another queue does not have the crawl, which looks like a queue that
has lost it: rebuilt there, the crawl would be fetched twice, and its hosts be asked by two clocks.

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

LISTEN_S = 25.0
"""A housekeeper is heard every ten seconds."""
LOOK_S = 0.5  # between two looks at the store while we listen


def ignore(_line: str) -> None:
    """Reports nothing."""


def announce(config: StorageConfig, frontier: Frontier, store: Store) -> str:
    """Stores that our queue lives; returns its id."""
    ours = frontier.identity()
    store.queues.hear(ours.queue_id, config.queue_place, ours.server)
    return ours.queue_id


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
    ours = frontier.identity()
    alive = {
        row.queue_id: row
        for row in store.queues.all()
        if row.queue_id != ours.queue_id and row.is_alive
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
        if other.server == ours.server or not _is_heard_again(store, other, report):
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
