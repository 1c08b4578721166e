"""CPU time of a whole crawl, all processes, compared with Scrapy, scrapy-redis and Crawlee.

A site is served on loopback by a process that is not counted.

- Ours: ``run`` with spider, queue server, workers, housekeeper.
- Plain Scrapy fetches exactly the URLs of our spider, without reading them.
- scrapy-redis and Crawlee crawl the site with their defaults; trafilatura extracts the texts.

The counts of the server show whether all fetched the same. ``make bench-crawl``; the peers are
installed into ``build/peers``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from redis import Redis

from benchmarks.crawl.peers import Options
from benchmarks.crawl.steps import cost_of_a_job, cost_of_pages
from benchmarks.kit.crawls import run_ours, run_peer
from benchmarks.kit.environments import CRAWL_PEERS, interpreter
from benchmarks.kit.fleet import folder_bytes
from benchmarks.kit.results import keep
from benchmarks.kit.serving import home_of, labelled_sites, served_sites, statistics
from crawlclean.storage.queue.clients import queue_errors, wait_for_queue
from crawlclean.storage.queue.embedded import find_server
from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.crawls import stored_urls
from tests.kit.processes import cpu_s

PORT = 8801
COUNTS = ("records", "requests", "archive_bytes", "store_bytes")
PEERS = ("plain_scrapy", "scrapy_redis", "crawlee")


def main() -> int:
    """Measures the named sites, or all, and keeps the result."""
    parser = argparse.ArgumentParser(description="CPU time of a crawl, compared with peers.")
    parser.add_argument("sites", nargs="*", help="names as in sites.json (default all)")
    a = parser.parse_args()
    sites = labelled_sites()
    python = interpreter("peers", CRAWL_PEERS)
    results, steps = {}, {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with served_sites(folder, PORT):
            first = next(iter(sites))
            start = ours_cpu_s(home_of(sites[first], PORT), folder / "start", "--depth", "0")
            for site in a.sites or sites:
                home = home_of(sites[site], PORT)
                results[site] = measure(site, home, folder / f"of-{site}", python)
                steps[site] = cost_of_pages(folder / "www" / site)
                sys.stderr.write(f"{site}: {json.dumps(results[site])}\n")
    totals = summed(list(results.values()))
    keep(
        "crawl",
        {
            "all_sites": totals,
            "start_cpu_s": start,
            "sites": results,
            "job_ms": cost_of_a_job(),
            "steps": steps,
        },
    )
    return 0


def ours_cpu_s(home: str, data: Path, *options: str) -> dict[str, float]:
    """Crawls a site; returns CPU seconds by role, jobs as a part of their workers."""
    found = run_ours([home], data, *options).cpu_s
    found["worker"] = round(found["worker"] + found.pop("jobs"), 2)
    return found


def measure(site: str, home: str, folder: Path, python: Path) -> dict[str, Any]:
    """Measures a site: ours, plain Scrapy on the same URLs, the peers with trafilatura."""
    folder.mkdir()
    asked = [seen_by_server(site)]
    ours_s = ours_cpu_s(home, folder / "data")
    asked.append(seen_by_server(site))
    urls, records, requests = what_was_fetched(folder / "data")
    plain, plain_cost = run_peer(python, "plain", Options(urls=urls), folder)
    asked.append(seen_by_server(site))
    peer, redis_s = run_scrapy_redis(python, home, folder)
    asked.append(seen_by_server(site))
    crawlee, crawlee_cost = run_peer(
        python, "crawlee", Options(urls=[home], folder=str(folder / "crawlee")), folder
    )
    asked.append(seen_by_server(site))
    found = {
        "records": records,
        "requests": requests,
        "archive_bytes": folder_bytes(folder / "data" / "raw"),
        "store_bytes": (folder / "data" / "records.sqlite").stat().st_size,
        "ours_cpu_s": ours_s,
        "plain_scrapy": {**plain, "cpu_s": plain_cost.cpu_s["all"]},
        "scrapy_redis": {**peer, "cpu_s": round(redis_s, 2)},
        "crawlee": {**crawlee, "cpu_s": crawlee_cost.cpu_s["all"]},
        "answers_by_status": {
            name: dict(asked[number + 1] - asked[number])
            for number, name in enumerate(("ours", *PEERS))
        },
    }
    return {**found, **ratios(found)}


def ratios(found: Mapping[str, Any]) -> dict[str, float]:
    """Returns CPU per record and the ratios to the peers, of a site or of the sum of sites."""
    ours, plain, peer = found["ours_cpu_s"], found["plain_scrapy"], found["scrapy_redis"]
    per_record = ours["all"] / found["records"]
    per_text = peer["cpu_s"] / max(1, peer["texts"])
    crawlee = found["crawlee"]
    per_crawlee_text = crawlee["cpu_s"] / max(1, crawlee["texts"])
    return {
        "ours_cpu_ms_per_record": round(1000 * per_record, 2),
        "scrapy_redis_cpu_ms_per_text": round(1000 * per_text, 2),
        "crawlee_cpu_ms_per_text": round(1000 * per_crawlee_text, 2),
        "ours_against_scrapy_redis_per_record": round(per_record / per_text, 3),
        "ours_against_crawlee_per_record": round(per_record / per_crawlee_text, 3),
        "plain_scrapy_alone_per_record": round(plain["cpu_s"] / found["records"] / per_text, 3),
        "spider_against_plain": round(
            (found["requests"] / ours["spider"]) / (plain["responses"] / plain["cpu_s"]), 2
        ),
    }


def summed(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Sums counts and times over all sites; adds the ratios of the sums."""
    total: dict[str, Any] = {key: sum(r[key] for r in results) for key in COUNTS}
    for key in ("ours_cpu_s", *PEERS):
        total[key] = {
            name: round(sum(r[key].get(name, 0) for r in results), 2) for name in results[0][key]
        }
    return {**total, **ratios(total)}


def seen_by_server(site: str) -> Counter[str]:
    """Returns the responses of a site so far, by status."""
    return Counter(statistics(PORT).get(site, {}).get("status", {}))


def run_scrapy_redis(python: Path, home: str, folder: Path) -> tuple[dict[str, int], float]:
    """Runs scrapy-redis; returns (its printed counts, CPU seconds with its Redis)."""
    server = subprocess.Popen(  # noqa: S603 - our own server, with its defaults
        [find_server(), "--port", str(PORT + 1), "--bind", "127.0.0.1", "--dir", str(folder)],
        stdout=subprocess.DEVNULL,
    )
    try:
        url = f"redis://127.0.0.1:{PORT + 1}"
        with Redis.from_url(url) as client:
            wait_for_queue(lambda: _ping(client), limit_s=30)
        options = Options(urls=[home], queue_url=url)
        printed, cost = run_peer(python, "scrapy-redis", options, folder)
        return printed, cost.cpu_s["all"] + cpu_s(server.pid, with_children=True)
    finally:
        server.kill()
        server.wait()


def _ping(client: Redis) -> None:
    with queue_errors():
        client.ping()


def what_was_fetched(data: Path) -> tuple[list[str], int, int]:
    """Returns (all requested URLs, number of records, number of requests)."""
    records = stored_urls(data)
    store = SqliteStore(data / "records.sqlite")
    try:
        failed = [row.url for row in store.urls.failures() if row.status]
    finally:
        store.close()
    return records + failed, len(records), len(records) + len(failed)


if __name__ == "__main__":
    sys.exit(main())
