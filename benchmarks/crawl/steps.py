"""CPU milliseconds a page of each step from lease to ack, without RQ.

Pages of a site pass the real components in this process: queue with a private server, cleaning,
SQLite store. A real worker runs jobs without pages: the cost of RQ. Part of ``make
bench-crawl``; alone: ``python -m benchmarks.crawl.steps FOLDER``, a folder of HTML files.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from redis import Redis

import crawlclean.cleaning.page as page_module
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import (
    CrawlSpec,
    Discovery,
    FetchResult,
    KeepRaw,
    PageRole,
    QueuedPage,
)
from crawlclean.storage.opening import start_queue
from crawlclean.storage.queue.clients import open_client
from crawlclean.storage.queue.embedded import EmbeddedServer
from crawlclean.storage.queue.fetch_queue import FetchQueue, RobotsVerdict
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.queue.jobs import JobQueue
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.sqlite.writing import archived_answer
from crawlclean.storage.store.encoded_outcomes import encode_outcome
from crawlclean.workers.jobs.outcomes import Ending, end_page, with_stored_step
from crawlclean.workers.jobs.url_filter import UrlFilter
from tests.kit.crawls import command, environment
from tests.kit.processes import cpu_s
from tests.kit.timing import wait_until

T = TypeVar("T")

PAGES = 200
JOBS = 100
WORKER_LIMIT_S = 120.0
HOST = "127.0.0.1:9"
STAGES = ("read_document", "read_body", "read_title", "read_links", "read_images",
          "read_outlinks", "read_metadata")  # fmt: skip
HEADERS = (("Content-Type", "text/html"), ("Server", "bench"), ("Connection", "keep-alive"))


class Steps:
    """CPU seconds by step, summed over all pages."""

    def __init__(self) -> None:
        self.spent_s: dict[str, float] = defaultdict(float)

    def time(self, name: str, work: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Calls ``work`` and adds its time to a step; returns its result."""
        begun = time.process_time()
        result = work(*arguments, **named)
        self.spent_s[name] += time.process_time() - begun
        return result

    @contextmanager
    def stages(self) -> Iterator[None]:
        """Times the stages of ``clean``, too, in the block."""
        originals = {name: getattr(page_module, name) for name in STAGES}

        def timed(name: str, stage: Callable[..., Any]) -> Callable[..., Any]:
            return partial(self.time, f"clean: {name}", stage)

        for name, stage in originals.items():
            setattr(page_module, name, timed(name, stage))
        try:
            yield
        finally:
            for name, stage in originals.items():
                setattr(page_module, name, stage)


def cost_of_pages(folder: Path) -> dict[str, Any]:
    """Returns CPU milliseconds a page by step for a folder's HTML files; ``{}`` without files."""
    files = [p for p in sorted(folder.rglob("*")) if p.suffix in (".html", ".htm", ".asp")]
    files = files[:: max(1, len(files) // PAGES)][:PAGES]
    bodies = [path.read_bytes() for path in files]
    if not bodies:
        return {}
    steps = Steps()
    with tempfile.TemporaryDirectory() as name:
        config = StorageConfig(data=Path(name))
        server, frontier = start_queue(config)
        assert server  # noqa: S101 - the mode is embedded
        store = SqliteStore(config.data / "records.sqlite")
        before = server_cpu_s(server)
        try:
            _through(frontier, store, server.url, config, bodies, steps)
            steps.spent_s["queue server, all of it"] = server_cpu_s(server) - before
        finally:
            store.close()
            frontier.close()
            server.stop()
    per_page = {step: round(1000 * s / len(bodies), 3) for step, s in sorted(steps.spent_s.items())}
    size = sum(map(len, bodies)) // len(bodies)
    return {"pages": len(bodies), "bytes_a_page": size, "ms_a_page": per_page}


def _through(
    frontier: Frontier,
    store: SqliteStore,
    url: str,
    config: StorageConfig,
    bodies: Sequence[bytes],
    steps: Steps,
) -> None:
    urls = [f"http://{HOST}/{number}.html" for number in range(len(bodies))]
    spec = CrawlSpec(crawl_id="c", seeds=(urls[0],), allow_private=True, delay_ms=0, slots=8)
    frontier.open_crawl(spec)
    frontier.add("c", [Discovery(url=each) for each in urls])
    asyncio.run(_fetch(url, config, dict(zip(urls, bodies, strict=True)), steps))
    with Redis.from_url(url) as client:
        jobs = [job.decode() for job in client.zrange("cc:jobs", 0, -1)]
    for job in jobs:
        pages = steps.time("claim, with unpacking", frontier.claim, job, "w")
        _do(frontier, store, spec, job, pages, steps)


async def _fetch(url: str, config: StorageConfig, pages: dict[str, bytes], steps: Steps) -> None:
    """Leases and puts the pages, like a spider that does not fetch."""
    queue = FetchQueue(url, config)
    left = len(pages)
    while left:
        begun = time.process_time()
        leases = (await queue.lease(8)).leases
        steps.spent_s["lease"] += time.process_time() - begun
        for lease in leases:
            if lease.role is PageRole.ROBOTS:
                await queue.put_robots(lease, RobotsVerdict(rules=""))
            else:
                body = pages.get(lease.url, b"")
                result = FetchResult(status=200, headers=HEADERS, body=body, elapsed_ms=1)
                begun = time.process_time()
                await queue.put(lease, result)
                steps.spent_s["put, with packing"] += time.process_time() - begun
                left -= lease.url in pages
    await queue.flush(0)
    await queue.close()


def _do(
    frontier: Frontier,
    store: SqliteStore,
    spec: CrawlSpec,
    job: str,
    pages: Sequence[QueuedPage],
    steps: Steps,
) -> None:
    """Does the steps of a worker for a job, one after another."""
    endings: list[Ending] = []
    with steps.stages():
        for page in pages:
            steps.time("mark", frontier.mark, job, page.page_id)
            endings.append(steps.time("clean, all of it", end_page, page, KeepRaw.ALL))
    outcomes = [with_stored_step(ending.outcome) for ending in endings]
    for outcome in outcomes:
        steps.time("save: encoding alone", encode_outcome, outcome)
        steps.time("save: WARC member alone", archived_answer, outcome)
    steps.time("save, all of it", store.save, outcomes)
    url_filter = UrlFilter(spec)
    found: dict[str, Discovery] = {}
    for ending in endings:
        queued = ending.outcome.queued
        taken, _ = steps.time(
            "outlinks: URL filter", url_filter.filter, ending.outlinks, queued.url, 1
        )
        found.update((discovery.url, discovery) for discovery in taken)
    steps.time("outlinks: offering", frontier.add, "c", list(found.values()))
    ended = [(e.outcome.queued, e.outcome.state) for e in endings]
    steps.time("ack", frontier.ack, job, ended)


def cost_of_a_job() -> dict[str, float]:
    """Returns the milliseconds of RQ for each job, by process: jobs without pages."""
    with tempfile.TemporaryDirectory() as name:
        server, frontier = start_queue(StorageConfig(data=Path(name)))
        assert server  # noqa: S101 - the mode is embedded
        frontier.close()
        client = Redis.from_url(server.url)
        jobs = JobQueue(open_client(server.url))
        process = subprocess.Popen(  # noqa: S603 - our own program
            command("worker", "--data", name), env=environment(), stderr=subprocess.DEVNULL
        )
        try:
            wait_until(lambda: bool(client.exists("rq:workers")), WORKER_LIMIT_S)
            alone, together = cpu_s(process.pid), cpu_s(process.pid, with_children=True)
            served = server_cpu_s(server)
            for number in range(JOBS):
                job = ["crawl", "c", "host", HOST, "ids", f"{number:032x}"]
                client.hset(f"cc:j:j{number}", items=job)
                jobs.enqueue(f"j{number}")
            wait_until(lambda: not list(client.scan_iter("rq:job:*", 1000)), WORKER_LIMIT_S)
            parent = cpu_s(process.pid) - alone
            family = cpu_s(process.pid, with_children=True) - together
            return {
                "worker_ms": round(1000 * parent / JOBS, 2),
                "forked_process_ms": round(1000 * (family - parent) / JOBS, 2),
                "queue_server_ms_with_enqueuing": round(
                    1000 * (server_cpu_s(server) - served) / JOBS, 2
                ),
            }
        finally:
            process.terminate()
            process.wait()
            jobs.close()
            client.close()
            server.stop()


def server_cpu_s(server: EmbeddedServer) -> float:
    """Returns the CPU seconds of a queue server so far."""
    return cpu_s(server.pid or 0, with_children=True)


if __name__ == "__main__":
    found = {"pages": cost_of_pages(Path(sys.argv[1])), "a job": cost_of_a_job()}
    sys.stdout.write(json.dumps(found, indent=1) + "\n")
