"""Actions and operations whose process dies, that are stopped, or that are asked for at rest."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest

from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import CrawlState
from crawlclean.storage.mongo.store import MongoStore
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.journal import Action, Operation, OperationState
from crawlclean.workers.config import Settings
from crawlclean.workers.context import Context
from crawlclean.workers.operations.acting import running, running as turn
from crawlclean.workers.operations.acting.running import Turn
from crawlclean.workers.operations.watching.kept_backends import KeptBackends
from crawlclean.workers.processes import sweeping
from crawlclean.workers.site_models import SiteModels
from tests.kit.console import acting_console, do, settings_of
from tests.kit.crawls import start
from tests.kit.mongo_server import MongoServer, running as running_server
from tests.kit.private_queue import PrivateQueue
from tests.kit.queues import spec, urls
from tests.kit.timing import LIMIT_S, wait_until

HOST = "a.example"


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[PrivateQueue]:
    """A crawl ``c`` with five waiting URLs of one host, in queue and store."""
    with PrivateQueue(tmp_path / "data") as started:
        started.frontier.open_crawl(spec("c", f"http://{HOST}/"))
        started.frontier.add("c", urls(5))
        store = SqliteStore(started.data / "records.sqlite")
        store.crawls.put(started.frontier.spec("c"), CrawlState.RUNNING)
        store.close()
        yield started


@pytest.fixture
def mongo(tmp_path: Path) -> Iterator[MongoServer]:
    """A MongoDB-protocol server of this test."""
    (tmp_path / "mongo").mkdir()
    with running_server(tmp_path / "mongo") as started:
        yield started


def store_of(data: Path) -> SqliteStore:
    return SqliteStore(data / "records.sqlite")


def actions(data: Path) -> list[Action]:
    store = store_of(data)
    found = store.audit.read()
    store.close()
    return found


class Served:
    """A console in a process of its own, and a browser without a window."""

    def __init__(self, data: Path) -> None:
        self._process = start(
            *("console", "--allow-actions", "--no-password", "--port", "0", "--data", str(data))
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().split()[-1].rstrip("/")

    def get(self, path: str) -> str:
        with urlopen(self.url + path) as answer:  # noqa: S310 - our own address
            text: str = answer.read().decode()
        return text

    def begin_post(self, path: str, form: dict[str, str]) -> subprocess.Popen[bytes]:
        """Sends a form by a process of its own, which waits for the answer."""
        return subprocess.Popen(
            ["curl", "-s", "-H", f"Origin: {self.url}", "-d", urlencode(form), self.url + path]
        )

    def post(self, path: str, form: dict[str, str]) -> str:
        """Sends a form; the address of the page that it leads to."""
        request = Request(  # noqa: S310
            self.url + path, urlencode(form).encode(), headers={"Origin": self.url}
        )
        with urlopen(request) as answer:  # noqa: S310
            url: str = answer.url
        return url.removeprefix(self.url)

    def form(self, path: str) -> dict[str, str]:
        part = self.get(path).partition('<form method="post" action="/actions/')[2]
        found = re.findall(r'name="(\w+)" value="([^"]*)"', part.partition("</form>")[0])
        return dict(found)

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(LIMIT_S)
        for pipe in (self._process.stdout, self._process.stderr):
            assert pipe is not None
            pipe.close()


@contextmanager
def serving(data: Path) -> Iterator[Served]:
    served = Served(data)
    try:
        yield served
    finally:
        served.kill()


def test_an_action_whose_console_was_killed_has_an_unknown_outcome(queue: PrivateQueue) -> None:
    assert queue.server.pid
    form: dict[str, str]
    with serving(queue.data) as console:
        form = console.form(f"/actions/pause_host?target={HOST}")
        os.kill(queue.server.pid, signal.SIGSTOP)  # the action waits between its two rows
        try:
            browser = console.begin_post("/actions/pause_host", form)
            wait_until(lambda: _spent(queue.data) == [1])
            console.kill()
            browser.wait(LIMIT_S)
        finally:
            os.kill(queue.server.pid, signal.SIGCONT)
    (row,) = actions(queue.data)
    assert (row.action, row.did) == ("pause_host", None)
    with serving(queue.data) as console:
        page = console.get(f"/audit/{row.seq}")
        assert "unknown outcome" in page
        assert "The console died" in page
        assert "unknown outcome" in console.get("/audit")
        assert console.post("/actions/pause_host", form) == f"/audit/{row.seq}"
    assert len(actions(queue.data)) == 1, "a form that is sent again does nothing"


def test_a_form_whose_console_was_killed_before_it_began_does_nothing(
    queue: PrivateQueue,
) -> None:
    """The token is taken before the row of the audit is there."""
    with serving(queue.data) as console:
        form = console.form(f"/actions/pause_host?target={HOST}")
        with closing(sqlite3.connect(queue.data / "records.sqlite")) as writer:
            writer.execute("BEGIN IMMEDIATE")  # nobody else can write
            browser = console.begin_post("/actions/pause_host", form)
            wait_until(lambda: _spent(queue.data) == [0])
            console.kill()
            browser.wait(LIMIT_S)
            writer.rollback()
    assert actions(queue.data) == []
    with serving(queue.data) as console, pytest.raises(HTTPError) as error:
        console.post("/actions/pause_host", form)
    assert error.value.code == 409
    error.value.close()
    assert actions(queue.data) == []


def _spent(data: Path) -> list[int]:
    """Numbers of the actions that took tokens; 0: its row was not there yet."""
    with closing(sqlite3.connect(data / "console.sqlite")) as file:
        return [seq for (seq,) in file.execute("SELECT seq FROM spent")]


def context_of(queue: PrivateQueue, store: SqliteStore) -> Context:
    settings = settings_of(queue.data)
    return Context(
        settings=settings, frontier=queue.frontier, store=store, models=SiteModels(store)
    )


def wait_long(queue: PrivateQueue, seq: int) -> None:
    """As if the operation were silent for long."""
    with closing(sqlite3.connect(queue.data / "records.sqlite")) as file:
        file.execute("UPDATE operations SET moved_at = 0 WHERE seq = ?", (seq,))
        file.commit()
    queue.client.delete("rq:queue:pages")


def test_a_lost_operation_is_enqueued_again_three_times(queue: PrivateQueue) -> None:
    store = store_of(queue.data)
    seq = store.operations.add(Operation(kind="learn", target=HOST, who="me", asked="{}"))
    for _ in range(60):  # newer ones that have ended
        ended = store.operations.add(Operation(kind="retry", target=HOST, who="me"))
        store.operations.end(ended, OperationState.DONE, "")
    assert [each.seq for each in store.operations.unfinished()] == [seq]
    job = queue.frontier.operations.enqueue(seq)
    context = context_of(queue, store)
    sweeping.redo_operations(context)
    assert queue.frontier.operations.is_newest(seq, job), "it waits for a worker"
    for _ in range(3):
        wait_long(queue, seq)
        sweeping.redo_operations(context)
        assert not queue.frontier.operations.is_newest(seq, job)
        assert queue.frontier.operations.is_at_work(seq)
    wait_long(queue, seq)
    sweeping.redo_operations(context)
    found = store.operations.get(seq)
    assert found
    assert (found.state, found.detail) == (
        *(OperationState.FAILED, "the processes that did it died"),
    )
    store.close()


def test_an_operation_is_stopped_between_two_slices(
    queue: PrivateQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_of(queue.data)
    context = context_of(queue, store)
    monkeypatch.setattr(running, "process_context", lambda: context)
    monkeypatch.setattr(turn, "SLICE_S", -1.0)
    slices: list[dict[str, object]] = []

    def work(now: Turn) -> bool:
        slices.append(dict(now.cursor))
        return now.tell(now.done + 5, 20, "five more", {"after": str(now.done + 5)})

    monkeypatch.setattr(running, "WORK", {"retry": work})
    seq = store.operations.add(Operation(kind="retry", target=HOST, who="me", total=20))
    first = queue.frontier.operations.enqueue(seq)
    running.run_operation(seq, first, {})
    running.run_operation(seq, first, {})  # an older job
    assert slices == [{}]
    client = acting_console(settings_of(queue.data), queue.data)
    assert "/actions/stop_operation?target=1" in client.get("/operations/1").text
    second = queue.client.hget("cc:operations", seq).decode()
    do(client, "stop_operation", str(seq))
    assert "It stops after" in client.get("/operations/1").text
    running.run_operation(seq, second, {"after": "5"})
    assert slices == [{}], "it is asked before the slice"
    found = store.operations.get(seq)
    assert found
    assert (found.state, found.done) == (OperationState.STOPPED, 5)
    assert "It has ended already" in do(client, "stop_operation", str(seq)).text
    store.close()


def test_at_rest_short_actions_work_and_long_ones_name_their_command(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with PrivateQueue(data) as queue:
        queue.frontier.open_crawl(spec("c", f"http://{HOST}/"))
        queue.frontier.add("c", urls(5))
        store = store_of(data)
        store.crawls.put(queue.frontier.spec("c"), CrawlState.STOPPED)
        store.close()
    client = acting_console(settings_of(data), data)
    do(client, "pause_crawl", "c")
    assert actions(data)[0].did == "crawls 1"
    page = do(client, "resume_crawl", "c")
    assert "No crawl runs: the next run fetches" in page.text
    page = do(client, "purge_crawl", "c", typed_typed="c")
    assert "use the command `crawl purge c`" in page.text
    store = store_of(data)
    assert store.operations.read() == []
    store.close()
    with PrivateQueue(data) as queue:
        assert queue.frontier.counts("c").state is CrawlState.STOPPED


def test_on_servers_actions_are_the_same(
    queue: PrivateQueue, mongo: MongoServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pause, and an operation that a worker does, with the MongoDB store."""
    database = mongo.url("test_actions")
    storage = StorageConfig(
        data=queue.data / "own", redis_url=queue.server.url, mongodb_url=database
    )
    settings = Settings(storage=storage)
    store = MongoStore(database)
    store.crawls.put(spec("c", f"http://{HOST}/"), CrawlState.RUNNING)
    (queue.data / "own").mkdir()
    backends = KeptBackends(settings)
    client = acting_console(settings, queue.data / "own", backends)
    page = do(client, "pause_host", HOST, typed_why="维护")
    assert [(each.host, each.why) for each in store.pauses.all()] == [(HOST, "维护")]
    assert "/actions/resume_host" in page.text
    do(client, "resume_host", HOST)
    assert store.pauses.all() == []
    first, second = store.audit.read()
    assert (first.action, first.did, second.undo) == (
        *("resume_host", "hosts 1", f"resume_host {HOST}"),
    )
    do(client, "purge_crawl", "c", typed_typed="c")
    (operation,) = store.operations.read()
    assert operation.state is OperationState.WAITING
    job = queue.client.hget("cc:operations", operation.seq).decode()
    context = Context(
        settings=settings, frontier=queue.frontier, store=store, models=SiteModels(store)
    )
    monkeypatch.setattr(running, "process_context", lambda: context)
    running.run_operation(operation.seq, job, {})
    found = store.operations.get(operation.seq)
    assert found
    assert (found.state, found.detail) == (
        *(OperationState.DONE, "deleted_urls 6; deleted_records 0"),
    )
    assert queue.frontier.crawl_ids() == []
    store.close()
    backends.close()
