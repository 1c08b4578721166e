"""The workers' jobs (RQ): pages, learning and re-cleaning of hosts, long actions.

Jobs are JSON, and RQ repeats none (ADR 24): the queue knows what is to be done, so the housekeeper
can enqueue a job that RQ or a dead worker has lost.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rq import Queue
from rq.exceptions import NoSuchJobError
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.utils import import_attribute

from crawlclean import __dist__
from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.storage.queue.clients import (
    Arg,
    QueueMember,
    Scripts,
    queue_ms,
    raises_queue_errors,
)

PAGES = "pages"
LEARNING = "learning"
QUEUES = (PAGES, LEARNING)  # in order of priority
# As they stand in queues, below the package: queues of 0.2 and rolling upgrades go on.
CLEAN_PAGES = "workers.tasks.clean_pages"
LEARN_SITE = "workers.tasks.learn_site"
RECLEAN_HOST = "workers.tasks.reclean_host"
RUN_OPERATION = "workers.operations.acting.running.run_operation"
SITE_TASKS = frozenset({LEARN_SITE, RECLEAN_HOST})
TASKS = SITE_TASKS | {CLEAN_PAGES, RUN_OPERATION}
JOB_TIMEOUT_S = 180  # RQ ends a longer job: it hangs at a page
# A job begins with its claim, at once: by then it has one, or its worker is dead.
CLAIM_LIMIT_S = 10
FAILURE_TTL_S = 24 * 3600  # a day: an operator may look at what failed; then RQ forgets it


class PagesJob(Job):
    """An RQ job that runs the tasks of this program alone.

    RQ imports and calls the names in a job's data, callbacks and webhooks: an intruder who can
    write to the queue must not choose these names.
    """

    success_callback = None
    failure_callback = None
    stopped_callback = None
    stored: Mapping[bytes, bytes] = {}

    def restore(self, raw_data: Any) -> Any:
        """Reads the fields of a job, and keeps them for the process that does it."""
        self.stored = raw_data
        return super().restore(raw_data)

    @property
    def func(self) -> Any:
        """The function of the task.

        Raises:
            StoreDamaged: The job names no task of this program.
        """
        if self.func_name not in TASKS or self.instance is not None:
            raise StoreDamaged(f"a job in the queue names {self.func_name!r}, which is no task")
        return import_attribute(f"{__dist__}.{self.func_name}")

    def cleanup(
        self,
        ttl: Any = None,  # noqa: ARG002 - the library's name
        pipeline: Any = None,
        *_args: Any,
        **_options: Any,
    ) -> None:
        """Deletes a job that has ended; RQ would look for it in registries that it never enters."""
        pipeline.delete(self.key)

    def send_webhooks(self, *_args: Any, **_kwargs: Any) -> None:
        """Sends no webhook, whatever the job names."""


def _is_at_work(
    queue: Queue, job_id: str, heard: Callable[[Job], datetime | None], limit_s: float
) -> bool:
    """Whether a job waits in its queue, or has a worker that was heard within ``limit_s``."""
    try:
        job = Job.fetch(job_id, connection=queue.connection, serializer=JSONSerializer)
    except NoSuchJobError:
        return False
    status, at = job.get_status(refresh=False), heard(job)
    if status == "queued":
        return queue.get_job_position(job_id) is not None
    if status != "started" or at is None:
        return False
    # The time is by the worker's clock: a time in our future is no evidence.
    return abs((datetime.now(UTC) - at.replace(tzinfo=at.tzinfo or UTC)).total_seconds()) < limit_s


def _queue(client: Any, name: str) -> Queue:
    return Queue(name, connection=client, serializer=JSONSerializer)


def _enqueue(
    queue: Queue,
    task: str,
    job_id: str,
    about: str,
    *args: object,
    timeout: int = JOB_TIMEOUT_S,
    at_front: bool = False,
) -> None:
    """Gives a job to RQ, which does not repeat it."""
    queue.enqueue_call(
        task,
        args=args,
        job_id=job_id,
        timeout=timeout,
        result_ttl=0,
        failure_ttl=FAILURE_TTL_S,
        description=about,
        at_front=at_front,
    )


# Jobs of pages: one job is page ids of one host. It is stored in ``cc:j:<job>`` (``cc:j:j17``)
# before RQ gets it. The page's token refuses a second claim of the page.


@raises_queue_errors
class JobQueue:
    """Enqueues jobs of pages. Safe to use from several threads."""

    def __init__(self, client: Any) -> None:
        """``client`` is a blocking one."""
        self._client = client
        self._queue = _queue(client, PAGES)

    def enqueue(self, job_id: str) -> bool:
        """Gives a stored job (``j17``) to RQ; False when the job has ended already.

        Raises:
            QueueUnavailable: The server is away.
        """
        crawl, host, ids = self._client.hmget(f"cc:j:{job_id}", "crawl", "host", "ids")
        if not ids:
            return False
        about = f"{host.decode()}: {ids.count(b' ') + 1} pages"
        pages = (crawl.decode(), host.decode(), ids.decode().split())
        _enqueue(self._queue, CLEAN_PAGES, job_id, about, *pages)
        return True

    def is_waiting(self, job_id: str) -> bool:
        """Whether RQ still holds the job in its queue or has a worker on it."""
        # A job begins with its claim: a job without a claim by now will never make one.
        return _is_at_work(self._queue, job_id, lambda job: job.started_at, CLAIM_LIMIT_S)

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()


# Jobs of long actions: workers do an operation of the store (``store/journal.py``) in slices.
#
# Each slice is a job of its own, behind the jobs of pages that wait, so an operation neither
# starves nor stops the crawl. Only the newest job of an operation counts. A job that is lost is
# enqueued again by the housekeeper, from the operation's beginning: operations can be repeated.

OPERATION_LIMIT_S = 3600
"""A slice is killed after this long: a purge is one slice."""
SILENT_S = 60
"""The worker of a slice is heard every 2 s; after so long without a word it is dead."""
MOST_TRIES = 3  # losses in a row: what kills its workers would do so for ever
OPERATIONS = "cc:operations"  # hash, number of the operation -> its newest job
OPERATION_TRIES = "cc:operations:tries"  # hash, number of the operation -> jobs that were lost


@raises_queue_errors
class OperationJobs:
    """The member ``operations`` of the queue; methods raise ``QueueUnavailable``."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._queue = _queue(client, PAGES)

    def enqueue(self, seq: int, cursor: Mapping[str, Any] | None = None) -> str:
        """Enqueues the next slice of an operation; returns its job.

        Args:
            seq: Number of the operation.
            cursor: Where the slice begins, as JSON values: ``{"after": "4f11"}``; None: at the
                beginning.
        """
        job_id = f"operation-{seq}-{uuid.uuid4().hex[:12]}"
        self._client.hset(OPERATIONS, seq, job_id)
        slice_of = (seq, job_id, dict(cursor or {}))
        about = f"operation {seq}"
        _enqueue(self._queue, RUN_OPERATION, job_id, about, *slice_of, timeout=OPERATION_LIMIT_S)
        return job_id

    def is_newest(self, seq: int, job_id: str) -> bool:
        """Whether a job is the newest of its operation."""
        return bool(self._client.hget(OPERATIONS, seq) == job_id.encode())

    def is_at_work(self, seq: int) -> bool:
        """Whether the newest job waits for a worker, or has a worker that is heard."""
        name = self._client.hget(OPERATIONS, seq)
        if name is None:
            return False
        return _is_at_work(self._queue, name.decode(), lambda job: job.last_heartbeat, SILENT_S)

    def enqueue_again(self, seq: int) -> bool:
        """Enqueues a lost operation from its beginning; False after ``MOST_TRIES``."""
        tries = int(self._client.hincrby(OPERATION_TRIES, seq, 1))
        if tries > MOST_TRIES:
            return False
        self.enqueue(seq)
        return True

    def forget(self, seq: int) -> None:
        """Forgets an operation that has ended."""
        self._client.hdel(OPERATIONS, seq)
        self._client.hdel(OPERATION_TRIES, seq)


# Jobs of learning and re-cleaning hosts.
#
# - The worker that stores the page which makes a host due learns the host at once: learning is
#   short and rare, and an early model spares re-cleaning. Re-cleaning runs when no page waits.
# - ``cc:learn`` holds the hosts in work, each with the time of the last work, and
#   ``cc:learn:tasks`` their tasks. When RQ or a dead worker has lost a job, the housekeeper
#   enqueues a new job with the host's task; learning goes before waiting pages.
# - Only the newest job of a host counts: learning replaces re-cleaning by an older model. Every
#   step is one script (``lua/learn.lua``).
# - The watch text in ``cc:learn:watch`` is the workers' drift state of a host: how its newer
#   pages fit its model. ``lua/watch.lua`` replaces only the text that was read, so no page counts
#   twice.

# A sorted set, host -> time of the last work, ms: www.example.com -> 1700000000000.
LEARNED_HOSTS = "cc:learn"
# Hashes, host -> value.
RECORDS = "cc:learn:records"  # records so far: 480
REPEATED = "cc:learn:again"  # re-cleaned records whose model was learned from many pages: 72
LEARNED_AT = "cc:learn:asked"  # records when the host was learned last: 100
LEARN_TASKS = "cc:learn:tasks"  # task of the job, JSON: ["workers.tasks.learn_site", 100]
INTERRUPTED = "cc:learn:aside"  # re-cleaning task that learning interrupted, as in LEARN_TASKS
LEARN_JOBS = "cc:learn:jobs"  # id of the newest job: 0f8fad5bd9cb469fa16570867728950e
WATCHES = "cc:learn:watch"  # watch text, JSON: [2,400,0,0,{},[],null] (cleaning/drift/watch.py)
LOST_MS = 20_000  # a job that works renews its time more often; less would repeat living ones


class LearningQueue(QueueMember):
    """The member ``learning`` of the queue; methods raise ``QueueUnavailable``."""

    def __init__(self, client: Any, scripts: Scripts) -> None:
        super().__init__(client, scripts)
        self._pages, self._queue = _queue(client, PAGES), _queue(client, LEARNING)

    def add_records(self, host: str, count: int) -> tuple[int, int, str]:
        """Counts records of a host.

        Returns:
            (records when the host was learned last, records now, watch text), ``(100, 480, "")``;
            an empty watch text: there is none.
        """
        with self._client.pipeline(transaction=False) as pipe:
            pipe.hget(LEARNED_AT, host)
            pipe.hincrby(RECORDS, host, count)
            pipe.hget(WATCHES, host)
            before, total, watch = pipe.execute()
        return int(before or 0), int(total), (watch or b"").decode()

    def watch(self, host: str) -> tuple[int, str]:
        """Returns the (records so far, watch text) of a host, ``(480, "")``."""
        with self._client.pipeline(transaction=False) as pipe:
            pipe.hget(RECORDS, host)
            pipe.hget(WATCHES, host)
            total, watch = pipe.execute()
        return int(total or 0), (watch or b"").decode()

    def replace_watch(self, host: str, old: str, new: str) -> bool:
        """Replaces a host's watch text ``old``; False when another text is stored by now."""
        return bool(self._scripts("watch", WATCHES, host, old, new))

    def forget(self, host: str) -> None:
        """Deletes a host's counts of records and its watch text; the next record is number 1."""
        for key in (RECORDS, REPEATED, LEARNED_AT, WATCHES):
            self._client.hdel(key, host)

    def counts(self, host: str) -> tuple[int, int]:
        """The (records so far, those re-cleaned though their model knew many pages) of a host."""
        with self._client.pipeline(transaction=False) as pipe:
            pipe.hget(RECORDS, host)
            pipe.hget(REPEATED, host)
            total, repeated = pipe.execute()
        return int(total or 0), int(repeated or 0)

    def add_repeated(self, host: str, count: int) -> None:
        """Adds to the second of ``counts``; the records of a killed slice are not counted."""
        if count:
            self._client.hincrby(REPEATED, host, count)

    def reset_repeated(self, host: str) -> None:
        """Sets the second of ``counts`` of a host to 0."""
        self._client.hdel(REPEATED, host)

    def is_busy(self, host: str) -> bool:
        """Whether a host is being learned or re-cleaned."""
        return self._client.zscore(LEARNED_HOSTS, host) is not None

    def is_newest(self, host: str, job_id: str) -> bool:
        """Whether a job is the newest of its host; renews the host's time of the last work."""
        return self._step("keep", host, job_id) == 1

    def declare_lost(self, host: str, job_id: str) -> None:
        """Declares the process of a job dead: the next ``requeue_lost`` enqueues its task."""
        self._step("lose", host, job_id, 1)

    def expire(self) -> None:
        """Declares the process of every running job dead, without counting a loss of the job."""
        jobs = self._client.hgetall(LEARN_JOBS)
        for host, job in jobs.items():
            if not self._is_waiting(job.decode()):
                self._step("lose", host.decode(), job.decode(), 0)

    def begin(self, host: str, records: int, most_pages: int) -> str:
        """Registers that the calling process learns a host; returns the id of this job.

        Args:
            host: Lower-case authority.
            records: The host's records.
            most_pages: Most pages of the sample.
        """
        job_id = uuid.uuid4().hex
        self._step("next", host, "", job_id, json.dumps([LEARN_SITE, most_pages]), records)
        return job_id

    def enqueue_recleaning(self, host: str, job_id: str, *args: object) -> None:
        """Enqueues the next slice of a host's re-cleaning, unless there is a newer job."""
        task, new = [RECLEAN_HOST, *args], uuid.uuid4().hex
        if self._step("next", host, job_id, new, json.dumps(task), ""):
            self._enqueue(new, host, task)

    def save_progress(self, host: str, job_id: str, *args: object) -> None:
        """Stores the arguments from which a re-cleaning resumes when its job is lost."""
        self._step("keep", host, job_id, json.dumps([RECLEAN_HOST, *args]))

    def end(self, host: str, job_id: str) -> None:
        """Ends the work on a host, unless there is a newer job."""
        self._step("done", host, job_id)

    def end_without_model(self, host: str, job_id: str) -> None:
        """Ends learning without a model, and resumes the re-cleaning that learning interrupted."""
        task = self._client.hget(INTERRUPTED, host)
        if task is None:
            self.end(host, job_id)
        else:
            self.enqueue_recleaning(host, job_id, *json.loads(task)[1:])

    def count(self) -> int:
        """Number of hosts that are being learned or re-cleaned."""
        return int(self._client.zcard(LEARNED_HOSTS))

    def requeue_lost(self) -> tuple[int, Sequence[str]]:
        """Enqueues the tasks of lost jobs as new jobs; safe to call from any process.

        Returns:
            (jobs enqueued, hosts given up after ``MOST_TRIES``), ``(1, ["www.example.com"])``.
        """
        enqueued, given_up = 0, []
        silent = self._client.zrangebyscore(LEARNED_HOSTS, 0, queue_ms(self._client) - LOST_MS)
        for name in silent:
            host = name.decode()
            job, task = (self._client.hget(key, host) for key in (LEARN_JOBS, LEARN_TASKS))
            if job is None:
                continue  # ended meanwhile
            if self._is_waiting(job.decode()):
                self._step("keep", host, job.decode())
                continue
            new = uuid.uuid4().hex
            done = self._step("redo", host, job.decode(), new, MOST_TRIES)
            if done < 0:
                given_up.append(host)
            elif done:
                self._enqueue(new, host, json.loads(task))
                enqueued += 1
        return enqueued, given_up

    def _is_waiting(self, job_id: str) -> bool:
        """Whether a job waits for a worker."""
        queues = (self._pages, self._queue)
        return any(queue.get_job_position(job_id) is not None for queue in queues)

    def _enqueue(self, job_id: str, host: str, task: list[Any]) -> None:
        name, *args = task
        is_learning = name == LEARN_SITE
        queue = self._pages if is_learning else self._queue
        about = f"{host}: {name.rpartition('.')[2]}"
        _enqueue(queue, name, job_id, about, host, *args, at_front=is_learning)

    def _step(self, step: str, host: str, *args: Arg) -> int:
        return int(self._scripts("learn", step, host, *args))
