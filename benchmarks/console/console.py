"""What each screen of the console costs over a large store, beside a queue of as many hosts.

Milliseconds of wall time, of processor time of the console's process, and of the queue's server,
for each address: medians (of the server the mean), and the 95th percentile of wall time. Goals:
100 ms of wall time, 50 ms of processor time of both; the first needs a machine without other work.
The application is asked in its own process, without a socket; what queue and store answer is asked
anew by every request, but for what the console remembers for seconds.

``make bench-console``, ``make bench-console ARGS="--records 100000 --data /tmp/large"``.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from flask.testing import FlaskClient
from redis import Redis

from benchmarks.console.large_store import fill_queue, host_name, write_store
from benchmarks.console.large_topic import TOPIC, write_topic
from benchmarks.kit.results import keep, show
from crawlclean.storage.console_tokens import TokenScope
from crawlclean.storage.opening import DATABASE
from crawlclean.storage.queue.embedded import EmbeddedServer
from crawlclean.workers.operations.api_tokens import make_token
from crawlclean.workers.operations.topics.reports import read_figures
from tests.kit.console import open_console, settings_of

GOAL_WALL_MS, GOAL_CPU_MS = 100.0, 50.0
PATHS = (
    "/",
    "/now/live",
    "/?range=day",
    "/crawls",
    "/crawls/c0",
    "/crawls/c0/live",
    "/hosts",
    "/hosts?sort=failed",
    "/hosts?after=60~h05000.example",
    "/hosts?state=trouble",
    "/hosts?q=h04242.example",
    "/hosts?q=h04242.exampel",
    f"/hosts/{host_name(0)}",
    f"/hosts/{host_name(0)}/live",
    f"/hosts/{host_name(9000)}",
    "/failures",
    "/pages",
    f"/pages?host={host_name(0)}",
    f"/pages?host={host_name(0)}&after=50000",
    "/pages?crawl=c3&kind=thread&copies=without",
    "/pages?crawl=c3&kind=other",
    "/pages?to=2026-02-02T02:45",
    "/queues",
    "/events",
    "/traps",
    "/topics",
    "/live/topics",
    "/topics/quake",
    "/topics/quake/live",
    "/topics/quake?unread=1&host=h7.example",
    "/topics/quake?show=other",
    "/topics/quake?show=to_mark",
    "/topics/quake?words=海啸",
    "/topics/quake/tuning",
    "/topics/quake.atom",
    "/topics/quake/stories/STORY",
    "/help",
    "/api/v1/now",
    "/api/v1/queues",
    "/api/v1/crawls",
    "/api/v1/crawls/c0",
    "/api/v1/hosts?limit=200",
    f"/api/v1/hosts/{host_name(0)}",
    "/api/v1/failures?limit=200",
    "/api/v1/failures/causes",
    "/api/v1/pages?limit=200",
    f"/api/v1/urls?url=http://{host_name(0)}/none.html",
    "/api/v1/events?limit=200",
    "/api/v1/topics",
    "/api/v1/topics/quake",
    "/api/v1/topics/quake/stories?limit=200",
    "/api/openapi.json",
)
"""The addresses; STORY stands for the largest story of the topic."""


def main() -> int:
    """Measures and keeps the result; 1 when a screen misses a goal."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--hosts", type=int, default=10_000)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--failures", type=int, default=200_000)
    parser.add_argument("--topic-pages", type=int, default=100_000)
    parser.add_argument("--only", default="", help="only addresses that contain this")
    parser.add_argument("--requests", type=int, default=60, help="of each address")
    parser.add_argument(
        "--data", type=Path, help="folder to keep the store in, and to find it again"
    )
    parser.add_argument("--keep", action="store_true", help="write benchmarks/results/console.json")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = asked.data or Path(folder)
        data.mkdir(exist_ok=True)
        if not (data / DATABASE).exists():
            write_store(data, asked.hosts, asked.records, asked.failures)
        screens, figures_ms = measure_screens(data, asked)
    names = ("hosts", "records", "failures", "topic_pages", "requests")
    sizes = {name: getattr(asked, name) for name in names}
    sizes["topic_figures_cpu_ms"] = figures_ms
    result = {
        **sizes,
        "load": round(os.getloadavg()[0], 1),
        "screens": {path: found for path, found in screens.items() if found},
    }
    if asked.keep:
        keep("console", result)
    else:
        show(result)
    missed = [
        path
        for path, found in result["screens"].items()
        if found["wall_p95_ms"] > GOAL_WALL_MS
        or found["cpu_ms"] + found["queue_cpu_ms"] > GOAL_CPU_MS
    ]
    if missed:
        sys.stderr.write(f"missed: {', '.join(missed)}\n")
    return 1 if missed else 0


def measure_screens(data: Path, asked: argparse.Namespace) -> tuple[dict[str, dict[str, Any]], int]:
    """(figures of each screen, processor time of reading a topic's figures in milliseconds)."""
    story = write_topic(data, asked.topic_pages)
    paths = [path.replace("STORY", story) for path in PATHS if asked.only in path]
    server = EmbeddedServer(data)
    server.start()
    try:
        fill_queue(server.url, asked.hosts)
        client = open_console(data)
        token = make_token(data, "bench", TokenScope.READ, days=1).token
        client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {token}"
        client.get("/api/v1/topics/quake")  # waits until the topic's figures are read
        begun = time.process_time()
        read_figures(settings_of(data), TOPIC)
        figures_ms = round(1000 * (time.process_time() - begun))
        with closing(Redis.from_url(server.url)) as queue:
            screens = {path: measure(client, queue, path, asked.requests) for path in paths}
    finally:
        server.stop()
    return screens, figures_ms


def measure(client: FlaskClient, queue: Any, path: str, requests: int) -> dict[str, Any]:
    """Asks for a page again and again; ``{}`` when there is no such page."""
    first = client.get(path)
    if first.status_code == 404:
        return {}
    if first.status_code != 200:
        sys.exit(f"{path}: {first.status}")
    walls, cpus = [], []
    server = server_ms(queue)
    for _ in range(requests):
        wall, cpu = time.perf_counter(), time.process_time()
        client.get(path)
        cpus.append(1000 * (time.process_time() - cpu))
        walls.append(1000 * (time.perf_counter() - wall))
    return {
        "wall_ms": round(median(walls), 1),
        "wall_p95_ms": round(quantiles(walls, n=20)[-1], 1),
        "cpu_ms": round(median(cpus), 1),
        "queue_cpu_ms": round((server_ms(queue) - server) / requests, 1),
        "bytes": len(first.data),
    }


def server_ms(queue: Any) -> float:
    """Processor time of the queue's server so far, milliseconds."""
    used = queue.info("cpu")
    return 1000 * (float(used["used_cpu_user"]) + float(used["used_cpu_sys"]))


if __name__ == "__main__":
    sys.exit(main())
