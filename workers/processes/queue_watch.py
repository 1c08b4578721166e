"""The sweeper's word for its queue: that it lives, and which crawls it no longer runs.

Where several queues share a store, each crawl is run by one of them (``storage/queue/ownership``).
"""

from __future__ import annotations

import logging
from contextlib import suppress

from crawlclean.cleaning.errors import NotFound
from crawlclean.storage.crawl_types import CrawlState
from crawlclean.storage.queue.ownership import announce
from crawlclean.storage.store.journal import Event, EventKind
from crawlclean.workers.context import Context

log = logging.getLogger(__name__)


class WatchedQueue:
    """The queue of one sweeper."""

    def __init__(self, context: Context) -> None:
        """Has announced nothing yet."""
        self._context = context
        self._announced = ""

    def announce(self) -> str:
        """Stores that the queue lives; returns its id.

        When the server at the queue's address has another id than before, the old queue is gone:
        its crawls may be rebuilt at once.
        """
        store = self._context.store
        queue_id = announce(self._context.settings.storage, self._context.frontier, store)
        if queue_id != self._announced:
            if self._announced:
                log.warning("the queue was made anew", extra={"was": self._announced})
                store.queues.forget(self._announced)
            store.queues.forget_gone({row.queue for row in store.crawls.all()})
        self._announced = queue_id
        return queue_id

    def stop_taken(self, queue_id: str) -> None:
        """Stops the crawls that another queue has taken over; takes those that none has."""
        store, frontier = self._context.store, self._context.frontier
        known = set(frontier.crawl_ids())
        for row in store.crawls.all():
            crawl = row.spec.crawl_id
            if crawl not in known or row.queue == queue_id:
                continue
            if not row.queue:  # stored before queues had ids
                store.crawls.give_to(crawl, queue_id)
                continue
            with suppress(NotFound):  # purged meanwhile
                if frontier.counts(crawl).state in (CrawlState.RUNNING, CrawlState.PAUSED):
                    frontier.set_state(crawl, CrawlState.STOPPED)
                    log.warning("crawl taken over", extra={"crawl": crawl, "by": row.queue})
                    text = f"stopped in the queue {queue_id}: the queue {row.queue} runs it"
                    event = Event(kind=EventKind.RECOVERED, crawl_id=crawl, text=text)
                    store.events.add(event)
