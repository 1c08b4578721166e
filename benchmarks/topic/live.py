"""Topic crawls of the served sites through the real program: a part of ``topic.py``.

``--live`` runs ``crawlclean topic`` for each topic: queue server, spider, workers, SQLite. The
data's own server serves all sites of the link graph on loopback. Steps are the answers with status
200, in the order of the fetch log; a second URL of a page is a step without a find. Pages that no
server has (404) are counted beside. The portal costs nothing, as in the simulator.

The harvest is compared with that of the simulator, ``a page a host and tick``, of the same topic.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.kit.serving import served_topic
from benchmarks.topic.harvest import AT, Harvest, harvest
from benchmarks.topic.web import BenchTopic, Web
from tests.kit.crawls import start
from tests.kit.processes import cpu_s

PORT = 8830
NO_SITEMAP = "User-agent: *\nDisallow: /__f/\n"
LIMIT_S = 1800.0  # of a topic; what it found by then counts
LOOK_S = 2.0
STOP_LIMIT_S = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LivePlan:
    """How the program is run.

    Attributes:
        delay_s: Between two requests to a host; 0: as for loopback hosts, several at once.
        examples: Whether the topic has its three example pages.
        sitemaps: Whether robots.txt names a sitemap with all pages, which the graph has not.
        outside: Whether links to other hosts are followed; none of them answers.
        folder: Where the data folders stay; None: they are deleted.
    """

    delay_s: float
    examples: bool
    sitemaps: bool = False
    outside: bool = False
    folder: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """What a live crawl found, and what it cost.

    Attributes:
        harvest: As of the simulator's crawlers.
        answers: Answers with status 200.
        again: Those of a page that another URL has given before.
        dead: Other answers, redirects left out.
        seconds: Wall time.
        cpu_s: CPU of all processes.
        is_whole: Whether it came to the last step of the line; else its hosts slept or it ended.
    """

    harvest: Harvest
    answers: int
    again: int
    dead: int
    seconds: float
    cpu_s: float
    is_whole: bool


def crawl_live(web: Web, source: Path, plan: LivePlan) -> Iterator[tuple[str, Live]]:
    """Yields the result of each topic's crawl, by name."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        robots = "" if plan.sitemaps else NO_SITEMAP
        with served_topic(place, source, PORT, robots) as siteroot:
            names = _Names(siteroot, place / "www")
            for topic in web.topics:
                data = (plan.folder or place) / f"{topic.name}-{plan.examples}"
                yield topic.name, _crawl(web, topic, source, plan, names, data)


def _crawl(
    web: Web, topic: BenchTopic, source: Path, plan: LivePlan, names: _Names, data: Path
) -> Live:
    words = ["--query", topic.query]
    if plan.examples:
        words += ["--examples", str(source / "examples" / topic.name)]
    if plan.delay_s:
        words += ["--delay", str(plan.delay_s)]
    seeds = [names.url(page) for page in web.portal if names.has(page)]
    log = data / "logs" / "fetch.log"
    steps = round(len(web.reachable) * AT[-1] / 100) + 2
    begun = time.monotonic()
    if not plan.outside:
        words += ["--include", "|".join(names.origins())]
    command = ("topic", topic.name, "--seeds", *seeds, *words)
    process = start(*command, "--allow-private", "--data", str(data), "--json")

    is_enough = False
    try:
        while process.poll() is None and not is_enough and time.monotonic() < begun + LIMIT_S:
            time.sleep(LOOK_S)
            is_enough = len(_fetched(log)[0]) >= steps
        used = cpu_s(process.pid, with_children=True) if process.poll() is None else 0.0
    finally:
        process.send_signal(signal.SIGTERM)
        _, error = process.communicate(timeout=STOP_LIMIT_S)
    took = time.monotonic() - begun
    urls, dead = _fetched(log)
    if not urls:
        sys.exit(f"nothing was fetched: {error}")
    found = names.pages(urls, web)
    return Live(
        harvest=harvest(web, topic, found),
        answers=len(found),
        again=sum(not page for page in found),
        dead=dead,
        seconds=round(took, 1),
        cpu_s=round(used, 1),
        is_whole=is_enough,
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


class _Names:
    """Names of pages, ``w3school.test/index.html``, and their URLs on loopback."""

    def __init__(self, siteroot: Any, www: Path) -> None:
        """Reads the served folders with the data's own module."""
        self._sites = {
            name: siteroot.Site(name, str(www))
            for name in sorted(siteroot.SITES)
            if (www / name).is_dir()
        }
        self._addresses = {name: str(siteroot.ip(name)) for name in self._sites}
        self._hosts = {address: name for name, address in self._addresses.items()}

    def origins(self) -> list[str]:
        """Returns a pattern for the URLs of each host."""
        return [rf"^http://{re.escape(each)}:{PORT}/" for each in self._addresses.values()]

    def has(self, page: str) -> bool:
        """Whether the page is served."""
        host, _, file = page.partition("/")
        return file in self._sites[host].files

    def url(self, page: str) -> str:
        """Returns the URL of a page."""
        host, _, file = page.partition("/")
        return f"http://{self._addresses[host]}:{PORT}{self._sites[host].mount}/{file}"

    def pages(self, urls: Sequence[str], web: Web) -> list[str]:
        """Returns the pages of URLs without the portal's; ``""`` for one that was there before."""
        seen = set(web.portal)
        found = []
        for url in urls:
            page = self._page(url)
            if page in web.portal:
                continue
            found.append("" if page in seen else page)
            seen.add(page)
        return found

    def _page(self, url: str) -> str:
        parts = urlsplit(url)
        host = self._hosts.get(parts.hostname or "")
        found = self._sites[host].resolve(parts.path, parts.query) if host else None
        return f"{host}/{os.fsdecode(found[1])}" if found and found[0] == "file" else url
