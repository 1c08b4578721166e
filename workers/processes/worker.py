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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from rq import Queue
from rq.exceptions import StopRequested
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.worker import Worker

from cleaning import RawPage, SiteModel, clean, learn_site
from cleaning.errors import QueueUnavailable
from storage.opening import has_ended, patience_s, queue_url
from storage.queue.clients import (
    AWAY,
    RETRY_PAUSE_S,
    SERVER_AWAY,
    OutageLog,
    open_client,
    queue_errors,
    wait_for_queue,
)
from storage.queue.embedded import die_with_parent
from storage.queue.entries import process_name
from storage.queue.frontier import Frontier
from storage.queue.jobs import CLEAN_PAGES, QUEUES, SITE_TASKS, PagesJob
from workers.context import process_context

log = logging.getLogger(__name__)

WORKER_TTL_S = 45  # an idle worker looks up every 30 s
WATCH_S = 2
STOPPING = (signal.SIGTERM, signal.SIGINT)
COLLECT_FROM = 5_000  # new objects, more than all but the largest pages make at a time
OVERTIME_S = 3.0  # watched every WATCH_S: killed at most 5 s after the job's time


@contextmanager
def _ending_when_away() -> Iterator[None]:
    """Ends a worker whose server is away: the stock one would sleep and try blindly."""
    try:
        with queue_errors():
            yield
    except QueueUnavailable as error:
        raise StopRequested from error


class _Jobs(Queue):
    """The queue of jobs, whose absence ends a worker."""

    @classmethod
    def dequeue_any(cls, *args: Any, **options: Any) -> Any:
        """The next job and its queue."""
        with _ending_when_away():
            return super().dequeue_any(*args, **options)


class CleaningWorker(Worker):
    """An RQ worker whose jobs hold claims on pages.

    While a job's process runs, nothing but a signal may end the watch over it: an absent server
    must not. What is left of it all the same is ended by ``end_horse``.
    """

    def __init__(
        self, frontier: Frontier, connection: Any, absence: OutageLog | None = None
    ) -> None:
        """A worker of the jobs in a queue; ``absence`` is what was said of the queue's before."""
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
        self._absence = absence or OutageLog("queue")
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
        if self.horse_pid:
            self.abandoned = self._job_at_hand
        try:
            super().request_force_stop(signum, frame)
        except SystemExit:
            for each in STOPPING:
                signal.signal(each, signal.SIG_IGN)  # a third must not keep us from giving it back
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
        """Tells who looks at the queue that this worker lives."""
        with _ending_when_away():
            super().heartbeat(timeout, pipeline)
        if pipeline is None:
            self._absence.end()

    def check_for_suspension(self, burst: bool) -> None:
        """The first step of each round."""
        with _ending_when_away():
            super().check_for_suspension(burst)

    def dequeue_job_and_maintain_ttl(
        self, timeout: int | None, max_idle_time: int | None = None
    ) -> Any:
        """The second step: a job to do."""
        with _ending_when_away():
            return super().dequeue_job_and_maintain_ttl(timeout, max_idle_time)

    def execute_job(self, job: Job, queue: Any) -> None:
        """The third step: the job is done, by a process of its own."""
        try:
            with _ending_when_away():
                super().execute_job(job, queue)
        except StopRequested:
            self.abandoned = job.id  # no page is to blame that nobody could be told
            raise

    def fork_work_horse(self, job: Job, queue: Any) -> None:
        """Forks; the child will die with us."""
        self._bind_child = die_with_parent()
        self._job_at_hand = job.id
        try:
            super().fork_work_horse(job, queue)
        except OSError as error:  # or it would pass for an absence of the server
            raise RuntimeError(f"no process for a job: {error}") from error

    def main_work_horse(self, job: Job, queue: Any) -> None:
        """The child's whole life."""
        if self._bind_child:
            self._bind_child()
        super().main_work_horse(job, queue)

    def perform_job(self, job: Job, queue: Any) -> bool:
        """What the child does; RQ's books need the server too."""
        try:
            with queue_errors():
                return bool(super().perform_job(job, queue))
        except QueueUnavailable:
            os._exit(os.EX_TEMPFAIL)

    def handle_exception(self, job: Job, *exc_info: Any) -> None:
        """Tells of what a job raised; of an absence the parent tells."""
        if not isinstance(exc_info[1], SERVER_AWAY):
            super().handle_exception(job, *exc_info)

    def maintain_heartbeats(self, job: Job) -> None:
        """Every ``WATCH_S`` while a job runs: keeps its claim, kills it when it hangs."""
        try:
            super().maintain_heartbeats(job)
            self._frontier.keep_claim(job.id)
            if job.func_name in SITE_TASKS:
                self._frontier.learning.is_newest(job.args[0], job.id)
            self._absence.end()
        except (QueueUnavailable, *AWAY) as error:
            self._absence.notice(error)
        if job.timeout and self.current_job_working_time > float(job.timeout) + OVERTIME_S:
            log.warning("hanging job killed", extra={"job": job.id})
            self.kill_horse()

    def handle_work_horse_killed(self, job: Job, _retpid: int, ret_val: int, _rusage: Any) -> None:
        """The child died: its pages need not wait for the claim to run out."""
        if os.WIFEXITED(ret_val) and os.WEXITSTATUS(ret_val) == os.EX_TEMPFAIL:
            self._frontier.give_back(job.id)
            return
        log.warning("job's process died", extra={"job": job.id, "status": ret_val})
        self._frontier.break_claim(job.id)
        if job.func_name in SITE_TASKS:
            self._frontier.learning.lose(job.args[0], job.id)

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


# Imported by functions that a job may call and a command may not.
_ON_DEMAND = ("idna", "publicsuffixlist", "warcio.archiveiterator")


def preload() -> None:
    """Does in the parent what every fork would do again: imports, tables, word lists."""
    for module in (CLEAN_PAGES.rpartition(".")[0], *_ON_DEMAND):
        importlib.import_module(module)
    page = RawPage.from_bytes(
        "http://localhost/", "<html><body><p>预热</p><a href='/'>首页</a></body></html>".encode()
    )
    clean(page, SiteModel.from_json(learn_site([page]).to_json()))
    gc.collect()
    gc.freeze()  # what is loaded now stays shared: no fork's collector touches it
    gc.set_threshold(COLLECT_FROM)


def work_until_stopped() -> None:
    """Runs workers in this process, one after another, until SIGTERM or SIGINT.

    A worker ends when the queue's server goes away; the next starts when it is back. An embedded
    server that stays away means that the crawl has ended.
    """
    context = process_context()
    preload()
    storage, frontier = context.settings.storage, context.frontier
    connection = open_client(queue_url(storage))
    abandoned, absence = "", OutageLog("queue")
    while True:
        stop = threading.Event()
        for signum in STOPPING:
            signal.signal(signum, lambda *_, stop=stop: stop.set())
        if has_ended(storage):
            log.info("the run has ended")
            return
        try:
            wait_for_queue(partial(_greet, frontier, abandoned), stop, patience_s(storage), absence)
        except QueueUnavailable:
            log.info("queue gone, ending")
            return
        if stop.is_set():
            return
        worker = CleaningWorker(frontier, connection, absence)
        try:
            with queue_errors():
                worker.work(logging_level="ERROR")
        except QueueUnavailable as error:
            absence.notice(error)
            stop.wait(RETRY_PAUSE_S)
        except SystemExit:
            log.info("stopped at once")
        if worker.stopped_on_request:
            for signum in STOPPING:
                signal.signal(signum, signal.SIG_IGN)  # a third one must not hinder the rest
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
