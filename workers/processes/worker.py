"""The RQ worker: forks a process for each job, watches it, and reports its death at once.

Differences from the stock worker: jobs are JSON, and only the housekeeper redoes them; claims are
renewed while a job runs, and a hanging job is killed 5 s after its time; forks die with the worker;
imports and the packaged dictionaries are loaded before the first one.
"""

from __future__ import annotations

import gc
import importlib
import logging
import os
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import Any

from rq import Queue
from rq.exceptions import DeserializationError, InvalidJobOperation, StopRequested
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.worker import Worker

from crawlclean.cleaning.document.document import RawPage
from crawlclean.cleaning.errors import NotFound, QueueUnavailable, StorageError
from crawlclean.cleaning.model.site_model import SiteModel
from crawlclean.cleaning.page import clean
from crawlclean.cleaning.site import learn_site
from crawlclean.cleaning.urls.normal_form import domain_of
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
from crawlclean.storage.queue.jobs import CLEAN_PAGES, QUEUES, SITE_TASKS, PagesJob, delete_remnant
from crawlclean.storage.queue.ownership import find_gap
from crawlclean.workers.context import process_context

log = logging.getLogger(__name__)

WORKER_TTL_S = 26  # an idle worker sends a heartbeat every 11 s
WATCH_S = 2  # claims end after 20 s of silence: several renewals may fail
STOPPING = (signal.SIGTERM, signal.SIGINT)
COLLECT_FROM = 5_000  # new objects, more than all but the largest pages make at a time
OVERTIME_S = 3.0  # with WATCH_S: a job is killed at most 5 s after its time


@contextmanager
def _stop_on_outage() -> Iterator[None]:
    """Stops a worker whose server is away; the stock worker would sleep and try again blindly."""
    try:
        with queue_errors():
            yield
    except QueueUnavailable as error:
        raise StopRequested from error


class _Jobs(Queue):
    """RQ's queue; an outage of its server stops the worker."""

    @classmethod
    def dequeue_any(cls, *args: Any, **options: Any) -> Any:
        """Returns the next job and its queue; logs and drops ids that RQ cannot read."""
        while True:
            with _stop_on_outage():
                try:
                    return super().dequeue_any(*args, **options)
                except ValueError as error:  # only another program can have written the id
                    log.warning("job dropped, its id is invalid", extra={"reason": str(error)})


class CleaningWorker(Worker):
    """An RQ worker whose jobs hold claims on pages.

    Only a signal may end the watch over a job's process, not an outage of the server. A process
    that outlives the watch all the same is killed by ``end_horse``.

    Attributes:
        abandoned: Id of a job whose process was killed through no fault of its pages; ``""``.
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
        self._bind_child: Callable[[], None] | None = None
        self._current_job_id = ""
        self._job_begun: float | None = None
        self.abandoned = ""
        self._has_words = False
        self._work = ""  # on a host's model or records; work on pages is a claim
        self.stopped_on_request = False

    def request_stop(self, signum: int, frame: Any) -> None:
        """Handles the first signal: finishes the current job, then stops."""
        self.stopped_on_request = True
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]

    def request_force_stop(self, signum: int, frame: Any) -> None:
        """Handles the second signal: kills the current job and leaves its pages to others."""
        if self.horse_pid:
            self.abandoned = self._current_job_id
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

    def set_current_job_working_time(
        self, current_job_working_time: float, pipeline: Any = None
    ) -> None:
        """Writes how long the current job has run; 0 is the end of a job.

        RQ counts by the machine's clock. Set back, a hanging job would live as much longer; set
        forward, a job at work would be killed.
        """
        if current_job_working_time and self._job_begun is not None:
            current_job_working_time = time.monotonic() - self._job_begun
        with suppress(*AWAY):
            super().set_current_job_working_time(current_job_working_time, pipeline)

    def heartbeat(self, timeout: int | None = None, pipeline: Any = None) -> None:
        """Sends the heartbeat of this worker."""
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

    def execute_job(self, job: Job, queue: Any) -> None:
        """Runs the job in a process of its own; the third step of each round."""
        try:
            name, arguments = _call_of(job)
            if name in SITE_TASKS and arguments:  # a line for a person: learn_site www.example.com
                self._work = f"{name.rpartition('.')[2]} {arguments[0]}"
            with _stop_on_outage():
                super().execute_job(job, queue)
        except StopRequested:
            self.abandoned = job.id  # an outage: no page is to blame
            raise
        finally:
            self._work = ""

    def fork_work_horse(self, job: Job, queue: Any) -> None:
        """Forks the process of a job, which dies with this one."""
        name, arguments = _call_of(job)
        if not self._has_words and name == CLEAN_PAGES and arguments:
            self._load_words(str(arguments[0]))
        self._bind_child = die_with_parent()
        self._current_job_id = job.id
        self._job_begun = time.monotonic()
        try:
            super().fork_work_horse(job, queue)
        except OSError as error:  # an OSError would pass for an outage of the server
            raise RuntimeError(f"no process for a job: {error}") from error

    def _load_words(self, crawl_id: str) -> None:
        """Loads the list of Chinese words for jobs of topic crawls: a fork would need a second."""
        with suppress(QueueUnavailable, NotFound):
            self._has_words = bool(self._frontier.spec(crawl_id).topic)
        if self._has_words:
            importlib.import_module("crawlclean.cleaning.words").default_segmenter()
            gc.collect()
            gc.freeze()

    def main_work_horse(self, job: Job, queue: Any) -> None:
        """Runs in the child: binds its life to the parent's, then does the job."""
        if self._bind_child:
            self._bind_child()
        super().main_work_horse(job, queue)

    def perform_job(self, job: Job, queue: Any) -> bool:
        """Runs in the child: does the job; an outage is reported by the exit status."""
        try:
            with queue_errors():
                return bool(super().perform_job(job, queue))
        except QueueUnavailable:
            os._exit(os.EX_TEMPFAIL)

    def handle_execution_ended(self, job: Job, queue: Any, heartbeat_ttl: int) -> None:
        """Writes when a job's execution has ended, unless another worker has ended the job."""
        super().handle_execution_ended(job, queue, heartbeat_ttl)
        delete_remnant(self.connection, job.id)

    def handle_job_success(self, job: Job, queue: Any, started_job_registry: Any) -> None:
        """Ends a job in RQ, unless another worker has: this one was silent for too long."""
        try:
            super().handle_job_success(job, queue, started_job_registry)
        except InvalidJobOperation:
            with self.connection.pipeline() as pipeline:
                self.cleanup_execution(job, pipeline)
                pipeline.execute()

    def handle_exception(self, job: Job, *exc_info: Any) -> None:
        """Logs an exception of a job; the parent logs outages."""
        if not isinstance(exc_info[1], SERVER_AWAY):
            super().handle_exception(job, *exc_info)

    def maintain_heartbeats(self, job: Job) -> None:
        """Renews the claim of the running job, and kills it when it hangs; every ``WATCH_S``."""
        try:
            super().maintain_heartbeats(job)
            self._frontier.keep_claim(job.id)
            if job.func_name in SITE_TASKS:
                self._frontier.learning.is_newest(job.args[0], job.id)
            self._outage.end()
        except (QueueUnavailable, *AWAY) as error:
            self._outage.notice(error)
        if job.timeout and self.current_job_working_time > float(job.timeout) + OVERTIME_S:
            log.warning("hanging job killed", extra={"job": job.id})
            self.kill_horse()

    def handle_work_horse_killed(self, job: Job, _retpid: int, ret_val: int, _rusage: Any) -> None:
        """Gives back the pages of a dead child, or breaks its claim, before the claim expires."""
        if os.WIFEXITED(ret_val) and os.WEXITSTATUS(ret_val) == os.EX_TEMPFAIL:
            # This process may reach it all the same: the server may have no room for another one.
            self._outage.notice(QueueUnavailable("it could not be reached by a job's process"))
            self._frontier.give_back(job.id)
            return
        log.warning("job's process died", extra={"job": job.id, "status": ret_val})
        self._frontier.break_claim(job.id)
        if job.func_name in SITE_TASKS:
            self._frontier.learning.declare_lost(job.args[0], job.id)

    def end_horse(self) -> None:
        """Kills a job's process that has outlived the watch over it, and waits for its end."""
        pid, self._horse_pid = self.horse_pid, 0
        with suppress(ChildProcessError):  # it has ended, and RQ has waited for it
            if pid and os.waitpid(pid, os.WNOHANG) == (0, 0):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                self.abandoned = self._current_job_id

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


# Imported by functions that a job may call and a command may not.
_ON_DEMAND = (
    "idna",
    "publicsuffixlist",
    "warcio.archiveiterator",
    "crawlclean.cleaning.url_classes.learning",
)


def _call_of(job: Job) -> tuple[str, Sequence[Any]]:
    """Returns (task, its arguments) of a job; nothing of one that another program has made."""
    try:
        return job.func_name or "", job.args or ()
    except DeserializationError:
        return "", ()


def preload() -> None:
    """Loads imports, tables and word lists in the parent, so that no fork has to."""
    for module in ("crawlclean.workers.tasks", *_ON_DEMAND):
        importlib.import_module(module)
    page = RawPage.from_bytes(
        "http://localhost/", "<html><body><p>预热</p><a href='/'>首页</a></body></html>".encode()
    )
    clean(page, SiteModel.from_json(learn_site([page]).to_json()))
    domain_of("example.com")  # the list of suffixes: .05 s, which every job needs
    gc.collect()
    gc.freeze()  # keeps these objects in memory pages that all forks share
    gc.set_threshold(COLLECT_FROM)


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
        abandoned = worker.abandoned
        if worker.stopped_on_request:
            with suppress(QueueUnavailable):
                _ping_and_give_back(frontier, abandoned)
                frontier.processes.leave(ProcessRole.WORKER)
            return


def _ping_and_give_back(frontier: Frontier, abandoned: str) -> None:
    """Pings the queue, and gives back the job whose process this worker has killed."""
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
