"""Jobs of long actions: workers do an operation of the store (``store/operations.py``) in slices.

Each slice is a job of its own, behind the jobs of pages that wait, so an operation neither starves
nor stops the crawl. Only the newest job of an operation counts. A job that is lost is enqueued
again by the sweeper, from the operation's beginning: operations can be repeated.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from rq import Queue
from rq.exceptions import NoSuchJobError
from rq.job import Job
from rq.serializers import JSONSerializer

from crawlclean.storage.queue.clients import raises_queue_errors
from crawlclean.storage.queue.jobs import FAILURE_TTL_S, PAGES, RUN_OPERATION

TIMEOUT_S = 3600
"""A slice is killed after this long: a purge is one slice."""
SILENT_S = 60
"""The worker of a slice is heard every 2 s; after so long without a word it is dead."""
MOST_TRIES = 3
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
        try:
            job = Job.fetch(name.decode(), self._client, JSONSerializer)
        except NoSuchJobError:
            return False
        if job.get_status(refresh=False) == "queued":
            return self._queue.get_job_position(job.id) is not None
        heard = job.last_heartbeat
        if job.get_status(refresh=False) != "started" or heard is None:
            return False
        heard = heard.replace(tzinfo=heard.tzinfo or UTC)
        return abs((datetime.now(UTC) - heard).total_seconds()) < SILENT_S

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
