"""Memory of every process over a long crawl: does any process grow with the pages?

``make bench-memory``. A generated web of 250 hosts and 50,000 pages (40 KB of Chinese, 100 links)
is crawled by one process of each kind. A process is flat when the line through the last 80 % of its
resident size rises by less than 5 % in all, or by less than 50 bytes a page. The result also has
the queue's keys at rest and the size of its file.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.kit.crawls import memory_of
from benchmarks.kit.fleet import Joined, folder_bytes
from benchmarks.kit.generated import GeneratedWeb
from benchmarks.kit.generated_site import WebSpec
from benchmarks.kit.results import keep
from crawlclean.storage.queue.clients import open_client

SAMPLES = 200
SHARES = (0.05, 0.25, 0.5, 0.75, 1.0)
WARM_UP = 0.2
MOST_GROWTH = 0.05
MOST_BYTES_A_PAGE = 50
JUDGED = ("spider", "worker", "housekeeper")
LOOK_S = 0.5
REST_S = 5.0
LIMIT_S = 7200.0


@dataclass(slots=True)
class Samples:
    """Sizes of a process in bytes, each with the number of pages at that moment."""

    pages: list[int] = field(default_factory=list)
    rss: list[int] = field(default_factory=list)
    uss: list[int] = field(default_factory=list)

    def at(self, share: float, values: Sequence[int]) -> float:
        """Returns the value after this share of all pages, MB."""
        goal = share * self.pages[-1]
        index = next(i for i, pages in enumerate(self.pages) if pages >= goal)
        return round(values[index] / 1e6, 2)

    def verdict(self) -> dict[str, Any]:
        """Returns the growth of the sizes, and whether it is flat."""
        warm = [i for i, pages in enumerate(self.pages) if pages >= WARM_UP * self.pages[-1]]
        pages = [self.pages[i] for i in warm]
        line = statistics.linear_regression(pages, [self.rss[i] for i in warm])
        uss_line = statistics.linear_regression(pages, [self.uss[i] for i in warm])
        begin = line.intercept + line.slope * pages[0]
        growth = line.slope * (pages[-1] - pages[0]) / begin
        return {
            "rss_mb": {f"{share:.0%}": self.at(share, self.rss) for share in SHARES},
            "uss_mb": {f"{share:.0%}": self.at(share, self.uss) for share in SHARES},
            "rss_most_mb": round(max(self.rss) / 1e6, 2),
            "bytes_a_page": round(line.slope, 1),
            "uss_bytes_a_page": round(uss_line.slope, 1),
            "growth": round(growth, 4),
            "flat": growth < MOST_GROWTH or line.slope < MOST_BYTES_A_PAGE,
        }


def main() -> int:
    """Measures and keeps the result; 1 when a process grows."""
    parser = argparse.ArgumentParser(description="Memory of every process over a long crawl.")
    parser.add_argument("--pages", type=int, default=50_000)
    parser.add_argument("--page-bytes", type=int, default=40_000)
    a = parser.parse_args()
    spec = WebSpec.of_pages(a.pages, a.page_bytes)
    with tempfile.TemporaryDirectory() as name:
        found = measure(Path(name), spec)
    keep("memory", {"pages": spec.hosts * spec.pages, "page_bytes": spec.page_bytes, **found})
    return 0 if all(found["processes"][role]["flat"] for role in JUDGED) else 1


def measure(folder: Path, spec: WebSpec) -> dict[str, Any]:
    """Crawls the whole web."""
    goal = spec.hosts * spec.pages
    samples: dict[str, Samples] = {}
    files: list[tuple[int, float]] = []
    begun = time.monotonic()
    with GeneratedWeb(folder / "web", spec) as web, Joined(folder) as fleet:
        fleet.open_crawl("long", web.seeds(), scope="any", delay_s="0")
        for role in JUDGED:
            fleet.join(role)
        taken = -1
        while (counts := fleet.queue.counts("long")).open:
            if counts.done - taken >= goal // SAMPLES:
                taken = counts.done
                look(fleet, samples, taken)
                file_mb = round(folder_bytes(fleet.data / "queue") / 1e6, 1)
                files.append((taken, file_mb))
                report_progress(taken, goal, time.monotonic() - begun, samples)
            if time.monotonic() - begun > LIMIT_S:
                sys.exit(f"not done after {LIMIT_S:.0f} s: {counts}")
            time.sleep(LOOK_S)
        look(fleet, samples, counts.done)
        seconds = time.monotonic() - begun
        time.sleep(REST_S)
        return {
            "stored": counts.stored,
            "seconds": round(seconds, 1),
            "cpu_s": fleet.cpu_s(),
            "processes": {role: its.verdict() for role, its in samples.items()},
            "queue": at_rest(fleet.queue_url, files),
        }


def look(fleet: Joined, samples: dict[str, Samples], pages: int) -> None:
    """Adds a sample of every process; there is one process for each role."""
    for role, pids in fleet.victims().items():
        with suppress(OSError):
            sizes = memory_of(pids[0])
            mine = samples.setdefault(role, Samples())
            mine.pages.append(pages)
            mine.rss.append(sizes["Rss"])
            mine.uss.append(sizes["Private_Clean"] + sizes["Private_Dirty"])


def report_progress(pages: int, goal: int, seconds: float, samples: dict[str, Samples]) -> None:
    """Writes one line of progress."""
    sizes = ", ".join(f"{role} {its.rss[-1] / 1e6:.1f}" for role, its in samples.items())
    sys.stderr.write(f"{pages} of {goal} pages, {seconds:.0f} s, MB: {sizes}\n")


def at_rest(url: str, files: Sequence[tuple[int, float]]) -> dict[str, Any]:
    """Returns the keys left in the queue after the crawl, and the growth of its file."""
    client = open_client(url)
    try:
        kinds = Counter(kind_of(key.decode()) for key in client.scan_iter(count=1000))
        memory, persistence = client.info("memory"), client.info("persistence")
    finally:
        client.close()
    return {
        "keys": dict(kinds.most_common()),
        "used_memory_mb": round(memory["used_memory"] / 1e6, 2),
        "file_mb": {f"{pages}": size for pages, size in files[:: max(1, len(files) // 10)]},
        "file_most_mb": max(size for _, size in files),
        "file_rewrites": persistence.get("aof_rewrites"),
    }


def kind_of(key: str) -> str:
    """Returns the first two parts of a key: ``cc:jobs`` of ``cc:jobs:7``."""
    return ":".join(key.split(":")[:2])


if __name__ == "__main__":
    sys.exit(main())
