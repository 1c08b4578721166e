"""Lists the crawls of a data folder with their counts and waits."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import UNSET

from crawlclean.cleaning.errors import NotFound, ServiceError
from crawlclean.cleaning.lexicon import minute
from crawlclean.storage.crawl_types import CrawlCounts, CrawlRow, CrawlState, UrlState
from crawlclean.storage.live_state import Waits
from crawlclean.storage.opening import join_queue
from crawlclean.storage.store.crawls import QueueRow
from crawlclean.workers.answers.crawls import CrawlLine
from crawlclean.workers.config import Settings
from crawlclean.workers.operations.backends import existing_store
from crawlclean.workers.operations.controlling.waits import hosts_left, wait_counts

if TYPE_CHECKING:
    from crawlclean.storage.queue.frontier import Frontier
    from crawlclean.storage.store.protocol import Store


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


def crawl_line(
    crawl: CrawlStatus, paused_hosts: Collection[str], *, with_hosts: bool = False
) -> CrawlLine:
    """One crawl; what the queue holds only while the queue runs.

    Args:
        crawl: The crawl.
        paused_hosts: Its paused hosts.
        with_hosts: Whether each examined host is in it.
    """
    row, counts, waits = crawl.row, crawl.counts, crawl.waits
    return CrawlLine(
        crawl=row.spec.crawl_id,
        state=crawl.state,
        records=row.pages.get(UrlState.RECORD, 0),
        failed=row.pages.get(UrlState.FAILED, 0),
        pages=dict(row.pages),
        created_at=row.created_at,
        as_of=crawl.as_of,
        seeds=tuple(row.spec.seeds),
        include=row.spec.include,
        exclude=row.spec.exclude,
        paused_hosts=tuple(paused_hosts),
        keep_fresh=row.spec.keep_fresh,
        next_visit=crawl.next_visit,
        other_queue=crawl.other_queue.place if crawl.other_queue else UNSET,
        to_visit_again=counts.revisits if counts else UNSET,
        visited_again=counts.revisited if counts else UNSET,
        waiting=counts.pending if counts else UNSET,
        in_flight=counts.in_flight if counts else UNSET,
        hosts=counts.hosts if counts else UNSET,
        waiting_in_store=counts.spilled if counts else UNSET,
        waits=wait_counts(waits) if waits else UNSET,
        hosts_examined=len(waits.hosts) if waits else UNSET,
        holds=tuple(waits.holds) if waits else UNSET,
        spiders=waits.spiders if waits else UNSET,
        hosts_left=tuple(hosts_left(waits)) if waits and with_hosts else UNSET,
    )


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
