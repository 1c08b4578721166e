"""The queue of crawls rebuilt from the store, after it was lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from cleaning.errors import NotFound, StorageError
from storage.crawl_types import CrawlRow, CrawlState
from storage.queue.frontier import Frontier
from storage.queue.maintenance import CrawlRebuilder
from storage.queue.overflow import Overflow
from storage.store.protocol import Store
from workers.config import Settings
from workers.jobs.recovery import Recovery
from workers.operations.backends import any_queue, existing_store


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveredCrawl:
    """One crawl that is in the queue again.

    Attributes:
        crawl: Its name.
        ended: URLs that were done before, and are not fetched again.
        waiting: URLs that wait to be fetched.
    """

    crawl: str
    ended: int
    waiting: int


def recover_crawls(
    settings: Settings, names: Sequence[str], say: Callable[[str], None], *, force: bool
) -> Iterator[RecoveredCrawl]:
    """Rebuilds crawls that the queue has lost, or those named; yields each when it is whole.

    Args:
        settings: Where store and queue are.
        names: Crawls; none: all that the store has and the queue has not.
        say: Gets a line every few seconds with how far a crawl is.
        force: Also crawls that the queue has: URLs that they have not seen are offered.

    Raises:
        NotFound: No crawl has this name.
        StorageError: The queue has the crawl.
    """
    with (
        any_queue(settings) as frontier,
        existing_store(settings) as store,
        recovering(settings, store, frontier, say) as (recovery, rebuilding),
    ):
        for row in _wanted(store, rebuilding, names, force=force):
            done = recovery.recover(row)
            crawl = row.spec.crawl_id
            waiting = frontier.counts(crawl).pending
            yield RecoveredCrawl(crawl=crawl, ended=done.ended, waiting=waiting)


@contextmanager
def recovering(
    settings: Settings, store: Store, frontier: Frontier, say: Callable[[str], None]
) -> Iterator[tuple[Recovery, CrawlRebuilder]]:
    """Opens what rebuilds crawls of the store in the queue; ``say`` gets a line on the way."""
    rebuilding = CrawlRebuilder(frontier.url)
    overflow = Overflow(frontier.url, store.spills, settings.storage.max_pending_urls)
    try:
        yield Recovery(store, frontier, rebuilding, overflow, say), rebuilding
    finally:
        overflow.close()
        rebuilding.close()


def lost_crawls(store: Store, rebuilding: CrawlRebuilder) -> list[CrawlRow]:
    """Returns the crawls of the store that the queue lacks, in whole or in part; no purged ones."""
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
