"""Topic crawls of the served sites through the real program: a part of ``topic.py``.

It runs ``crawlclean topic`` for each topic: queue server, spider, workers, SQLite. The
data's own server serves all sites of the link graph on loopback; the other hosts that pages link to
do not exist. Answers with a page are counted in the order of the fetch log (``harvest.py``).
"""

from __future__ import annotations

import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.kit.serving import served_topic
from benchmarks.topic.harvest import Harvest, budget, harvest
from benchmarks.topic.sites import NO_SITEMAP, PORT, ServedSites
from benchmarks.topic.web import BenchTopic, Web
from tests.kit.crawls import start
from tests.kit.processes import cpu_s

LIMIT_S = 1800.0  # of a topic; what it found by then counts
LOOK_S = 2.0
STOP_LIMIT_S = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LivePlan:
    """How the program is run.

    Attributes:
        delay_s: Between two requests to a host; 0: as for loopback hosts, several at once.
        examples: Whether the topic has its three example pages.
        folder: Where the data folders stay; None: they are deleted.
    """

    delay_s: float
    examples: bool
    folder: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """What a live crawl found, and what it cost.

    Attributes:
        harvest: What was found, by the number of pages.
        answers: Answers with status 200, those of a page that has another URL among them.
        failed: Requests that were answered with 404 or 410.
        seconds: Wall time.
        cpu_s: CPU of all processes.
        ended: Whether the program ended by itself.
    """

    harvest: Harvest
    answers: int
    failed: int
    seconds: float
    cpu_s: float
    ended: bool


def crawl_live(web: Web, source: Path, plan: LivePlan) -> Iterator[tuple[str, Live]]:
    """Yields the result of each topic's crawl, by name."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        with served_topic(place, source, PORT, NO_SITEMAP) as siteroot:
            sites = ServedSites(siteroot, place / "www")
            for topic in web.topics:
                data = (plan.folder or place) / f"{topic.name}-{plan.examples}"
                yield topic.name, _crawl(web, topic, source, plan, sites, data)


def _crawl(
    web: Web, topic: BenchTopic, source: Path, plan: LivePlan, sites: ServedSites, data: Path
) -> Live:
    words = ["--query", topic.query, "--max-pages", str(budget(web))]
    if plan.examples:
        words += ["--examples", str(source / "examples" / topic.name)]
    if plan.delay_s:
        words += ["--delay", str(plan.delay_s)]
    log = data / "logs" / "fetch.log"
    begun = time.monotonic()
    # Saved pages link to the real web, which a benchmark leaves alone.
    words += ["--include", f":{PORT}/"]
    command = ("topic", topic.name, "--seeds", *sites.urls(web.portal), *words)
    process = start(*command, "--allow-private", "--data", str(data), "--json")

    used = 0.0
    try:
        while process.poll() is None and time.monotonic() < begun + LIMIT_S:
            used = max(used, cpu_s(process.pid, with_children=True))
            time.sleep(LOOK_S)
        ended = process.poll() is not None
    finally:
        process.send_signal(signal.SIGTERM)
        _, error = process.communicate(timeout=STOP_LIMIT_S)
    took = time.monotonic() - begun
    urls, failed = _fetched(log)
    if not urls:
        sys.exit(f"nothing was fetched: {error}")
    return Live(
        harvest=harvest(web, topic, map(sites.page, urls)),
        answers=len(urls),
        failed=failed,
        seconds=round(took, 1),
        cpu_s=round(used, 1),
        ended=ended,
    )


def _fetched(log: Path) -> tuple[list[str], int]:
    """URLs that gave pages, in order of time, and the number of those that gave none."""
    rows = []
    dead = 0
    for file in sorted(log.parent.glob(f"{log.name}*"), reverse=True):
        for line in file.read_text("utf-8").splitlines():
            fields = line.split(" ", 8)
            if len(fields) < 9 or fields[0] == "#":
                continue
            if fields[8].startswith("page"):
                rows.append((fields[0], fields[5]))
            dead += fields[1] in ("404", "410")
    return [url for _, url in sorted(rows, key=lambda row: row[0])], dead
