"""Several commands crawl into one data folder: the first one's processes work for all."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.kit.commands import DataFolder
from tests.kit.crawls import start, stored_urls
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

    def crawl(self, data: Path) -> subprocess.Popen[str]:
        return start("run", self.web.url(), "--data", str(data), "--allow-private")

    def is_under_way(self) -> bool:
        return set(self.web.requests()) >= {"/1.html", "/2.html"}

    def open(self) -> None:
        self._gate.unlink()


@pytest.fixture
def sites(tmp_path: Path) -> Iterator[tuple[Site, Site]]:
    with ExitStack() as stack:
        yield (
            Site(tmp_path / "first", "127.0.0.1", stack),
            Site(tmp_path / "second", "127.0.0.2", stack),
        )


def test_the_processes_of_the_first_run_crawl_for_the_second(
    sites: tuple[Site, Site], tmp_path: Path
) -> None:
    first, second = sites
    data = tmp_path / "data"
    one = first.crawl(data)
    wait_until(first.is_under_way)
    other = second.crawl(data)
    wait_until(second.is_under_way)
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
    other = second.crawl(data)
    first_pages = {second.web.url(path) for path in PATHS[:3]}
    wait_until(lambda: first_pages <= set(stored_urls(data)))
    os.killpg(one.pid, end)
    first.open()
    one.communicate(timeout=LIMIT_S)
    second.open()
    told = other.communicate(timeout=LIMIT_S)
    assert other.returncode == 0
    assert "the other run has ended: going on without it" in told[1]
    assert "4 records of 1 host" in told[0]
    assert "4 of them new" in told[0]
    assert second.urls() <= set(stored_urls(data))
    assert second.web.requests()["/1.html"] == 1, "what was stored is not asked for again"
