"""Several commands crawl into one data folder: the first one's processes work for all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from crawlclean.storage.queue.embedded import DataLock
from tests.kit.commands import DataFolder
from tests.kit.crawls import crawlclean, start, stored_urls
from tests.kit.timing import LIMIT_S, wait_until
from tests.kit.web import Page, Web, html

TEXT = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。"
PATHS = ("/", "/1.html", "/2.html", "/last.html")


class Site:
    """A site whose last page answers when ``open`` is called, and a crawl of it."""

    def __init__(self, folder: Path, address: str, stack: ExitStack) -> None:
        self._gate = folder.with_suffix(".gate")
        self._gate.touch()
        pages: dict[str, Page] = {
            "/": html("首页", links={"/1.html": "甲文", "/2.html": "乙文"}),
            "/1.html": html("甲文", TEXT),
            "/2.html": html("乙文", TEXT, links={"/last.html": "末页"}),
            "/last.html": {"body": html("末页", TEXT), "held_by": str(self._gate)},
        }
        self.web = stack.enter_context(Web(folder, pages, address))

    def urls(self) -> set[str]:
        return {self.web.url(path) for path in PATHS}

    def crawl(self, data: Path, *options: str) -> subprocess.Popen[str]:
        return start("run", self.web.url(), "--data", str(data), "--allow-private", *options)

    def is_under_way(self) -> bool:
        return set(self.web.requests()) >= {"/1.html", "/2.html"}

    def open(self) -> None:
        self._gate.unlink()


def sites(data: Path, *of: Site) -> tuple[str, ...]:
    """The words of a command that crawls sites."""
    urls = data.with_suffix(f".{len(of)}.txt")
    urls.write_text("\n".join(site.web.url() for site in of))
    return "sites", str(urls), "--data", str(data), "--allow-private"


@pytest.fixture(name="sites")
def two_sites(tmp_path: Path) -> Iterator[tuple[Site, Site]]:
    with ExitStack() as stack:
        yield (
            Site(tmp_path / "first", "127.0.0.1", stack),
            Site(tmp_path / "second", "127.0.0.2", stack),
        )


def begun(site: Site, data: Path) -> subprocess.Popen[str]:
    process = site.crawl(data)
    wait_until(site.is_under_way)
    return process


def test_the_processes_of_the_first_run_crawl_for_the_second(
    sites: tuple[Site, Site], tmp_path: Path
) -> None:
    first, second = sites
    data = tmp_path / "data"
    one, other = begun(first, data), begun(second, data)
    second.open()
    told = other.communicate(timeout=LIMIT_S)
    assert other.returncode == 0
    assert "another run has the data folder: its processes crawl for this one, too" in told[1]
    assert "4 records of 1 host" in told[0]
    assert one.poll() is None
    first.open()
    one.communicate(timeout=LIMIT_S)
    assert one.returncode == 0
    assert set(stored_urls(data)) == first.urls() | second.urls()
    assert {row["state"] for row in DataFolder(data).rows("crawls", "--json")} == {"finished"}


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_the_second_run_goes_on_when_the_first_one_ends(
    sites: tuple[Site, Site], tmp_path: Path, end: signal.Signals
) -> None:
    first, second = sites
    data = tmp_path / "data"
    one = first.crawl(data)
    wait_until(first.is_under_way)
    other = second.crawl(data, "--json")
    first_pages = {second.web.url(path) for path in PATHS[:3]}
    wait_until(lambda: first_pages <= set(stored_urls(data)))
    os.killpg(one.pid, end)
    first.open()
    one.communicate(timeout=LIMIT_S)
    second.open()
    told = other.communicate(timeout=LIMIT_S)
    assert other.returncode == 0
    assert "the other run has ended: going on without it" in told[1]
    summary = json.loads(told[0])
    assert (summary["records"], summary["new_records"], summary["why"]) == (4, 4, "done")
    assert summary["fetched"] > 4, "also what was fetched before, and robots.txt"
    assert second.urls() <= set(stored_urls(data))
    assert second.web.requests()["/1.html"] == 1, "what was stored is not asked for again"


def test_runs_that_start_together_all_end(tmp_path: Path) -> None:
    with ExitStack() as stack:
        sites = [Site(tmp_path / str(n), f"127.0.0.{n}", stack) for n in range(1, 5)]
        for site in sites:
            site.open()
        runs = [site.crawl(tmp_path / "data") for site in sites]
        for run in runs:
            told = run.communicate(timeout=LIMIT_S)
            assert run.returncode == 0, told
            assert "4 records of 1 host" in told[0]


def test_sites_that_begin_after_the_first_run_ended_start_over(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with ExitStack() as stack:
        first, second, third = (Site(tmp_path / str(n), f"127.0.0.{n}", stack) for n in (1, 2, 3))
        third.open()
        crawlclean(*sites(data, third))
        one = first.crawl(data)
        wait_until(first.is_under_way)
        other = start(*sites(data, second, third), "--fresh", "--at-once", "1")
        wait_until(second.is_under_way)
        os.killpg(one.pid, signal.SIGKILL)
        one.communicate()
        second.open()
        told = other.communicate(timeout=LIMIT_S)
        assert other.returncode == 0, told
        assert third.web.requests()["/1.html"] == 2
        assert second.web.requests()["/1.html"] <= 2, "what was in flight may be fetched again"


def test_a_signal_ends_a_run_that_waits_for_the_folder(
    sites: tuple[Site, Site], tmp_path: Path
) -> None:
    first, second = sites
    data = tmp_path / "data"
    one, other = begun(first, data), begun(second, data)
    os.killpg(one.pid, signal.SIGKILL)
    one.communicate()
    with ExitStack() as stack:
        stack.callback(DataLock(data).release)
        assert other.stderr
        assert any("going on" in line for line in other.stderr)

        def has_ended() -> bool:  # a process that starts another one may miss a signal
            other.send_signal(signal.SIGINT)
            return other.poll() is not None

        wait_until(has_ended, look_s=1)
        other.communicate(timeout=LIMIT_S)
        assert other.returncode == 130
