"""The sample of a minute: figures of queue, crawls and disk, for the console's charts."""

from __future__ import annotations

import shutil
import time

from storage.crawl_types import CrawlState
from storage.live_state import ProcessRole, QueueNow
from storage.store.samples import MINUTE_S, Gauge
from workers.context import Context


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
        now = self._context.frontier.now()
        values = {**now.counters, **self._gauges(now)}
        is_stored = self._context.store.samples.add(now.at, values)
        self._minute = minute
        return is_stored

    def _gauges(self, now: QueueNow) -> dict[str, float]:
        frontier, storage = self._context.frontier, self._context.settings.storage
        crawls = frontier.counts_of(frontier.crawl_ids()).values()
        found = {
            Gauge.PAGES_IN_FLIGHT: now.pages_in_flight,
            Gauge.BYTES_IN_FLIGHT: now.bytes_in_flight,
            Gauge.JOBS: now.jobs,
            Gauge.OLDEST_JOB_S: now.oldest_job_s,
            Gauge.LEASE_COUNT: now.leases,
            Gauge.OLDEST_LEASE_S: now.oldest_lease_s,
            Gauge.CLAIM_COUNT: len(now.claims),
            Gauge.OLDEST_CLAIM_S: now.oldest_claim_s,
            Gauge.READY_HOSTS: now.ready_hosts,
            Gauge.QUEUED_HOSTS: now.hosts,
            Gauge.PAUSED_HOSTS: now.paused_hosts,
            Gauge.STOPPED_CLASSES: now.stopped_classes,
            Gauge.LEARNING: now.learning,
            Gauge.MEMORY_BYTES: now.memory_bytes,
            Gauge.MEMORY_LIMIT_BYTES: now.memory_limit_bytes,
            Gauge.FREE_BYTES: shutil.disk_usage(storage.data).free if storage.is_embedded else None,
            Gauge.SPIDERS: now.spiders,
            Gauge.WORKERS: len(now.of_role(ProcessRole.WORKER)),
            Gauge.RUNNING_CRAWLS: sum(each.state is CrawlState.RUNNING for each in crawls),
            Gauge.PENDING_URLS: sum(each.pending for each in crawls),
            Gauge.SPILLED_URLS: sum(each.spilled for each in crawls),
        }
        return {str(name): float(value) for name, value in found.items() if value is not None}
