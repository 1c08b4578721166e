"""The sample of a minute: figures of queue, crawls and disk, for the console's charts."""

from __future__ import annotations

import shutil
import time

from crawlclean.storage.store.journal import MINUTE_S
from crawlclean.workers.context import Context
from crawlclean.workers.metrics import gauge_values


class Sampler:
    """Samples once a minute, at the first call in it."""

    def __init__(self, context: Context) -> None:
        """Has sampled nothing yet."""
        self._context = context
        self._minute = -1

    def round(self) -> bool:
        """Stores the sample of this minute unless there is one; returns whether it did.

        Raises:
            ServiceError: The queue or the store is away; the next call tries again.
        """
        minute = int(time.time()) // MINUTE_S
        if minute == self._minute:
            return False
        frontier, storage = self._context.frontier, self._context.settings.storage
        now = frontier.now()
        crawls = frontier.counts_of(frontier.crawl_ids()).values()
        free = shutil.disk_usage(storage.data).free if storage.is_embedded else None
        gauges = gauge_values(now, crawls, free)
        values = {**now.counters, **{str(name): value for name, value in gauges.items()}}
        is_stored = self._context.store.samples.add(now.at, values)
        self._minute = minute
        return is_stored
