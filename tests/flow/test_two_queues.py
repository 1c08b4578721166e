"""Two Redis servers share a MongoDB: neither takes the crawls of the other unless told to."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from redis import Redis

from crawlclean.cleaning.errors import StorageError
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState
from crawlclean.storage.mongo.store import MongoStore
from crawlclean.storage.queue import ownership
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.queue.ownership import announce, other_owners
from crawlclean.storage.store import crawls as queues
from crawlclean.workers.config import Settings
from crawlclean.workers.context import Context
from crawlclean.workers.operations.watching.queues import _queues
from crawlclean.workers.processes.sweeping import WatchedQueue, update_crawls
from crawlclean.workers.site_models import SiteModels
from tests.kit.commands import call_main
from tests.kit.mongo_server import MongoServer, own_store, running, url_of
from tests.kit.outcomes import HOST, make_outcome
from tests.kit.queue_server import QueueServer
from tests.kit.timing import wait_until
from tests.storage.store.queues_contract import age

SPEC = CrawlSpec(crawl_id="c", seeds=(f"https://{HOST}/0",), delay_ms=0)


LIFE_S = 3600.0  # of a queue here: a busy machine may take a minute for some commands
GONE_S = LIFE_S + 1


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queues, "LIFE_S", LIFE_S)


class Machine:
    """A queue beside the shared store, with the commands of its machine."""

    def __init__(self, server: QueueServer, store: MongoStore, data: Path) -> None:
        self.server, self.store = server, store
        self.storage = StorageConfig(data=data, redis_url=server.url, mongodb_url=url_of(store))
        self.frontier = Frontier(server.url)
        self.context = Context(
            settings=replace(Settings(), storage=self.storage),
            frontier=self.frontier,
            store=store,
            models=SiteModels(store),
        )
        self.watched = WatchedQueue(self.context)

    @property
    def queue_id(self) -> str:
        return self.frontier.queue_id()

    def sweep(self) -> None:
        """What a housekeeper does with crawls each ten seconds."""
        self.watched.stop_taken(self.watched.announce())
        update_crawls(self.context)

    def command(self, *arguments: str) -> tuple[int, str, str]:
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("CRAWLCLEAN_REDIS_URL", self.storage.redis_url)
            patched.setenv("CRAWLCLEAN_MONGODB_URL", self.storage.mongodb_url)
            patched.setenv("CRAWLCLEAN_DATA", str(self.storage.data))
            return call_main(*arguments)

    def crawl(self) -> None:
        """Runs the crawl here, half way."""
        self.frontier.open_crawl(SPEC)
        self.store.crawls.put(SPEC, CrawlState.RUNNING, queue=self.queue_id)
        self.store.save([make_outcome(f"/{n}", crawl_id="c") for n in range(3)])
        self.sweep()


@pytest.fixture(scope="module")
def mongo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MongoServer]:
    with running(tmp_path_factory.mktemp("mongo")) as started:
        yield started


@contextmanager
def machines(mongo: MongoServer, folder: Path) -> Iterator[tuple[Machine, Machine]]:
    with ExitStack() as stack:
        store = stack.enter_context(own_store(mongo.url("")))
        servers = [stack.enter_context(QueueServer(folder / name)) for name in ("one", "two")]
        made = [Machine(each, store, folder / "data") for each in servers]
        for each in made:
            stack.callback(each.frontier.close)
        yield made[0], made[1]


@pytest.fixture
def two(mongo: MongoServer, tmp_path: Path) -> Iterator[tuple[Machine, Machine]]:
    with machines(mongo, tmp_path) as made:
        yield made


def test_a_living_queue_keeps_its_crawl(two: tuple[Machine, Machine]) -> None:
    one, other = two
    one.crawl()
    other.sweep()
    status, out, err = other.command("crawl", "recover")
    assert (status, out) == (0, "nothing to recover: queue and store have the same crawls\n")
    line = f"crawl c is run by another queue, {one.storage.queue_place}, heard "
    assert line in err
    assert "`crawl recover c --force`" in err
    for command in (
        ("crawl", "recover", "c"),
        ("run", SPEC.seeds[0], "--crawl", "c", "--contact", "a@b.example"),
        ("run", SPEC.seeds[0], "--crawl", "c", "--contact", "a@b.example", "--fresh"),
        ("crawl", "stop", "c"),
        ("crawl", "resume", "c"),
        ("crawl", "retry", "c"),
        ("crawl", "refetch", "c"),
        ("crawl", "purge", "c", "--yes"),
    ):
        status, out, err = other.command(*command)
        assert (status, line in err) == (1, True), (command, out, err)
        assert len(err.splitlines()) == 1, err
    one.store.crawls.put(SPEC, CrawlState.PURGED)
    assert other_owners(other.storage, other.frontier, one.store) == {}, "nobody runs it"
    one.store.crawls.put(SPEC, CrawlState.RUNNING)
    assert other.command("crawl", "recover", "--force")[0] == 0
    assert other.frontier.crawl_ids() == []
    (row,) = one.store.crawls.all()
    assert (row.queue, row.state) == (one.queue_id, CrawlState.RUNNING)
    assert one.frontier.counts("c").state is CrawlState.RUNNING


def test_crawls_doctor_and_console_name_the_other_queue(two: tuple[Machine, Machine]) -> None:
    one, other = two
    assert "another queue" not in one.command("doctor")[1]
    one.crawl()
    assert "another queue" not in one.command("crawls")[1]
    other.sweep()
    place = one.storage.queue_place
    assert f"c is of another queue: {place}, heard" in other.command("crawls")[1]
    assert f'"other_queue":"{place}"' in other.command("crawls", "--json")[1]
    assert f"1 of another queue: {place}, heard" in other.command("doctor")[1]
    assert "0 of another queue" in one.command("doctor")[1]
    lines = {line.place: line for line in _queues(one.store, one.queue_id)}
    assert (lines[place].crawls, lines[place].is_own) == (1, True)
    assert (lines[other.storage.queue_place].crawls, len(lines)) == (0, 2)


def test_forced_the_crawl_moves_and_the_first_queue_stops(two: tuple[Machine, Machine]) -> None:
    one, other = two
    one.crawl()
    status, out, err = other.command("crawl", "recover", "c", "--force")
    assert (status, out[:12]) == (0, "recovered c:"), err
    assert one.store.crawls.all()[0].queue == other.queue_id
    assert other.frontier.counts("c").stored == 3
    one.sweep()
    assert one.frontier.counts("c").state is CrawlState.STOPPED
    other.sweep()
    assert one.store.crawls.all()[0].state is CrawlState.STOPPED
    texts = [event.text for event in one.store.events.read()]
    assert f"stopped in the queue {one.queue_id}: the queue {other.queue_id} runs it" in texts
    other.sweep()
    count = len(one.store.events.read())
    one.sweep()
    assert len(one.store.events.read()) == count
    assert "is run by another queue" in one.command("crawl", "resume", "c")[2]


def test_a_queue_that_is_gone_is_recovered(two: tuple[Machine, Machine]) -> None:
    one, other = two
    one.crawl()
    age(one.store, one.queue_id, GONE_S)
    status, out, _ = other.command("crawl", "recover")
    assert (status, out[:12]) == (0, "recovered c:")
    assert one.store.crawls.all()[0].queue == other.queue_id
    age(one.store, other.queue_id, GONE_S)  # and back again: the first queue has an older state
    status, out, _ = one.command("crawl", "recover")
    assert (status, out[:12]) == (0, "recovered c:")


def test_an_emptied_server_is_recovered_at_once(two: tuple[Machine, Machine]) -> None:
    one, _ = two
    one.crawl()
    with Redis.from_url(one.server.url) as client:
        client.flushall()
    status, out, err = one.command("crawl", "recover")
    assert (status, out[:12], err) == (0, "recovered c:", "")
    assert [row.queue_id for row in one.store.queues.all()] == [one.queue_id]


def test_a_housekeeper_that_sees_a_new_queue_forgets_the_old(two: tuple[Machine, Machine]) -> None:
    one, other = two
    one.crawl()
    old = one.queue_id
    one.watched._context = replace(one.context, frontier=other.frontier)  # a server replaced
    one.watched.announce()
    assert old not in {row.queue_id for row in one.store.queues.all()}


@pytest.mark.parametrize("is_alive", [True, False])
def test_two_servers_of_one_name_are_told_apart_by_listening(
    two: tuple[Machine, Machine], monkeypatch: pytest.MonkeyPatch, is_alive: bool
) -> None:
    one, other = two
    place = other.storage.queue_place
    one.crawl()
    old = one.frontier.queue_id()
    one.store.queues.hear(old, place, one.frontier.server_run())
    said: list[str] = []
    if is_alive:
        monkeypatch.setattr(ownership, "LISTEN_S", 60.0)
        hear = threading.Thread(target=_hear_when, args=(one.store, old, place, said))
        hear.start()
    else:
        monkeypatch.setattr(ownership, "LISTEN_S", 0.0)
    found = other_owners(other.storage, other.frontier, one.store, said.append)
    (line,) = said
    assert line.startswith(f"another queue at {place} was heard ")
    assert set(found) == ({"c"} if is_alive else set())
    if is_alive:
        hear.join()
        monkeypatch.setattr(ownership, "_is_heard_again", lambda *_: True)
        with pytest.raises(StorageError, match="is run by another queue"):
            ownership.check_owner(other.storage, other.frontier, one.store, ["c"])


def _hear_when(store: MongoStore, queue_id: str, place: str, said: list[str]) -> None:
    wait_until(lambda: bool(said))
    store.queues.hear(queue_id, place, "another run")


def test_a_crawl_from_before_queues_had_ids_gets_its_queue(two: tuple[Machine, Machine]) -> None:
    one, other = two
    one.frontier.open_crawl(SPEC)
    one.store.crawls.put(SPEC, CrawlState.RUNNING)
    other.sweep()
    assert one.store.crawls.all()[0].queue == ""
    one.sweep()
    assert one.store.crawls.all()[0].queue == one.queue_id


def test_a_queue_keeps_its_id_and_readers_make_none(two: tuple[Machine, Machine]) -> None:
    one, _ = two
    assert one.frontier.queue_id(make=False) == ""
    made = announce(one.storage, one.frontier, one.store)
    assert one.frontier.queue_id(make=False) == made == one.queue_id
    assert len(made) == 32


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("redis://user:p%40ss@db1:6379/0?x=1", "redis://db1:6379/0"),
        ("rediss://db1", "rediss://db1"),
        ("redis://localhost:6379/0", "redis://localhost:6379/0 on web1"),
        ("redis://:secret@[::1]:6379/0", "redis://[::1]:6379/0 on web1"),
        ("unix://user:secret@/run/redis.sock", "unix:///run/redis.sock on web1"),
    ],
)
def test_the_place_of_a_queue_has_no_password(
    url: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "web1")
    storage = StorageConfig(redis_url=url, mongodb_url="mongodb://db1/crawl")
    assert storage.queue_place == place
