"""Host clocks under three spiders, by the server's log: gaps that are too short, and speed.

``make bench-politeness``. Two parts:

1. Gaps. Hosts whose delay is 0.5 or 2 s, by the crawl's ``--delay`` or by their robots.txt, answer
   late, in slow parts, and some pages with 429 and Retry-After. Three spider processes fetch them;
   in the middle one is killed and one is stopped, and both are started again. A gap is the time
XX
2. Throughput. Many hosts with a delay of 0.5 s, whose clocks allow more than this machine can do,
   against the same pages with a delay of 0 and one slot a host; by turns.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.kit.fleet import Joined
from benchmarks.kit.generated import GeneratedWeb, Visit
from benchmarks.kit.generated_site import WebSpec
from benchmarks.kit.results import keep

SPIDERS = 3
RESTART_S = 2.0
LEAST_RATIO = 0.9
LIMIT_S = 600.0


@dataclass(frozen=True, slots=True)
class Group:
    """Hosts with one delay, set by ``--delay`` or by robots.txt."""

    name: str
    delay_s: float
    by_robots: bool
    hosts: int


GROUPS = (
    Group("0.5 s by --delay", 0.5, by_robots=False, hosts=14),
    Group("0.5 s by Crawl-delay", 0.5, by_robots=True, hosts=14),
    Group("2 s by --delay", 2.0, by_robots=False, hosts=8),
    Group("2 s by Crawl-delay", 2.0, by_robots=True, hosts=8),
)


@dataclass(frozen=True, slots=True)
class Gap:
    """Time between two requests to a host, and the least time required; seconds.

    ``idle``: after a home page no URL is known until a worker has cleaned it.
    """

    gap_s: float
    asked_s: float
    idle: bool

    @property
    def over_s(self) -> float:
        """The excess over the required time; negative when the gap is too short."""
        return self.gap_s - self.asked_s


def main() -> int:
    """Measures and keeps the result; 1 when a gap is too short or the clocks are too slow."""
    parser = argparse.ArgumentParser(description="Gaps between requests to a host, by its own log.")
    parser.add_argument("--seconds", type=float, default=150.0, help="length of the first part")
    parser.add_argument("--hosts", type=int, default=400, help="hosts of the second part")
    parser.add_argument("--pages", type=int, default=10, help="pages of each of them")
    parser.add_argument("--rounds", type=int, default=3, help="repetitions; 0 leaves it out")
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        gaps = measure_gaps(Path(name) / "gaps", a.seconds)
        throughput = measure_throughput(Path(name) / "many", a.hosts, a.pages, a.rounds)
    keep("politeness", {"spiders": SPIDERS, "gaps": gaps, "throughput": throughput})
    is_polite = not any(group["too_short"] for group in gaps["groups"].values())
    return 0 if is_polite and throughput.get("ratio", 1.0) >= LEAST_RATIO else 1


def measure_gaps(folder: Path, seconds: float) -> dict[str, Any]:
    """Measures the gaps of every group of hosts while processes end and start."""
    hosts = [group for group in GROUPS for _ in range(group.hosts)]
    spec = WebSpec(
        hosts=len(hosts),
        pages=500,
        chains=len(hosts),
        links=100,
        fanout=100,
        crawl_delays_s=tuple(group.delay_s if group.by_robots else 0.0 for group in hosts),
        latency_ms=120,
        slow_every=10,
        refuse_every=23,
    )
    with GeneratedWeb(folder / "web", spec) as web, Joined(folder) as fleet:
        homes = [web.home(host) for host in range(spec.hosts)]
        for group in GROUPS:
            flags = {} if group.by_robots else {"delay_s": str(group.delay_s)}
            seeds = [home for home, its in zip(homes, hosts, strict=True) if its is group]
            fleet.open_crawl(crawl_name(group), seeds, **flags)
        fleet.join("housekeeper")
        fleet.join("worker")
        spiders = [fleet.join("spider") for _ in range(SPIDERS)]
        time.sleep(0.4 * seconds)
        fleet.kill(spiders[0])
        time.sleep(RESTART_S)
        fleet.join("spider")
        time.sleep(0.3 * seconds)
        fleet.end(spiders[1])
        time.sleep(RESTART_S)
        fleet.join("spider")
        time.sleep(0.3 * seconds - 2 * RESTART_S)
        counters = fleet.queue.counters()
    visits = web.visits()
    addresses = [spec.address(host) for host in range(spec.hosts)]
    found = {}
    for group in GROUPS:
        mine = {at for at, its in zip(addresses, hosts, strict=True) if its is group}
        found[group.name] = report(group, [visit for visit in visits if visit.address in mine])
    return {
        "seconds": seconds,
        "spiders_killed": 1,
        "spiders_stopped": 1,
        "leases_lost": counters.get("leases_lost", 0),
        "groups": found,
    }


def crawl_name(group: Group) -> str:
    """Returns the name of a group's crawl."""
    return group.name.replace(" ", "-").replace("--", "")


def gaps_of(visits: Iterable[Visit], delay_s: float) -> list[Gap]:
    """Returns the gaps between the requests to each host."""
    found = []
    by_host: dict[str, list[Visit]] = {}
    for visit in sorted(visits, key=lambda v: v.arrival_s):
        by_host.setdefault(visit.address, []).append(visit)
    for mine in by_host.values():
        ended_s = 0.0
        for before, after in itertools.pairwise(mine):
            ended_s = max(ended_s, before.end_s)
            asked_s = max(delay_s, before.wait_s)
            found.append(Gap(after.arrival_s - ended_s, asked_s, idle=before.path == "/"))
    return found


def report(group: Group, visits: Sequence[Visit]) -> dict[str, Any]:
    """Summarises the gaps of a group."""
    gaps = gaps_of(visits, group.delay_s)
    ordinary = [gap for gap in gaps if gap.asked_s == group.delay_s]
    over_ms = sorted(1000 * gap.over_s for gap in gaps if not gap.idle)
    return {
        "hosts": group.hosts,
        "requests": len(visits),
        "answers_429": sum(visit.status == 429 for visit in visits),
        "cut": sum(visit.cut for visit in visits),
        "gaps": len(gaps),
        "too_short": sum(gap.over_s < 0 for gap in gaps),
        "shortest_s": round(min(gap.gap_s for gap in ordinary), 4),
        "over_least_ms": round(over_ms[0], 1),
        "over_median_ms": round(statistics.median(over_ms), 1),
        "over_p99_ms": round(over_ms[int(0.99 * len(over_ms))], 1),
        "over_most_ms": round(over_ms[-1], 1),
    }


def measure_throughput(folder: Path, hosts: int, pages: int, rounds: int) -> dict[str, Any]:
    """Measures pages per second with and without clocks, in turns."""
    spec = WebSpec(hosts=hosts, pages=pages, chains=hosts, page_bytes=6000, links=20)
    runs: dict[str, list[dict[str, Any]]] = {"with": [], "without": []}
    for turn in range(rounds):
        order = ("with", "without") if turn % 2 == 0 else ("without", "with")
        for clocks in order:
            delay = "0.5" if clocks == "with" else "0"
            runs[clocks].append(one_run(folder / f"{turn}-{clocks}", spec, delay))
            sys.stderr.write(f"{clocks} clocks: {runs[clocks][-1]}\n")
    if not rounds:
        return {}
    middle = {
        clocks: {
            figure: statistics.median(run[figure] for run in mine)
            for figure in ("pages_per_s", "fetched_per_s", "cpu_ms_per_page")
        }
        for clocks, mine in runs.items()
    }
    with_clocks, without = middle["with"], middle["without"]
    return {
        "hosts": hosts,
        "pages": hosts * pages,
        "with_clocks": {**with_clocks, "runs": runs["with"]},
        "without_clocks": {**without, "runs": runs["without"]},
        "ratio": round(with_clocks["pages_per_s"] / without["pages_per_s"], 3),
        "ratio_fetched": round(with_clocks["fetched_per_s"] / without["fetched_per_s"], 3),
        "ratio_cpu": round(with_clocks["cpu_ms_per_page"] / without["cpu_ms_per_page"], 3),
    }


def one_run(folder: Path, spec: WebSpec, delay: str) -> dict[str, Any]:
    """Crawls many hosts, from the first request to the last record."""
    with GeneratedWeb(folder / "web", spec) as web, Joined(folder) as fleet:
        fleet.join("housekeeper")
        fleet.join("worker")
        for _ in range(SPIDERS):
            fleet.join("spider")
        time.sleep(RESTART_S)  # until all have joined
        cpu_before = sum(fleet.cpu_s().values())
        fleet.open_crawl("many", web.seeds(), delay_s=delay, slots="1")
        seconds = fleet.wait_until_done("many", LIMIT_S)
        by_role = fleet.cpu_s()
        stored = fleet.queue.counts("many").stored
    arrivals = sorted(visit.arrival_s for visit in web.visits())
    first, last = len(arrivals) // 10, len(arrivals) * 9 // 10
    return {
        "stored": stored,
        "pages_per_s": round(stored / seconds, 1),
        "fetched_per_s": round((last - first) / (arrivals[last] - arrivals[first]), 1),
        "cpu_ms_per_page": round(1000 * (sum(by_role.values()) - cpu_before) / stored, 2),
        "cpu_s": by_role,
    }


if __name__ == "__main__":
    sys.exit(main())
