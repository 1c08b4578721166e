"""The counters and gauges of all processes in Prometheus' text format.

A counter is ``<name>_records_total``, a gauge ``<name>_oldest_job_seconds``.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from crawlclean import __dist__
from crawlclean.storage.crawl_types import CrawlCounts, CrawlState
from crawlclean.storage.live_state import ProcessRole, QueueNow
from crawlclean.storage.queue.counters import Counter
from crawlclean.storage.store.journal import Gauge

if TYPE_CHECKING:  # the queue's client is slow to import
    from crawlclean.storage.config import StorageConfig
    from crawlclean.storage.queue.frontier import Frontier

GAUGE_HELP = {
    Gauge.PAGES_IN_FLIGHT: "URLs that wait for workers, or whose pages are cleaned",
    Gauge.BYTES_IN_FLIGHT: "their compressed bytes",
    Gauge.JOBS: "jobs that wait for a worker",
    Gauge.OLDEST_JOB_S: "age of the oldest job that waits",
    Gauge.LEASE_COUNT: "URLs that spiders have leased",
    Gauge.OLDEST_LEASE_S: "age of the oldest lease",
    Gauge.CLAIM_COUNT: "jobs that workers have claimed",
    Gauge.OLDEST_CLAIM_S: "age of the oldest claim",
    Gauge.READY_HOSTS: "hosts that may be asked now",
    Gauge.QUEUED_HOSTS: "hosts that have URLs",
    Gauge.PAUSED_HOSTS: "hosts that an operator paused",
    Gauge.STOPPED_CLASSES: "classes of URLs that are stopped as traps",
    Gauge.LEARNING: "hosts that wait to be learned or cleaned again",
    Gauge.MEMORY_BYTES: "memory of the queue's server",
    Gauge.MEMORY_LIMIT_BYTES: "its limit, 0 without one",
    Gauge.FREE_BYTES: "free bytes of the data folder's disk",
    Gauge.SPIDERS: "spiders that live",
    Gauge.WORKERS: "workers that live",
    Gauge.RUNNING_CRAWLS: "crawls that run",
    Gauge.PENDING_URLS: "URLs that wait to be fetched",
    Gauge.SPILLED_URLS: "of them in the store",
}


def metric_name(name: Counter | Gauge) -> str:
    """Returns the name in Prometheus: ``<name>_records_total``, ``<name>_oldest_job_seconds``."""
    if isinstance(name, Counter):
        return f"{__dist__}_{name}_total"
    text = f"{name.removesuffix('_s')}_seconds" if name.endswith("_s") else str(name)
    return f"{__dist__}_{text}"


def gauge_values(
    now: QueueNow, crawls: Iterable[CrawlCounts], free_bytes: int | None
) -> dict[Gauge, float]:
    """Returns the gauges of a moment; one that has no value now is left out.

    Args:
        now: The queue.
        crawls: What the queue counts for each crawl.
        free_bytes: Of the data folder's disk; None: there is no data folder.
    """
    all_crawls = list(crawls)
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
        Gauge.FREE_BYTES: free_bytes,
        Gauge.SPIDERS: now.spiders,
        Gauge.WORKERS: len(now.of_role(ProcessRole.WORKER)),
        Gauge.RUNNING_CRAWLS: sum(each.state is CrawlState.RUNNING for each in all_crawls),
        Gauge.PENDING_URLS: sum(each.pending for each in all_crawls),
        Gauge.SPILLED_URLS: sum(each.spilled for each in all_crawls),
    }
    return {name: float(value) for name, value in found.items() if value is not None}


def read_metrics(frontier: Frontier, storage: StorageConfig) -> str:
    """Returns all counters and gauges of this moment in Prometheus' text format.

    Raises:
        QueueUnavailable: The queue is away.
    """
    crawls = frontier.counts_of(frontier.crawl_ids()).values()
    free = shutil.disk_usage(storage.data).free if storage.is_embedded else None
    return exposition(frontier.counters(), gauge_values(frontier.now(), crawls, free))


def exposition(counters: Mapping[str, int], gauges: Mapping[Gauge, float]) -> str:
    """Returns all in Prometheus' text format; absent counters are 0, absent gauges left out."""
    lines = []
    for counter in Counter:
        name = metric_name(counter)
        lines += _metric(name, "counter", counter.meaning, str(counters.get(counter, 0)))
    for gauge, value in gauges.items():
        lines += _metric(metric_name(gauge), "gauge", GAUGE_HELP[gauge], f"{value:.15g}")
    return "\n".join(lines) + "\n"


def _metric(name: str, kind: str, text: str, value: str) -> list[str]:
    return [f"# HELP {name} {text}", f"# TYPE {name} {kind}", f"{name} {value}"]
