"""When crawls that keep fresh go on: what the status line shows."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime

from crawlclean.cleaning.errors import ServiceError
from crawlclean.storage.crawl_types import CrawlCounts, CrawlSpec
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.store.protocol import Store

READ_S = 5.0  # between two reads of the store, which other processes write


VisitWait = tuple[int, float | None]
"""What crawls that keep fresh wait for.

URLs that wait to be visited again, because they are due; and seconds until the next URL is due, 0
or more, None: none has a next visit.
"""


class NextVisit:
    """When the next URL of crawls is due, read from the store every few seconds."""

    def __init__(self, frontier: Frontier, store: Store) -> None:
        self._frontier = frontier
        self._store = store
        self._read_at = float("-inf")
        self._due_at: datetime | None = None
        self._clock: tuple[datetime, float] | None = None  # the queue's clock at our time

    def wait(self, crawls: Iterable[tuple[CrawlSpec, CrawlCounts]]) -> VisitWait | None:
        """Returns what crawls wait for, together; None when none of them keeps fresh."""
        fresh = [(spec.crawl_id, counts) for spec, counts in crawls if spec.keep_fresh]
        if not fresh:
            return None
        now = time.monotonic()
        if now - self._read_at >= READ_S:
            self._read_at = now
            with suppress(ServiceError):  # it is shown, and decides nothing
                due = [self._store.revisits.next_due(crawl_id) for crawl_id, _ in fresh]
                self._due_at = min((at for at in due if at is not None), default=None)
                self._clock = self._frontier.revisits.server_time(), now
        left_s = None
        if self._due_at is not None and self._clock is not None:
            at, read = self._clock
            left_s = max(0.0, (self._due_at - at).total_seconds() - (now - read))
        return sum(counts.revisits for _, counts in fresh), left_s
