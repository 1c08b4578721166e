"""What an operator reads about hosts that wait, while a real crawl runs and at rest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from tests.kit.commands import DataFolder
from tests.kit.crawls import start
from tests.kit.timing import wait_until
from tests.kit.web import Page, Web, html

PAGES: dict[str, Page] = {
    "/robots.txt": "",
    "/": html("首页", links={f"/{i}": f"第{i}页" for i in range(200)}),
    **{f"/{i}": html(f"第{i}页") for i in range(200)},
}
BUSY: dict[str, Page] = {
    "/robots.txt": "",
    "/": {"status": 429, "headers": {"Retry-After": "900"}, "body": ""},
}

ALL_AT_ONCE = ("delay", "slow_down", "paused")


@dataclass(frozen=True)
class Running(DataFolder):
    """A crawl that runs: one host has a long delay, one refuses, one is paused."""

    slow: str
    busy: str
    paused: str


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("waiting")
    with (
        Web(folder / "a", PAGES, "127.0.0.2") as slow,
        Web(folder / "b", BUSY, "127.0.0.3") as busy,
        Web(folder / "c", PAGES, "127.0.0.4") as paused,
        ExitStack() as ending,
    ):
        seeds = [each.url() for each in (slow, busy, paused)]
        options = ["--allow-private", "--crawl", "c", "--data", str(folder / "data")]
        crawl = start("run", *seeds, *options, "--delay", "4", "--workers", "1")
        ending.callback(crawl.communicate)
        ending.callback(crawl.kill)
        found = Running(folder / "data", slow.host, busy.host, paused.host)
        wait_until(lambda: bool(paused.requests()))
        found.output("crawl", "pause", paused.host)
        wait_until(lambda: "slow_down" in {each["reason"] for each in waits(found)})
        yield found


def waits(folder: DataFolder) -> list[dict[str, object]]:
    return list(folder.crawls()["c"]["waits"])


def test_crawls_sums_up_what_hosts_wait_for(running: Running) -> None:
    # Between two delays the host of the delay is asked, for some milliseconds.
    wait_until(lambda: {each["reason"] for each in waits(running)} == {*ALL_AT_ONCE})
    row = running.crawls()["c"]
    assert all(each["hosts"] == 1 for each in row["waits"])
    assert (row["hosts_examined"], row["holds"], row["spiders"]) == (3, [], 1)
    line = running.output("crawls").splitlines()[2]
    assert line.startswith("c: 1 host ")
    assert ", 1 answered 429 or 503 until " in line
    assert line.endswith(", 1 is paused")


def test_crawls_of_one_crawl_has_a_line_for_each_host(running: Running) -> None:
    lines: dict[str, str] = {}

    def is_between_requests() -> bool:
        text = running.output("crawls", "c")
        lines.update({line.split()[0]: line for line in text.splitlines()})
        return lines[running.slow].endswith("waits for its delay of 4 s")

    wait_until(is_between_requests)
    assert "answered 429 or 503 and is left alone until " in lines[running.busy]
    assert f"paused, `crawl resume {running.paused}` ends the pause" in lines[running.paused]
    assert list(lines).index(running.busy) > list(lines).index(running.slow), "most URLs first"
    (row,) = running.rows("crawls", "c", "--json")
    assert {each["host"] for each in row["hosts_left"]} == {
        running.slow,
        running.busy,
        running.paused,
    }
    assert "no crawl is named nobody" in running.error("crawls", "nobody")


def test_a_host_names_what_it_waits_for(running: Running) -> None:
    row = "now       c: waits for its delay of 4 s; "
    wait_until(lambda: row in running.output("hosts", running.slow))
    (found,) = running.rows("hosts", running.busy, "--json")
    (wait,) = found["waits"]
    assert (wait["crawl"], wait["reason"], wait["urls"]) == ("c", "slow_down", 1)
    assert found["pages_by_state"] == {}, "nothing of it is stored yet"
    assert "nothing of no.example is stored" in running.error("hosts", "no.example")
