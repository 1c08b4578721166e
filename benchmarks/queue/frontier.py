"""The queue at 10^4 to 10^7 URLs: memory per URL, time of every move, lost URLs.

Each size has a private server, as in embedded mode:

1. URLs of 60 characters on 1,000 hosts of unequal size are offered.
2. Some are leased, put, claimed and acked.
3. Up to 10^5 new URLs are offered; all must be accepted.
4. Another server starts on a copy of the files and must know as many URLs.
5. The pending URLs, then the seen set are dropped; the drop in memory is their size.

``make bench-frontier``; for ten million URLs (5 GB of memory, a quarter of an hour)
``make bench-frontier ARGS="--sizes 10000000"``.

Times are microseconds: ``client`` is the wall time of a call, ``server`` the time of the script
inside the server (percentiles of the server), ``cpu`` the server's CPU time divided by the calls,
with its append-only file.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from redis import Redis

from benchmarks.kit.results import keep
from crawlclean.cleaning.errors import StoreUnavailable
from crawlclean.cleaning.records import Via
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import (
    CrawlSpec,
    Discovery,
    FetchResult,
    Lease,
    PageRole,
    QueuedPage,
    Retry,
    UrlState,
)
from crawlclean.storage.queue.embedded import EmbeddedServer
from crawlclean.storage.queue.fetch_queue import FetchQueue, RobotsVerdict
from crawlclean.storage.queue.frontier import Frontier

CRAWL = "news"
SIZES = (10**4, 10**5, 10**6)
HOSTS = 1000
URL_CHARS = 60
PAGE_LINKS = 150  # links of a page, in the calls that are timed
NEW_LINKS = 10  # of them new, while the queue grows
FILL = 1000  # URLs a call while the queue grows
FETCHED = 2000  # URLs leased, put, claimed and acked
LEASE = 16  # URLs asked for in one call
SAMPLE = 100_000  # new URLs that must be accepted at the end
ANSWER = FetchResult(
    status=200,
    headers=(("Content-Type", "text/html; charset=utf-8"), ("Server", "nginx")),
    body=b"".join(b"<li><a href='/n/%d.html'>%d</a></li>" % (n, n * n) for n in range(800)),
    elapsed_ms=80,
)
SEEN_GOAL_BYTES = 20.0
PENDING_GOAL_BYTES = 250.0
GROWTH_GOAL = 3.0  # of a script's median from the smallest to the largest size: no linear time


def main() -> int:
    """Measures every size and keeps the result; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description="Memory and times of the queue by its size.")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    sizes = sorted(parser.parse_args().sizes)
    rows = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(measure(Path(folder), size))
            sys.stderr.write(f"{rows[-1]}\n")
    missed = missed_goals(rows)
    keep("frontier", {"hosts": HOSTS, "url_chars": URL_CHARS, "sizes": rows, "missed": missed})
    return 1 if missed else 0


def missed_goals(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns a line for each missed goal."""
    missed = []
    for row in rows:
        if row["dropped"]:
            missed.append(f"{row['urls']}: {row['dropped']} new URLs dropped")
        if row["restart"] != "same":
            missed.append(f"{row['urls']}: after a restart: {row['restart']}")
        if row["seen_bytes"] > SEEN_GOAL_BYTES:
            missed.append(f"{row['urls']}: {row['seen_bytes']} bytes a seen URL")
        if row["pending_bytes"] > PENDING_GOAL_BYTES:
            missed.append(f"{row['urls']}: {row['pending_bytes']} bytes a pending URL")
    for name in (f"lease {LEASE} URLs", "put"):
        first, last = (rows[i]["times_us"][name]["server_median"] for i in (0, -1))
        if last > GROWTH_GOAL * first:
            missed.append(f"{name} takes {last} us at the largest size, {first} at the smallest")
    return missed


def links(start: int, count: int, run: int) -> Iterator[Discovery]:
    """Yields the URLs with these numbers; ``run`` neighbours are links of one page to its host."""
    for number in range(start, start + count):
        page = number // run
        draw = page * 2654435761 % 2**32 / 2**32
        host = f"news.city{int(HOSTS * draw * draw):03d}.com.cn"
        head = f"http://{host}/2026/{page % 12 + 1:02d}{page % 28 + 1:02d}/"
        name = f"{number:x}.html"
        yield Discovery(
            url=head + "-" * (URL_CHARS - len(head) - len(name)) + name,
            depth=3,
            via=Via.LINK,
            referrer=f"http://{host}/channel/list_{page % 500}.html",
            text=f"第{number % 1000}期城市新闻联播回顾",
        )


class Clock:
    """The times of one kind of call, in client and server."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._walls: list[float] = []
        client.config_resetstat()
        self._cpu = self._cpu_s()
        self._begun = 0.0

    def _cpu_s(self) -> float:
        cpu = self._client.info("cpu")
        return float(cpu["used_cpu_user"]) + float(cpu["used_cpu_sys"])

    def __enter__(self) -> None:
        self._begun = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._walls.append(time.perf_counter() - self._begun)

    def result(self) -> dict[str, float]:
        """Returns microseconds per call."""
        script = self._client.info("latencystats")["latency_percentiles_usec_evalsha"]
        cpu_s = self._cpu_s() - self._cpu
        return {
            "calls": len(self._walls),
            "client_median": round(statistics.median(self._walls) * 1e6),
            "client_p99": round(statistics.quantiles(self._walls, n=100)[98] * 1e6),
            "server_median": round(script["p50"]),
            "server_p99": round(script["p99"]),
            "cpu": round(cpu_s / len(self._walls) * 1e6),
        }


def measure(folder: Path, size: int) -> dict[str, Any]:
    """Measures one size; removes the server and its files."""
    server = EmbeddedServer(folder)
    server.start()
    try:
        frontier = Frontier(server.url)
        with Redis.from_url(server.url, socket_timeout=600) as client, asyncio.Runner() as runner:
            try:
                return {
                    "urls": size,
                    **measure_moves(size, frontier, client, runner, server.url),
                    **measure_restart(folder, frontier, client),
                    **measure_memory(frontier, client),
                }
            finally:
                frontier.close()
    finally:
        server.stop()


def measure_moves(
    size: int, frontier: Frontier, client: Any, runner: asyncio.Runner, url: str
) -> dict[str, Any]:
    """Fills a queue and moves URLs through it."""
    empty_rss = int(client.info("memory")["used_memory_rss"])
    frontier.open_crawl(CrawlSpec(crawl_id=CRAWL, seeds=(), delay_ms=0, slots=16))
    begun = time.perf_counter()
    added = sum(
        frontier.add(CRAWL, list(links(start, min(FILL, size - start), NEW_LINKS)))
        for start in range(0, size, FILL)
    )
    fill_s = time.perf_counter() - begun
    dropped = size - added
    rss = int(client.info("memory")["used_memory_rss"]) - empty_rss

    queue = runner.run(opened(url))
    times: dict[str, dict[str, float]] = {}
    try:
        runner.run(fetch(queue, client, min(FETCHED, size // 5), times))
    finally:
        runner.run(queue.close())
    clean(frontier, client, times)

    clock = Clock(client)
    for start in range(0, min(size, 200 * PAGE_LINKS) - PAGE_LINKS + 1, PAGE_LINKS):
        known = list(links(start, PAGE_LINKS, NEW_LINKS))
        with clock:
            dropped -= frontier.add(CRAWL, known)  # nothing of it is new
    times["add 150 known URLs"] = clock.result()
    clock = Clock(client)
    first = -(-size // PAGE_LINKS) * PAGE_LINKS
    sampled = min(SAMPLE, size) // PAGE_LINKS * PAGE_LINKS
    for start in range(first, first + sampled, PAGE_LINKS):
        new = list(links(start, PAGE_LINKS, PAGE_LINKS))
        with clock:
            dropped += PAGE_LINKS - frontier.add(CRAWL, new)
    times["add 150 new URLs"] = clock.result()

    return {
        "sampled": sampled,
        "dropped": dropped,
        "fill_s": round(fill_s, 1),
        "fill_us_a_url": round(fill_s / size * 1e6, 1),
        "resident_bytes_a_url": round(rss / size, 1),
        "times_us": times,
    }


def measure_restart(folder: Path, frontier: Frontier, client: Any) -> dict[str, Any]:
    """Measures the start of a server on a copy of the files."""
    while client.info("persistence")["aof_rewrite_in_progress"]:
        time.sleep(0.2)
    time.sleep(1.5)  # its file is written and synced every second
    copy = folder / "copy"
    shutil.copytree(folder / "queue", copy / "queue")
    file_bytes = sum(path.stat().st_size for path in (copy / "queue").rglob("*.aof"))
    file_bytes += sum(path.stat().st_size for path in (copy / "queue").rglob("*.rdb"))
    server = EmbeddedServer(copy)
    begun = time.perf_counter()
    try:
        server.start()
    except StoreUnavailable as error:
        return {"file_mb": round(file_bytes / 1e6), "restart_s": None, "restart": str(error)}
    restart_s = time.perf_counter() - begun
    again = Frontier(server.url)
    same = again.counts(CRAWL) == frontier.counts(CRAWL)
    again.close()
    server.stop()
    shutil.rmtree(copy)
    return {
        "file_mb": round(file_bytes / 1e6),
        "restart_s": round(restart_s, 1),
        "restart": "same" if same else "URLs are missing",
    }


def measure_memory(frontier: Frontier, client: Any) -> dict[str, float]:
    """Drops the parts of the queue one by one; returns the size of each."""
    pending = frontier.counts(CRAWL).pending
    seen = int(client.hget(f"cc:c:{CRAWL}", "seq"))
    whole = used_bytes(client)
    forget(client, f"cc:q:{CRAWL}:*")
    without_pending = used_bytes(client)
    forget(client, f"cc:seen:{CRAWL}:*")
    without_seen = used_bytes(client)
    return {
        "seen_bytes": round((without_pending - without_seen) / seen, 1),
        "pending_bytes": round((whole - without_pending) / pending, 1),
    }


async def opened(url: str) -> FetchQueue:
    """Opens a spider's side of the queue without limits of back-pressure."""
    return FetchQueue(url, StorageConfig(max_pages_in_flight=10**6, max_bytes_in_flight=1 << 40))


async def fetch(
    queue: FetchQueue, client: Any, wanted: int, times: dict[str, dict[str, float]]
) -> None:
    """Answers every host's robots.txt, then leases and puts pages."""
    leases: list[Lease] = []
    while batch := (await queue.lease(HOSTS)).leases:
        robots = [lease for lease in batch if lease.role is PageRole.ROBOTS]
        leases += [lease for lease in batch if lease.role is not PageRole.ROBOTS]
        for lease in robots:
            await queue.put_robots(lease, RobotsVerdict(rules=""))
        if not robots:
            break
    for lease in leases:
        await queue.nack(lease, Retry(detail="the benchmark begins"))
    leases.clear()
    clock = Clock(client)
    while len(leases) < wanted:
        with clock:
            found = (await queue.lease(LEASE)).leases
        if not found:
            raise SystemExit(f"no more than {len(leases)} URLs could be leased")
        leases += found
    times[f"lease {LEASE} URLs"] = clock.result()
    clock = Clock(client)
    for lease in leases:
        with clock:
            await queue.put(lease, ANSWER)
    times["put"] = clock.result()
    while await queue.flush(0):
        pass


def clean(frontier: Frontier, client: Any, times: dict[str, dict[str, float]]) -> None:
    """Claims and acks every job, like a worker that does not clean."""
    jobs = [job.decode() for job in client.zrange("cc:jobs", 0, -1)]
    claimed: dict[str, list[QueuedPage]] = {}
    clock = Clock(client)
    for job in jobs:
        with clock:
            claimed[job] = frontier.claim(job, "worker")
    times["claim a job"] = clock.result()
    clock = Clock(client)
    for job, pages in claimed.items():
        with clock:
            frontier.ack(job, [(page, UrlState.RECORD) for page in pages])
    times["ack a job"] = clock.result()
    times["claim a job"]["pages"] = sum(map(len, claimed.values())) / len(jobs)


def used_bytes(client: Any) -> int:
    """Returns the bytes allocated for data, after the dropped keys are freed."""
    while (memory := client.info("memory"))["lazyfree_pending_objects"]:
        time.sleep(0.05)
    buffers = int(memory["mem_clients_normal"]) + int(memory["mem_aof_buffer"])
    return int(memory["used_memory"]) - buffers


def forget(client: Any, match: str) -> None:
    """Drops every key that matches a pattern (``cc:seen:c:*``)."""
    keys = list(client.scan_iter(match, count=10_000))
    for start in range(0, len(keys), 1000):
        client.unlink(*keys[start : start + 1000])


if __name__ == "__main__":
    sys.exit(main())
