"""The learning queue: jobs that learn hosts and re-clean their pages.

- A host is learned at once, by the worker that stored the page which made it due: learning is short
  and rare, and an early model spares re-cleaning. Re-cleaning runs when no page waits.
- A host that is being learned stands in ``cc:learn`` with the time of the last work on it, and with
  its task. The sweeper enqueues a job that RQ or a dead worker lost with the same task, learning
  before waiting pages.
- Only the newest job of a host counts: learning replaces re-cleaning by an older model. Every step
  is one script (``lua/learn.lua``).
- How a host's newer pages fit its model is a text of the workers in ``cc:learn:watch``. It is
  replaced only if it is unchanged since it was read (``lua/watch.lua``), so no page counts twice.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from typing import Any

from rq import Queue
from rq.serializers import JSONSerializer

from storage.queue.clients import Arg, Scripts, queue_errors
from storage.queue.jobs import (
    FAILURE_TTL_S,
    JOB_TIMEOUT_S,
    LEARN_SITE,
    LEARNING,
    PAGES,
    RECLEAN_HOST,
)

HOSTS = "cc:learn"  # zset: host -> last work on it, ms; the others are hashes by host
RECORDS = "cc:learn:records"  # host -> records so far: 480
AGAIN = "cc:learn:again"  # host -> records re-cleaned although their model knew many pages
ASKED = "cc:learn:asked"  # host -> records when it was learned last: 100
TASKS = "cc:learn:tasks"  # host -> task of its job, ["workers.tasks.learn_site", 100]
ASIDE = "cc:learn:aside"  # host -> re-cleaning task that learning interrupted
JOBS = "cc:learn:jobs"  # host -> id of its job
WATCHES = "cc:learn:watch"  # host -> how its newer pages fit its model
LOST_MS = 20_000
MAX_TRIES = 3  # losses in a row of one job; the next part of a re-cleaning is another job


class LearningQueue:
    """Jobs of learning and of re-cleaning; all methods raise ``QueueUnavailable``."""

    def __init__(self, client: Any, scripts: Scripts) -> None:
        self._client = client
        self._scripts = scripts
        self._pages = Queue(PAGES, connection=client, serializer=JSONSerializer)
        self._queue = Queue(LEARNING, connection=client, serializer=JSONSerializer)

    def add_records(self, host: str, count: int) -> tuple[int, int, str]:
        """Counts records of a host.

        Returns:
            Its records when it was learned last, its records now, its watch text (``""``: none).
        """
        with queue_errors(), self._client.pipeline(transaction=False) as pipe:
            pipe.hget(ASKED, host)
            pipe.hincrby(RECORDS, host, count)
            pipe.hget(WATCHES, host)
            asked, total, watch = pipe.execute()
        return int(asked or 0), int(total), (watch or b"").decode()

    def watch(self, host: str) -> tuple[int, str]:
        """The (records so far, watch text) of a host; counts nothing."""
        with queue_errors(), self._client.pipeline(transaction=False) as pipe:
            pipe.hget(RECORDS, host)
            pipe.hget(WATCHES, host)
            total, watch = pipe.execute()
        return int(total or 0), (watch or b"").decode()

    def replace_watch(self, host: str, old: str, new: str) -> bool:
        """Replaces a host's watch text; False when it has changed since ``old`` was read."""
        with queue_errors():
            return bool(self._scripts("watch", [WATCHES, host, old, new]))

    def forget(self, host: str) -> None:
        """Counts a host's records from 0 again, and forgets its watch text."""
        with queue_errors():
            for key in (RECORDS, AGAIN, ASKED, WATCHES):
                self._client.hdel(key, host)

    def again(self, host: str) -> int:
        """Records of models of many pages that were tried again so far."""
        with queue_errors():
            return int(self._client.hget(AGAIN, host) or 0)

    def add_again(self, host: str, count: int) -> None:
        """Adds to the count of ``again``; records of a slice that is killed are not counted."""
        with queue_errors():
            if count:
                self._client.hincrby(AGAIN, host, count)

    def forget_again(self, host: str) -> None:
        """Sets the count of ``again`` to 0."""
        with queue_errors():
            self._client.hdel(AGAIN, host)

    def is_busy(self, host: str) -> bool:
        """Whether a host is being learned or re-cleaned."""
        with queue_errors():
            return self._client.zscore(HOSTS, host) is not None

    def is_newest(self, host: str, job_id: str) -> bool:
        """Whether a job is the newest of its host; renews the time of the last work on it."""
        return self._step("keep", host, job_id) == 1

    def lose(self, host: str, job_id: str) -> None:
        """Declares the process of a job dead."""
        self._step("lose", host, job_id, 1)

    def expire(self) -> None:
        """Declares every worker dead, without counting a loss of its job."""
        with queue_errors():
            jobs = self._client.hgetall(JOBS)
        for host, job in jobs.items():
            if not self._is_waiting(job.decode()):
                self._step("lose", host.decode(), job.decode(), 0)

    def begin(self, host: str, records: int, most_pages: int) -> str:
        """Begins to learn a host in the calling process; returns the id of that job.

        Args:
            host: Lower-case authority.
            records: The host's records.
            most_pages: Most pages of the sample.
        """
        job_id = uuid.uuid4().hex
        self._step("next", host, "", job_id, json.dumps([LEARN_SITE, most_pages]), records)
        return job_id

    def go_on(self, host: str, job_id: str, *args: object) -> None:
        """Enqueues the next part of a host's re-cleaning, unless there is a newer job."""
        task, new = [RECLEAN_HOST, *args], uuid.uuid4().hex
        if self._step("next", host, job_id, new, json.dumps(task), ""):
            self._enqueue(new, host, task)

    def keep_place(self, host: str, job_id: str, *args: object) -> None:
        """Stores the arguments with which a re-cleaning resumes if its job is lost."""
        self._step("keep", host, job_id, json.dumps([RECLEAN_HOST, *args]))

    def end(self, host: str, job_id: str) -> None:
        """Ends the work on a host, unless there is a newer job."""
        self._step("done", host, job_id)

    def give_way(self, host: str, job_id: str) -> None:
        """Ends learning that gave no model, and resumes the re-cleaning that it interrupted."""
        with queue_errors():
            task = self._client.hget(ASIDE, host)
        if task is None:
            self.end(host, job_id)
        else:
            self.go_on(host, job_id, *json.loads(task)[1:])

    def count(self) -> int:
        """Number of hosts that are being learned or re-cleaned."""
        with queue_errors():
            return int(self._client.zcard(HOSTS))

    def redo_lost(self) -> tuple[int, Sequence[str]]:
        """Enqueues lost jobs again; any process may call it.

        Returns:
            Number of jobs enqueued, and the hosts given up after ``MAX_TRIES``.
        """
        again, given_up = 0, []
        with queue_errors():
            silent = self._client.zrangebyscore(HOSTS, 0, self._now_ms() - LOST_MS)
        for name in silent:
            host = name.decode()
            with queue_errors():
                job, task = (self._client.hget(key, host) for key in (JOBS, TASKS))
            if job is None:
                continue  # ended since
            if self._is_waiting(job.decode()):
                self._step("keep", host, job.decode())
                continue
            new = uuid.uuid4().hex
            done = self._step("redo", host, job.decode(), new, MAX_TRIES)
            if done < 0:
                given_up.append(host)
            elif done:
                self._enqueue(new, host, json.loads(task))
                again += 1
        return again, given_up

    def _is_waiting(self, job_id: str) -> bool:
        """Whether a job waits for a worker."""
        with queue_errors():
            queues = (self._pages, self._queue)
            return any(queue.get_job_position(job_id) is not None for queue in queues)

    def _enqueue(self, job_id: str, host: str, task: list[Any]) -> None:
        name, *args = task
        queue = self._pages if name == LEARN_SITE else self._queue
        with queue_errors():
            queue.enqueue_call(
                name,
                args=(host, *args),
                job_id=job_id,
                timeout=JOB_TIMEOUT_S,
                result_ttl=0,
                failure_ttl=FAILURE_TTL_S,
                description=f"{host}: {name.rpartition('.')[2]}",
                at_front=name == LEARN_SITE,
            )

    def _step(self, step: str, host: str, *args: Arg) -> int:
        with queue_errors():
            return int(self._scripts("learn", [step, host, *args]))

    def _now_ms(self) -> int:
        seconds, micros = self._client.time()
        return int(seconds) * 1000 + int(micros) // 1000
