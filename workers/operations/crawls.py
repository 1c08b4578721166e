"""Lists the crawls of a data folder with their counts and waits."""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime

from cleaning.errors import NotFound, ServiceError
from storage.crawl_types import CrawlCounts, CrawlRow, CrawlState
from storage.host_waits import Waits
from storage.opening import join_queue
from workers.config import Settings
from workers.operations.backends import existing_store

MOST_EXAMINED = 2_000  # hosts whose waits are read, of all crawls: about 0.2 s
FEWEST_EXAMINED = 20  # of each crawl, however many crawls there are


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlStatus:
    """One crawl.

    Attributes:
        row: The crawl in the store.
        counts: Its counts in the queue; None when no queue runs.
        state: Its state in the queue; without a queue its state in the store, where RUNNING
            becomes STOPPED.
        waits: What its hosts wait for; None when no queue runs.
        next_visit: When the next page of a crawl that keeps fresh is due, in the past when pages
            are; None of other crawls.
    """

    row: CrawlRow
    counts: CrawlCounts | None
    state: CrawlState
    waits: Waits | None = None
    next_visit: datetime | None = None


def list_crawls(settings: Settings, only: str = "") -> list[CrawlStatus]:
    """Returns every crawl of the store, oldest first; ``only``: just this crawl.

    Raises:
        NotFound: The store has no crawl named ``only``.
    """
    live = _live(settings, only)
    with existing_store(settings) as store:
        if not live:  # while a crawl runs, its sweeper keeps the figures
            store.statistics.refresh()
        rows = [row for row in store.crawls.all() if only in ("", row.spec.crawl_id)]
        fresh = [row.spec.crawl_id for row in rows if row.spec.keep_fresh]
        due = {crawl_id: store.revisits.next_due(crawl_id) for crawl_id in fresh}
    if only and not rows:
        raise NotFound(f"no crawl is named {only}; `crawls` lists them")
    found = []
    for row in rows:
        counts, waits = live.get(row.spec.crawl_id, (None, None))
        at_rest = CrawlState.STOPPED if row.state is CrawlState.RUNNING else row.state
        state = counts.state if counts else at_rest
        next_visit = due.get(row.spec.crawl_id)
        found.append(
            CrawlStatus(row=row, counts=counts, state=state, waits=waits, next_visit=next_visit)
        )
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
