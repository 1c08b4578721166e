"""The RQ worker: has jobs done by a process that lasts, watches it, and reports its death at once.

Differences from the stock worker: jobs are JSON, and only the housekeeper redoes them; a fork does
many jobs (ADR 64); claims are renewed while a job runs, and a hanging job is killed 5 s after its
time; the fork dies with the worker; imports are loaded before the first one.

This is the only file that calls RQ's worker from inside. RQ 3 passes ``handle_job_success`` the
execution, which RQ 2 takes from ``self.execution``.
"""

from __future__ import annotations

import gc
import importlib
import logging
import os
import resource
import signal
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from multiprocessing import Pipe
from typing import Any

from rq import Queue
from rq.exceptions import DeserializationError, InvalidJobOperation, StopRequested
from rq.executions import Execution
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.worker import BaseWorker

from crawlclean.cleaning.errors import QueueUnavailable, StorageError
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import CrawlState
from crawlclean.storage.live_state import ProcessRole
from crawlclean.storage.opening import has_ended, open_store, patience_s, queue_url
from crawlclean.storage.queue.clients import (
    AWAY,
    RETRY_PAUSE_S,
    SERVER_AWAY,
    OutageLog,
    open_client,
    queue_errors,
    wait_for_queue,
)
from crawlclean.storage.queue.embedded import die_with_parent
from crawlclean.storage.queue.entries import process_name
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.queue.jobs import QUEUES, SITE_TASKS, PagesJob
from crawlclean.storage.queue.ownership import find_gap
from crawlclean.workers.context import process_context

log = logging.getLogger(__name__)

WORKER_TTL_S = 26  # an idle worker sends a heartbeat every 11 s
WATCH_S = 2  # claims end after 20 s of silence: several renewals may fail
STOPPING = (signal.SIGTERM, signal.SIGINT)
OVERTIME_S = 3.0  # with WATCH_S: a job is killed at most 5 s after its time
MOST_JOBS = 1_000  # of one process: what a library or a hook never gives back ends with it
MOST_BYTES = 400 << 20  # of one process, at its peak: a large page leaves its memory in pieces


@contextmanager
def _stop_on_outage() -> Iterator[None]:
    """Stops a worker whose server is away; the stock worker would sleep and try again blindly."""
    try:
        with queue_errors():
            yield
    except QueueUnavailable as error:
        raise StopRequested from error


class _Jobs(Queue):
    """RQ's queue; an outage of its server stops the worker, and no job depends on another."""

    def enqueue_dependents(self, *_args: Any, **_options: Any) -> None:
        """Asks for no jobs that wait for another one: there are none."""

    @classmethod
    def dequeue_any(cls, *args: Any, **options: Any) -> Any:
        """Returns the next job and its queue; logs and drops ids that RQ cannot read."""
        while True:
            with _stop_on_outage():
                try:
                    return super().dequeue_any(*args, **options)
                except ValueError as error:  # only another program can have written the id
                    log.warning("job dropped, its id is invalid", extra={"reason": str(error)})


class JobProcess:
    """A fork of this process that does one job after another, and dies with it.

    Attributes:
        pid: Its process id; 0 while there is none.
    """

    def __init__(self, do: Callable[..., bool]) -> None:
        """Forks nothing yet; ``do`` does a job, and returns whether it may do another one."""
        self._do = do
        self._line: Any = None
        self.pid = 0

    def give(self, *job: Any) -> None:
        """Gives a job to the process; forks one where it has ended or is the first.

        Raises:
            OSError: The system has no process for it.
        """
        if not self.pid or self.ended(0) is not None:
            self._fork()
        with suppress(OSError):  # it was killed just now, which ``ended`` tells
            self._line.send(job)

    def _fork(self) -> None:
        self._line, theirs = Pipe()
        bind = die_with_parent()
        self.pid = os.fork()
        if self.pid:
            os.setpgid(self.pid, self.pid)  # what a hook starts is killed with it
            theirs.close()
            return
        left = MOST_JOBS
        try:
            self._line.close()
            if bind:
                bind()
            while self._do(*theirs.recv()) and (left := left - 1):
                theirs.send_bytes(b"done")
            os._exit(os.EX_OK)
        finally:  # nothing of the worker may happen here
            os._exit(1)

    def ended(self, within_s: float) -> int | None:
        """How the job has ended, as ``os.wait`` says it: 0 is well; None while it lasts."""
        try:
            if self._line.poll(within_s):
                self._line.recv_bytes()
                return 0
            pid, status = os.waitpid(self.pid, os.WNOHANG)
        except (EOFError, ConnectionError):
            pid, status = os.waitpid(self.pid, 0)
        if not pid:
            return None
        self.pid = 0
        return status

    def kill(self, signum: signal.Signals = signal.SIGKILL) -> None:
        """Kills the process, at work or not; ``ended`` tells its end."""
        if self.pid:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signum)


class CleaningWorker(BaseWorker):
    """An RQ worker whose jobs hold claims on pages.

    Only a signal may end the watch over a job, not an outage of the server. A job that outlives the
    watch all the same is killed by ``end_horse``.

    Attributes:
        job_at_hand: Id of the job that was taken and has not ended; ``""``. One that is left over
            was given up through no fault of its pages.
        stopped_on_request: Whether a signal has asked the worker to stop.
    """

    def __init__(
        self, frontier: Frontier, connection: Any, outage: OutageLog | None = None
    ) -> None:
        """Starts nothing yet; ``outage`` continues the log of an earlier worker."""
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
        self._outage = outage or OutageLog("queue")
        self._process = JobProcess(self._do_job)
        self._heard = 0.0
        self.job_at_hand = ""
        self._work = ""  # on a host's model or records; work on pages is a claim
        self.stopped_on_request = False

    def request_stop(self, signum: int, frame: Any) -> None:
        """Handles the first signal: finishes the current job, then stops."""
        self.stopped_on_request = True
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]

    def request_force_stop(self, signum: int, frame: Any) -> None:
        """Handles the second signal: kills the current job and leaves its pages to others."""
        try:
            super().request_force_stop(signum, frame)
        except SystemExit:
            for each in STOPPING:
                signal.signal(each, signal.SIG_IGN)  # a third must not hinder giving the job back
            raise

    def set_shutdown_requested_date(self) -> None:
        """Writes when the stop was requested, for ``rq info``; called by the signal handler."""
        with suppress(*AWAY):
            super().set_shutdown_requested_date()  # type: ignore[no-untyped-call]

    def heartbeat(self, timeout: int | None = None, pipeline: Any = None) -> None:
        """Sends the heartbeat of this worker; RQ asks for three a job."""
        heard = time.monotonic() // WATCH_S
        if pipeline is None and heard == self._heard:
            return
        self._heard = heard
        with _stop_on_outage():
            super().heartbeat(timeout, pipeline)
            if os.getpid() == self.pid:  # a job's own process ends with the job, unheard
                self._frontier.processes.beat(ProcessRole.WORKER, self._work)
        if pipeline is None:
            self._outage.end()

    def check_for_suspension(self, burst: bool) -> None:
        """Waits while RQ is suspended; the first step of each round."""
        with _stop_on_outage():
            super().check_for_suspension(burst)

    def dequeue_job_and_maintain_ttl(
        self, timeout: int | None, max_idle_time: int | None = None
    ) -> Any:
        """Returns the next job; the second step of each round."""
        with _stop_on_outage():
            return super().dequeue_job_and_maintain_ttl(timeout, max_idle_time)

    @_stop_on_outage()
    def execute_job(self, job: Any, queue: Any) -> None:
        """Has the job done by the process that lasts; the third step of each round.

        RQ counts by the machine's clock. Set back, a hanging job would live as much longer; set
        forward, a job at work would be killed. So the time of a job is measured here.
        """
        self.job_at_hand = job.id
        name, arguments = _call_of(job)
        if name in SITE_TASKS and arguments:  # a line for a person: learn_site www.example.com
            self._work = f"{name.rpartition('.')[2]} {arguments[0]}"
        self.current_job_working_time = 0
        execution = self.prepare_execution(job)
        begun = time.monotonic()
        try:
            self._process.give(job.id, job.stored, queue.name, execution.id)
        except OSError as error:  # an OSError would pass for an outage of the server
            raise RuntimeError(f"no process for a job: {error}") from error
        self._horse_pid = self._process.pid
        while (status := self._process.ended(WATCH_S)) is None:
            self.current_job_working_time = time.monotonic() - begun
            self.maintain_heartbeats(job)
            if job.timeout and self.current_job_working_time > float(job.timeout) + OVERTIME_S:
                log.warning("hanging job killed", extra={"job": job.id})
                self.kill_horse()
        if status:
            with suppress(InvalidJobOperation):  # it had done the job
                job.get_status()
                self._report_death(job, status)
                self.handle_job_failure(job, queue, exc_string=f"process died: {status}")
        self.job_at_hand = self._work = ""

    def _do_job(self, job_id: str, stored: Any, queue: str, execution: str) -> bool:
        """Runs in the fork: does a job; returns whether the process may do another one.

        After a failure it may not: an exception at any place may have left anything half done.
        """
        self._is_horse = True
        self.setup_work_horse_signals()  # type: ignore[no-untyped-call]
        options: dict[str, Any] = {"connection": self.connection, "serializer": JSONSerializer}
        job = PagesJob(job_id, **options)
        job.restore(stored)
        self.execution = Execution(execution, job_id, self.connection, self.name)
        is_well = self.perform_job(job, _Jobs(queue, job_class=PagesJob, **options))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        peak <<= 0 if sys.platform == "darwin" else 10
        return is_well and peak < MOST_BYTES

    def perform_job(self, job: Job, queue: Any) -> bool:
        """Runs in the fork: does the job; an outage is reported by the exit status."""
        try:
            with queue_errors():
                return bool(super().perform_job(job, queue))
        except QueueUnavailable:
            os._exit(os.EX_TEMPFAIL)

    def handle_execution_ended(self, job: Job, *_args: Any, **_options: Any) -> None:
        """Notes when a job has ended; its last heartbeat would outlive a job that others ended."""
        job.ended_at = datetime.now(UTC)

    def handle_job_success(self, job: Job, queue: Any, started_job_registry: Any) -> None:
        """Ends a job in RQ, unless another worker has: this one was silent for too long."""
        try:
            super().handle_job_success(job, queue, started_job_registry)
        except InvalidJobOperation:
            with self.connection.pipeline() as pipeline:
                self.cleanup_execution(job, pipeline)
                pipeline.execute()

    def handle_exception(self, job: Job, *exc_info: Any) -> None:
        """Logs an exception of a job; the parent logs outages, the job that its memory ran out."""
        if not isinstance(exc_info[1], (*SERVER_AWAY, MemoryError)):
            super().handle_exception(job, *exc_info)

    def maintain_heartbeats(self, job: Job) -> None:
        """Renews the claim of the running job; every ``WATCH_S``."""
        try:
            self.set_current_job_working_time(self.current_job_working_time)
            super().maintain_heartbeats(job)
            self._frontier.keep_claim(job.id)
            if job.func_name in SITE_TASKS:
                self._frontier.learning.is_newest(job.args[0], job.id)
            self._outage.end()
        except (QueueUnavailable, *AWAY) as error:
            self._outage.notice(error)

    def _report_death(self, job: Job, status: int) -> None:
        """Gives back the pages of a dead process, or breaks its claim, before the claim expires."""
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == os.EX_TEMPFAIL:
            # This process may reach it all the same: the server may have no room for another one.
            self._outage.notice(QueueUnavailable("it could not be reached by a job's process"))
            self._frontier.give_back(job.id)
            return
        log.warning("job's process died", extra={"job": job.id, "status": status})
        self._frontier.break_claim(job.id)
        if job.func_name in SITE_TASKS:
            self._frontier.learning.declare_lost(job.args[0], job.id)

    def end_horse(self) -> None:
        """Ends the process of the jobs, also one that has outlived the watch over it."""
        while self._process.pid:
            self.kill_horse()
            self._process.ended(WATCH_S)

    def kill_horse(self, sig: signal.Signals = signal.SIGKILL) -> None:
        """Kills the process of the jobs; its job ends by that."""
        self._process.kill(sig)

    def teardown(self) -> None:
        """Ends the work; stops the pub/sub thread even when the server is away."""
        try:
            super().teardown()  # type: ignore[no-untyped-call]
        except AWAY:
            if self.pubsub_thread:
                self.pubsub_thread.stop()

    def _pubsub_exception_handler(self, exc: Exception, pubsub: Any, pubsub_thread: Any) -> None:
        """Waits a second after an outage without a log line: the main thread logs outages."""
        if isinstance(exc, AWAY):
            threading.Event().wait(1.0)
        else:
            super()._pubsub_exception_handler(exc, pubsub, pubsub_thread)


def _call_of(job: Job) -> tuple[str, Sequence[Any]]:
    """Returns (task, its arguments) of a job; nothing of one that another program has made."""
    try:
        return job.func_name or "", job.args or ()
    except DeserializationError:
        return "", ()


def preload() -> None:
    """Imports what jobs need: every process of the jobs shares it."""
    importlib.import_module("crawlclean.workers.tasks")
    gc.collect()
    gc.freeze()


def work_until_stopped() -> None:
    """Runs workers in this process, one after another, until SIGTERM or SIGINT.

    A worker ends at an outage of the queue's server; the next one starts when the server is back.
    An embedded server that stays away means that the crawl has ended.
    """
    context = process_context()
    preload()
    storage, frontier = context.settings.storage, context.frontier
    connection = open_client(queue_url(storage))
    abandoned, outage = "", OutageLog("queue")
    while True:
        stop = threading.Event()
        for signum in STOPPING:
            signal.signal(signum, lambda *_, stop=stop: stop.set())
        if has_ended(storage):
            log.info("the run has ended")
            return
        try:
            wait_for_queue(
                partial(_ping_and_give_back, frontier, abandoned), stop, patience_s(storage), outage
            )
        except QueueUnavailable:
            log.info("queue gone, ending")
            return
        if stop.is_set():
            return
        stop_newer_crawls(frontier, storage)
        worker = CleaningWorker(frontier, connection, outage)
        try:
            with queue_errors():
                worker.work(logging_level="ERROR")
        except QueueUnavailable as error:
            outage.notice(error)
            stop.wait(RETRY_PAUSE_S)
        except SystemExit:
            log.info("stopped at once")
        if worker.stopped_on_request:
            for signum in STOPPING:
                signal.signal(signum, signal.SIG_IGN)  # a third one must not hinder the rest
        worker.end_horse()
        abandoned = worker.job_at_hand
        if worker.stopped_on_request:
            with suppress(QueueUnavailable):
                _ping_and_give_back(frontier, abandoned)
                frontier.processes.leave(ProcessRole.WORKER)
            return


def _ping_and_give_back(frontier: Frontier, abandoned: str) -> None:
    """Pings the queue, and gives back the job that this worker has given up."""
    frontier.ping()
    if abandoned:
        frontier.give_back(abandoned)


def stop_newer_crawls(frontier: Frontier, config: StorageConfig) -> None:
    """Stops the running crawls of which the store is older than the queue, with a log line each.

    `run` refuses these crawls. But spiders of a service go on with a crawl whose `run` was killed,
    and the pages that they fetch would take the place of the receipts that show the gap.
    """
    try:
        with closing(open_store(config)) as store:
            for crawl in frontier.crawl_ids():
                if frontier.counts(crawl).state is not CrawlState.RUNNING:
                    continue
                if find_gap(frontier, store.urls, crawl):
                    frontier.set_state(crawl, CrawlState.STOPPED)
                    log.error(
                        "store older than its queue: run `crawl recover`", extra={"crawl": crawl}
                    )
    except StorageError as error:  # jobs wait for a store that is away, and log what is wrong
        log.warning("store not checked", extra={"reason": str(error)})
