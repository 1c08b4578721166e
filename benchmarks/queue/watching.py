"""What being watched costs: kept figures, samples, events and heartbeats, beside saving pages.

1. Pages of many hosts are saved, in jobs of 10, with a refresh after each 300 hosts: processor time
   of saving, and of computing the figures of lists. Goal: 3 % of saving.
2. Samples of 29 hours, one a minute, with all their blocks; six series of a day are read.
3. The queue with leases, claims and processes is read at one moment, and a process beats:
   processor time of client and server.

``make bench-watching``
"""

from __future__ import annotations

import asyncio
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

from redis import Redis

from benchmarks.kit.results import show
from benchmarks.queue.frontier import ANSWER, opened
from crawlclean.storage.crawl_types import CrawlSpec, Discovery, Outcome
from crawlclean.storage.live_state import ProcessRole
from crawlclean.storage.queue.counters import Counter
from crawlclean.storage.queue.embedded import EmbeddedServer
from crawlclean.storage.queue.fetch_queue import FetchQueue, RobotsVerdict
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.journal import MINUTE_S, Event, EventKind, Gauge
from tests.kit.outcomes import T0, make_failure, make_outcome

HOSTS, PAGES, LINKS, ROUNDS = 300, 10, 127, 3
MINUTES = 29 * 60
GOAL = 0.03
CALLS = 200
LEASES, CLAIMS, PROCESSES = 64, 20, 12


def cpu_s() -> float:
    """Processor time of this process so far, seconds."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> int:
    """Measures and prints; 1 when the goal is missed."""
    with tempfile.TemporaryDirectory() as folder:
        figures = measure_figures(Path(folder))
        with closing(SqliteStore(Path(folder) / "samples.sqlite")) as store:
            samples = measure_samples(store)
        server = EmbeddedServer(Path(folder))
        server.start()
        try:
            queue = measure_queue(server.url)
        finally:
            server.stop()
    show({"figures": figures, "samples": samples, "queue": queue})
    if figures["share"] > GOAL:
        sys.stderr.write(f"missed: figures cost {figures['share']:.1%} of saving\n")
        return 1
    return 0


def measure_figures(folder: Path) -> dict[str, Any]:
    """Saves pages; returns seconds of processor time of saving and of keeping figures."""
    keeping_s = saving_s = refresh_s = 0.0
    with closing(SqliteStore(folder / "records.sqlite")) as store:
        keep = store.overview.keep

        def timed(figures: Any) -> None:
            nonlocal keeping_s
            begun = cpu_s()
            keep(figures)
            keeping_s += cpu_s() - begun

        with patch.object(store.overview, "keep", timed):
            for n in range(ROUNDS):
                for host in range(HOSTS):
                    outcomes = [
                        *(_page(host, n * PAGES + page) for page in range(PAGES - 1)),
                        _at(make_failure(f"/f{n}"), host),
                    ]
                    begun = cpu_s()
                    store.save(outcomes)
                    saving_s += cpu_s() - begun
                begun = cpu_s()
                store.statistics.refresh()
                refresh_s += cpu_s() - begun
    pages = HOSTS * PAGES * ROUNDS
    return {
        "saving_ms_a_page": round(1000 * saving_s / pages, 3),
        "refresh_ms_a_host": round(1000 * refresh_s / HOSTS / ROUNDS, 3),
        "figures_ms_a_host": round(1000 * keeping_s / HOSTS / ROUNDS, 3),
        "share": round(keeping_s / saving_s, 4),
    }


def _page(host: int, page: int) -> Outcome:
    return _at(make_outcome(f"/t/{page}", links=LINKS), host)


def _at(outcome: Outcome, host: int) -> Outcome:
    """The outcome on another host."""
    name = f"h{host}.example"
    queued = outcome.queued
    page_id = f"{host:08x}{queued.page_id[8:]}"
    record = outcome.record and replace(outcome.record, host=name, page_id=page_id)
    return replace(outcome, queued=replace(queued, host=name, page_id=page_id), record=record)


def measure_samples(store: SqliteStore) -> dict[str, Any]:
    """Stores samples and reads a day of them; returns milliseconds of processor time of each."""
    names = [*map(str, Gauge), *map(str, Counter)]
    begun = cpu_s()
    for n in range(MINUTES):
        values = {name: float(n * place % 997) for place, name in enumerate(names)}
        store.samples.add(T0 + timedelta(minutes=n), values)
    stored_s = cpu_s() - begun
    begun = cpu_s()
    end = T0 + timedelta(minutes=MINUTES)
    for _ in range(20):
        store.samples.read(names[:6], MINUTE_S, end - timedelta(days=1), end)
    read_s = (cpu_s() - begun) / 20
    begun = cpu_s()
    for n in range(CALLS):
        store.events.add(Event(kind=EventKind.DIED, text=f"worker {n}"))
    return {
        "names": len(names),
        "sample_ms": round(1000 * stored_s / MINUTES, 3),
        "read_day_ms": round(1000 * read_s, 2),
        "event_ms": round(1000 * (cpu_s() - begun) / CALLS, 3),
    }


def measure_queue(url: str) -> dict[str, Any]:
    """Reads a queue at work; returns milliseconds of processor time, of client and server."""
    frontier = Frontier(url)
    spec = CrawlSpec(crawl_id="c", seeds=(), delay_ms=0)
    frontier.open_crawl(spec)
    with Redis.from_url(url) as client, asyncio.Runner() as runner:
        queue = runner.run(opened(url))
        try:
            runner.run(_work(frontier, queue, client))
            now = frontier.now()
            found = {
                "leases": now.leases,
                "claims": len(now.claims),
                "processes": len(now.processes),
                "now": _timed(client, frontier.now),
                "counts_of_100": _timed(client, lambda: frontier.counts_of(["c"] * 100)),
                "beat": _timed(client, lambda: _beat(frontier)),
            }
        finally:
            runner.run(queue.close())
    frontier.close()
    return found


async def _work(frontier: Frontier, queue: FetchQueue, client: Any) -> None:
    """Leases ``LEASES`` URLs, and claims ``CLAIMS`` jobs of one page."""
    names = [f"http://h{n}.example/" for n in range(LEASES + CLAIMS)]
    frontier.offer("c", [Discovery(url=each) for each in names])
    for lease in (await queue.lease(len(names))).leases:
        await queue.put_robots(lease, RobotsVerdict(rules=""))
    leases = (await queue.lease(len(names))).leases
    for lease in leases[:CLAIMS]:
        await queue.put(lease, ANSWER)
    await queue.flush(0)
    for job in client.zrange("cc:jobs", 0, -1):
        frontier.claim(job.decode(), "machine.1.0a1b2c3d")
    for n in range(PROCESSES):
        about = {"machine": "machine", "pid": n, "since": 1, "work": ""}
        client.zadd("cc:who", {f"worker machine.{n}": client.time()[0] * 1000})
        client.hset(f"cc:who:machine.{n}", mapping=about)


def _beat(frontier: Frontier) -> None:
    frontier.processes._heard = -1e9
    frontier.processes.beat(ProcessRole.SWEEPER)


def _timed(client: Any, call: Callable[[], object]) -> dict[str, float]:
    def server_s() -> float:
        used = client.info("cpu")
        return float(used["used_cpu_user"]) + float(used["used_cpu_sys"])

    begun, server = cpu_s(), server_s()
    wall = time.perf_counter()
    for _ in range(CALLS):
        call()
    return {
        "client_ms": round(1000 * (cpu_s() - begun) / CALLS, 3),
        "server_ms": round(1000 * (server_s() - server) / CALLS, 3),
        "wall_ms": round(1000 * (time.perf_counter() - wall) / CALLS, 3),
    }


if __name__ == "__main__":
    sys.exit(main())
