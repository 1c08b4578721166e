"""Lists the crawls of a data folder with their counts and waits."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from crawlclean.cleaning.errors import NotFound, ServiceError
from crawlclean.cleaning.lexicon import minute
from crawlclean.storage.crawl_types import CrawlCounts, CrawlRow, CrawlState, UrlState
from crawlclean.storage.live_state import Hold, Waits
from crawlclean.storage.opening import join_queue
from crawlclean.storage.store.crawls import QueueRow
from crawlclean.workers.config import Settings
from crawlclean.workers.operations.backends import existing_store

if TYPE_CHECKING:
    from crawlclean.storage.queue.frontier import Frontier
    from crawlclean.storage.store.protocol import Store


# What holds every host back, in words: for `crawls`, `hosts HOST` and `doctor`.

_HOLDS = {
    Hold.PAGES: "{pages:,} URLs wait for workers",
    Hold.BYTES: "{mib:,} MiB of fetched pages wait for workers",
    Hold.MEMORY: "the memory of the queue is full",
    Hold.DISK: "the disk or the quota of the data folder is full",
}


def hold_lines(waits: Waits) -> list[str]:
    """Describes what holds every host back; empty when nothing does."""
    size = waits.bytes_in_flight >> 20
    lines = [
        f"nothing is fetched: {_HOLDS[hold].format(pages=waits.pages_in_flight, mib=size)}"
        for hold in waits.holds
    ]
    if not waits.spiders:
        lines.append("nothing is fetched: no spider is running")
    return lines


MOST_EXAMINED = 2_000  # hosts whose waits are read, of all crawls: about 0.2 s
FEWEST_EXAMINED = 20  # of each crawl, however many crawls there are


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlStatus:
    """One crawl.

    Attributes:
        row: The crawl in the store; without a time where it is only in the queue.
        counts: Its counts in the queue; None when no queue runs.
        waits: What its hosts wait for; None when no queue runs.
        next_visit: When the next page of a crawl that keeps fresh is due, in the past when pages
            are; None of other crawls.
        as_of: When the figures of ``row`` were computed; None: they are of this moment.
        other_queue: The queue that runs it or ran it last, if that is another than ours.
    """

    row: CrawlRow
    counts: CrawlCounts | None
    waits: Waits | None = None
    next_visit: datetime | None = None
    as_of: datetime | None = None
    other_queue: QueueRow | None = None

    @property
    def name(self) -> str:
        """Its name."""
        return self.row.spec.crawl_id

    @property
    def state(self) -> CrawlState:
        """Its state in the queue; without a queue that in the store, where RUNNING is STOPPED."""
        if self.counts:
            return self.counts.state
        state = self.row.state
        return CrawlState.STOPPED if state is CrawlState.RUNNING else state

    @property
    def records(self) -> int:
        """Pages with a record: by the queue while it runs, which is ahead of the store."""
        stored = self.row.pages.get(UrlState.RECORD, 0)
        return max(stored, self.counts.stored) if self.counts else stored

    @property
    def failed(self) -> int:
        """URLs that gave no record."""
        stored = self.row.pages.get(UrlState.FAILED, 0)
        return max(stored, self.counts.failed) if self.counts else stored


def list_crawls(settings: Settings, only: str = "") -> list[CrawlStatus]:
    """Returns every crawl, oldest first, then those only in the queue; ``only``: just this crawl.

    Raises:
        NotFound: There is no crawl named ``only``.
    """
    live = _live(settings, only)
    with existing_store(settings) as store:
        if not live:  # while a crawl runs, its housekeeper keeps the figures
            store.statistics.refresh()
        as_of = store.overview.as_of()
        stored = store.crawls.all()
        rows = [row for row in stored if only in ("", row.spec.crawl_id)]
        fresh = [row.spec.crawl_id for row in rows if row.spec.keep_fresh]
        queues = {each.queue_id: each for each in other_queues(settings, store)}
        due = {crawl_id: store.revisits.next_due(crawl_id) for crawl_id in fresh}
    known = {row.spec.crawl_id for row in stored}
    if missing := live.keys() - known:
        with suppress(ServiceError), closing(join_queue(settings.storage)) as frontier:
            rows += [row for row in queued_only(frontier, known) if row.spec.crawl_id in missing]
    if only and not rows:
        raise NotFound(f"no crawl is named {only}; `crawls` lists them")
    found = []
    for row in rows:
        counts, waits = live.get(row.spec.crawl_id, (None, None))
        found.append(
            CrawlStatus(
                row=row,
                counts=counts,
                waits=waits,
                next_visit=due.get(row.spec.crawl_id),
                as_of=as_of,
                other_queue=queues.get(row.queue),
            )
        )
    return found


def other_queues(settings: Settings, store: Store) -> list[QueueRow]:
    """Returns the queues of the store's crawls that are not ours; none without our queue."""
    if settings.storage.is_embedded:
        return []
    with suppress(ServiceError), closing(join_queue(settings.storage)) as frontier:
        ours = frontier.identity(make=False).queue_id
        return [each for each in store.queues.all() if each.queue_id != ours]
    return []


def queue_text(queue: QueueRow) -> str:
    """Says where a queue is, and when it was heard: ``redis://db1:6379/0, heard 3 s ago``."""
    heard = (
        f"heard {queue.silent_s:.0f} s ago"
        if queue.is_alive
        else (f"silent since {minute(queue.heard_at)} UTC")
    )
    return f"{queue.place}, {heard}"


def queued_only(frontier: Frontier, stored: Collection[str]) -> list[CrawlRow]:
    """Returns the crawls of the queue that the store does not have, as rows without a time.

    Args:
        frontier: The queue.
        stored: Names of the store's crawls.
    """
    rows = []
    names = [crawl_id for crawl_id in frontier.crawl_ids() if crawl_id not in stored]
    for crawl_id, counts in frontier.counts_of(names).items():
        with suppress(NotFound):  # deleted meanwhile
            spec = frontier.spec(crawl_id)
            rows.append(CrawlRow(spec=spec, created_at=None, state=counts.state))
    return rows


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
