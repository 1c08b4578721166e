"""Topic crawls in the queue: a lease by rank, and a million waiting URLs ranked anew.

1. Leases of 16 URLs from 200 hosts, of an ordinary crawl and of a topic crawl, in turns on one
   server: time of the script inside the server, and the server's CPU time with the puts.
2. A topic crawl with a million URLs of 60 characters and 12 features on 1,000 hosts of unequal
   size; two URLs each have the same features (of 1,535 that waited in a crawl of ``bench-topic``
   842 had those of another): memory of a waiting URL.
3. All are ranked anew by one process, each with another rank, while a spider leases and puts pages:
   time, and how long a lease takes meanwhile and before.
4. The same by two processes.

``make bench-ranking``; ``make bench-ranking ARGS="--urls 100000"`` takes a minute.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from redis import Redis

from benchmarks.kit.results import keep
from benchmarks.queue.frontier import ANSWER, forget, links, opened, used_bytes
from crawlclean.cleaning.topics.learner import LinkModel
from crawlclean.cleaning.topics.links import MAX_IDS
from crawlclean.storage.crawl_types import CrawlSpec, Discovery, Lease, PageRole, Scope
from crawlclean.storage.queue.embedded import EmbeddedServer
from crawlclean.storage.queue.fetch_queue import FetchQueue, RobotsVerdict
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.workers.jobs.topic_learning import score_of

TOPIC = "storms"
FEATURES = 12
HOSTS, LEASES = 200, 200  # of the first part, three times
FILL = 1000
RUN = 10  # neighbours in the list of URLs that are links of one page
LEASE_EVERY_S = 0.02  # a spider of 50 pages a second
RANK_GOAL_S = 20.0
LEASE_GOAL_MS = 50.0
BYTES_GOAL = 240.0


def main() -> int:
    """Measures and keeps the result; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description="Leases by rank, and ranking anew.")
    parser.add_argument("--urls", type=int, default=10**6)
    urls = parser.parse_args().urls
    with tempfile.TemporaryDirectory() as folder:
        leases = _on_server(Path(folder), measure_leases)
    sys.stderr.write(f"{leases}\n")
    with tempfile.TemporaryDirectory() as folder:
        ranking = _on_server(Path(folder), lambda url: measure_ranking(url, urls))
    sys.stderr.write(f"{ranking}\n")
    missed = _missed(ranking, urls)
    load = round(os.getloadavg()[0], 1)  # two cores are busy at 2
    keep(
        "ranking",
        {"urls": urls, "load": load, "leases": leases, "ranking": ranking, "missed": missed},
    )
    sys.stderr.writelines(f"missed: {line}\n" for line in missed)
    return 1 if missed else 0


def _missed(ranking: dict[str, Any], urls: int) -> list[str]:
    missed = []
    one = ranking["one process"]
    limit_s = RANK_GOAL_S * urls / 10**6
    if one["seconds"] > limit_s:
        missed.append(f"{one['seconds']} s for {urls} URLs by one process (goal {limit_s})")
    if one["lease_ms"]["max"] > LEASE_GOAL_MS:
        missed.append(f"a lease took {one['lease_ms']['max']} ms (goal {LEASE_GOAL_MS})")
    if ranking["bytes_a_url"] > BYTES_GOAL:
        missed.append(f"{ranking['bytes_a_url']} bytes a waiting URL (goal {BYTES_GOAL})")
    return missed


def _on_server(folder: Path, work: Any) -> Any:
    server = EmbeddedServer(folder)
    server.start()
    try:
        return work(server.url)
    finally:
        server.stop()


# Leases of an ordinary crawl and of a topic


def measure_leases(url: str) -> dict[str, Any]:
    """Returns the microseconds of lease.lua inside the server, a call of 16 URLs."""
    frontier = Frontier(url)
    times: dict[str, list[float]] = {"ordinary": [], "topic": []}
    cpu_s = dict.fromkeys(times, 0.0)
    with Redis.from_url(url) as client, asyncio.Runner() as runner:
        queue = runner.run(opened(url))
        try:
            for _ in range(3):
                for crawl in times:
                    client.flushall()
                    _open(client, frontier, crawl)
                    for number in range(HOSTS):
                        frontier.add(crawl, [_page(f"h{number}.example", i) for i in range(60)])
                    before = _cpu_s(client)
                    times[crawl] += runner.run(_lease_all(queue, client, crawl))
                    cpu_s[crawl] += _cpu_s(client) - before
        finally:
            runner.run(queue.close())
            frontier.close()
    return {
        crawl: {
            "median_us": round(statistics.median(all_us)),
            "cpu_us_with_puts": round(cpu_s[crawl] / len(all_us) * 1e6),
            "calls": len(all_us),
        }
        for crawl, all_us in times.items()
    }


def _open(client: Any, frontier: Frontier, crawl: str) -> None:
    spec = CrawlSpec(crawl_id=crawl, seeds=(), delay_ms=0, slots=1)
    if crawl != "ordinary":
        spec = replace(spec, scope=Scope.TOPIC, topic=TOPIC)
    frontier.open_crawl(spec)
    if spec.topic:
        client.hset(f"cc:c:{crawl}", "floor", 998)  # the cost of choosing, not of waiting


def _page(host: str, number: int) -> Discovery:
    rank = 200 + mixed(number) % 700
    features = tuple(mixed(number // 2 * FEATURES + i) % MAX_IDS for i in range(FEATURES))
    return Discovery(url=f"http://{host}/news/{number}.html", rank=rank, features=features)


def mixed(number: int) -> int:
    """Returns 32 bits that look drawn at random (the finalizer of MurmurHash3)."""
    number = (number ^ number >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    number = (number ^ number >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return number ^ number >> 16


async def _lease_all(queue: FetchQueue, client: Any, crawl: str) -> list[float]:
    """Leases and puts; returns the script's time of each call that gave 16 pages, microseconds."""
    found: list[float] = []
    while len(found) < LEASES:
        client.config_resetstat()
        leases = (await queue.lease(16)).leases
        stats = client.info("commandstats")["cmdstat_evalsha"]
        if sum(lease.role is PageRole.PAGE for lease in leases) == 16:
            found.append(float(stats["usec"]))
        for lease in leases:
            await _end(queue, lease)
        _judge(client, crawl)
    return found


async def _end(queue: FetchQueue, lease: Lease) -> None:
    if lease.role is PageRole.ROBOTS:
        await queue.put_robots(lease, RobotsVerdict(rules=""))
    else:
        await queue.put(lease, ANSWER)


def _judge(client: Any, crawl: str) -> None:
    """As if workers had judged all pages: a topic crawl leases nothing while 20 wait for that."""
    client.hset(f"cc:c:{crawl}", "queued", 0)


# Ranking anew


def measure_ranking(url: str, size: int) -> dict[str, Any]:
    """Fills a topic crawl, ranks it anew by one process and by two, beside a spider."""
    frontier = Frontier(url)
    with Redis.from_url(url, socket_timeout=600) as client:
        _open(client, frontier, TOPIC)
        for start in range(0, size, FILL):
            frontier.add(TOPIC, list(_links(start, min(FILL, size - start))))
        found: dict[str, Any] = {"idle": _beside(url, [])}
        for version, processes in enumerate((1, 2), start=1):
            name = "one process" if processes == 1 else "two processes"
            jobs = [
                multiprocessing.Process(target=rank_all, args=(url, version))
                for _ in range(processes)
            ]
            before = _cpu_s(client), _children_s()
            found[name] = _beside(url, jobs)
            found[name]["server_cpu_s"] = round(_cpu_s(client) - before[0], 1)
            found[name]["rankers_cpu_s"] = round(_children_s() - before[1], 1)
        pending = frontier.counts(TOPIC).pending
        whole = used_bytes(client)
        forget(client, f"cc:q:{TOPIC}:*")
        found["bytes_a_url"] = round((whole - used_bytes(client)) / pending, 1)
    frontier.close()
    return found


def _cpu_s(client: Any) -> float:
    cpu = client.info("cpu")
    return float(cpu["used_cpu_user"]) + float(cpu["used_cpu_sys"])


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _links(start: int, count: int) -> Iterator[Discovery]:
    for number, each in enumerate(links(start, count, RUN), start=start):
        page = _page("x", number)
        yield replace(each, rank=page.rank, features=page.features)


def rank_all(url: str, version: int) -> None:
    """Ranks every URL anew by a model that the version decides."""
    frontier = Frontier(url)
    means = tuple(mixed(MAX_IDS * version + i) % 1200 / 1000 - 0.6 for i in range(MAX_IDS))
    score = score_of(LinkModel(version=version, means=means))
    frontier.topics.rerank(TOPIC, score, version=version)
    frontier.close()


def _beside(url: str, jobs: Sequence[multiprocessing.Process]) -> dict[str, Any]:
    """Runs jobs while a spider leases and puts; returns the seconds and the times of a lease."""
    begun = time.perf_counter()
    for job in jobs:
        job.start()
    times = asyncio.run(_spider(url, jobs))
    for job in jobs:
        job.join()
        if job.exitcode:
            raise SystemExit(f"a ranker ended with {job.exitcode}")
    cuts = statistics.quantiles(times, n=100)
    return {
        "seconds": round(time.perf_counter() - begun, 1),
        "lease_ms": {
            "calls": len(times),
            "p50": round(cuts[49] * 1e3, 2),
            "p99": round(cuts[98] * 1e3, 2),
            "max": round(max(times) * 1e3, 2),
        },
    }


async def _spider(url: str, jobs: Sequence[multiprocessing.Process]) -> list[float]:
    """Leases a URL every 20 ms while jobs run, at least 200 times; returns the seconds of each."""
    queue = await opened(url)
    client = Redis.from_url(url)
    times: list[float] = []
    try:
        while len(times) < 200 or any(job.is_alive() for job in jobs):
            begun = time.perf_counter()
            leases: tuple[Lease, ...] = (await queue.lease(1)).leases
            times.append(time.perf_counter() - begun)
            for lease in leases:
                await _end(queue, lease)
            _judge(client, TOPIC)
            await asyncio.sleep(LEASE_EVERY_S)
    finally:
        client.close()
        await queue.close()
    return times


if __name__ == "__main__":
    sys.exit(main())
