"""The counters and gauges of all processes in Prometheus' text format.

A counter is ``<name>_records_total``, a gauge ``<name>_oldest_job_seconds``.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from crawlclean import __dist__
from crawlclean.storage.crawl_types import CrawlCounts, CrawlState
from crawlclean.storage.live_state import ProcessRole, QueueNow
from crawlclean.storage.queue.counters import Counter
from crawlclean.storage.store.journal import Gauge

if TYPE_CHECKING:  # the queue's client is slow to import
    from crawlclean.storage.config import StorageConfig
    from crawlclean.storage.queue.frontier import Frontier


def metric_name(name: Counter | Gauge) -> str:
    """Returns the name in Prometheus: ``<name>_records_total``, ``<name>_oldest_job_seconds``."""
    if isinstance(name, Counter):
        return f"{__dist__}_{name}_total"
    text = f"{name.removesuffix('_s')}_seconds" if name.endswith("_s") else str(name)
    return f"{__dist__}_{text}"


def read_gauges(
    now: QueueNow, crawls: Collection[CrawlCounts], storage: StorageConfig
) -> dict[Gauge, float]:
    """Returns the gauges of a moment of the queue; one that has no value now is left out."""
    found = {
        Gauge.PAGES_IN_FLIGHT: now.pages_in_flight,
        Gauge.BYTES_IN_FLIGHT: now.bytes_in_flight,
        Gauge.JOBS: now.jobs,
        Gauge.OLDEST_JOB_S: now.oldest_job_s,
        Gauge.LEASES_HELD: now.leases,
        Gauge.OLDEST_LEASE_S: now.oldest_lease_s,
        Gauge.CLAIMS_HELD: len(now.claims),
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
    return {name: float(value) for name, value in found.items() if value is not None}


def read_metrics(frontier: Frontier, storage: StorageConfig) -> str:
    """Returns all counters and gauges of this moment in Prometheus' text format.

    Raises:
        QueueUnavailable: The queue is away.
    """
    crawls = frontier.counts_of(frontier.crawl_ids()).values()
    return exposition(frontier.counters(), read_gauges(frontier.now(), crawls, storage))


def exposition(counters: Mapping[str, int], gauges: Mapping[Gauge, float]) -> str:
    """Returns all in Prometheus' text format; absent counters are 0, absent gauges left out."""
    values: dict[Counter | Gauge, str] = {each: str(counters.get(each, 0)) for each in Counter}
    values |= {each: f"{value:.15g}" for each, value in gauges.items()}
    lines = []
    for figure, value in values.items():
        name, kind = metric_name(figure), "counter" if isinstance(figure, Counter) else "gauge"
        lines += [f"# HELP {name} {figure.meaning}", f"# TYPE {name} {kind}", f"{name} {value}"]
    return "\n".join(lines) + "\n"
