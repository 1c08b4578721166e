"""Pages lost and clocks broken: our crawl, scrapy-redis, Scrapy and Crawlee on the same web.

``make bench-losses``. Two parts, with two processes of each tool that can share a crawl:

1. ``kills``: every process that fetches or extracts is killed by SIGKILL when a sixth, two sixths,
   ... of the pages were asked for, and started again a second later, as an init system does. Queue
   servers live on. In the end: pages of the web without a text, pages asked for more than once.
2. ``clocks``: hosts whose robots.txt asks for a Crawl-delay. The time between the arrivals of two
   requests is read from the server's log. scrapy-redis and Scrapy, which do not read Crawl-delay,
   get it as their DOWNLOAD_DELAY.

Our crawl is spiders, workers and a housekeeper on a queue server. The peers are described in
``peers.py``; they are installed into ``build/peers``.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.crawl.peers import Options
from benchmarks.kit.crawls import peer_command
from benchmarks.kit.environments import CRAWL_PEERS, interpreter, variables
from benchmarks.kit.fleet import Joined
from benchmarks.kit.generated import GeneratedWeb
from benchmarks.kit.generated_site import WebSpec
from benchmarks.kit.results import ROOT, keep
from crawlclean.storage.queue.embedded import EmbeddedServer
from tests.kit.crawls import stored_urls

CRAWL = "losses"
PROCESSES = {"ours": 2, "scrapy-redis": 2, "scrapy": 1, "crawlee": 1}
KILLS = 5
RESTART_S = 1.0
LOOK_S = 0.1
LIMIT_S = 600.0
QUIET_S = 20.0  # a tool that asks for nothing so long, and does not end, is stuck
TOLERANCE_S = 0.05  # the server's log has its own delays


class Tool(ABC):
    """A crawler under test, for a ``with`` block."""

    def __init__(self, name: str, web: GeneratedWeb, folder: Path, delay_s: float) -> None:
        self.name = name
        self.web = web
        self.folder = folder
        self.delay_s = delay_s
        self.stack = ExitStack()

    def __enter__(self) -> Tool:
        return self

    def __exit__(self, *about: object) -> None:
        self.kill()
        self.stack.close()

    @abstractmethod
    def start(self) -> None:
        """Starts its processes; a second time, they take the crawl up again."""

    @abstractmethod
    def kill(self) -> None:
        """Kills its processes by SIGKILL."""

    @abstractmethod
    def is_done(self) -> bool:
        """Whether it says that it is done."""

    @abstractmethod
    def texts(self) -> list[str]:
        """Returns the URLs of the pages whose text it kept, each as often as it was kept."""


class Ours(Tool):
    """Two spiders, two workers and a housekeeper."""

    def __init__(self, name: str, web: GeneratedWeb, folder: Path, delay_s: float) -> None:
        super().__init__(name, web, folder, delay_s)
        self._fleet = self.stack.enter_context(Joined(folder))
        self._fleet.open_crawl(CRAWL, web.seeds(), delay_s="0")  # Crawl-delay is in robots.txt

    def start(self) -> None:
        """Starts all roles."""
        for role in ("housekeeper", *["worker", "spider"] * PROCESSES[self.name]):
            self._fleet.join(role)

    def kill(self) -> None:
        """Kills all roles; the queue server lives on."""
        for member in list(self._fleet.members):
            self._fleet.kill(member)

    def is_done(self) -> bool:
        """Whether no URL is open."""
        return self._fleet.queue.counts(CRAWL).open == 0

    def texts(self) -> list[str]:
        """Returns the URLs of all records."""
        return stored_urls(self._fleet.data)


class Peer(Tool):
    """One of ``peers.py``; it is done when its processes have ended by themselves."""

    def __init__(self, name: str, web: GeneratedWeb, folder: Path, delay_s: float) -> None:
        super().__init__(name, web, folder, delay_s)
        self._kept = folder / "kept.txt"
        folder.mkdir(parents=True)
        self._kept.touch()
        queue_url = ""
        if name == "scrapy-redis":
            server = EmbeddedServer(folder)
            server.start()
            self.stack.callback(server.stop)
            queue_url = server.url
        options = Options(
            urls=web.seeds(),
            kept=str(self._kept),
            folder=str(folder / "state"),
            queue_url=queue_url,
            delay_s=delay_s,
        )
        self._words = peer_command(interpreter("peers", CRAWL_PEERS), name, options, folder)
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """Starts its processes on the folder or the queue that it has."""
        with (self.folder / "log").open("ab") as log:
            self._processes = [
                subprocess.Popen(  # noqa: S603 - our own program
                    self._words, cwd=ROOT, env=variables(), stdout=log, stderr=log
                )
                for _ in range(PROCESSES[self.name])
            ]

    def kill(self) -> None:
        """Kills its processes; a Redis server lives on."""
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()

    def is_done(self) -> bool:
        """Whether its processes have ended by themselves."""
        return all(process.poll() is not None for process in self._processes)

    def texts(self) -> list[str]:
        """Returns the lines of its file."""
        return self._kept.read_text("utf-8").split()


def tool(name: str, web: GeneratedWeb, folder: Path, delay_s: float = 0.0) -> Tool:
    """Prepares a tool with a crawl of the web's hosts."""
    made = Ours if name == "ours" else Peer
    return made(name, web, folder, delay_s)


def main() -> int:
    """Measures every tool and keeps the result; 1 when ours loses a page or breaks a clock."""
    parser = argparse.ArgumentParser(description="Pages lost under kills, and gaps too short.")
    parser.add_argument("--pages", type=int, default=1600)
    parser.add_argument("--only", choices=PROCESSES)
    a = parser.parse_args()
    names = [name for name in PROCESSES if a.only in (None, name)]
    kills: dict[str, Any] = {}
    clocks: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            kills[name] = killed(Path(folder) / f"kills-{name}", name, a.pages)
            sys.stderr.write(f"kills: {name}: {kills[name]}\n")
            clocks[name] = timed(Path(folder) / f"clocks-{name}", name)
            sys.stderr.write(f"clocks: {name}: {clocks[name]}\n")
    keep("losses", {"pages": a.pages, "kills": kills, "clocks": clocks})
    bad = "ours" in kills and (kills["ours"]["lost"] or clocks["ours"]["too_short"])
    return 1 if bad else 0


def killed(folder: Path, name: str, pages: int) -> dict[str, Any]:
    """Crawls with kills; returns what is missing in the end."""
    spec = WebSpec(
        hosts=8, pages=pages // 8, chains=8, page_bytes=10_000, latency_ms=300, links=20, fanout=10
    )
    with GeneratedWeb(folder / "web", spec) as web, tool(name, web, folder / "tool") as ours:
        begun = time.monotonic()
        ours.start()
        done = 0
        for number in range(1, KILLS + 1):
            goal = pages * number // (KILLS + 1)
            if not waited(web, ours, partial(has_asked, web, goal)):
                break
            ours.kill()
            done += 1
            time.sleep(RESTART_S)  # as long as a supervisor waits
            ours.start()
        ended = waited(web, ours, ours.is_done)
        seconds = time.monotonic() - begun
        ours.kill()
        texts = Counter(path_of(url) for url in ours.texts())
        wanted = {path_of(url) for url in spec.all_pages(web.port)}
    visits = Counter(
        (visit.address, visit.path) for visit in web.visits() if visit.path != "/robots.txt"
    )
    return {
        "processes": PROCESSES[name],
        "kills": done,
        "ended": ended,
        "seconds": round(seconds, 1),
        "texts": len(wanted & set(texts)),
        "lost": len(wanted - set(texts)),
        "never_asked": len(wanted - {f"{address}{path}" for address, path in visits}),
        "kept_twice": sum(count > 1 for count in texts.values()),
        "asked_again": sum(visits.values()) - len(visits),
    }


def timed(folder: Path, name: str) -> dict[str, Any]:
    """Crawls hosts that ask for a delay of a second; returns the gaps between requests."""
    delay_s = 1.0
    spec = WebSpec(
        hosts=8, pages=30, chains=8, page_bytes=10_000, latency_ms=300,
        crawl_delays_s=(delay_s,),
    )  # fmt: skip
    with GeneratedWeb(folder / "web", spec) as web, tool(name, web, folder / "tool", delay_s) as it:
        begun = time.monotonic()
        it.start()
        waited(web, it, it.is_done)
        seconds = time.monotonic() - begun
        it.kill()
        texts = len(set(it.texts()))
    arrivals: dict[str, list[float]] = {}
    for visit in web.visits():
        if visit.path != "/robots.txt":
            arrivals.setdefault(visit.address, []).append(visit.arrival_s)
    gaps = [
        after - before
        for times in arrivals.values()
        for before, after in itertools.pairwise(sorted(times))
    ]
    return {
        "processes": PROCESSES[name],
        "asked_s": delay_s,
        "seconds": round(seconds, 1),
        "texts": texts,
        "gaps": len(gaps),
        "too_short": sum(gap < delay_s - TOLERANCE_S for gap in gaps),
        "shortest_s": round(min(gaps), 3),
    }


def waited(web: GeneratedWeb, it: Tool, wanted: Callable[[], bool]) -> bool:
    """Waits for a condition; False when the tool is done or stuck before."""
    begun = last = time.monotonic()
    seen = -1
    while not wanted():
        now = time.monotonic()
        if (count := asked(web)) != seen:
            seen, last = count, now
        is_stuck = it.name != "ours" and now - last > QUIET_S
        if it.is_done() or is_stuck or now - begun > LIMIT_S:
            return False
        time.sleep(LOOK_S)
    return True


def has_asked(web: GeneratedWeb, least: int) -> bool:
    """Whether at least so many pages were asked for."""
    return asked(web) >= least


def asked(web: GeneratedWeb) -> int:
    """Returns the number of requests for pages so far."""
    return sum(visit.path != "/robots.txt" for visit in web.visits())


def path_of(url: str) -> str:
    """Returns address and path without the port: ``127.77.0.1/p/7.html``."""
    host, _, path = url.removeprefix("http://").partition("/")
    return f"{host.partition(':')[0]}/{path}"


if __name__ == "__main__":
    sys.exit(main())
