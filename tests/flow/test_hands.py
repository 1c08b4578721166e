"""What an operator changes in the console while a real `run` goes on."""

from __future__ import annotations

import itertools
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
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


def test_a_crawl_is_edited_while_it_runs(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with site_of(tmp_path / "web") as web:
        words = (web.url("/0.html"), "--crawl", "c", "--slots", "4")
        with running(data, *words):
            wait_until(lambda: len(web.log()) >= 20)
            console = console_of(data)
            fast = fetched_within(web, 2.0)
            do(console, "edit_crawl", "c", delay="0.5", exclude=r"/\d*7\.html")
            edited_at = time.monotonic()
            wait_until(more(web, 8))
            since = [row for row in web.log() if row[0] > edited_at + 0.05]
            assert min(gaps(web, edited_at + 0.05)) >= 0.45
            assert len(since) < fast
            assert not [path for _, _, path in since if path.endswith("7.html")]
            assert console.get("/crawls/c").text.count("7\\.html") == 1
            page = do(console, "edit_crawl", "c", delay="0.02", max_pages="1000000")
            wait_until(more(web, 20))
            assert "/actions/edit_crawl?target=c" in page.text, "its undo"
            do(
                console,
                "edit_crawl",
                "c",
                seeds=web.url("/0.html"),
                scope="host",
                ends="2030-01-01",
            )
            order = DataFolder(data).crawls()["c"]
            assert order["exclude"] == [], "with seeds the whole order is given"
            do(console, "edit_crawl", "c", max_pages="30")
            wait_until(lambda: DataFolder(data).crawls()["c"]["state"] != "running")


def test_a_crawl_that_the_console_starts_is_fetched_by_the_run_that_is_there(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    text = {"/": html("首页", TEXT, links={"/1.html": "一", "/x/2.html": "二"})}
    text |= {path: html(path, path + TEXT) for path in ("/1.html", "/x/2.html")}
    with site_of(tmp_path / "web") as web, Web(tmp_path / "other", text, "127.0.0.2") as other:
        with running(data, web.url("/0.html"), "--crawl", "c", "--slots", "1"):
            wait_until(lambda: len(web.log()) >= 5)
            settings = settings_of(data)
            crawl = replace(settings.crawl, allow_private=True)
            console = acting_console(replace(settings, crawl=crawl), data)
            wrong = console.get("/actions/start_crawl?seeds=nonsense").text
            assert "is not an http(s) URL" in wrong
            assert '<form method="post" action="/actions' not in wrong
            page = do(console, "start_crawl", "", crawl="d", seeds=other.url(), exclude="/x/")
            assert "/actions/stop_crawl?target=d" in page.text
            folder = DataFolder(data)
            wait_until(lambda: folder.crawls()["d"]["state"] == "finished")
            assert set(other.requests()) == {"/robots.txt", "/", "/1.html"}
            again = console.get(
                "/actions/start_crawl", query_string={"crawl": "d", "seeds": "http://b.example/"}
            )
            assert "d is there already" in again.text
            do(console, "edit_crawl", "d", seeds=other.url(), scope="host")
            wait_until(lambda: set(other.requests()) >= {"/x/2.html"})
            do(console, "start_crawl", "", crawl="e", seeds=web.url("/1.html"), ends="2020-01-01")
            wait_until(lambda: folder.crawls()["e"]["state"] == "stopped", 30)
        at_rest = console.get(
            "/actions/start_crawl", query_string={"crawl": "f", "seeds": other.url()}
        )
        assert f"crawlclean run {other.url()} --crawl f" in at_rest.text
        assert '<form method="post" action="/actions' not in at_rest.text


def test_a_topic_is_started_and_edited(tmp_path: Path) -> None:
    data = tmp_path / "data"
    pages: dict[str, Page] = {"/": html("首页", links={"/1.html": "地震消息", "/2.html": "天气"})}
    pages["/1.html"] = html(
        "某地发生地震", "某地发生强烈地震，救援队伍已赶赴灾区展开救援工作。" * 5
    )
    pages["/2.html"] = html("天气预报", "明天晴，北风三到四级，气温有所下降，请注意保暖。" * 5)
    with (
        site_of(tmp_path / "web") as web,
        Web(tmp_path / "other", pages, "127.0.0.2") as other,
        running(data, web.url("/0.html"), "--crawl", "c", "--slots", "1"),
    ):
        wait_until(lambda: len(web.log()) >= 5)
        settings = settings_of(data)
        crawl = replace(settings.crawl, allow_private=True, delay_s=0)
        console = acting_console(replace(settings, crawl=crawl), data)
        do(console, "start_topic", "", topic="quake", query="地震 救援", seeds=other.url())
        wait_until(lambda: "/1.html" in other.requests())
        wait_until(lambda: other.url("/1.html") in console.get("/topics/quake").text, 40)
        do(console, "edit_topic", "quake", query="天气 预报", seeds=other.url(), max_pages="9")
        wait_until(lambda: other.url("/2.html") in console.get("/topics/quake").text, 40)
        shown = console.get("/topics/quake/tuning").text
        assert "天气 预报" in shown
