"""What the queue and its processes do at one moment: one script, and one pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crawlclean.storage.host_waits import Hold
from crawlclean.storage.live_state import Claim, Process, ProcessRole, QueueNow, SpiderSession
from crawlclean.storage.queue.clients import Scripts, queue_errors
from crawlclean.storage.queue.entries import from_ms
from crawlclean.storage.queue.processes import LIFE_S

MOST_READ = 500
"""Leases of a session, and claims, whose ages are read; larger fleets have older ones unseen."""


def read_now(client: Any, scripts: Scripts) -> QueueNow:
    """The queue at this moment; changes nothing.

    Raises:
        QueueUnavailable: The server is away.
        StoreDamaged: Another program has written into the queue.
    """
    with queue_errors():
        at, flight, jobs, sessions, claims, processes, numbers = scripts("live", [MOST_READ])
        with client.pipeline(transaction=False) as pipe:
            pipe.info("memory")
            pipe.info("server")
            pipe.hgetall("cc:metrics")
            memory, server, counters = pipe.execute()
        spiders = [_session(row) for row in sessions]
        held = [_claim(row) for row in claims]
        known = sorted(map(_process, processes), key=lambda each: (each.role, each.name))
        pages, size, damage, holds = flight
        ready, hosts, learning, paused, stopped = map(int, numbers)
        return QueueNow(
            at=from_ms(int(at)),
            pages_in_flight=int(pages),
            bytes_in_flight=int(size),
            holds=[Hold(word) for word in holds.decode().split()],
            damage=damage.decode("utf-8", "replace"),
            jobs=int(jobs[0]),
            oldest_job_s=_seconds(jobs[1]),
            sessions=spiders,
            leases=sum(each.leases for each in spiders),
            oldest_lease_s=max(
                (each.oldest_s for each in spiders if each.oldest_s is not None), default=None
            ),
            claims=held,
            oldest_claim_s=max((each.age_s for each in held), default=None),
            processes=[each for each in known if each.silent_s < LIFE_S],
            lost=[each for each in known if each.silent_s >= LIFE_S],
            up_s=int(server["uptime_in_seconds"]),
            ready_hosts=ready,
            hosts=hosts,
            learning=learning,
            paused_hosts=paused,
            stopped_classes=stopped,
            memory_bytes=int(memory["used_memory"]),
            memory_limit_bytes=int(memory.get("maxmemory") or 0) or None,
            counters={name.decode(): int(value) for name, value in counters.items()},
        )


def _seconds(ms: bytes | int) -> float | None:
    return None if int(ms) < 0 else int(ms) / 1000


def _session(row: Sequence[Any]) -> SpiderSession:
    name, is_alive, leases, oldest = row
    return SpiderSession(
        name=name.decode(), is_alive=bool(is_alive), leases=leases, oldest_s=_seconds(oldest)
    )


def _claim(row: Sequence[Any]) -> Claim:
    job, worker, crawl, host, pages, page, age, is_alive = row
    return Claim(
        job_id=job.decode(),
        worker=worker.decode(),
        crawl_id=crawl.decode(),
        host=host.decode(),
        pages=pages,
        page_id=page.decode().replace("!", ""),
        age_s=_seconds(age) or 0.0,
        is_alive=bool(is_alive),
    )


def _process(row: Sequence[Any]) -> Process:
    """Decodes a process: ``[b"worker machine.4711", b"machine", b"4711", b"17...", b"", b"80"]``.

    Raises:
        ValueError: A field is damaged.
    """
    member, machine, pid, since, work, silent = row
    role, _, name = member.decode().partition(" ")
    return Process(
        name=name,
        role=ProcessRole(role),
        machine=machine.decode(),
        pid=int(pid),
        since=from_ms(int(since)),
        silent_s=int(silent) / 1000,
        work=work.decode("utf-8", "replace"),
    )
