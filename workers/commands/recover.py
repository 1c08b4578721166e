"""`recover`: the frontier from the store, after the queue was lost."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from cleaning.errors import NotFound, StorageError
from storage.crawl_types import CrawlRow, CrawlState
from storage.opening import open_store
from storage.queue.frontier import Frontier
from storage.queue.maintenance import CrawlRebuilder
from storage.queue.overflow import Overflow
from storage.store.protocol import Store
from workers.config import Settings
from workers.jobs.recovery import Recovery
from workers.operations.backends import any_queue


def recover(settings: Settings, names: Sequence[str], *, force: bool) -> int:
    """Rebuilds crawls that the queue has lost, or those named.

    Args:
        settings: Where store and queue are.
        names: Crawls; none: all that the store has and the queue has not.
        force: Also those that the queue has: what they have not seen is offered.

    Raises:
        NotFound: No crawl has this name.
        StorageError: The queue has the crawl.
    """
    with any_queue(settings) as frontier:
        store = open_store(settings.storage)
        try:
            with recovering(settings, store, frontier, _say) as (recovery, rebuilding):
                rows = _wanted(store, rebuilding, names, force=force)
                for row in rows:
                    done = recovery.recover(row)
                    sys.stdout.write(
                        f"recovered {row.spec.crawl_id}: {done.ended} URLs done before, "
                        f"{frontier.counts(row.spec.crawl_id).pending} waiting\n"
                    )
            if not rows:
                sys.stdout.write("nothing to recover: the queue has every crawl of the store\n")
        finally:
            store.close()
    return 0


@contextmanager
def recovering(
    settings: Settings, store: Store, frontier: Frontier, say: Callable[[str], None]
) -> Iterator[tuple[Recovery, CrawlRebuilder]]:
    """What rebuilds crawls of the store in the queue of the settings."""
    rebuilding = CrawlRebuilder(frontier.url)
    tail = Overflow(frontier.url, store.parcels, settings.storage.max_pending_urls)
    try:
        yield Recovery(store, frontier, rebuilding, tail, say), rebuilding
    finally:
        tail.close()
        rebuilding.close()


def lost_crawls(store: Store, rebuilding: CrawlRebuilder) -> list[CrawlRow]:
    """Crawls of the store that the queue has not, or not whole; not those that were purged."""
    return [
        row
        for row in store.crawls.all()
        if row.state is not CrawlState.PURGED and rebuilding.is_lost(row.spec.crawl_id)
    ]


def _wanted(
    store: Store, rebuilding: CrawlRebuilder, names: Sequence[str], *, force: bool
) -> list[CrawlRow]:
    if not names:
        if force:
            return [row for row in store.crawls.all() if row.state is not CrawlState.PURGED]
        return lost_crawls(store, rebuilding)
    rows = {row.spec.crawl_id: row for row in store.crawls.all()}
    for name in names:
        if name not in rows:
            raise NotFound(f"no crawl is named {name}; `crawls` lists them")
        if not force and not rebuilding.is_lost(name):
            raise StorageError(
                f"the queue has crawl {name}: `run` goes on with it; --force offers again "
                "what its queue has not seen"
            )
    return [rows[name] for name in dict.fromkeys(names)]


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")
