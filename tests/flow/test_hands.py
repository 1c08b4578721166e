"""What an operator changes in the console while a real `run` goes on."""

from __future__ import annotations

import itertools
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from flask.testing import FlaskClient

from tests.kit.commands import DataFolder
from tests.kit.console import acting_console, do, settings_of
from tests.kit.crawls import start
from tests.kit.timing import LIMIT_S, wait_until
from tests.kit.web import Page, Web, html

TEXT = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。"
PAGES = 4_000


def site_of(folder: Path, latency_ms: int = 20) -> Web:
    """A site that outlives a test at any speed: each page leads to the next ones."""
    pages: dict[str, Page] = {}
    for n in range(PAGES):
        links = {f"/{n * 4 + k}.html": "下页" for k in range(1, 5)}
        body = html(f"第{n}页", f"第{n}页。" + TEXT, links=links)
        pages[f"/{n}.html"] = {"body": body, "latency_ms": latency_ms}
    return Web(folder, pages)


@contextmanager
def running(data: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    crawl = start("run", *words, "--allow-private", "--data", str(data))
    try:
        yield crawl
    finally:
        crawl.send_signal(signal.SIGINT)
        crawl.communicate(timeout=LIMIT_S)


def fetched_within(web: Web, span_s: float) -> int:
    """Requests that the site sees in a span from now on."""
    before = len(web.log())
    until = time.monotonic() + span_s
    wait_until(lambda: time.monotonic() >= until)
    return len(web.log()) - before


def more(web: Web, n: int) -> Callable[[], bool]:
    """Whether the site has seen n more requests than now."""
    wanted = len(web.log()) + n
    return lambda: len(web.log()) >= wanted


def gaps(web: Web, since: float) -> list[float]:
    """Seconds between the begin of an answer and the next request, of requests since a time."""
    rows = sorted(row for row in web.log() if row[0] > since)
    return [after[0] - before[1] for before, after in itertools.pairwise(rows)]


def console_of(data: Path) -> FlaskClient:
    return acting_console(settings_of(data), data)


def test_a_host_is_slowed_down_while_it_is_crawled(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with site_of(tmp_path / "web") as web:
        words = (web.url("/0.html"), "--crawl", "c", "--slots", "4")
        with running(data, *words):
            wait_until(lambda: len(web.log()) >= 20)
            console = console_of(data)
            fast = fetched_within(web, 2.0)
            page = do(console, "slow_host", web.host, typed_delay="0.5", typed_why="spare it")
            slowed_at = time.monotonic()
            assert "/actions/end_slow_host?target=" in page.text
            wait_until(more(web, 8))
            seen = gaps(web, slowed_at + 0.05)  # what was under way has been asked
            assert len(seen) >= 5
            assert min(seen) >= 0.45
            assert 0.5 * fetched_within(web, 2.0) <= 2 < fast / 4
            shown = console.get(f"/hosts/{web.host}").text
            assert "at least 0.5 s between requests" in shown
            assert "spare it" in shown
            told = DataFolder(data).output("hosts", web.host)
            assert "slowed down at least 0.5 s between requests" in told
            assert "slowed down by an operator, its delay is 0.5 s" in told
        with running(data, *words):
            again_at = time.monotonic()
            wait_until(more(web, 5))
            assert min(gaps(web, again_at)) >= 0.45, "kept over a restart"
            do(console_of(data), "end_slow_host", web.host)
            wait_until(more(web, 4))
            assert fetched_within(web, 1.0) > 4, "as its crawl has it again"
