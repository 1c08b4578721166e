"""The housekeeper's revisiting: queues the pages of crawls that keep fresh when they are due.

The store has the schedule; the queue holds at most ``MOST_OF_A_HOST`` due URLs of a host and
``MOST_QUEUED`` in all, however many are due. A round reads what is due, and queues what does not
wait yet. A page stays due until its visit is saved: what a killed process loses, the next round
queues again, and a visit that was missed for a month is made once.

Of several processes the one that holds the lock works.
"""

from __future__ import annotations

import time
import uuid
from contextlib import suppress

from crawlclean.cleaning.errors import NotFound
from crawlclean.storage.crawl_types import CrawlState
from crawlclean.storage.queue.counters import Counter
from crawlclean.storage.queue.revisits import MOST_OF_A_HOST
from crawlclean.workers.context import Context

LOCK_MS = 30_000  # renewed twice a second; after a kill another process has it so late
MOST_QUEUED = 5_000  # of all crawls: some 5 MB of the queue's memory
SCHEDULING_S = 0.5  # of a round, for first schedules in crawls that kept nothing fresh before


class Revisiting:
    """The rounds of one process."""

    def __init__(self, context: Context) -> None:
        """Holds no lock yet."""
        self._frontier = context.frontier
        self._store = context.store
        self._token = uuid.uuid4().hex
        self._scheduled: dict[str, str] = {}  # crawl -> where its first schedules go on
        self._begun: set[str] = set()  # crawls whose URLs all have a schedule

    def round(self) -> int:
        """Queues what is due in every running crawl that keeps fresh; returns how many URLs.

        Raises:
            ServiceError: The queue or the store is away.
        """
        if not self._frontier.revisits.lock(self._token, LOCK_MS):
            return 0
        crawls = self._crawls()
        self._begun &= set(crawls)
        self._scheduled = {name: at for name, at in self._scheduled.items() if name in crawls}
        room = MOST_QUEUED - sum(crawls.values())
        queued, until = 0, time.monotonic() + SCHEDULING_S
        for crawl_id in sorted(crawls, key=lambda each: (crawls[each], each)):
            with suppress(NotFound):  # purged meanwhile
                self._schedule(crawl_id, until)
                limit = min(room, max(MOST_OF_A_HOST, MOST_QUEUED // len(crawls)))
                taken = self._queue_due(crawl_id, limit) if limit > 0 else 0
                room -= taken
                queued += taken
        if queued:
            self._frontier.count({str(Counter.REVISITS_DUE): queued})
        return queued

    def release(self) -> None:
        """Gives the lock to another process."""
        self._frontier.revisits.unlock(self._token)

    def _crawls(self) -> dict[str, int]:
        """The running crawls that keep fresh, with the number of revisits that wait."""
        found = {}
        for crawl_id in self._frontier.crawl_ids():
            with suppress(NotFound):
                counts = self._frontier.counts(crawl_id)
                if counts.state is CrawlState.RUNNING and self._frontier.spec(crawl_id).keep_fresh:
                    found[crawl_id] = counts.revisits
        return found

    def _schedule(self, crawl_id: str, until: float) -> None:
        """Schedules URLs of a crawl from before it kept fresh, some each round until a time."""
        if crawl_id in self._begun:
            return
        after = self._scheduled.pop(crawl_id, "")
        while True:
            after = self._store.revisits.begin(crawl_id, after)
            if not after:
                self._begun.add(crawl_id)
                return
            if time.monotonic() > until:
                self._scheduled[crawl_id] = after
                return

    def _queue_due(self, crawl_id: str, limit: int) -> int:
        """Queues the due URLs of a crawl, at most ``limit``; returns how many did not wait."""
        now = self._frontier.revisits.server_time()
        next_due = self._store.revisits.next_due(crawl_id)
        if next_due is None or next_due > now:
            return 0
        full = self._frontier.revisits.full_hosts(crawl_id)
        due = self._store.revisits.due(crawl_id, now, MOST_OF_A_HOST, limit, without=full)
        return self._frontier.revisits.offer(crawl_id, due)
