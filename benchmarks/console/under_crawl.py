"""Now under a running crawl: how long it takes, and what a page that is open costs.

A part of ``make bench-console``, with ``--crawl``.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.console.beside_crawl import BesideCrawl, Stage, User, crawl_beside_console

GOAL_MS, GOAL_SHARE = 100.0, 0.02
PATHS = ("/", "/now/live", "/?range=day", "/crawls/beside", "/hosts", "/failures", "/queues")
THINK_S = 0.1
POLL_S = 2.0


def measure_under_crawl(folder: Path, hosts: int, requests: int, seconds: float) -> dict[str, Any]:
    """Measures beside a polite crawl and beside one that takes all that the machine has.

    Args:
        folder: For everything.
        hosts: Hosts of the crawl.
        requests: Of each page.
        seconds: Time with an open page, and time without.
    """
    return {
        "hosts": hosts,
        "requests": requests,
        "load_before": round(os.getloadavg()[0], 1),
        "delay_1_s": _beside(folder / "polite", hosts, 1.0, requests, seconds),
        "no_delay": _beside(folder / "full", hosts, 0.0, requests, seconds),
        "load_after": round(os.getloadavg()[0], 1),
    }


def missed(result: dict[str, Any]) -> list[str]:
    """Goals that a result misses, in words."""
    found = []
    for name in ("delay_1_s", "no_delay"):
        screens = result[name]["screens"]
        found += [
            f"{path} under a crawl with {name}: {screens[path]['wall_p95_ms']} ms"
            for path in ("/", "/now/live")
            if screens[path]["wall_p95_ms"] > GOAL_MS
        ]
        if result[name]["open_page_share_of_a_core"] > GOAL_SHARE:
            found.append(f"an open page: {result[name]['open_page_share_of_a_core']:.1%} of a core")
    return found


def _beside(
    folder: Path, hosts: int, delay_s: float, requests: int, seconds: float
) -> dict[str, Any]:
    pages = 200 + round(6 * seconds)
    with crawl_beside_console(folder, hosts, pages, delay_s) as (fleet, port):
        user = User(port)
        begun = fleet.read()
        screens = {path: _screen(user, path, requests) for path in PATHS}
        crawl = fleet.stage(begun)
        alone = _watched(fleet, None, seconds)
        polled = _watched(fleet, user, seconds)
    return {
        "pages_per_s": round(crawl.pages_per_s, 1),
        "crawl_cores": round(crawl.crawl_cpu_s / crawl.seconds, 2),
        "screens": screens,
        "open_page_share_of_a_core": round(polled.console_cores - alone.console_cores, 4),
        "idle_console_share_of_a_core": round(alone.console_cores, 4),
    }


def _screen(user: User, path: str, requests: int) -> dict[str, Any]:
    _, first_ms = user.look(path)  # its templates are compiled
    found = []
    for _ in range(requests):
        status, taken_ms = user.look(path)
        if status != 200:
            sys.exit(f"{path}: {status}")
        found.append(taken_ms)
        time.sleep(THINK_S)
    return {
        "first_ms": round(first_ms, 1),
        "wall_ms": round(median(found), 1),
        "wall_p95_ms": round(quantiles(found, n=20)[-1], 1),
        "wall_most_ms": round(max(found), 1),
    }


def _watched(fleet: BesideCrawl, user: User | None, seconds: float) -> Stage:
    """A stretch of the crawl with a page that is open, as a browser keeps it current, or none."""
    begun = fleet.read()
    while time.monotonic() - begun.at_s < seconds:
        if user:
            user.look("/now/live", again=True)
        time.sleep(POLL_S)
    return fleet.stage(begun)
