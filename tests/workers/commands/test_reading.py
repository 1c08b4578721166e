"""`show`, `hosts`, `failures`: what is stored, as commands print it."""

from __future__ import annotations

import json
import re
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crawlclean.cleaning.errors import ConfigError, NotFound
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, Discovery, FailureReason, UrlState
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.workers.config import Settings
from crawlclean.workers.operations.reading import read_time
from tests.kit.commands import call
from tests.kit.outcomes import HOST, make_failure, make_outcome
from tests.kit.worker_bench import Bench

BASE = f"https://{HOST}"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
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
    return replace(Settings(), storage=StorageConfig(data=data))


def test_times() -> None:
    assert read_time("2026-03-01") == datetime(2026, 3, 1, tzinfo=UTC)
    assert read_time("2026-03-01T12:00:00+08:00") == datetime(2026, 3, 1, 4, tzinfo=UTC)
    for text in ("", "yesterday", "2026-13-01", "12:00"):
        with pytest.raises(ConfigError):
            read_time(text)


def test_causes_of_failures_are_those_of_kept_figures(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    for target in ((), ("c1",), (HOST,)):
        assert call(settings, "failures", "--causes", *target, "--json") == 0
        rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert {(row["crawl"], row["reason"], row["urls"]) for row in rows} == {
            ("c1", "timeout", 1),
            ("c1", "poison", 1),
        }
        assert {row["as_of"] for row in rows} == {None}, "at rest they are of this moment"
    assert call(settings, "failures", "--causes") == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["CRAWL", "CAUSE", "URLS", "HOSTS", "FIRST", "NEWEST"]
    assert [line.split()[:4] for line in sorted(lines)] == [
        ["c1", "poison", "1", "1"],
        ["c1", "timeout", "1", "1"],
    ]
    assert call(settings, "failures", "--causes", "c2") == 0
    assert capsys.readouterr().out == "no URL has failed\n"
    with pytest.raises(NotFound):
        call(settings, "failures", "--causes", "nobody.example")


def test_failures(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(settings, "failures") == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"{BASE}/f/1  timeout: no answer in 30 s (3 attempts)" in lines
    assert call(settings, "failures", "c1", "--json") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {row["reason"] for row in rows} >= {"timeout", "poison"}
    assert {row["crawl"] for row in rows} == {"c1"}
    assert {row["attempts"] for row in rows} == {3}
    assert call(settings, "failures", "c2") == 0
    assert capsys.readouterr().out == "no URL has failed\n"
    for target, count in (("c2", 0), (HOST, len(rows))):
        assert call(settings, "failures", target, "--json") == 0
        assert len(capsys.readouterr().out.splitlines()) == count, target
    with pytest.raises(NotFound, match="is named"):
        call(settings, "failures", "nobody.example", "--json")


def test_show(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(settings, "show", f"{BASE}/t/2", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["url"] == f"{BASE}/t/2"
    assert call(settings, "show", f"{HOST}/t/2") == 0
    shown = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()[:10])
    assert shown["url"] == f"{BASE}/t/2"
    for name in ("published", "fetched"):
        assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", shown[name])
    with pytest.raises(NotFound, match="why"):
        call(settings, "show", f"{BASE}/f/1")
    with pytest.raises(ConfigError, match="no http"):
        call(settings, "show", "mailto:x")
    with pytest.raises(NotFound, match="no page has the id"):
        call(settings, "show", "0" * 32)


def test_hosts(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(settings, "hosts") == 0
    head, line = capsys.readouterr().out.splitlines()
    assert head.split()[:4] == ["HOST", "RECORDS", "FAILED", "OTHER"]
    assert line.split()[:4] == [HOST, "3", "2", "1"]
    assert call(settings, "hosts", HOST, "--json") == 0
    stats = json.loads(capsys.readouterr().out)
    assert stats["exact"] is True
    with pytest.raises(NotFound, match="nothing of"):
        call(settings, "hosts", "nobody.example")


def test_numbers_say_whether_something_moves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Bench(tmp_path) as bench:
        settings = replace(Settings(), storage=StorageConfig(data=bench.data))
        store = bench.store()
        store.save([make_outcome()])
        store.close()

        def said() -> tuple[bool, str]:
            call(settings, "hosts", HOST, "--json")
            exact = json.loads(capsys.readouterr().out)["exact"]
            call(settings, "hosts", HOST)
            return exact, capsys.readouterr().out.splitlines()[-1]

        assert said()[0]
        bench.frontier.learning.begin(HOST, 8, 8)
        assert said() == (False, "pages are being re-cleaned: these numbers are of this moment")
        bench.fetch("http://a.example/1")
        assert said() == (False, "a crawl is running: these numbers are of this moment")
        bench.client.execute_command("FLUSHALL")
        assert said()[0]


def test_why_of_what_no_crawl_knows(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(settings, "why", "https://other.example/") == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert all("out of the crawl's scope" in line for line in lines)
    assert call(settings, "why", f"{BASE}/never") == 1
    assert "no cleaned page links to it" in capsys.readouterr().out


def test_why_tells_of_the_crawls_that_could_know(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = replace(Settings(), storage=StorageConfig(data=tmp_path))
    with closing(SqliteStore(tmp_path / "records.sqlite")) as store:
        for n in range(9):
            seeds = (f"http://s{n}.example/",)
            store.crawls.put(CrawlSpec(crawl_id=f"s{n}", seeds=seeds), CrawlState.STOPPED)
    assert call(settings, "why", "http://s3.example/") == 1
    first, second = capsys.readouterr().out.splitlines()
    assert first.endswith("is unknown to s3: it is a seed that was not fetched yet")
    assert second == "  not known: whether it waits in the queue: the queue is lost"
    assert call(settings, "why", "http://none.example/") == 1
    assert len(capsys.readouterr().out.splitlines()) == 6
    assert call(settings, "why", "http://none.example/", "--json") == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == 9
    assert {row["state"] for row in rows} == {"unknown"}


def test_why_of_an_image_that_was_held_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(SqliteStore(tmp_path / "records.sqlite")) as store:
        spec = CrawlSpec(crawl_id="c", seeds=("http://a.example/",), images=True)
        store.crawls.put(spec, CrawlState.FINISHED)
    settings = replace(Settings(), storage=StorageConfig(data=tmp_path))
    assert call(settings, "why", "http://img.example/logo.png") == 1
    assert "is unknown to c: no cleaned page shows it as a content image" in capsys.readouterr().out


def test_why_of_a_url_that_waits_in_the_store(
    tmp_path: Path,
    queue_url: str,
    frontier: Frontier,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
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
    settings = replace(Settings(), storage=StorageConfig(data=tmp_path))
    for path, said in (("59", "in c: pending, in the store"), ("0", "in c: pending\n")):
        assert call(settings, "why", f"{BASE}/{path}") == 0
        assert said in capsys.readouterr().out
