"""A generated forum crawled with a budget: threads found by URL classes and breadth-first.

The budget is 1.15 times the pages of all threads and boards. ``make bench-forumcrawl``.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.forum.generated_forum import ForumSpec
from benchmarks.kit.generated import GeneratedWeb
from benchmarks.kit.results import keep
from tests.kit.crawls import counted, run_crawl, stored_urls

BUDGET = 1.15
WANTED = 0.98
OK = 200
THREAD = re.compile(r"/thread-(\d+)-(\d+)\.html|/viewthread\.php\?tid=(\d+)(?:&page=(\d+))?")
DELAY_S = 0.05  # slow enough for the workers: the order of URLs depends on cleaned pages
WAYS = {
    "by class": (),
    "breadth-first": ("--depth", "60", "--trap-pages", "0"),
}


def main() -> int:
    """Measures both schemes in both orders; 1 when a crawl by class misses 2 % of the threads."""
    parser = argparse.ArgumentParser(description="A generated forum crawled with a budget.")
    parser.add_argument("--threads", type=int, default=2000)
    parser.add_argument("--schemes", nargs="*", default=["static", "dynamic"])
    parser.add_argument("--ways", nargs="*", default=list(WAYS))
    parser.add_argument("--quick", action="store_true", help="nothing is kept")
    a = parser.parse_args()
    results: dict[str, dict[str, Any]] = {}
    for scheme in a.schemes:
        spec = ForumSpec(threads=a.threads, scheme=scheme)
        for way in a.ways:
            with tempfile.TemporaryDirectory() as name:
                found = measure(spec, Path(name), WAYS[way])
            results.setdefault(scheme, {})[way] = found
            sys.stderr.write(f"{scheme}, {way}: {found}\n")
    if not a.quick:
        keep("forumcrawl", {"threads": a.threads, "schemes": results})
    good = all(row["by class"]["threads"] >= 0.98 for row in results.values() if "by class" in row)
    return 0 if good else 1


def measure(spec: ForumSpec, folder: Path, flags: tuple[str, ...]) -> dict[str, Any]:
    """Crawls with the budget; returns the share of threads stored and the other pages fetched."""
    thread_pages = sum(map(spec.thread_pages, range(spec.threads)))
    board_pages = sum(map(spec.board_pages, range(spec.boards)))
    budget = int(BUDGET * (thread_pages + board_pages))
    begun = time.monotonic()
    with GeneratedWeb(folder / "web", spec) as web:
        limits = ("--max-pages", str(budget), "--delay", str(DELAY_S), *flags)
        run_crawl(folder / "data", web.home(0), *limits, limit_s=3600)
        asked = [
            visit
            for visit in sorted(web.visits(), key=lambda v: v.arrival_s)
            if visit.path != "/robots.txt"
        ]
    stored: dict[int, set[int]] = {}
    for url in stored_urls(folder / "data"):
        _note(stored, url)
    fetched: dict[int, set[int]] = {}
    enough, done = 0, 0
    for n, visit in enumerate(asked, 1):
        thread = _note(fetched, visit.path) if visit.status == OK else -1
        done += thread >= 0 and len(fetched[thread]) == spec.thread_pages(thread)
        if done >= WANTED * spec.threads:
            enough = n
            break
    whole = sum(len(stored.get(t, ())) == spec.thread_pages(t) for t in range(spec.threads))
    kinds = Counter(re.split(r"[?-]", visit.path)[0] for visit in asked)
    return {
        "needed": thread_pages + board_pages,
        "budget": budget,
        "requests": len(asked),
        "requests for .98 of the threads": enough,
        "threads": round(len(stored) / spec.threads, 4),
        "threads whole": round(whole / spec.threads, 4),
        "ended": {str(state): n for state, n in counted(folder / "data").items()},
        "requests by kind": dict(kinds.most_common(9)),
        "seconds": round(time.monotonic() - begun, 1),
    }


def _note(found: dict[int, set[int]], url: str) -> int:
    """Records a page of a thread; returns the thread when the page is new, else -1."""
    match = THREAD.search(url)
    if not match:
        return -1
    thread, page = int(match[1] or match[3]), int(match[2] or match[4] or 1)
    pages = found.setdefault(thread, set())
    is_new = page not in pages
    pages.add(page)
    return thread if is_new else -1


if __name__ == "__main__":
    sys.exit(main())
