"""The metrics of this moment, for Prometheus: the command and the console's ``/metrics``."""

from __future__ import annotations

import shutil

from crawlclean.storage.config import StorageConfig
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.workers.metrics import exposition, gauge_values


def read_metrics(frontier: Frontier, storage: StorageConfig) -> str:
    """Returns all counters and gauges in Prometheus' text format.

    Raises:
        QueueUnavailable: The queue is away.
    """
    crawls = frontier.counts_of(frontier.crawl_ids()).values()
    free = shutil.disk_usage(storage.data).free if storage.is_embedded else None
    return exposition(frontier.counters(), gauge_values(frontier.now(), crawls, free))
