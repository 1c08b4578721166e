"""`show`, `hosts`, `failures`: what is stored, as commands print it."""

from __future__ import annotations

import json
import re
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crawlclean.cleaning.errors import ConfigError
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, Discovery, FailureReason, UrlState
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.workers.operations.reading import read_time
from tests.kit.commands import DataFolder
from tests.kit.outcomes import HOST, make_failure, make_outcome
from tests.kit.worker_bench import Bench

BASE = f"https://{HOST}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> DataFolder:
    """Two crawls; each knows /t/1, one has a failure and an excluded page besides."""
    data = tmp_path_factory.mktemp("reading")
    store = SqliteStore(data / "records.sqlite")
    for crawl in ("c1", "c2"):
        spec = CrawlSpec(crawl_id=crawl, seeds=(f"{BASE}/",))
        store.crawls.put(spec, CrawlState.FINISHED)
    store.save([make_outcome("/t/1"), make_outcome("/t/2")])
    store.save([make_outcome("/t/1", crawl_id="c2")])
    store.save([make_failure("/f/1"), make_failure("/f/2", reason=FailureReason.POISON)])
    excluded = make_failure("/x", reason=FailureReason.ROBOTS, state=UrlState.EXCLUDED)
    store.save([excluded])
    store.close()
    return DataFolder(data)


def test_times() -> None:
    assert read_time("2026-03-01") == datetime(2026, 3, 1, tzinfo=UTC)
    assert read_time("2026-03-01T12:00:00+08:00") == datetime(2026, 3, 1, 4, tzinfo=UTC)
    for text in ("", "yesterday", "2026-13-01", "12:00"):
        with pytest.raises(ConfigError):
            read_time(text)


def test_causes_of_failures_are_those_of_kept_figures(folder: DataFolder) -> None:
    for target in ((), ("c1",), (HOST,)):
        rows = folder.rows("failures", "--causes", *target, "--json")
        assert {(row["crawl"], row["reason"], row["urls"]) for row in rows} == {
            ("c1", "timeout", 1),
            ("c1", "poison", 1),
        }
        assert {row["as_of"] for row in rows} == {None}, "at rest they are of this moment"
    head, *lines = folder.output("failures", "--causes").splitlines()
    assert head.split() == ["CRAWL", "CAUSE", "URLS", "HOSTS", "FIRST", "NEWEST"]
    assert [line.split()[:4] for line in sorted(lines)] == [
        ["c1", "poison", "1", "1"],
        ["c1", "timeout", "1", "1"],
    ]
    assert folder.output("failures", "--causes", "c2") == "no URL has failed\n"
    assert folder.error("failures", "--causes", "nobody.example")


def test_failures(folder: DataFolder) -> None:
    lines = folder.output("failures").splitlines()
    assert f"{BASE}/f/1  timeout: no answer in 30 s (3 attempts)" in lines
    rows = folder.rows("failures", "c1", "--json")
    assert {row["reason"] for row in rows} >= {"timeout", "poison"}
    assert {row["crawl"] for row in rows} == {"c1"}
    assert {row["attempts"] for row in rows} == {3}
    assert folder.output("failures", "c2") == "no URL has failed\n"
    for target, count in (("c2", 0), (HOST, len(rows))):
        assert len(folder.output("failures", target, "--json").splitlines()) == count, target
    assert "is named" in folder.error("failures", "nobody.example", "--json")


def test_show(folder: DataFolder) -> None:
    [record] = folder.rows("show", f"{BASE}/t/2", "--json")
    assert record["url"] == f"{BASE}/t/2"
    shown = dict(
        line.split(maxsplit=1) for line in folder.output("show", f"{HOST}/t/2").splitlines()[:10]
    )
    assert shown["url"] == f"{BASE}/t/2"
    for name in ("published", "fetched"):
        assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", shown[name])
    assert "why" in folder.error("show", f"{BASE}/f/1")
    assert "no http" in folder.error("show", "mailto:x", status=2)
    assert "no page has the id" in folder.error("show", "0" * 32)


def test_hosts(folder: DataFolder) -> None:
    head, line = folder.output("hosts").splitlines()
    assert head.split()[:4] == ["HOST", "RECORDS", "FAILED", "OTHER"]
    assert line.split()[:4] == [HOST, "3", "2", "1"]
    [stats] = folder.rows("hosts", HOST, "--json")
    assert stats["exact"] is True
    assert "nothing of" in folder.error("hosts", "nobody.example")


def test_numbers_say_whether_something_moves(tmp_path: Path) -> None:
    with Bench(tmp_path) as bench:
        folder = DataFolder(bench.data)
        store = bench.store()
        store.save([make_outcome()])
        store.close()

        def said() -> tuple[bool, str]:
            exact = folder.rows("hosts", HOST, "--json")[0]["exact"]
            return exact, folder.output("hosts", HOST).splitlines()[-1]

        assert said()[0]
        bench.frontier.learning.begin(HOST, 8, 8)
        assert said() == (False, "pages are being re-cleaned: these numbers are of this moment")
        bench.fetch("http://a.example/1")
        assert said() == (False, "a crawl is running: these numbers are of this moment")
        bench.client.execute_command("FLUSHALL")
        assert said()[0]


def test_why_of_what_no_crawl_knows(folder: DataFolder) -> None:
    lines = folder.output("why", "https://other.example/", status=1).splitlines()
    assert len(lines) == 2
    assert all("out of the crawl's scope" in line for line in lines)
    assert "no cleaned page links to it" in folder.output("why", f"{BASE}/never", status=1)


def test_why_tells_of_the_crawls_that_could_know(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    with closing(SqliteStore(tmp_path / "records.sqlite")) as store:
        for n in range(9):
            seeds = (f"http://s{n}.example/",)
            store.crawls.put(CrawlSpec(crawl_id=f"s{n}", seeds=seeds), CrawlState.STOPPED)
    first, second = folder.output("why", "http://s3.example/", status=1).splitlines()
    assert first.endswith("is unknown to s3: it is a seed that was not fetched yet")
    assert second == "  not known: whether it waits in the queue: the queue is lost"
    assert len(folder.output("why", "http://none.example/", status=1).splitlines()) == 6
    found = folder.output("why", "http://none.example/", "--json", status=1)
    rows = [json.loads(line) for line in found.splitlines()]
    assert len(rows) == 9
    assert {row["state"] for row in rows} == {"unknown"}


def test_why_of_an_image_that_was_held_back(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "records.sqlite")) as store:
        spec = CrawlSpec(crawl_id="c", seeds=("http://a.example/",), images=True)
        store.crawls.put(spec, CrawlState.FINISHED)
    said = DataFolder(tmp_path).output("why", "http://img.example/logo.png", status=1)
    assert "is unknown to c: no cleaned page shows it as a content image" in said


def test_why_of_a_url_that_waits_in_the_store(
    tmp_path: Path, queue_url: str, frontier: Frontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = CrawlSpec(crawl_id="c", seeds=())
    store = SqliteStore(tmp_path / "records.sqlite")
    store.crawls.put(spec, CrawlState.RUNNING)
    frontier.open_crawl(spec)
    frontier.add("c", [Discovery(url=f"{BASE}/{n}") for n in range(60)])
    frontier.overflow(store.spills, 20).round()
    store.close()
    monkeypatch.setattr(
        "crawlclean.workers.operations.backends.join_queue", lambda _config: Frontier(queue_url)
    )
    for path, said in (("59", "in c: pending, in the store"), ("0", "in c: pending\n")):
        assert said in DataFolder(tmp_path).output("why", f"{BASE}/{path}")
