"""The screens over a store at rest, and over a queue with a crawl that runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, FailureReason, Outcome
from crawlclean.storage.opening import DATABASE
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.hosts import Pause
from tests.kit.commands import DataFolder
from tests.kit.console import open_console, parts_of
from tests.kit.outcomes import HOST, T0, later, make_failure, make_outcome
from tests.kit.private_queue import PrivateQueue
from tests.kit.queues import A, B, Spider, pause_host, spec

OTHER = "other.example"


def judged(outcome: Outcome, confidence: float) -> Outcome:
    assert outcome.record
    return replace(outcome, record=replace(outcome.record, confidence=confidence))


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a crawl at rest: 30 records, 4 failures of two causes."""
    data = tmp_path_factory.mktemp("stored")
    store = SqliteStore(data / DATABASE)
    store.crawls.put(CrawlSpec(crawl_id="c1", seeds=(f"https://{HOST}/",)), CrawlState.FINISHED)
    outcomes = [make_outcome(f"/t/{n}", at=later(n)) for n in range(30)]
    store.save([judged(each, n / 100) for n, each in enumerate(outcomes)])
    store.save([make_failure(f"/f/{n}", at=later(n)) for n in range(3)])
    gone = make_failure("/f/9", reason=FailureReason.HTTP_STATUS, status=404)
    store.save([gone])
    store.statistics.refresh()
    store.pauses.put(Pause(host=HOST, since=T0, crawls=("c1",), who="ann@ops", why="<too slow>"))
    store.close()
    return data


@pytest.fixture
def console(stored: Path) -> FlaskClient:
    return open_console(stored)


def test_now_at_rest(console: FlaskClient) -> None:
    page = console.get("/").text
    assert "No crawl is running." in page
    assert "HTTP status <b>404</b>" in page
    assert "no answer in time" in page


def test_crawls_at_rest(console: FlaskClient) -> None:
    page = console.get("/crawls").text
    assert 'href="/crawls/c1"' in page
    assert "finished" in page
    one = console.get("/crawls/c1")
    assert one.status_code == 200
    assert f"https://{HOST}/" in one.text
    assert "records <b>30</b>" in one.text
    gone = console.get("/crawls/none", headers={"Accept-Language": "zh"})
    assert gone.status_code == 404
    assert "没有名为" in gone.text
    assert "lists them" not in gone.text, "the words of a command"


def test_a_host_at_rest(console: FlaskClient) -> None:
    page = console.get(f"/hosts/{HOST}").text
    assert "by ann@ops" in page
    assert "&lt;too slow&gt;" in page
    assert "threads <b>30</b>" in page
    listed = page[page.index("Bodies least sure") :]
    assert re.findall(r"/t/(\d+)<", listed)[:5] == ["0", "1", "2", "3", "4"]
    assert "/t/5<" not in listed
    assert console.get("/hosts/none.example").status_code == 404
    assert console.get("/hosts/%00%E2%80%AE").status_code == 404


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", True),
        ("?sort=failed", True),
        ("?sort=no-column", True),
        (f"?q={HOST}", True),
        (f"?q={HOST[:-1]}", True),  # its beginning
        (f"?q={HOST[1:]}", False),
        ("?q=%3Cscript%3E", False),
        ("?state=paused", True),
        ("?state=trouble", True),
        (f"?after=30~{HOST}", False),
        ("?after=31~z", True),
        ("?limit=1", True),
    ],
)
def test_hosts_are_found(console: FlaskClient, query: str, found: bool) -> None:
    page = console.get(f"/hosts{query}")
    assert page.status_code == 200
    assert (f'href="/hosts/{HOST}"' in page.text) is found
    assert "<script>" not in page.text


@pytest.mark.parametrize("after", ["--5~x", "-~x", "5", "²~x", "9223372036854775808~x"])
def test_a_place_that_no_list_has_is_refused(console: FlaskClient, after: str) -> None:
    assert console.get("/hosts", query_string={"after": after}).status_code == 400


def test_each_request_has_its_language(console: FlaskClient) -> None:
    for language, word in (("en", ">paused<"), ("zh", ">已暂停<"), ("en", ">paused<")):
        page = console.get("/hosts", headers={"Accept-Language": language}).text
        assert word in page.partition('class="choices"')[2].partition("</nav>")[0]


@pytest.mark.parametrize(
    ("text", "to"),
    [
        ("https://a.example/x?y=1", "/pages?url=https://a.example/x?y%3D1"),
        ("a.example/x", "/pages?url=https://a.example/x"),
        ("c1", "/crawls/c1"),
        (f" {HOST.upper()} ", f"/hosts/{HOST}"),
        ("0" * 32, f"/pages/{'0' * 32}"),
        ("nobody", "/hosts?q=nobody"),
        ("//evil.example/", "/pages?url=https:////evil.example/"),
    ],
)
def test_a_name_leads_to_its_page(console: FlaskClient, text: str, to: str) -> None:
    assert console.get("/search", query_string={"q": text}).location == to


@pytest.mark.parametrize("after", ["x", "1", "~", "1.5~a", "-~a", "²~a"])
def test_a_damaged_place_is_refused(console: FlaskClient, after: str) -> None:
    assert console.get("/hosts", query_string={"after": after}).status_code == 400


def test_pages_of_hosts_follow_each_other(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / DATABASE)
    store.overview._tables.put(  # 120 hosts, a figure of every third twice
        "host_rows",
        *[
            {"host": f"h{n:03}.example", "crawls": 1, "records": n // 3, "failed": 0, "excluded": 0,
             "other": 0, "body_chars": 0, "fetched_bytes": 0, "noise_ppm": 0, "near_duplicates": 0,
             "model_version": 0, "first_seen": 0, "last_seen": n * 1_000_000, "updated_at": 1}
            for n in range(120)
        ],
    )  # fmt: skip
    store.close()
    client = open_console(tmp_path)
    for sort in ("records", "last_seen"):
        pages = "".join(parts_of(client, f"/hosts?sort={sort}&limit=50"))
        seen = re.findall(r'href="/hosts/(h\d+)\.example"', pages)
        assert len(seen) == len(set(seen)) == 120
        assert seen[0] == "h119"


@pytest.fixture
def running(tmp_path: Path) -> Iterator[tuple[PrivateQueue, Spider]]:
    """A queue with a crawl of two hosts, and a spider that holds one URL."""
    SqliteStore(tmp_path / DATABASE).close()
    with PrivateQueue(tmp_path) as queue:
        order = spec("c", A, f"{A}1", B, max_pages=100)
        queue.frontier.open_crawl(order)
        store = SqliteStore(tmp_path / DATABASE)
        store.crawls.put(order, CrawlState.RUNNING)
        store.close()
        spider = Spider(queue.server.url)
        spider.pages(1)
        yield queue, spider
        spider.close()


def test_a_running_crawl(running: tuple[PrivateQueue, Spider]) -> None:
    queue, _ = running
    client = open_console(queue.data)
    now = client.get("/")
    assert "The crawl is starting" in now.text
    assert client.get("/metrics").text.count("# TYPE") > 20
    crawl = client.get("/crawls/c").text
    assert "of at most 100" in crawl
    assert 'data-live="/crawls/c/live"' in crawl
    host = client.get("/hosts/b.example").text
    assert "Waits for " in host
    assert 'data-live="/hosts/b.example/live"' in host
    pause_host(queue.frontier, "b.example", "bob@ops", "\u202e")
    paused = client.get("/hosts/b.example/live").text
    assert "by bob@ops" in paused
    assert "U+202E" in paused


def test_crawls_that_only_the_queue_has_are_listed(running: tuple[PrivateQueue, Spider]) -> None:
    queue, _ = running
    queue.frontier.open_crawl(spec("orphan", A))
    client = open_console(queue.data)
    rows = client.get("/crawls").text.partition("<tbody>")[2].split("</tr>")
    assert "orphan" in rows[0]
    assert "only in the queue" in rows[0]
    assert "only in the queue" not in rows[1]
    _, following = parts_of(client, "/crawls?limit=1")
    assert 'href="/crawls/orphan"' not in following
    assert "The queue has this crawl" in client.get("/crawls/orphan").text
    assert "The queue has this crawl" not in client.get("/crawls/c").text
    folder = DataFolder(queue.data)
    assert "orphan is only in the queue" in folder.output("crawls")
    assert {name: each["created_at"] is None for name, each in folder.crawls().items()} == {
        "c": False,
        "orphan": True,
    }


def test_commands_say_how_old_kept_figures_are(running: tuple[PrivateQueue, Spider]) -> None:
    queue, _ = running
    store = SqliteStore(queue.data / DATABASE)
    store.save([make_outcome("/a"), make_failure("/f")])
    store.statistics.refresh()
    store.save([make_outcome("/b")])  # no housekeeper runs: the figures are behind
    as_of = store.overview.as_of()
    store.close()
    assert as_of
    said = f"these numbers are as of {as_of:%Y-%m-%d %H:%M:%S} UTC"
    for command in (["hosts"], ["hosts", HOST], ["crawls"], ["failures", "--causes"]):
        folder = DataFolder(queue.data)
        assert said in folder.output(*command), command
        for row in folder.rows(*command, "--json"):
            assert datetime.fromisoformat(row["as_of"]) == as_of, command


def test_a_live_part_is_sent_once(running: tuple[PrivateQueue, Spider]) -> None:
    queue, _ = running
    client = open_console(queue.data)
    first = client.get("/crawls/c/live")
    again = client.get("/crawls/c/live", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    queue.frontier.set_state("c", CrawlState.PAUSED)
    changed = client.get("/hosts/b.example/live")
    assert changed.status_code == 200


def test_an_embedded_queue_that_ends_is_at_rest(running: tuple[PrivateQueue, Spider]) -> None:
    queue, spider = running
    client = open_console(queue.data)
    assert "The crawl is starting" in client.get("/").text
    spider.close()
    queue.stop()
    page = client.get("/")
    assert page.status_code == 200
    assert "No crawl is running." in page.text
    assert client.get("/readyz").status_code == 200


def test_a_time_to_come_is_not_said_to_have_been(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / DATABASE)) as store:
        fresh = CrawlSpec(crawl_id="c1", seeds=(f"https://{HOST}/",), keep_fresh=True)
        store.crawls.put(fresh, CrawlState.STOPPED)
        store.save([make_outcome("/a", at=datetime.now(UTC))])
        store.revisits.begin("c1")
        due = store.revisits.next_due("c1")
    assert due is not None
    assert due > datetime.now(UTC)
    shown = open_console(tmp_path).get("/crawls/c1").text
    assert re.search(rf'{due:%Y-%m-%dT%H:%M}[^<]*">[^<]+<small>in \d+ ', shown)
    assert re.search(r"<small>\d+ s ago", shown), "what was fetched just now"
