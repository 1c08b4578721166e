"""Which hosts are being learned, and the jobs that do it.

Learning goes before pages that wait: it is short, seldom, and what it teaches spares cleaning them
again. Cleaning again comes when no page waits.

A host that is to be learned stands in ``cc:learn`` with the time somebody last worked on it, so a
job that RQ or a dead worker lost is enqueued again by the sweeper. Only the newest job of a host
counts: one that is asked for takes the place of one that cleans again by an older model.

How a host's newer pages fit its model stands in ``cc:learn:watch`` as the text that the workers
write; it is replaced only as it was read (``lua/watch.lua``), so no page counts twice.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from rq import Queue
from rq.serializers import JSONSerializer

from cleaning.learn.sample import MAX_SAMPLE
from storage.clients import queue_errors
from storage.jobs import (
    FAILURE_TTL_S,
    JOB_TIMEOUT_S,
    LEARN_SITE,
    LEARNING,
    PAGES,
    RECLEAN_HOST,
)
from storage.scripts import Scripts

HOSTS = "cc:learn"  # host -> when it was last worked on, ms
RECORDS = "cc:learn:records"  # host -> records so far
TRIES = "cc:learn:tries"  # host -> how often its job was lost
JOBS = "cc:learn:jobs"  # host -> id of its job
WATCHES = "cc:learn:watch"  # host -> how its newer pages fit its model
LOST_MS = 20_000
MAX_TRIES = 3


class LearningQueue:
    """Jobs of learning and of cleaning again; all methods raise ``QueueUnavailable``."""

    def __init__(self, client: Any, scripts: Scripts) -> None:
        self._client = client
        self._scripts = scripts
        self._pages = Queue(PAGES, connection=client, serializer=JSONSerializer)
        self._queue = Queue(LEARNING, connection=client, serializer=JSONSerializer)

    def add_records(self, host: str, count: int) -> tuple[int, str]:
        """Counts records of a host; (all of them so far, what is watched of it, ``""`` nothing)."""
        with queue_errors(), self._client.pipeline(transaction=False) as pipe:
            pipe.hincrby(RECORDS, host, count)
            pipe.hget(WATCHES, host)
            total, watch = pipe.execute()
        return int(total), (watch or b"").decode()

    def watch(self, host: str) -> tuple[int, str]:
        """The same, nothing counted."""
        with queue_errors(), self._client.pipeline(transaction=False) as pipe:
            pipe.hget(RECORDS, host)
            pipe.hget(WATCHES, host)
            total, watch = pipe.execute()
        return int(total or 0), (watch or b"").decode()

    def replace_watch(self, host: str, old: str, new: str) -> bool:
        """Keeps what is watched of a host; False when it is not as it was read any more."""
        with queue_errors():
            return bool(self._scripts("watch", [WATCHES, host, old, new]))

    def forget(self, host: str) -> None:
        """Counts a host's records from 0 again, and forgets what was watched."""
        with queue_errors():
            self._client.hdel(RECORDS, host)
            self._client.hdel(WATCHES, host)

    def is_busy(self, host: str) -> bool:
        """Whether a host is being learned or cleaned again."""
        with queue_errors():
            return self._client.zscore(HOSTS, host) is not None

    def ask(self, host: str, most_pages: int = MAX_SAMPLE) -> None:
        """Asks for a host to be learned from so many pages at most; 0: as an alarm of it asks."""
        with queue_errors():
            self._enqueue(LEARN_SITE, host, most_pages)

    def is_newest(self, host: str, job_id: str) -> bool:
        """Whether a job is the newest of its host, which is thereby said to be worked on."""
        with queue_errors():
            if self._client.hget(JOBS, host) != job_id.encode():
                return False
            self._client.zadd(HOSTS, {host: self._now_ms()})
            return True

    def go_on(self, host: str, job_id: str, *args: object) -> None:
        """The next part of cleaning a host again, unless a newer job was asked for."""
        if self.is_newest(host, job_id):
            with queue_errors():
                self._enqueue(RECLEAN_HOST, host, *args)

    def end(self, host: str, job_id: str) -> None:
        """Says that a host is done, unless a newer job was asked for."""
        if self.is_newest(host, job_id):
            with queue_errors():
                self._forget(host)

    def count(self) -> int:
        """Hosts that are being learned or cleaned again."""
        with queue_errors():
            return int(self._client.zcard(HOSTS))

    def redo_lost(self) -> tuple[int, Sequence[str]]:
        """(jobs enqueued again, hosts given up after ``MAX_TRIES``); any process may call it."""
        with queue_errors():
            now = self._now_ms()
            again, given_up = 0, []
            for name in self._client.zrangebyscore(HOSTS, 0, now - LOST_MS):
                host = name.decode()
                if self._is_waiting(host):
                    self._client.zadd(HOSTS, {host: now}, xx=True)
                elif self._client.hincrby(TRIES, host, 1) > MAX_TRIES:
                    self._forget(host)
                    given_up.append(host)
                else:
                    self._enqueue(LEARN_SITE, host, MAX_SAMPLE)
                    again += 1
            return again, given_up

    def _forget(self, host: str) -> None:
        self._client.zrem(HOSTS, host)
        for key in (TRIES, JOBS):
            self._client.hdel(key, host)

    def _is_waiting(self, host: str) -> bool:
        """Whether the job of a host waits for a worker."""
        job = self._client.hget(JOBS, host)
        return job is not None and any(
            queue.get_job_position(job.decode()) is not None for queue in (self._pages, self._queue)
        )

    def _enqueue(self, task: str, host: str, *args: object) -> None:
        job = uuid.uuid4().hex
        # The host first: a job that is never enqueued is found lost.
        self._client.zadd(HOSTS, {host: self._now_ms()})
        self._client.hset(JOBS, host, job)
        queue = self._pages if task == LEARN_SITE else self._queue
        queue.enqueue_call(
            task,
            args=(host, *args),
            job_id=job,
            timeout=JOB_TIMEOUT_S,
            result_ttl=0,
            failure_ttl=FAILURE_TTL_S,
            description=f"{host}: {task.rpartition('.')[2]}",
            at_front=task == LEARN_SITE,
        )

    def _now_ms(self) -> int:
        seconds, micros = self._client.time()
        return int(seconds) * 1000 + int(micros) // 1000
