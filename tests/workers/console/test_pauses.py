"""What the screens of a paused host and a paused crawl say, and who is told so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from crawlclean.storage.console_tokens import ConsoleFile
from crawlclean.storage.crawl_types import CrawlState
from crawlclean.workers.console.access import Access
from crawlclean.workers.console.actions import Actions
from crawlclean.workers.console.routes import Console
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.controlling.crawl_states import change_state
from crawlclean.workers.operations.watching.kept_backends import KeptBackends
from tests.kit.console import (
    PASSWORD,
    acting_console,
    client_of,
    do,
    guarded_console,
    log_in,
    open_console,
    settings_of,
)
from tests.kit.worker_bench import Bench

HOST = "a.example"
SLOW = "too slow <b>here</b>"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A crawl ``c`` with URLs that wait at one host."""
    with Bench(tmp_path) as made:
        made.fetch(f"http://{HOST}/1")
        with closing(made.store()) as store:
            store.crawls.put(made.frontier.spec("c"), CrawlState.RUNNING)
        yield made


def box(client: FlaskClient, address: str) -> str:
    """The words of the box that says what is waited for."""
    page = client.get(address).text
    part = page.partition('class="sentence warn"')[2].partition("</div></div>")[0]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", part.partition(">")[2]))


def test_a_paused_host_says_who_when_why_and_who_may_end_it(bench: Bench) -> None:
    settings = settings_of(bench.data)
    with Backends(settings) as backends:
        change_state(backends, HOST, CrawlState.PAUSED, who="li@night", why=SLOW)
    said = box(acting_console(settings, bench.data), f"/hosts/{HOST}")
    assert re.search(r"Paused since \d{4}-\d\d-\d\d \d\d:\d\d.* by li@night", said)
    assert "too slow &lt;b&gt;here&lt;/b&gt;" in said
    assert "URLs wait" in said or "URL waits" in said
    assert "You may end the pause" in said
    assert "ask li@night first" in said
    assert "This console is read-only" in box(open_console(bench.data), f"/hosts/{HOST}")


def test_a_paused_crawl_says_the_same(bench: Bench) -> None:
    settings = settings_of(bench.data)
    client = acting_console(settings, bench.data)
    assert "Paused since" not in box(client, "/crawls/c")
    assert "finished" in do(client, "pause_crawl", "c", typed_why=SLOW).text
    said = box(client, "/crawls/c")
    for part in ("Paused since", "no password", "too slow &lt;b&gt;", "wait", "You may end"):
        assert part in said, said
    do(client, "resume_crawl", "c")
    assert "Paused since" not in client.get("/crawls/c").text


def test_the_header_says_who_one_is(bench: Bench) -> None:
    settings = settings_of(bench.data)
    file = ConsoleFile(bench.data)
    access = Access(file, PASSWORD)
    console = Console(settings, KeptBackends(settings), access, Actions(settings, access, file))
    client = client_of(console)
    log_in(client)
    (me,) = re.findall(r'class="me"[^>]*>(session \w{8}) · may act', client.get("/").text)
    do(client, "pause_host", HOST, typed_why="mine")
    assert "by you" in box(client, f"/hosts/{HOST}")
    assert "ask" not in box(client, f"/hosts/{HOST}")
    other = guarded_console(bench.data)
    log_in(other)
    assert f"by {me}" in box(other, f"/hosts/{HOST}")
    assert "read-only" in other.get("/").text.partition('class="me"')[2].partition("</span>")[0]
    assert 'class="me"' not in guarded_console(bench.data).get("/login").text
