"""Overflow of the frontier: memory saved in the queue, cost in the store, speed of the spill.

``make bench-overflow`` offers a million URLs of 1,000 hosts of very different sizes to a queue with
room for a hundred thousand, with the SQLite store; then all URLs return to the queue. Times are CPU
time of the spilling process (client and store) and of the server, microseconds per URL.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from redis import Redis

from benchmarks.kit.results import keep
from benchmarks.queue.frontier import FILL, NEW_LINKS, links, used_bytes
from crawlclean.storage.crawl_types import CrawlSpec
from crawlclean.storage.queue.embedded import EmbeddedServer
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.queue.overflow import Overflow
from crawlclean.storage.sqlite.store import SqliteStore

CRAWL = "c"
URLS, LIMIT = 1_000_000, 100_000


def main() -> int:
    """Measures and keeps the result; 1 when URLs are missing."""
    parser = argparse.ArgumentParser(description="The frontier's tail in the store.")
    parser.add_argument("--urls", type=int, default=URLS)
    parser.add_argument("--limit", type=int, default=LIMIT)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = measure(Path(folder), given.urls, given.limit)
    sys.stderr.write(f"{result}\n")
    keep("overflow", result)
    return 1 if result["missing"] else 0


class Cost:
    """CPU time of this process and of the server, and wall time, since its creation."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._begun = (time.process_time(), self._server_s(), time.perf_counter())

    def _server_s(self) -> float:
        cpu = self._client.info("cpu")
        return float(cpu["used_cpu_user"]) + float(cpu["used_cpu_sys"])

    def result(self, urls: int) -> dict[str, float]:
        """Returns microseconds per URL, and the wall time in ``seconds``."""
        own, server, clock = (
            now - then
            for now, then in zip(
                (time.process_time(), self._server_s(), time.perf_counter()),
                self._begun,
                strict=True,
            )
        )
        return {
            "urls": urls,
            "seconds": round(clock, 1),
            "client_us": round(own / max(1, urls) * 1e6, 1),
            "server_us": round(server / max(1, urls) * 1e6, 1),
        }


def measure(folder: Path, urls: int, limit: int) -> dict[str, Any]:
    """Spills the URLs into the store and takes them back."""
    server = EmbeddedServer(folder)
    server.start()
    frontier, store = Frontier(server.url), SqliteStore(folder / "records.sqlite")
    tail = Overflow(server.url, store.spills, limit)
    try:
        with Redis.from_url(server.url, socket_timeout=600) as client:
            empty = used_bytes(client)
            frontier.open_crawl(CrawlSpec(crawl_id=CRAWL, seeds=()))
            out = {"urls": 0.0, "seconds": 0.0, "client_us": 0.0, "server_us": 0.0}
            offered = 0
            for start in range(0, urls, FILL):
                found = list(links(start, min(FILL, urls - start), NEW_LINKS))
                offered += frontier.add(CRAWL, found)
                if offered - start > 0 and start // FILL % 20 == 19:
                    spill(tail, client, out)
            spill(tail, client, out)
            counts = frontier.counts(CRAWL)
            queue_bytes = used_bytes(client) - empty
            seen_bytes = sum(
                client.memory_usage(key, samples=0) for key in client.scan_iter("cc:seen:*")
            )
            spills = store.spills.ids(CRAWL)
            kept = [spilled for each in spills if (spilled := store.spills.get(each))]
            packed = sum(len(each.packed) for each in kept)
            cost, moved = Cost(client), Counter[str]()
            for each in kept:
                tail._bring_back(CRAWL, each.host, each.spill_id, moved)
            back = cost.result(moved["urls_refilled"])
            waiting = sum(client.zcard(key) for key in client.scan_iter("cc:q:*"))
            return {
                "urls": urls,
                "limit": limit,
                "in_memory": counts.pending - counts.spilled,
                "in_store": counts.spilled,
                "spills": len(spills),
                "queue_mb": round(queue_bytes / 1e6, 1),
                "of_these_seen_set_mb": round(seen_bytes / 1e6, 1),
                "queue_mb_without": round((used_bytes(client) - empty) / 1e6, 1),
                "store_bytes_a_url": round(packed / max(1, counts.spilled), 1),
                "spill": {name: round(value, 1) for name, value in out.items()},
                "refill": back,
                "missing": offered - waiting,
            }
    finally:
        tail.close()
        frontier.close()
        store.close()
        server.stop()


def spill(tail: Overflow, client: Any, out: dict[str, float]) -> None:
    """Runs spill rounds until the queue is within its limit; adds up their cost."""
    while True:
        cost = Cost(client)
        moved = tail.spill()["urls_spilled"]
        if not moved:
            return
        one = cost.result(moved)
        whole = out["urls"] + moved
        for name in ("client_us", "server_us"):
            out[name] = (out[name] * out["urls"] + one[name] * moved) / whole
        out["urls"], out["seconds"] = whole, out["seconds"] + one["seconds"]


if __name__ == "__main__":
    sys.exit(main())
