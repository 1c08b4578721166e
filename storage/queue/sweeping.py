"""One round of the sweeper: what dead processes held is given to others.

Any number of sweepers may run anywhere: every change is one script. A job that RQ does not know is
enqueued again; pages that two jobs name are refused to the second by their tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from storage.queue.clients import Scripts
from storage.queue.jobs import JobQueue

MAX_CRASHES = 3
MAX_LOST_LEASES = 20
LOST_JOB_MS = 10_000
NEW_JOB_MS = 500
STRANDED_BATCH_MS = 1_000
CHUNK = 200
MEMORY_WATERMARK = 0.7


def sweep(client: Any, scripts: Scripts, jobs: JobQueue) -> Mapping[str, int]:
    """Redoes what dead processes left; returns how much of each kind."""
    _watch_memory(client)  # first: a server that is all but full refuses the rest
    leases, claims, poison = scripts("sweep", [MAX_CRASHES, MAX_LOST_LEASES, CHUNK])
    scripts("flush", [STRANDED_BATCH_MS])
    return {
        "leases_lost": leases,
        "claims_lost": claims,
        "poison_pages": poison,
        "jobs_enqueued": _enqueue_lost_jobs(client, jobs),
    }


def _watch_memory(client: Any) -> None:
    # A full server refuses everything, RQ included: new pages stop long before.
    memory = client.info("memory")
    limit = memory.get("maxmemory") or float("inf")
    if memory["used_memory"] > MEMORY_WATERMARK * limit:
        client.hset("cc:flight", "memory", "1")
    else:
        client.hdel("cc:flight", "memory")


def _enqueue_lost_jobs(client: Any, jobs: JobQueue) -> int:
    """Tells RQ of jobs it does not know; returns how many."""
    seconds, micros = client.time()
    now_ms = seconds * 1000 + micros // 1000
    enqueued = 0
    for name, since in client.zrange("cc:jobs", 0, CHUNK - 1, withscores=True):
        job = name.decode()
        if not client.exists(f"cc:j:{job}"):
            client.zrem("cc:jobs", job)
            continue
        known = client.exists(f"rq:job:{job}")
        if now_ms - since < (LOST_JOB_MS if known else NEW_JOB_MS):
            continue  # whoever made it is about to enqueue it
        if not (known and jobs.is_waiting(job)):
            enqueued += jobs.enqueue(job)
        client.zadd("cc:jobs", {name: now_ms}, xx=True)  # looked at, for now
    return enqueued
