"""The learning queue: jobs that learn hosts and re-clean their pages.

- The worker that stores the page which makes a host due learns the host at once: learning is short
  and rare, and an early model spares re-cleaning. Re-cleaning runs when no page waits.
- ``cc:learn`` holds the hosts in work, each with the time of the last work, and ``cc:learn:tasks``
  their tasks. When RQ or a dead worker has lost a job, the housekeeper enqueues a new job with the
  host's task; learning goes before waiting pages.
- Only the newest job of a host counts: learning replaces re-cleaning by an older model. Every step
  is one script (``lua/learn.lua``).
- The watch text in ``cc:learn:watch`` is the workers' drift state of a host: how its newer pages
  fit its model. ``lua/watch.lua`` replaces only the text that was read, so no page counts twice.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from typing import Any

from rq import Queue
from rq.serializers import JSONSerializer

from crawlclean.storage.queue.clients import Arg, QueueMember, Scripts, queue_ms
from crawlclean.storage.queue.jobs import (
    FAILURE_TTL_S,
    JOB_TIMEOUT_S,
    LEARN_SITE,
    LEARNING,
    PAGES,
    RECLEAN_HOST,
)

# A sorted set, host -> time of the last work, ms: www.example.com -> 1700000000000.
HOSTS = "cc:learn"
# Hashes, host -> value.
RECORDS = "cc:learn:records"  # records so far: 480
REPEATED = "cc:learn:again"  # re-cleaned records whose model was learned from many pages: 72
LEARNED_AT = "cc:learn:asked"  # records when the host was learned last: 100
TASKS = "cc:learn:tasks"  # task of the job, JSON: ["workers.tasks.learn_site", 100]
INTERRUPTED = "cc:learn:aside"  # re-cleaning task that learning interrupted, as in TASKS
JOBS = "cc:learn:jobs"  # id of the newest job: 0f8fad5bd9cb469fa16570867728950e
WATCHES = "cc:learn:watch"  # watch text, JSON: [2,400,0,0,{},[],null] (cleaning/drift/watch.py)
LOST_MS = 20_000  # a job that works renews its time more often; less would repeat living ones
MAX_TRIES = 3  # losses in a row of one job; the next slice of a re-cleaning is another job


class LearningQueue(QueueMember):
    """Jobs of learning and of re-cleaning; all methods raise ``QueueUnavailable``."""

    def __init__(self, client: Any, scripts: Scripts) -> None:
        super().__init__(client, scripts)
        self._pages = Queue(PAGES, connection=client, serializer=JSONSerializer)
        self._queue = Queue(LEARNING, connection=client, serializer=JSONSerializer)

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

    def repeated(self, host: str) -> int:
        """Number of re-cleaned records of a host whose model was learned from many pages."""
        return int(self._client.hget(REPEATED, host) or 0)

    def add_repeated(self, host: str, count: int) -> None:
        """Adds to ``repeated``; the records of a killed slice are not counted."""
        if count:
            self._client.hincrby(REPEATED, host, count)

    def reset_repeated(self, host: str) -> None:
        """Sets ``repeated`` of a host to 0."""
        self._client.hdel(REPEATED, host)

    def is_busy(self, host: str) -> bool:
        """Whether a host is being learned or re-cleaned."""
        return self._client.zscore(HOSTS, host) is not None

    def is_newest(self, host: str, job_id: str) -> bool:
        """Whether a job is the newest of its host; renews the host's time of the last work."""
        return self._step("keep", host, job_id) == 1

    def declare_lost(self, host: str, job_id: str) -> None:
        """Declares the process of a job dead: the next ``requeue_lost`` enqueues its task."""
        self._step("lose", host, job_id, 1)

    def expire(self) -> None:
        """Declares the process of every running job dead, without counting a loss of the job."""
        jobs = self._client.hgetall(JOBS)
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
        return int(self._client.zcard(HOSTS))

    def requeue_lost(self) -> tuple[int, Sequence[str]]:
        """Enqueues the tasks of lost jobs as new jobs; safe to call from any process.

        Returns:
            (jobs enqueued, hosts given up after ``MAX_TRIES``), ``(1, ["www.example.com"])``.
        """
        enqueued, given_up = 0, []
        silent = self._client.zrangebyscore(HOSTS, 0, queue_ms(self._client) - LOST_MS)
        for name in silent:
            host = name.decode()
            job, task = (self._client.hget(key, host) for key in (JOBS, TASKS))
            if job is None:
                continue  # ended meanwhile
            if self._is_waiting(job.decode()):
                self._step("keep", host, job.decode())
                continue
            new = uuid.uuid4().hex
            done = self._step("redo", host, job.decode(), new, MAX_TRIES)
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
        queue = self._pages if name == LEARN_SITE else self._queue
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
        return int(self._scripts("learn", step, host, *args))
