"""A chain of pages, each with one link to the next: the latency of a hop.

A hop is fetch, queue, worker, store, outlink, lease; no step may wait for a batch or a poll.
``make bench-chain``.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.kit.results import keep
from tests.kit.crawls import run_crawl, stored_urls
from tests.kit.web import Page, Web, html

TEXT = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。"
GOAL_S = 10.0


def main() -> int:
    """Measures and keeps the result; 1 when the chain is broken or too slow."""
    parser = argparse.ArgumentParser(description="Time of a chain of pages.")
    parser.add_argument("--pages", type=int, default=200)
    pages = parser.parse_args().pages
    site: dict[str, Page] = {
        f"/{i}": html(f"第{i}页", TEXT * 3, links={f"/{i + 1}": "下一页"} if i + 1 < pages else {})
        for i in range(pages)
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Web(folder / "web", site) as web:
            begun = time.monotonic()
            run_crawl(folder / "data", web.url("/0"))
            whole_s = time.monotonic() - begun
            stored = len(stored_urls(folder / "data"))
            arrivals = [arrival for arrival, _, path in web.log() if path != "/robots.txt"]
    hops_ms = [(b - a) * 1000 for a, b in itertools.pairwise(arrivals)]
    chain_s = arrivals[-1] - arrivals[0]
    keep(
        "chain",
        {
            "pages": pages,
            "stored": stored,
            "whole_command_s": round(whole_s, 2),
            "first_to_last_request_s": round(chain_s, 2),
            "hop_median_ms": round(statistics.median(hops_ms), 1),
            "hop_longest_ms": round(max(hops_ms), 1),
        },
    )
    return 0 if stored == pages and whole_s <= GOAL_S * pages / 200 else 1


if __name__ == "__main__":
    sys.exit(main())
