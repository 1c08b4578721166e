"""A crawl's processes in both modes, looked after as an init system would.

``Embedded`` is `run` with everything below it; ``Servers`` is a Redis-protocol and a
MongoDB-protocol server with spiders, workers and a housekeeper as commands of their own. What dies
is started again after a second, the servers on their own files. A third kind, for measurements, is
``benchmarks/kit/fleet.py``: any number of each role, started one by one.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from crawlclean.cleaning.errors import StorageError
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState
from crawlclean.storage.mongo.store import MongoStore
from crawlclean.storage.queue.embedded import EmbeddedServer, find_server, socket_url
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.protocol import Store
from tests.chaos.flight import answers
from tests.chaos.members import Member
from tests.kit.crawls import ROOT, command, environment
from tests.kit.mongo_server import MongoServer, free_port
from tests.kit.processes import children_of, family_of, is_alive, kill, processes_of, role_of
from tests.kit.server_process import Running
from tests.kit.timing import wait_until

CRAWL = "chaos"
CRAWL_LIMIT_S = 600.0
LOOK_S = 0.02  # how often a crawl is looked at: the looks cost the crawl little
PASSWORD = "geheim/+@:"  # noqa: S105 - of a server of our own
WORD_IN_URL = "geheim%2F%2B%40%3A"

# Loaded by every interpreter of a hurried fleet: silence of a few seconds is death, so that the
# redo shows in a short test. The long runs measure the real times.
HURRY = """
import sys

import crawlclean.crawler.leasing
import crawlclean.storage.queue.fetch_queue, crawlclean.storage.queue.frontier
import crawlclean.storage.queue.jobs, crawlclean.storage.queue.maintenance

crawlclean.storage.queue.fetch_queue.SESSION_TTL_MS = 3000
crawlclean.storage.queue.fetch_queue.RENEW_S = crawlclean.crawler.leasing.RENEW_S = 0.5
crawlclean.storage.queue.frontier.CLAIM_TTL_MS = 5000
crawlclean.storage.queue.maintenance.LOST_JOB_MS = 3000
crawlclean.storage.queue.jobs.LOST_MS = 3000
if {"run", "housekeeper"} & {*sys.orig_argv}:  # `run` forks its housekeeper
    import crawlclean.workers.processes.sweeping

    crawlclean.workers.processes.sweeping.STATISTICS_S = 2.0
    crawlclean.workers.processes.sweeping.GRACE_S = 1.5
"""


class Fleet(Running):
    """The parts that both modes have in common; for a ``with`` block."""

    roles: tuple[str, ...]
    queue_url: str

    def __init__(
        self,
        folder: Path,
        seeds: tuple[str, ...],
        *,
        hurry: bool,
        sabotage: str = "",
        images: bool = False,
    ) -> None:
        """Prepares the processes.

        Args:
            folder: For files and logs.
            seeds: Where the crawl begins.
            hurry: Whether a silent process counts as dead after a few seconds already.
            sabotage: Code that every interpreter runs first, a file in ``folder/early``.
            images: Whether the crawl fetches images.
        """
        self.folder, self.seeds, self.images = folder, seeds, images
        self.logs = folder / "data" / "logs"
        self.data = folder / "data"
        self._path = str(ROOT)
        if hurry or sabotage:
            early = folder / "early"
            early.mkdir(parents=True)
            code = HURRY * hurry + sabotage
            (early / "sitecustomize.py").write_text(code, "utf-8")
            self._path = f"{early}:{ROOT}"
        self.members: list[Member] = []
        self._client: Any = None

    def stop(self) -> None:
        """Kills every process."""
        for pid in self.tree():
            kill(pid)
        for member in self.members:
            member.stop()
        if self._client is not None:
            self._client.close()

    @property
    def client(self) -> Any:
        """A client of the queue that tries nothing again."""
        if self._client is None:
            self._client = Redis.from_url(
                self.queue_url,
                decode_responses=True,
                socket_timeout=5,
                retry=Retry(NoBackoff(), 0),
            )
        return self._client

    def look_after(self) -> None:
        """Starts members again that have died."""
        for member in self.members:
            member.look_after()

    def victims(self) -> dict[str, list[int]]:
        """Ids of the processes that live now, by role; ``job`` is a worker's fork for jobs."""
        raise NotImplementedError

    def tree(self) -> list[int]:
        """Every process."""
        alive = [m.pid for m in self.members if m.is_running()]
        return alive + [each for pid in alive for each in family_of(pid)]

    def workforce(self) -> list[int]:
        """Ids of the processes that change the queue."""
        who = self.victims()
        return [
            pid for role in ("spider", "worker", "job", "housekeeper") for pid in who.get(role, [])
        ]

    def is_done(self) -> bool:
        """Whether nothing is left to do."""
        raise NotImplementedError

    def come_to_rest(self) -> None:
        """Stops the workforce; the queue and the store can be read afterwards."""
        raise NotImplementedError

    def open_store(self) -> Store:
        raise NotImplementedError

    def crawl_id(self) -> str:
        found = self.client.smembers("cc:crawls")
        assert len(found) == 1
        return str(next(iter(found)))

    def frontier(self) -> Frontier:
        return Frontier(self.queue_url)

    def lines(self) -> dict[str, list[str]]:
        """Lines of every process, by the name of its log; the log of fetches is no process's."""
        return {
            log.stem: log.read_text("utf-8", "replace").splitlines()
            for log in sorted(self.logs.glob("*.log"))
            if log.name != "fetch.log"
        }


class Embedded(Fleet):
    """`run` on a data folder, with the private server and SQLite."""

    roles = ("spider", "worker", "job", "housekeeper", "queue", "run")

    def start(self) -> None:
        self.data.mkdir(parents=True, exist_ok=True)
        run = Member(
            "run",
            command(*self.words(), "--allow-private", "--data", str(self.data), "--workers", "2"),
            self.logs / "run.log",
            environment(PYTHONPATH=self._path),
        )
        self.queue_url = socket_url(self.data)
        self.members = [run]
        self._family: list[int] = []
        self._server: EmbeddedServer | None = None
        run.start()

    def words(self) -> list[str]:
        """The command and what it is to crawl."""
        return ["run", *self.seeds, *["--images"] * self.images]

    def stop(self) -> None:
        super().stop()
        if self._server:
            self._server.stop()

    def look_after(self) -> None:
        [run] = self.members
        if run.is_running():
            self._family = family_of(run.pid)
        elif not self.is_done() and not any(map(is_alive, self._family)):
            run.look_after()

    def victims(self) -> dict[str, list[int]]:
        [run] = self.members
        who: dict[str, list[int]] = {"run": [run.pid]} if run.is_running() else {}
        for pid in processes_of(run.pid):
            if role := role_of(pid):
                who.setdefault(role, []).append(pid)
        jobs = [job for pid in who.get("worker", []) for job in children_of(pid)]
        return {**who, "job": jobs}

    def is_done(self) -> bool:
        return self.members[0].process.poll() == 0

    def come_to_rest(self) -> None:
        self._server = EmbeddedServer(self.data)
        self._server.start()

    def open_store(self) -> Store:
        return SqliteStore(self.data / "records.sqlite")


class Servers(Fleet):
    """Commands of their own on a Redis-protocol and a MongoDB-protocol server."""

    roles = ("spider", "worker", "job", "housekeeper", "queue", "mongo")
    address = "127.0.0.1"  # of both servers

    def __init__(
        self,
        folder: Path,
        seeds: tuple[str, ...],
        *,
        hurry: bool,
        sabotage: str = "",
        images: bool = False,
        queue_folder: Path | None = None,
    ) -> None:
        """Prepares the processes.

        Args:
            folder: For files and logs.
            seeds: Where the crawl begins.
            hurry: Whether a silent process counts as dead after a few seconds already.
            sabotage: Code that every interpreter runs first.
            images: Whether the crawl fetches images.
            queue_folder: Another place for the queue's file.
        """
        super().__init__(folder, seeds, hurry=hurry, sabotage=sabotage, images=images)
        port = free_port()
        self.queue_url = f"redis://:{WORD_IN_URL}@{self.address}:{port}/0"
        self.mongo_server = MongoServer(folder / "mongo", address=self.address)
        self.mongo_url = self.mongo_server.url("crawl")
        queue = queue_folder or folder / "queue"
        self.logs.mkdir(parents=True)
        queue.mkdir(exist_ok=True)
        env = environment(
            PYTHONPATH=self._path,
            CRAWLCLEAN_REDIS_URL=self.queue_url,
            CRAWLCLEAN_MONGODB_URL=self.mongo_url,
            CRAWLCLEAN_DATA=str(self.data),
        )
        self.queue = Member(
            "queue",
            self.placed(
                "queue",
                [
                    *(find_server(), "--port", str(port), "--bind", self.address),
                    *("--requirepass", PASSWORD, "--dir", str(queue), "--logfile", ""),
                    *("--appendonly", "yes", "--appendfsync", "everysec", "--save", ""),
                    *("--maxmemory", "256mb", "--maxmemory-policy", "noeviction"),
                ],
            ),
            folder / "queue.log",
            environment(),
        )
        mongo = self.placed("mongo", self.mongo_server.command)
        self.mongo = Member("mongo", mongo, folder / "mongo.log", environment())
        roles = ["spider", "spider", "worker", "worker", "housekeeper"]
        self._workforce = [
            Member(role, self.placed(role, command(role)), self.logs / f"{role}-{n}.log", env)
            for n, role in enumerate(roles)
        ]

    def placed(self, role: str, command: Sequence[str]) -> Sequence[str]:
        """The command line that starts a role's process where that role runs: here."""
        del role
        return command

    def start(self) -> None:
        self.members = [self.queue, self.mongo]
        for server in self.members:
            server.start()
        wait_until(lambda: answers(self.client))
        self.mongo_server.await_ready()
        self._seed()
        self.members += self._workforce
        for member in self._workforce:
            member.start()

    def spec(self) -> CrawlSpec:
        """The order of the crawl."""
        return CrawlSpec(crawl_id=CRAWL, seeds=self.seeds, allow_private=True, images=self.images)

    def _seed(self) -> None:
        spec = self.spec()
        frontier, store = self.frontier(), self.open_store()
        frontier.open_crawl(spec)
        store.crawls.put(spec, CrawlState.RUNNING)
        frontier.close()
        store.close()

    def victims(self) -> dict[str, list[int]]:
        who: dict[str, list[int]] = {"job": []}
        for member in self.members:
            if member.is_running():
                who.setdefault(member.role, []).append(member.pid)
                if member.role == "worker":
                    who["job"] += children_of(member.pid)
        return who

    def is_done(self) -> bool:
        try:
            fields = self.client.hmget(f"cc:c:{CRAWL}", "pending", "leased", "queued")
            learning = self.client.zcard("cc:learn")
        except RedisError:
            return False
        is_open = learning or any(int(field or 0) for field in fields)
        return not is_open and not (self.images and self._has_due_images())

    def _has_due_images(self) -> bool:
        try:
            with closing(self.open_store()) as store:
                return bool(store.images.due(CRAWL, 1))
        except StorageError:
            return True  # the next look tells

    def come_to_rest(self) -> None:
        while self._workforce:
            member = self._workforce.pop()
            if member.is_running():
                status = member.terminate()
                young = -signal.SIGTERM  # told to stop before it could listen
                assert status in (0, young), (member.role, status, member.log.read_text("utf-8"))
            self.members.remove(member)

    def open_store(self) -> Store:
        return MongoStore(self.mongo_url)


def fleet_of(
    store: str, folder: Path, seeds: tuple[str, ...], *, hurry: bool = False, images: bool = False
) -> Fleet:
    """The fleet that keeps its records in ``sqlite`` or ``mongo``."""
    kinds: dict[str, type[Fleet]] = {"sqlite": Embedded, "mongo": Servers}
    return kinds[store](folder, seeds, hurry=hurry, images=images)
