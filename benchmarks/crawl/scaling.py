"""Records a second and CPU a record with 1, 2, 4 workers and 1, 2 spiders on one machine.

``make bench-scaling``. All pages of a generated web (40 KB of Chinese, 100 links) are seeds, so the
work is the same whoever does it. Three kinds of runs, by turns, the median of the rounds:

- ``fetching``: spiders alone fill the queue, no worker runs.
- ``cleaning``: workers alone empty a queue that is full; no spider runs.
- ``crawling``: both, from the first URL to the last record.

A rate is of the time in which the middle of the pages is done, 10 to 90 %, so that no start of a
process is in it. ``share_of_a_core`` is the CPU time of a process in it, divided by this time. The
server of the pages (``web``) runs on the same cores.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.kit.fleet import Joined
from benchmarks.kit.generated import GeneratedWeb
from benchmarks.kit.generated_site import WebSpec
from benchmarks.kit.results import keep
from crawlclean.storage.crawl_types import CrawlCounts
from tests.kit.processes import cpu_s

CRAWL = "scaling"
HOSTS = 50
WINDOW = (0.1, 0.9)  # of the pages
LOOK_S = 0.05
LIMIT_S = 900.0
WEB = "web"
IN_FLIGHT = {
    "CRAWLCLEAN_MAX_PAGES_IN_FLIGHT": "1000000",
    "CRAWLCLEAN_MAX_BYTES_IN_FLIGHT": str(1 << 34),
}


@dataclass(frozen=True, slots=True)
class Run:
    """Processes that work together: ``Run("cleaning", workers=2)``."""

    kind: str
    spiders: int = 0
    workers: int = 0

    @property
    def name(self) -> str:
        """``crawling, 1 spider, 2 workers``."""
        parts = [
            f"{count} {role}{'s' * (count > 1)}"
            for role, count in (("spider", self.spiders), ("worker", self.workers))
            if count
        ]
        return ", ".join([self.kind, *parts])


RUNS = (
    Run("fetching", spiders=1),
    Run("fetching", spiders=2),
    Run("cleaning", workers=1),
    Run("cleaning", workers=2),
    Run("cleaning", workers=4),
    *(Run("crawling", spiders, workers) for spiders in (1, 2) for workers in (1, 2, 4)),
)


def main() -> int:
    """Measures every run and keeps the medians."""
    parser = argparse.ArgumentParser(description="Speed by the number of spiders and workers.")
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=3)
    a = parser.parse_args()
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for number in range(a.rounds):
        for run in RUNS:
            with tempfile.TemporaryDirectory() as folder:
                row = measure(Path(folder), run, a.pages)
            rows[run.name].append(row)
            sys.stderr.write(f"round {number + 1}: {run.name}: {row}\n")
    runs = {name: median_of(found) for name, found in rows.items()}
    keep("scaling", {"pages": a.pages, "rounds": a.rounds, "runs": runs, **ratios(runs)})
    return 0


def measure(folder: Path, run: Run, pages: int) -> dict[str, Any]:
    """Does one run on a queue and a store of its own."""
    spec = WebSpec(
        hosts=HOSTS, pages=pages // HOSTS, chains=HOSTS, page_bytes=40_000, links=100, fanout=20
    )
    settings = {} if run.kind == "crawling" else IN_FLIGHT
    with GeneratedWeb(folder / "web", spec) as web, Joined(folder, **settings) as fleet:
        seeds = spec.all_pages(web.port)
        fleet.open_crawl(CRAWL, seeds, delay_s="0", max_depth="0")
        goal = len(seeds)
        if run.kind == "cleaning":
            fleet.join("spider")
            watched(fleet, web, goal, lambda counts: counts.queued)
            fleet.end(*fleet.of_role("spider"))
        fleet.join("housekeeper")
        for role, count in (("worker", run.workers), ("spider", run.spiders)):
            for _ in range(count):
                fleet.join(role)
        if run.kind == "fetching":
            return watched(fleet, web, goal, lambda counts: counts.queued)
        return watched(fleet, web, goal, lambda counts: counts.stored)


def watched(
    fleet: Joined, web: GeneratedWeb, goal: int, done: Callable[[CrawlCounts], int]
) -> dict[str, Any]:
    """Waits until all pages are done; returns the figures of the middle of the work."""
    marks = [share * goal for share in WINDOW]
    seen: list[tuple[int, float, Mapping[str, float]]] = []
    begun = time.monotonic()
    while (count := done(fleet.queue.counts(CRAWL))) < goal:
        if len(seen) < len(marks) and count >= marks[len(seen)]:
            seen.append((count, time.monotonic(), used_cpu_s(fleet, web)))
        if time.monotonic() - begun > LIMIT_S:
            sys.exit(f"not done after {LIMIT_S:.0f} s: {fleet.queue.counts(CRAWL)}")
        time.sleep(LOOK_S)
    (first, begin_s, before), (last, end_s, after) = seen
    seconds, pages = end_s - begin_s, last - first
    used = {role: after[role] - before.get(role, 0.0) for role in after}
    numbers = {role: len(fleet.of_role(role)) or 1 for role in used}
    busy = {role: used[role] / numbers[role] / seconds for role in used}
    cores = sum(used.values()) / seconds / (os.cpu_count() or 1)
    return {
        "pages_per_s": round(pages / seconds, 1),
        "cpu_ms_a_page": {role: round(1000 * s / pages, 2) for role, s in used.items()},
        "share_of_a_core": {role: round(share, 2) for role, share in busy.items()},
        "share_of_all_cores": round(cores, 2),
    }


def used_cpu_s(fleet: Joined, web: GeneratedWeb) -> dict[str, float]:
    """Returns CPU seconds by role so far, the server of the pages among them."""
    return {**fleet.cpu_s(), WEB: cpu_s(web.pid)}


def median_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the round whose rate is the median, with the least and the highest rate."""
    rates = sorted(row["pages_per_s"] for row in rows)
    middle = statistics.median_low(rates)
    row = next(row for row in rows if row["pages_per_s"] == middle)
    return {**row, "least_and_most": [rates[0], rates[-1]]}


def ratios(runs: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Returns how much faster two are than one."""
    pairs = {
        "two_spiders_against_one": ("fetching, 2 spiders", "fetching, 1 spider"),
        "two_workers_against_one": ("cleaning, 2 workers", "cleaning, 1 worker"),
        "four_workers_against_one": ("cleaning, 4 workers", "cleaning, 1 worker"),
    }
    return {
        name: round(runs[more]["pages_per_s"] / runs[less]["pages_per_s"], 2)
        for name, (more, less) in pairs.items()
    }


if __name__ == "__main__":
    sys.exit(main())
