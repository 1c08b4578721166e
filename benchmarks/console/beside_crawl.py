"""A crawl of many hosts with the console beside it, measured while both run.

The hosts are those of the generated web (``benchmarks/kit/generated.py``) on loopback; spider,
worker, housekeeper, queue server, console are processes of their own. For ``make bench-console``.
"""

from __future__ import annotations

import http.client
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from benchmarks.kit.fleet import SERVER, Joined
from benchmarks.kit.generated import GeneratedWeb
from benchmarks.kit.generated_site import WebSpec
from tests.kit.crawls import command
from tests.kit.mongo_server import free_port
from tests.kit.timing import wait_until

CONSOLE, CRAWL = "console", "beside"
CRAWLING = (SERVER, "spider", "worker", "housekeeper")
PASSWORD = "correct horse"  # noqa: S105 - of a console of our own
START_S = 300.0  # on a machine with much other work
WARM_PAGES = 300
ANSWER_S = 60.0


@dataclass(frozen=True, slots=True)
class Reading:
    """Counts so far: time, pages that ended, processor seconds of the crawl and of the console."""

    at_s: float
    pages: int
    crawl_cpu_s: float
    console_cpu_s: float


@dataclass(frozen=True, slots=True)
class Stage:
    """What happened between two readings.

    Attributes:
        seconds: Its length.
        pages: Pages that ended.
        crawl_cpu_s: Processor time of the crawl's processes.
        console_cpu_s: That of the console.
    """

    seconds: float
    pages: int
    crawl_cpu_s: float
    console_cpu_s: float

    @property
    def pages_per_s(self) -> float:
        """Speed of the crawl."""
        return self.pages / self.seconds

    @property
    def cpu_ms_a_page(self) -> float:
        """Processor time of the crawl for one page."""
        return 1000 * self.crawl_cpu_s / max(1, self.pages)

    @property
    def console_cores(self) -> float:
        """Share of a core that the console takes."""
        return self.console_cpu_s / self.seconds


class BesideCrawl(Joined):
    """The processes of a crawl, and a console on its data folder."""

    roles = (*Joined.roles, CONSOLE)

    def join_console(self) -> int:
        """Starts the console; returns its port."""
        port = free_port()
        secret = self.folder / "password"
        secret.write_text(PASSWORD, "utf-8")
        words = command(CONSOLE, "--port", str(port), "--password-file", str(secret))
        self.join(CONSOLE, words[1:])

        def is_there() -> bool:
            try:
                return ask(port, "/healthz") == 200
            except OSError:
                return False

        wait_until(is_there, START_S)
        return port

    def read(self) -> Reading:
        """Reads all counts."""
        used = self.cpu_s()
        return Reading(
            time.monotonic(),
            self.queue.counts(CRAWL).done,
            sum(used.get(role, 0.0) for role in CRAWLING),
            used.get(CONSOLE, 0.0),
        )

    def stage(self, begun: Reading) -> Stage:
        """What happened since a reading; ends the program when the crawl has nothing left."""
        now = self.read()
        if not self.queue.counts(CRAWL).open:
            sys.exit("the crawl ended before the measurement: give it more --pages")
        return Stage(
            now.at_s - begun.at_s,
            now.pages - begun.pages,
            now.crawl_cpu_s - begun.crawl_cpu_s,
            now.console_cpu_s - begun.console_cpu_s,
        )


@contextmanager
def crawl_beside_console(
    folder: Path, hosts: int, pages: int, delay_s: float
) -> Iterator[tuple[BesideCrawl, int]]:
    """A crawl that has begun, for the block; yields it with the port of its console.

    Args:
        folder: For the web, the data folder and logs.
        hosts: Number of hosts.
        pages: Pages of each host.
        delay_s: Time between two requests to a host.
    """
    spec = WebSpec(hosts=hosts, pages=pages, chains=hosts, page_bytes=10_000, links=30)
    with GeneratedWeb(folder / "web", spec) as web, BesideCrawl(folder) as fleet:
        fleet.open_crawl(CRAWL, web.seeds(), delay_s=str(delay_s))
        for role in ("housekeeper", "worker", "spider"):
            fleet.join(role)
        port = fleet.join_console()
        wait_until(lambda: fleet.queue.counts(CRAWL).done >= WARM_PAGES, START_S)
        yield fleet, port


def ask(port: int, path: str) -> int:
    """Asks for a path over a new connection; its status."""
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_S)
    try:
        client.request("GET", path)
        return client.getresponse().status
    finally:
        client.close()


class User:
    """Somebody who is logged in."""

    def __init__(self, port: int) -> None:
        """Logs in."""
        self._port = port
        self._cookie = ""
        self._tags: dict[str, str] = {}
        self._client = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_S)
        _, page, _ = self._ask("GET", "/login")
        token = re.search(r'name="token" value="(\w+)"', page)
        if token is None:
            sys.exit("the login page has no form")
        form = urlencode({"token": token[1], "password": PASSWORD, "to": "/"})
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Origin": f"http://127.0.0.1:{port}",
        }
        status, _, answered = self._ask("POST", "/login", form, headers)
        self._cookie = answered.get("Set-Cookie", "").partition(";")[0]
        if status != 303 or not self._cookie:
            sys.exit(f"the login was answered {status}")

    def look(self, path: str, *, again: bool = False) -> tuple[int, float]:
        """Asks for a page; returns status and milliseconds to its end.

        Args:
            path: The page.
            again: As a page that is open does: with the tag of the last answer.
        """
        headers = {"If-None-Match": self._tags[path]} if again and path in self._tags else {}
        begun = time.perf_counter()
        status, _, answered = self._ask("GET", path, "", headers)
        taken_ms = 1000 * (time.perf_counter() - begun)
        self._tags[path] = answered.get("ETag", "")
        return status, taken_ms

    def reconnect(self) -> None:
        """Leaves the connection; the next page is asked for over a new one."""
        self._client.close()

    def _ask(
        self, method: str, path: str, body: str = "", headers: dict[str, str] | None = None
    ) -> tuple[int, str, http.client.HTTPMessage]:
        given = {"Accept-Encoding": "gzip", "Cookie": self._cookie, **(headers or {})}
        if method == "GET" and not self._cookie:
            given.pop("Accept-Encoding")
        self._client.request(method, path, body or None, given)
        answer = self._client.getresponse()
        return answer.status, answer.read().decode("latin-1"), answer.headers
