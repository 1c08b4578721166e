"""`crawls`, `crawl pause|resume|stop|purge` on crawls at rest and on running ones.

More than 400 lines: the commands share a data folder with two crawls, which takes seconds to make.
"""

from __future__ import annotations

import os
import pty
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from redis import Redis

from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState
from crawlclean.storage.opening import start_queue
from crawlclean.storage.queue.embedded import socket_url
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.workers.operations.controlling import purging
from crawlclean.workers.operations.controlling.crawl_states import this_user
from tests.kit.commands import DataFolder
from tests.kit.crawls import command, crawlclean, environment, run_crawl, start, stored_urls
from tests.kit.processes import family_of, role_of
from tests.kit.timing import LIMIT_S, wait_until
from tests.kit.web import Page, Web, html
from tests.kit.worker_bench import WAIT, Waiting

LONG = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。"
COUNT = 12
MANY = 300  # of a crawl that is ended before its end: more than a busy machine lets pass


def site(latency_ms: int = 0, count: int = COUNT) -> dict[str, Page]:
    return {
        "/": html("首页", links={f"/{i}": f"第{i}页" for i in range(count)}),
        **{
            f"/{i}": {"body": html(f"第{i}页", LONG), "latency_ms": latency_ms}
            for i in range(count)
        },
    }


@dataclass(frozen=True)
class Rest(DataFolder):
    """A data folder with two crawls of one host: one reached its limit, one has just begun."""

    web: Web


def add_crawl(data: Path, name: str, seed: str) -> None:
    """A second crawl of the same host, without records."""
    server, frontier = start_queue(StorageConfig(data=data))
    store = SqliteStore(data / "records.sqlite")
    spec = CrawlSpec(crawl_id=name, seeds=(seed,), allow_private=True)
    frontier.open_crawl(spec)
    frontier.set_state(name, CrawlState.STOPPED)
    store.crawls.put(spec, CrawlState.STOPPED)
    store.close()
    frontier.close()
    assert server is not None
    server.stop()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rest]:
    folder = tmp_path_factory.mktemp("control")
    with Web(folder / "web", site()) as web:
        run_crawl(folder / "data", web.url(), "--crawl", "one", "--max-pages", "5")
        add_crawl(folder / "data", "two", web.url())
        yield Rest(folder / "data", web)


@pytest.fixture
def rest(made: Rest, tmp_path: Path) -> Rest:
    """A copy to change."""
    shutil.copytree(made.data, tmp_path / "data")
    return replace(made, data=tmp_path / "data")


def test_crawls_lists_states_and_counts(made: Rest) -> None:
    rows = made.crawls()
    assert {name: (row["state"], row["records"]) for name, row in rows.items()} == {
        "one": ("stopped", 5),
        "two": ("stopped", 0),
    }
    assert rows["one"]["seeds"] == [made.web.url()]
    head, *lines = made.output("crawls").splitlines()
    assert head.split()[:3] == ["CRAWL", "STATE", "RECORDS"]
    assert [line.split()[:3] for line in lines] == [
        ["one", "stopped", "5"],
        ["two", "stopped", "0"],
    ]


def test_states_of_a_crawl_at_rest(rest: Rest) -> None:
    assert rest.output("crawl", "pause", "two") == "crawl two is paused\n"
    assert rest.crawls()["two"]["state"] == "paused"
    assert rest.crawls()["one"]["state"] == "stopped"
    assert rest.rows("crawl", "pause", "--json")[0]["target"] == "two"
    assert rest.output("crawl", "resume", "two") == (
        "crawl two is stopped, nothing runs it; the same command resumes it\n"
    )
    assert rest.crawls()["two"]["state"] == "stopped"
    for name in ("pause", "resume"):
        assert rest.output(name, "one") == (
            "crawl one has reached --max-pages; the same command with a larger one resumes it\n"
        )
        assert rest.crawls()["one"]["state"] == "stopped"
    (changed,) = rest.rows("crawl", "resume", "one", "--json")
    assert (changed["state"], changed["has_reached_max_pages"]) == ("stopped", True)
    assert rest.output("crawl", "stop", "one") == "crawl one is stopped\n"
    for name in ("pause", "resume", "stop"):
        assert "no crawl and no host is named nobody" in rest.error(name, "nobody")
    assert "no crawl and no host is named nobody" in rest.error("crawl", "purge", "nobody", "--yes")
    assert sorted(rest.crawls()) == ["one", "two"]


def test_a_paused_host_is_named_while_the_queue_runs(rest: Rest) -> None:
    host = rest.web.host
    rest.output("crawl", "pause", host)
    server, frontier = start_queue(StorageConfig(data=rest.data))
    assert server is not None
    line = f"1 host is paused: {host} (`crawl resume {host}` ends the pause)"
    for listing in (["crawls"], ["hosts"], ["hosts", host]):
        assert line in rest.output(*listing).splitlines()
    assert rest.rows("hosts", host, "--json")[0]["is_paused"]
    assert frontier.paused_urls("one")[host] == frontier.counts("one").pending
    frontier.close()
    server.stop()


def test_a_paused_host_is_named_at_rest_and_by_a_queue_that_was_lost(rest: Rest) -> None:
    host = rest.web.host
    assert rest.output("crawl", "pause") == "nothing is paused\n"
    rest.output("crawl", "pause", host, "--why", "asked by the site")
    line = f"1 host is paused: {host} (`crawl resume {host}` ends the pause)"
    for listing in (["crawls"], ["hosts"], ["hosts", host]):
        assert line in rest.output(*listing).splitlines()
    assert [row["paused_hosts"] for row in rest.crawls().values()] == [[host], [host]]
    (pause,) = rest.rows("crawl", "pause", "--json")
    assert (pause["who"], pause["why"]) == (this_user(), "asked by the site")
    assert f"by {this_user()}: asked by the site" in rest.output("hosts", host)
    assert "asked by the site" in rest.output("doctor")
    assert (pause["kind"], pause["target"], pause["crawls"]) == ("host", host, ["one", "two"])
    assert rest.output("crawl", "pause").splitlines()[1].split()[:2] == ["host", host]
    checks = {row["name"]: row for row in rest.rows("doctor", "--json")}
    assert checks["pauses"]["status"] == "warning"
    assert host in checks["pauses"]["detail"]

    shutil.rmtree(rest.data / "queue")
    assert len(rest.rows("crawl", "recover", "--json")) == 2
    assert [row["target"] for row in rest.rows("crawl", "pause", "--json")] == [host]
    server, frontier = start_queue(StorageConfig(data=rest.data))
    assert server is not None
    assert frontier.paused_hosts() == [host]
    frontier.close()
    server.stop()
    rest.output("crawl", "resume", host)
    assert rest.output("crawl", "pause") == "nothing is paused\n"
    assert rest.crawls()["one"]["paused_hosts"] == []


def test_purge_names_what_it_deletes_and_asks(rest: Rest) -> None:
    plan = "purge deletes of crawl one: 5 records, 0 failed URLs, 8 waiting URLs"
    assert rest.output("crawl", "purge", "one", "--dry-run") == plan + "\n"
    kept = rest.output("crawl", "purge", "one", "--dry-run", "--keep-records")
    assert kept.endswith(": 8 waiting URLs; keeps 5 records, 0 failed URLs\n")
    (row,) = rest.rows("crawl", "purge", rest.web.host, "--dry-run", "--json")
    assert (row["kind"], row["records"], row["crawls"]) == ("host", 5, ["one", "two"])
    status, _, err = rest.call("crawl", "purge", "one")
    assert status == 2
    assert f"{plan}; without a terminal it needs --yes" in err
    for answer, wanted in (("\n", 1), ("y\n", 0)):
        assert rest.crawls()["one"]["records"] == 5
        status, said = on_terminal(["purge", "one", "--data", str(rest.data)], answer)
        assert status == wanted, said
        assert plan in said
    assert "deleted" in said
    assert list(rest.crawls()) == ["two"]


def test_crawls_fits_a_narrow_terminal(made: Rest) -> None:
    """What is left out at other widths is tested with tables, in ``test_printing.py``."""
    status, said = on_terminal(["crawls", "--data", str(made.data)], "", COLUMNS="40")
    assert status == 0
    head, *lines = said.splitlines()
    assert max(map(len, (head, *lines))) <= 40, said
    assert head.split()[:3] == ["CRAWL", "STATE", "RECORDS"]
    assert [line.split()[:3] for line in lines] == [
        ["one", "stopped", "5"],
        ["two", "stopped", "0"],
    ]


def on_terminal(arguments: list[str], answer: str, **extra: str) -> tuple[int, str]:
    """(status, output) of a command on a terminal where somebody types an answer."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command(*arguments), stdin=theirs, stdout=theirs, stderr=theirs, env=environment(**extra)
    )
    os.close(theirs)
    said = ""
    with suppress(OSError):  # the terminal is closed at the end of the process
        while part := os.read(ours, 4096):
            said += part.decode()
            if "[y/N]" in said and answer:
                os.write(ours, answer.encode())
                answer = ""
    os.close(ours)
    return process.wait(LIMIT_S), said


def test_a_run_ends_when_only_a_paused_host_is_left(rest: Rest) -> None:
    host = rest.web.host
    assert f"host {host} is paused" in rest.output("crawl", "pause", host)
    before = sum(rest.web.requests().values())
    arguments = ("run", rest.web.url(), "--crawl", "one", "--allow-private", "--max-pages", "9")
    ended = crawlclean(*arguments, "--data", str(rest.data))
    paused = f"1 host is paused: {host} (`crawl resume {host}` ends the pause)"
    assert ended.returncode == 3
    assert sum(rest.web.requests().values()) == before
    line, *others = ended.stdout.splitlines()
    assert line.endswith("; only paused hosts are left")
    assert paused in others
    said = ended.stderr.splitlines()
    assert paused in said[: said.index(next(each for each in said if "fetched" in each))]
    assert f"host {host} is resumed" in rest.output("crawl", "resume", host)
    ended = crawlclean(*arguments, "--data", str(rest.data))
    assert ended.returncode == 3, "the limit ends it"
    assert "paused" not in ended.stdout
    assert rest.crawls()["one"]["records"] == 9


def test_sites_name_a_paused_host_when_they_start(rest: Rest, tmp_path: Path) -> None:
    host = rest.web.host
    rest.output("crawl", "pause", host)
    sites = tmp_path / "sites.txt"
    sites.write_text(rest.web.url() + "\n", "utf-8")
    ended = crawlclean("sites", str(sites), "--allow-private", "--data", str(rest.data))
    assert ended.returncode != 0
    begun, named, *_ = ended.stderr.splitlines()
    assert begun.startswith("1 site into")
    assert named == f"1 host is paused: {host} (`crawl resume {host}` ends the pause)"


def test_purging_a_crawl_forgets_it_and_no_other(rest: Rest) -> None:
    assert "and 5 records of one" in rest.output("crawl", "purge", "one", "--yes")
    assert list(rest.crawls()) == ["two"]
    assert stored_urls(rest.data) == []
    assert "no crawl" in rest.error("crawl", "pause", "one")


def test_purging_may_keep_the_records(rest: Rest) -> None:
    assert "and 0 records of one" in rest.output("crawl", "purge", "one", "--keep-records", "--yes")
    assert rest.crawls()["one"]["records"] == 5
    assert len(stored_urls(rest.data)) == 5
    assert "and 5 records of one" in rest.output("crawl", "purge", "one", "--yes")
    assert list(rest.crawls()) == ["two"]


def test_purging_a_host_forgets_it_in_every_crawl(rest: Rest) -> None:
    rest.output("model", "learn", rest.web.host)
    assert "and 5 records of" in rest.output("crawl", "purge", rest.web.host, "--yes")
    assert "has no model" in rest.error("model", rest.web.host)
    assert stored_urls(rest.data) == []
    assert sorted(rest.crawls()) == ["one", "two"]
    assert "nothing of" in rest.error("hosts", rest.web.host)


@contextmanager
def running(*arguments: str, **environ: str) -> Iterator[subprocess.Popen[str]]:
    crawl = start(*arguments, **environ)
    try:
        yield crawl
    finally:
        if crawl.poll() is None:
            crawl.kill()
            crawl.communicate()


def test_pause_resume_and_stop_of_a_running_crawl(tmp_path: Path) -> None:
    with Web(tmp_path / "web", site(latency_ms=80, count=MANY)) as web:
        data = tmp_path / "data"
        arguments = ["run", web.url(), "--crawl", "c", "--allow-private", "--slots", "1"]
        with running(*arguments, "--data", str(data)) as crawl:
            rest = Rest(data, web)
            wait_until(lambda: sum(web.requests().values()) >= 4)
            assert rest.output("crawl", "pause", "c") == "crawl c is paused\n"
            wait_until(lambda: rest.crawls()["c"]["in_flight"] == 0)
            asked = sum(web.requests().values())
            assert asked < MANY
            assert rest.crawls()["c"]["state"] == "paused"
            assert crawl.poll() is None, "it waits to be resumed"
            assert sum(web.requests().values()) == asked
            assert rest.output("crawl", "resume", "c") == "crawl c is running\n"
            wait_until(lambda: sum(web.requests().values()) >= asked + 2)
            assert rest.output("crawl", "stop", "c") == "crawl c is stopped\n"
            out, said = crawl.communicate(timeout=LIMIT_S)
        assert crawl.returncode == 3, said
        assert "stopped by an operator" in out
        row = rest.crawls()["c"]
        assert (row["state"], row["failed"]) == ("stopped", 0)
        assert 0 < row["records"] < MANY + 1
        assert set(web.requests().values()) == {1}


def test_purging_a_running_crawl_ends_it(tmp_path: Path) -> None:
    with Web(tmp_path / "web", site(latency_ms=80, count=MANY)) as web:
        data = tmp_path / "data"
        arguments = ["run", web.url(), "--crawl", "c", "--allow-private", "--slots", "1"]
        with running(*arguments, "--data", str(data)) as crawl:
            wait_until(lambda: sum(web.requests().values()) >= 4)
            assert " of c\n" in Rest(data, web).output("crawl", "purge", "c", "--yes")
            out, said = crawl.communicate(timeout=LIMIT_S)
        assert crawl.returncode == 0, said
        assert out == ""
        assert said.splitlines()[-1] == "the crawl was purged"
        assert said.count("purged") == 1
        assert "Traceback" not in said
        assert stored_urls(data) == []
        assert Rest(data, web).crawls() == {}


def test_a_run_whose_queue_is_emptied_says_what_to_do(tmp_path: Path) -> None:
    with Web(tmp_path / "web", site(latency_ms=80, count=MANY)) as web:
        data = tmp_path / "data"
        arguments = ["run", web.url(), "--crawl", "c", "--allow-private", "--slots", "1"]
        with running(*arguments, "--data", str(data)) as crawl:
            wait_until(lambda: sum(web.requests().values()) >= 4)
            with Redis.from_url(socket_url(data)) as client:
                client.flushall()
            _, said = crawl.communicate(timeout=LIMIT_S)
        assert crawl.returncode == 1, said
        assert said.endswith("the queue has lost this crawl; the same command rebuilds it\n")
        assert "Traceback" not in said


@pytest.mark.parametrize("target", ["c", "a.example"])
def test_records_of_pages_at_hand_do_not_come_back(tmp_path: Path, target: str) -> None:
    with Waiting(tmp_path) as bench:
        store = bench.store()
        store.crawls.put(CrawlSpec(crawl_id="c", seeds=(WAIT,)), CrawlState.RUNNING)
        store.close()
        bench.begin()
        with running("purge", target, "--yes", "--data", str(bench.data)) as purge:
            wait_until(lambda: not list(bench.client.scan_iter("cc:p:c:*")))
            assert purge.poll() is None, "it waits for the worker"
            bench.go()
            out, said = purge.communicate(timeout=LIMIT_S)
        assert purge.returncode == 0, said
        assert out.startswith("deleted 2 queued URLs and ")
        bench.sweep_until(lambda: not bench.client.zcard("cc:claims"))
        assert bench.stored() == []


def test_a_worker_that_does_not_end_is_not_waited_for_long(
    rest: Rest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purging, "PURGE_WAIT_S", 0.3)
    server, frontier = start_queue(StorageConfig(data=rest.data))
    assert server is not None
    begun = time.monotonic()
    with Redis.from_url(server.url) as client:
        client.hset(
            "cc:j:j1", mapping={"crawl": "one", "host": "a.example", "ids": "x", "worker": "w"}
        )
        client.zadd("cc:claims", {"j1": 1 << 50})
        assert frontier.has_claims("one")
        assert not frontier.has_claims("one", "b.example")
        assert not frontier.has_claims("two")
        assert "and 5 records of one" in rest.output("crawl", "purge", "one", "--yes")
    assert time.monotonic() - begun >= 0.3
    frontier.close()
    server.stop()


def test_claims_of_a_run_that_was_killed_are_not_waited_for(
    rest: Rest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purging, "PURGE_WAIT_S", LIMIT_S)
    server, frontier = start_queue(StorageConfig(data=rest.data))
    assert server is not None
    with Redis.from_url(server.url) as client:
        client.hset(
            "cc:j:j1", mapping={"crawl": "one", "host": "a.example", "ids": "x", "worker": "w"}
        )
        client.zadd("cc:claims", {"j1": 1 << 50})
    frontier.close()
    server.stop()
    begun = time.monotonic()
    assert "and 5 records of one" in rest.output("crawl", "purge", "one", "--yes")
    assert time.monotonic() - begun < purging.PURGE_WAIT_S


def test_a_run_goes_on_when_its_queue_can_start_again(tmp_path: Path) -> None:
    with Web(tmp_path / "web", site(latency_ms=80)) as web:
        data = tmp_path / "data"
        arguments = ["run", web.url(), "--allow-private", "--slots", "1", "--data", str(data)]
        with running(*arguments) as crawl:
            wait_until(lambda: sum(web.requests().values()) >= 4)
            (data / "queue").rename(data / "away")
            (data / "queue").touch()
            [server] = [pid for pid in family_of(crawl.pid) if role_of(pid) == "queue"]
            os.kill(server, signal.SIGKILL)
            assert crawl.stderr is not None
            said = ""
            while "cannot start, waiting" not in said:
                said += crawl.stderr.readline()
            (data / "queue").unlink()
            (data / "away").rename(data / "queue")
            out, rest = crawl.communicate(timeout=LIMIT_S)
        assert crawl.returncode == 0, said + rest
        assert "the queue's server runs again" in rest
        assert f"{COUNT + 1} records" in out


def test_a_run_says_that_the_queues_memory_is_full(tmp_path: Path) -> None:
    with Web(tmp_path / "web", site()) as web:
        data = tmp_path / "data"
        add_crawl(data, "c", web.url())
        storage = StorageConfig(data=data, queue_memory_bytes=32 << 20)
        server, frontier = start_queue(storage)
        assert server is not None
        with Redis.from_url(server.url) as client:
            for part in range(24):
                client.set(f"fill{part}", b"x" * (1 << 20))
        frontier.sweep()
        frontier.close()
        server.stop()
        arguments = ["run", web.url(), "--crawl", "c", "--allow-private", "--data", str(data)]
        with running(*arguments, CRAWLCLEAN_QUEUE_MEMORY_BYTES=str(32 << 20)) as crawl:
            assert crawl.stderr is not None
            said = ""
            while "queue memory full, waiting" not in said:
                line = crawl.stderr.readline()
                assert line, said
                said += line
            with Redis.from_url(socket_url(data)) as client:
                client.delete(*client.keys("fill*"))
            _, said = crawl.communicate(timeout=LIMIT_S)
        assert crawl.returncode == 0, said
        assert Rest(data, web).crawls()["c"]["records"] == COUNT + 1


@pytest.mark.parametrize("name", ["run", "sites"])
@pytest.mark.parametrize(
    ("refuse", "take", "why"),
    [
        ("CONFIG SET maxmemory 1mb", "CONFIG SET maxmemory 0", "memory is full"),
        ("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE", "read only replica"),
    ],
)
def test_a_run_says_that_its_queue_takes_no_writes_and_goes_on(
    tmp_path: Path, name: str, refuse: str, take: str, why: str
) -> None:
    with Web(tmp_path / "web", site(latency_ms=80)) as web:
        data = tmp_path / "data"
        seeds = tmp_path / "sites.txt"
        seeds.write_text(web.url())
        what = web.url() if name == "run" else str(seeds)
        arguments = [name, what, "--allow-private", "--slots", "1", "--data", str(data)]
        with running(*arguments) as crawl:
            wait_until(lambda: sum(web.requests().values()) >= 2)
            assert crawl.stderr is not None
            said = ""
            with Redis.from_url(socket_url(data)) as client:
                client.execute_command(*refuse.split())
                while why not in said:
                    line = crawl.stderr.readline()
                    assert line, said
                    said += line
                client.execute_command(*take.split())
            _, rest = crawl.communicate(timeout=LIMIT_S)
        assert crawl.returncode == 0, said + rest
        assert ": waiting)" in said
        assert why not in rest.rpartition("cleaned")[2], "the note goes with its reason"
        [row] = Rest(data, web).crawls().values()
        assert row["records"] == COUNT + 1


def test_metrics_of_a_folder(made: Rest) -> None:
    text = made.output("metrics")
    assert "crawlclean_records_total 5\n" in text
