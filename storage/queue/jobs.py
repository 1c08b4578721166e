"""The workers' job queue (RQ): JSON, one job = page ids of one host, no retries by RQ (ADR 24).

A job is stored in ``cc:j:<job>`` (``cc:j:j17``) before RQ gets it, so the housekeeper can enqueue a
job that RQ has lost. The page's token refuses a second claim of the page.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from redis.exceptions import WatchError
from rq import Queue
from rq.exceptions import NoSuchJobError
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.utils import import_attribute

from crawlclean import __dist__
from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.storage.queue.clients import open_client, raises_queue_errors

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

    @property
    def func(self) -> Any:
        """The function of the task.

        Raises:
            StoreDamaged: The job names no task of this program.
        """
        if self.func_name not in TASKS or self.instance is not None:
            raise StoreDamaged(f"a job in the queue names {self.func_name!r}, which is no task")
        return import_attribute(f"{__dist__}.{self.func_name}")

    def send_webhooks(self, *_args: Any, **_kwargs: Any) -> None:
        """Sends no webhook, whatever the job names."""


def delete_remnant(client: Any, job_id: str) -> None:
    """Deletes what RQ has written of a job after another worker ended and deleted the job.

    A job that was enqueued again meanwhile is left alone.
    """
    key = Job.key_for(job_id)
    with client.pipeline() as pipe, suppress(WatchError):
        pipe.watch(key)
        if not pipe.hexists(key, "status"):
            pipe.multi()
            pipe.delete(key)
            pipe.execute()


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


@raises_queue_errors
class JobQueue:
    """Enqueues jobs of pages. Safe to use from several threads."""

    def __init__(self, redis_url: str) -> None:
        self._client = open_client(redis_url)
        self._queue = Queue(PAGES, connection=self._client, serializer=JSONSerializer)

    def enqueue(self, job_id: str) -> bool:
        """Gives a stored job (``j17``) to RQ; False when the job has ended already.

        Raises:
            QueueUnavailable: The server is away.
        """
        crawl, host, ids = self._client.hmget(f"cc:j:{job_id}", "crawl", "host", "ids")
        if not ids:
            return False
        self._queue.enqueue_call(
            CLEAN_PAGES,
            args=(crawl.decode(), host.decode(), ids.decode().split()),
            job_id=job_id,
            timeout=JOB_TIMEOUT_S,
            result_ttl=0,
            failure_ttl=FAILURE_TTL_S,
            description=f"{host.decode()}: {ids.count(b' ') + 1} pages",
        )
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

TIMEOUT_S = 3600
"""A slice is killed after this long: a purge is one slice."""
SILENT_S = 60
"""The worker of a slice is heard every 2 s; after so long without a word it is dead."""
MOST_TRIES = 3  # an operation that kills its workers would do so for ever
JOBS = "cc:operations"  # hash, number of the operation -> its newest job
TRIES = "cc:operations:tries"  # hash, number of the operation -> jobs that were lost


@raises_queue_errors
class OperationJobs:
    """The member ``operations`` of the queue; methods raise ``QueueUnavailable``."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._queue = Queue(PAGES, connection=client, serializer=JSONSerializer)

    def enqueue(self, seq: int, cursor: Mapping[str, Any] | None = None) -> str:
        """Enqueues the next slice of an operation; returns its job.

        Args:
            seq: Number of the operation.
            cursor: Where the slice begins, as JSON values: ``{"after": "4f11"}``; None: at the
                beginning.
        """
        job_id = f"operation-{seq}-{uuid.uuid4().hex[:12]}"
        self._client.hset(JOBS, seq, job_id)
        self._queue.enqueue_call(
            RUN_OPERATION,
            args=(seq, job_id, dict(cursor or {})),
            job_id=job_id,
            timeout=TIMEOUT_S,
            result_ttl=0,
            failure_ttl=FAILURE_TTL_S,
            description=f"operation {seq}",
        )
        return job_id

    def is_newest(self, seq: int, job_id: str) -> bool:
        """Whether a job is the newest of its operation."""
        return bool(self._client.hget(JOBS, seq) == job_id.encode())

    def is_at_work(self, seq: int) -> bool:
        """Whether the newest job waits for a worker, or has a worker that is heard."""
        name = self._client.hget(JOBS, seq)
        if name is None:
            return False
        return _is_at_work(self._queue, name.decode(), lambda job: job.last_heartbeat, SILENT_S)

    def enqueue_again(self, seq: int) -> bool:
        """Enqueues a lost operation from its beginning; False after ``MOST_TRIES``."""
        tries = int(self._client.hincrby(TRIES, seq, 1))
        if tries > MOST_TRIES:
            return False
        self.enqueue(seq)
        return True

    def forget(self, seq: int) -> None:
        """Forgets an operation that has ended."""
        self._client.hdel(JOBS, seq)
        self._client.hdel(TRIES, seq)
