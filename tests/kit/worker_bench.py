"""A real worker process on a private queue; the test is its spider and its housekeeper."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import (
    CrawlSpec,
    CrawlState,
    Failure,
    FailureReason,
    FetchResult,
    UrlRow,
)
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.workers.config import Settings
from crawlclean.workers.context import Context
from crawlclean.workers.site_models import SiteModels
from tests.kit.crawls import ROOT, command
from tests.kit.private_queue import PrivateQueue
from tests.kit.queues import Spider
from tests.kit.timing import LIMIT_S, wait_until
from tests.kit.web import html

WAIT = "http://a.example/wait"
LONG = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。"

# Loaded by the worker's interpreter at its start: cleaning some pages goes wrong. What is to go
# wrong once only leaves a mark in the folder, with the time when its job began.
SABOTAGE = """
import os, signal, sys, time
from pathlib import Path

if {"run", "worker"} & {*sys.orig_argv}:  # `run` forks its workers
    from rq.job import Job

    import crawlclean.workers.jobs.outcomes as endings

    real, folder = endings.read, Path(__file__).parent
    begun, perform = [], Job.perform

    def perform_timed(job):
        begun.append(time.time())
        return perform(job)

    Job.perform = perform_timed

    def first(name):
        mark = folder / name
        if mark.exists():
            return False
        mark.write_text(str(begun[-1]))
        return True

    def clean(page, *rest):
        raw = getattr(page, "page", page)  # parsed before, or not
        if raw.url.endswith("/kill"):
            os.kill(os.getpid(), signal.SIGKILL)
        if raw.url.endswith("/exit"):
            os._exit(3)
        if raw.url.endswith("/memory"):
            raise MemoryError
        if raw.url.endswith("/memory-once") and first("memory"):
            raise MemoryError
        if raw.url.endswith("/defect"):
            raise RuntimeError("a defect\\nof ours")
        if raw.url.endswith("/slow") and first("slow"):
            while True:
                time.sleep(60)
        if raw.url.endswith("/hang") and first("hang"):
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
            while True:
                signal.pause()
        return real(page, *rest)

    endings.read = clean
"""


# Loaded by every interpreter at its start: cleaning a page named wait takes until a file lets it
# go on, and `run` has little patience with its children.
WAITING = """
import sys, time
from pathlib import Path

folder = Path(__file__).parent
if "run" in sys.orig_argv:
    import crawlclean.workers.processes.fleet as supervisor

    supervisor.STOP_LIMIT_S = 0.5
if {"run", "worker"} & {*sys.orig_argv}:  # `run` forks its workers
    import crawlclean.workers.jobs.outcomes as endings

    real = endings.read

    def clean(page, *rest):
        raw = getattr(page, "page", page)  # parsed before, or not
        if raw.url.endswith("/wait"):
            with (folder / "waited").open("a") as told:
                told.write("x")
            while not (folder / "go").exists():
                time.sleep(0.01)
        return real(page, *rest)

    endings.read = clean
"""


class Bench(PrivateQueue):
    """The queue, the store and the worker of one data folder."""

    def __init__(self, folder: Path, sabotage: str = SABOTAGE) -> None:
        """Prepares them; the worker's interpreter loads ``sabotage`` at its start."""
        super().__init__(folder / "data")
        self._sabotage = folder / "sabotage"
        self._sabotage.mkdir()
        (self._sabotage / "sitecustomize.py").write_text(sabotage, "utf-8")

    def start(self) -> None:
        """Starts the queue's server; the worker is started by the test."""
        super().start()
        self.spider = Spider(self.server.url)
        self.endings.callback(self.spider.close)

    def start_worker(self) -> None:
        """Starts `crawlclean worker`."""
        words = command("worker", "--data", str(self.data))
        self.start_program("worker", words, PYTHONPATH=f"{self._sabotage}:{ROOT}")

    def fetch(self, *urls: str, crawl_id: str = "c", **answers: FetchResult) -> None:
        """Opens a crawl and hands its pages over; ``answers`` by the last part of the URL."""
        self.frontier.open_crawl(
            CrawlSpec(
                crawl_id=crawl_id,
                seeds=urls,
                allow_private=True,
                delay_ms=0,
                slots=64,
                trap_pages=0,  # else only some are leased before the first are judged
            )
        )
        for lease in self.spider.pages(len(urls)):
            name = lease.url.rpartition("/")[2]
            self.spider.put(lease, answers.get(name) or answer(name))
        self.spider.flush()

    def crawl(self, base: str, state: CrawlState, answers: Mapping[str, FetchResult]) -> None:
        """Cleans the pages of a crawl ``c`` by a worker; ``answers`` by what is behind ``base``."""
        self.start_worker()
        self.fetch(*(base + name for name in answers), crawl_id="c", **answers)
        self.sweep_until(self.is_done)
        with closing(self.store()) as store:
            store.crawls.put(self.frontier.spec("c"), state)
            store.statistics.refresh()

    def sweep_until(self, condition: Callable[[], bool], limit_s: float = LIMIT_S) -> None:
        """Sweeps until the condition holds."""

        def swept() -> bool:
            self.assert_alive()
            self.frontier.sweep()
            return condition()

        wait_until(swept, limit_s)

    def is_done(self, crawl_id: str = "c") -> bool:
        """Whether every fetched page has ended."""
        counts = self.frontier.counts(crawl_id)
        return counts.queued + counts.leased == 0

    def began(self, mark: str) -> datetime:
        """When the job began that left a mark: the worker counts its time from here."""
        return datetime.fromtimestamp(float((self._sabotage / mark).read_text()), UTC)

    def store(self) -> SqliteStore:
        """The store; to be closed."""
        return SqliteStore(self.data / "records.sqlite")

    @contextmanager
    def context(self) -> Iterator[Context]:
        """The backends as a process of the bench has them; the store is closed at the end."""
        with closing(self.store()) as store:
            settings = Settings(storage=StorageConfig(data=self.data))
            yield Context(settings, self.frontier, store, SiteModels(store))

    def stored(self) -> list[str]:
        """URLs with a record, sorted."""
        with closing(self.store()) as store:
            return sorted(record.url for record in store.records.scan())

    def failures(self) -> dict[str, tuple[FailureReason | None, str]]:
        """URL -> (reason, detail) of every failure."""
        store = self.store()
        try:
            return {row.url: (row.reason, row.detail) for row in store.urls.failures()}
        finally:
            store.close()

    def url_row(self, page_id: str) -> UrlRow:
        """What the store knows about a URL."""
        store = self.store()
        try:
            return store.urls.rows(page_id)[0]
        finally:
            store.close()


class Waiting(Bench):
    """A bench whose worker waits at a page until it may go on."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, WAITING)

    def begin(self) -> None:
        """Returns when the worker is at the page."""
        self.fetch("http://a.example/1", WAIT)
        self.start_worker()
        wait_until(lambda: self.waited == 1)

    def go(self) -> None:
        (self._sabotage / "go").touch()

    @property
    def waited(self) -> int:
        told = self._sabotage / "waited"
        return len(told.read_text()) if told.exists() else 0

    def kill_server(self) -> None:
        assert self.server.pid
        os.kill(self.server.pid, signal.SIGKILL)
        wait_until(lambda: not self.server.is_running())


def answer(
    title: str,
    text: str = LONG,
    status: int = 200,
    location: str = "",
    links: Mapping[str, str] | None = None,
) -> FetchResult:
    """A plain page; a failure when its status is one."""
    headers = [("Content-Type", "text/html; charset=utf-8")]
    headers += [("Location", location)] if location else []
    failure = Failure(reason=FailureReason.HTTP_STATUS, detail=f"status {status}")
    return FetchResult(
        status=status,
        headers=tuple(headers),
        body=html(title, text, links=links).encode(),
        elapsed_ms=3,
        failure=failure if status >= 400 else None,
    )
