"""The counters and gauges of all processes in Prometheus' text format.

A counter is ``<name>_records_total``, a gauge ``<name>_oldest_job_seconds``; crawls and hosts have
theirs, ``<name>_host_responses_total{host="www.example.com",class="2xx"}``.
"""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from crawlclean import __dist__
from crawlclean.storage.crawl_types import CrawlCounts, CrawlState
from crawlclean.storage.live_state import ProcessRole, QueueNow
from crawlclean.storage.queue.counters import Counter
from crawlclean.storage.store.journal import (
    ANSWERED_IN,
    ANSWERS,
    BOUNDS_S,
    BUSY,
    CLEANED_IN,
    Flow,
    Gauge,
)

if TYPE_CHECKING:  # the queue's client is slow to import
    from crawlclean.storage.config import StorageConfig
    from crawlclean.storage.queue.frontier import Frontier


MOST_LABELLED = 50
"""Crawls and hosts with figures of their own, the busiest: 2,000 series, which a small Prometheus
keeps in 10 MB."""
MS = 1000  # in a second


def metric_name(name: Counter | Gauge) -> str:
    """Returns the name in Prometheus: ``<name>_records_total``, ``<name>_oldest_job_seconds``."""
    text = re.sub("_m?s$", "_seconds", name)
    return f"{__dist__}_{text}_total" if isinstance(name, Counter) else f"{__dist__}_{text}"


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
    """Returns the figures of this moment in Prometheus' text format.

    Raises:
        QueueUnavailable: The queue is away.
    """
    crawls = frontier.counts_of(frontier.crawl_ids())
    totals = frontier.tallies.totals()
    busy = sorted(totals, key=lambda of: -totals[of][BUSY])
    hosts = [of for of in busy if of[:1] == "@"][:MOST_LABELLED]
    named = [of for of in busy if of[:1] == ":" and of[1:] in crawls][:MOST_LABELLED]
    shown = {of: totals[of] for of in ("", *named, *hosts) if of in totals}
    waiting = frontier.tallies.waiting([of[1:] for of in hosts])
    pending = {f"@{host}": n for host, n in waiting.items()}
    pending |= {of: crawls[of[1:]].pending for of in named}
    gauges = read_gauges(frontier.now(), crawls.values(), storage)
    return exposition(frontier.counters(), gauges, shown, pending)


def exposition(
    counters: Mapping[str, int],
    gauges: Mapping[Gauge, float],
    totals: Mapping[str, Mapping[str, float]] = MappingProxyType({}),
    pending: Mapping[str, int] = MappingProxyType({}),
) -> str:
    """Returns all in Prometheus' text format; absent counters are 0, absent gauges left out.

    Args:
        counters: Of all processes.
        gauges: Of this moment.
        totals: Counts by what they are of: ``""``, ``:news`` (a crawl), ``@a.example`` (a host).
        pending: URLs that wait, of crawls and hosts: ``{"@a.example": 12}``.
    """
    lines: list[str] = []
    for counter in Counter:
        value = counters.get(counter, 0) / (MS if counter.endswith("_ms") else 1)
        lines += _family(metric_name(counter), "counter", counter.meaning, [("", {}, value)])
    for gauge, level in gauges.items():
        lines += _family(metric_name(gauge), "gauge", gauge.meaning, [("", {}, level)])
    for kind, name in (("", ""), (":", "crawl"), ("@", "host")):
        lines += _families(name, {of: n for of, n in totals.items() if of[:1] == kind}, pending)
    return "\n".join(lines) + "\n"


_Row = tuple[str, Mapping[str, str], float]
"""What follows the name, the labels, and the value."""


def _families(
    kind: str, totals: Mapping[str, Mapping[str, float]], pending: Mapping[str, int]
) -> Iterator[str]:
    """Yields the lines of everything (``""``), of each ``crawl`` or of each ``host``."""
    start, about = (
        (f"{__dist__}_{kind}_", f", of the busiest {kind}s") if kind else (f"{__dist__}_", "")
    )
    each = [({kind: of[1:]} if kind else {}, n) for of, n in totals.items()]
    if not each:
        return
    classes = [
        ("", {**labels, "class": flow.removeprefix("answers_")}, n.get(flow, 0))
        for labels, n in each
        for flow in ANSWERS
    ]
    yield from _family(
        f"{start}responses_total",
        "counter",
        f"requests that ended, by class of status{about}",
        classes,
    )
    for name, (meaning, buckets, ms) in HISTOGRAMS.items():
        times = [row for labels, n in each for row in _histogram(n, labels, buckets, ms)]
        yield from _family(start + name, "histogram", meaning + about, times)
    if not kind:
        return
    for name, flow in OF_EACH.items():
        counts: list[_Row] = [("", labels, n[flow]) for labels, n in each if flow in n]
        yield from _family(f"{start}{name}_total", "counter", flow.meaning + about, counts)
    waits: list[_Row] = [("", {kind: of[1:]}, pending[of]) for of in totals if of in pending]
    yield from _family(f"{start}pending_urls", "gauge", Gauge.PENDING_URLS.meaning + about, waits)


HISTOGRAMS = {
    "response_seconds": (
        "time from requests to the ends of their answers", ANSWERED_IN, Flow.RESPONSE_MS,
    ),
    "page_cleaning_seconds": ("time that cleaning a page took", CLEANED_IN, Flow.CLEANING_MS),
}  # fmt: skip
"""Name in Prometheus: meaning, counts by time, and their sum."""
OF_EACH = {
    "records": Flow.RECORDS,
    "failures": Flow.FAILED,
    "judged_records": Flow.JUDGED,
    "relevant_records": Flow.RELEVANT,
}
"""Name in Prometheus of what all processes have as counters, and crawls and hosts as flows."""


def _family(name: str, kind: str, meaning: str, rows: Sequence[_Row]) -> Iterator[str]:
    if rows:
        yield f"# HELP {name} {meaning}"
        yield f"# TYPE {name} {kind}"
    for suffix, labels, value in rows:
        said = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        yield f"{name}{suffix}{f'{{{said}}}' if said else ''} {value:.15g}"


def _histogram(
    counts: Mapping[str, float], labels: Mapping[str, str], buckets: Sequence[str], ms: Flow
) -> Iterator[_Row]:
    """Yields the rows of a histogram; a bucket counts what is below its bound, too."""
    below = 0.0
    for bound, name in zip(BOUNDS_S, buckets, strict=True):
        below += counts.get(name, 0)
        yield "_bucket", {**labels, "le": "+Inf" if bound == math.inf else f"{bound:g}"}, below
    yield "_sum", labels, counts.get(ms, 0) / MS
    yield "_count", labels, below


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
