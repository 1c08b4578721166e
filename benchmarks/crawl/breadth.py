"""What many small hosts cost beside plain Scrapy with trafilatura: CPU, time, memory, disk.

``make bench-breadth``; ``ARGS=--quick`` shows one round of the first web. Generated webs (pages of
10 KB of Chinese, 20 links) are crawled by turns, all home pages as seeds:

- Ours: ``run`` with a fresh folder and its defaults.
- The peer: one process of Scrapy, which reads every page with trafilatura and keeps no page.

Both must have a text of every page and no other. The figures are medians of the rounds, with the
load average at the end of each run. The server of the pages is not counted; it shares the cores.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.crawl.peers import Options
from benchmarks.kit.crawls import Cost, run_ours, run_peer
from benchmarks.kit.environments import CRAWL_PEERS, interpreter
from benchmarks.kit.fleet import folder_bytes
from benchmarks.kit.generated import GeneratedWeb
from benchmarks.kit.generated_site import WebSpec
from benchmarks.kit.results import keep, show
from tests.kit.crawls import stored_urls

PAGE_BYTES = 10_000
WEBS = ((100, 10), (100, 30), (1, 1000))  # hosts, pages of each
LARGE = ((1, 10_000), (1000, 10))


def main() -> int:
    """Measures every web and keeps the medians."""
    parser = argparse.ArgumentParser(description="What many small hosts cost, beside Scrapy.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--large", action="store_true", help="two webs of 10,000 pages, too")
    parser.add_argument("--quick", action="store_true", help="one round of one web, not kept")
    a = parser.parse_args()
    webs, rounds = (WEBS[:1], 1) if a.quick else ((*WEBS, *LARGE * a.large), a.rounds)
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for number in range(rounds):
        for hosts, pages in webs:
            name = f"{hosts:,} host{'s' * (hosts > 1)} x {pages:,}"
            spec = WebSpec(hosts=hosts, pages=pages, chains=hosts, page_bytes=PAGE_BYTES)
            rows[name].append(measure(spec, ours_first=number % 2 == 0))
            sys.stderr.write(f"round {number + 1}: {name}: {rows[name][-1]}\n")
    result = {
        "rounds": rounds,
        "page_bytes": PAGE_BYTES,
        "webs": {name: middle(found) for name, found in rows.items()},
    }
    (show if a.quick else lambda found: keep("breadth", found))(result)
    return 0


def measure(spec: WebSpec, *, ours_first: bool) -> dict[str, Any]:
    """Crawls a web with both; returns the figures of each, and the ratio of their CPU."""
    row: dict[str, Any] = {}
    for name, crawl in (("ours", ours), ("scrapy", scrapy))[:: 1 if ours_first else -1]:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            with GeneratedWeb(folder / "web", spec) as web:
                cost, texts = crawl(web, folder / "tool")
                pages = sorted(spec.all_pages(web.port))
            if sorted(texts) != pages:
                sys.exit(f"{name}: {len(texts)} texts of {len(pages)} pages: not the same URLs")
            row[name] = {
                "texts": len(texts),
                "cpu_ms_a_text": round(1000 * cost.cpu_s["all"] / len(texts), 2),
                "disk_kb_a_text": round(folder_bytes(folder / "tool") / 1000 / len(texts), 2),
                **asdict(cost),
            }
    return {**row, "ratio": round(row["ours"]["cpu_s"]["all"] / row["scrapy"]["cpu_s"]["all"], 3)}


def ours(web: GeneratedWeb, folder: Path) -> tuple[Cost, list[str]]:
    """Crawls by our command; returns (its cost, the URLs of the records)."""
    cost = run_ours(web.seeds(), folder)
    return cost, stored_urls(folder)


def scrapy(web: GeneratedWeb, folder: Path) -> tuple[Cost, list[str]]:
    """Crawls by Scrapy; returns (its cost, the URLs with a text)."""
    folder.mkdir()
    kept = folder / "kept.txt"
    options = Options(urls=web.seeds(), kept=str(kept))
    _, cost = run_peer(interpreter("peers", CRAWL_PEERS), "scrapy", options, folder)
    return cost, kept.read_text("utf-8").split()


def middle(rows: Sequence[Any]) -> Any:
    """Returns the rounds as one: medians of all numbers, and each round's load and ratio."""
    if not isinstance(rows[0], dict):
        return rows[0] if len({*rows}) == 1 else round(statistics.median(rows), 3)
    found = {key: middle([row.get(key, 0.0) for row in rows]) for key in rows[0]}
    shown = [key for key in ("load", "ratio") if key in found]
    return {**found, **{f"{key}s": [row[key] for row in rows] for key in shown}}


if __name__ == "__main__":
    sys.exit(main())
