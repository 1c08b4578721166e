"""The RQ worker: forks a job, watches over it, and says at once when it died.

Differences from the stock worker: JSON, no maintenance of its own that would redo jobs, claims
kept alive while the job runs, a hanging job killed 5 s after its time, forks that die with the
worker, imports and the packaged dictionaries loaded before the first fork.
"""

from __future__ import annotations

import gc
import importlib
import logging
import os
import signal
import threading
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from rq import Queue
from rq.exceptions import StopRequested
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.worker import Worker

from cleaning import RawPage, clean
from cleaning.errors import QueueUnavailable
from storage.clients import AWAY, open_client, wait_for_queue
from storage.embedded import die_with_parent
from storage.entries import process_name
from storage.frontier import Frontier
from storage.jobs import CLEAN_PAGES, QUEUES, PagesJob
from storage.opening import has_ended, patience_s, queue_url
from workers.context import process_context

log = logging.getLogger(__name__)

WORKER_TTL_S = 45  # an idle worker looks up every 30 s
WATCH_S = 2
OVERTIME_S = 3.0  # watched every WATCH_S: killed at most 5 s after the job's time


class _Jobs(Queue):
    """The queue of jobs, whose absence ends a worker: the stock one would sleep and try blindly."""

    @classmethod
    def dequeue_any(cls, *args: Any, **options: Any) -> Any:
        """The next job and its queue."""
        try:
            return super().dequeue_any(*args, **options)
        except AWAY as error:
            raise StopRequested from error


class CleaningWorker(Worker):
    """An RQ worker whose jobs hold claims on pages.

    While a job's process runs, nothing but a signal may end the watch over it: an absent server
    must not. What is left of it all the same is ended by ``end_horse``.
    """

    def __init__(self, frontier: Frontier, connection: Any) -> None:
        super().__init__(
            list(QUEUES),
            name=f"{process_name()}.{uuid.uuid4().hex[:8]}",
            connection=connection,
            serializer=JSONSerializer,
            job_class=PagesJob,
            queue_class=_Jobs,
            worker_ttl=WORKER_TTL_S,
            job_monitoring_interval=WATCH_S,
            log_job_description=False,
        )
        self._frontier = frontier
        self._bind_child: Callable[[], None] | None = None
        self._job_at_hand = ""
        self.abandoned = ""  # a job whose process we killed, by no fault of its pages
        self.stopped_on_request = False

    def request_stop(self, signum: int, frame: Any) -> None:
        """The signal handler: the job at hand is finished first."""
        self.stopped_on_request = True
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]

    def request_force_stop(self, signum: int, frame: Any) -> None:
        """The handler of the second signal: the job at hand is killed and left to others."""
        running = self.horse_pid
        try:
            super().request_force_stop(signum, frame)
        except SystemExit:
            self.abandoned = self._job_at_hand if running else ""
            raise

    def set_shutdown_requested_date(self) -> None:
        """Tells who looks at the queue; called by the signal handler, wherever that interrupts."""
        with suppress(*AWAY):
            super().set_shutdown_requested_date()  # type: ignore[no-untyped-call]

    def set_current_job_working_time(
        self, current_job_working_time: float, pipeline: Any = None
    ) -> None:
        """Tells who looks at the queue; called while a job's process runs."""
        with suppress(*AWAY):
            super().set_current_job_working_time(current_job_working_time, pipeline)

    def heartbeat(self, timeout: int | None = None, pipeline: Any = None) -> None:
        """Ends this worker when the server is away: the stock one would sleep and retry blindly."""
        try:
            super().heartbeat(timeout, pipeline)
        except AWAY as error:
            raise StopRequested from error

    def fork_work_horse(self, job: Job, queue: Any) -> None:
        """Forks; the child will die with us."""
        self._bind_child = die_with_parent()
        self._job_at_hand = job.id
        super().fork_work_horse(job, queue)

    def main_work_horse(self, job: Job, queue: Any) -> None:
        """The child's whole life."""
        if self._bind_child:
            self._bind_child()
        super().main_work_horse(job, queue)

    def maintain_heartbeats(self, job: Job) -> None:
        """Every ``WATCH_S`` while a job runs: keeps its claim, kills it when it hangs."""
        try:
            super().maintain_heartbeats(job)
            self._frontier.keep_claim(job.id)
        except (QueueUnavailable, *AWAY) as error:
            log.warning("queue away while a job runs", extra={"reason": str(error)})
        if job.timeout and self.current_job_working_time > float(job.timeout) + OVERTIME_S:
            log.warning("hanging job killed", extra={"job": job.id})
            self.kill_horse()

    def handle_work_horse_killed(self, job: Job, retpid: int, ret_val: int, rusage: Any) -> None:
        """The child died: its pages need not wait for the claim to run out."""
        super().handle_work_horse_killed(job, retpid, ret_val, rusage)  # type: ignore[no-untyped-call]
        self._frontier.break_claim(job.id)

    def end_horse(self) -> None:
        """Kills a job's process that outlived the watch over it, and waits until it is gone."""
        pid, self._horse_pid = self.horse_pid, 0
        with suppress(ChildProcessError):  # it ended, and somebody has seen it
            if pid and os.waitpid(pid, os.WNOHANG) == (0, 0):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                self.abandoned = self._job_at_hand

    def teardown(self) -> None:
        """The end of work; its thread ends also when the server is away."""
        try:
            super().teardown()  # type: ignore[no-untyped-call]
        except AWAY:
            if self.pubsub_thread:
                self.pubsub_thread.stop()

    def _pubsub_exception_handler(self, exc: Exception, pubsub: Any, pubsub_thread: Any) -> None:
        """Waits in silence while the server is away: the main thread says so."""
        if isinstance(exc, AWAY):
            threading.Event().wait(1.0)
        else:
            super()._pubsub_exception_handler(exc, pubsub, pubsub_thread)


def preload() -> None:
    """Does in the parent what every fork would do again: imports, tables, word lists."""
    importlib.import_module(CLEAN_PAGES.rpartition(".")[0])
    page = RawPage.from_bytes(
        "http://localhost/", "<html><body><p>预热</p><a href='/'>首页</a></body></html>".encode()
    )
    clean(page)
    gc.collect()
    gc.freeze()  # what is loaded now stays shared: no fork's collector touches it


def work_until_stopped() -> None:
    """Runs workers in this process, one after another, until SIGTERM or SIGINT.

    A worker ends when the queue's server goes away; the next starts when it is back. An embedded
    server that stays away means that the crawl has ended.
    """
    context = process_context()
    preload()
    storage, frontier = context.settings.storage, context.frontier
    connection = open_client(queue_url(storage))
    abandoned = ""
    while True:
        stop = threading.Event()
        for signum in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, lambda *_, stop=stop: stop.set())
        if has_ended(storage):
            log.info("the run has ended")
            return
        try:
            wait_for_queue(partial(_greet, frontier, abandoned), stop, patience_s(storage))
        except QueueUnavailable:
            log.info("queue gone, ending")
            return
        if stop.is_set():
            return
        worker = CleaningWorker(frontier, connection)
        try:
            worker.work(logging_level="WARNING")
        except AWAY as error:
            log.warning("queue away, worker starts again", extra={"reason": str(error)})
        except SystemExit:
            log.info("stopped at once")
        worker.end_horse()
        abandoned = worker.abandoned
        if worker.stopped_on_request:
            with suppress(QueueUnavailable):
                _greet(frontier, abandoned)
            return


def _greet(frontier: Frontier, abandoned: str) -> None:
    """Asks whether the queue is there; gives back the job whose process was killed by us."""
    frontier.ping()
    if abandoned:
        frontier.give_back(abandoned)
