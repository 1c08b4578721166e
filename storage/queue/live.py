"""What the queue and its processes do at one moment: one script, and one pipeline."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec
from msgspec.structs import replace

from crawlclean.cleaning.messages import read_line
from crawlclean.storage.live_state import (
    Claim,
    Hold,
    HostTrouble,
    Process,
    ProcessRole,
    QueueNow,
    SpiderSession,
    WaitingHost,
    WaitReason,
    Waits,
)
from crawlclean.storage.queue.clients import (
    Arg,
    QueueMember,
    Scripts,
    queue_errors,
    queue_ms,
)
from crawlclean.storage.queue.entries import from_ms, process_name
from crawlclean.storage.store.journal import ANSWERS, BUSY, MOST_KEPT

# Heartbeats: which processes there are, on which machine, and when they were heard last.
#
# Every process tells its role at least once in 15 seconds. One that is not heard for a minute is
# lost: the housekeeper makes an event of it. It is remembered until it is heard again or declared
# dead, six hours at most: a process that was stopped, or whose machine is gone, cannot say so
# itself. Leases and claims have lives of their own, which are shorter; what a process holds is
# given to others long before.

LIFE_S = 60
"""A process that was not heard for so long is lost."""
REMEMBERED_S = 6 * 3600
"""A lost process is forgotten then, if nobody declared it dead."""
REPLACED_S = 60
"""A supervisor that has not replaced its child by then has none of that name."""
KEPT_REPLACED_S = 3600
"""So long it is known that a supervisor has killed its child."""
BEAT_S = 10.0
"""A process that works all the time is heard so often; an idle worker every 11 s."""
_WHO = "cc:who"
_TO_REPLACE = "cc:replace"
_REPLACED = "cc:replaced"


def beat_args(role: ProcessRole, name: str, work: str = "") -> list[Arg]:
    """Arguments of ``beat.lua``; ``name`` is ``machine.4711`` or ``machine.4711.0a1b2c3d``."""
    machine, pid, *_ = name.split(".")
    return [str(role), name, machine, pid, work, REMEMBERED_S]


class Processes(QueueMember):
    """The member ``processes`` of the queue; methods raise ``QueueUnavailable``."""

    def __init__(self, client: Any, scripts: Scripts) -> None:
        super().__init__(client, scripts)
        self._heard = -BEAT_S

    def beat(self, role: ProcessRole, work: str = "") -> None:
        """Tells that this process lives, at most every ``BEAT_S``: other calls cost nothing.

        Args:
            role: What this process does.
            work: What it works on, a line for a person.
        """
        now = time.monotonic()
        if now - self._heard < BEAT_S:
            return
        self._scripts("beat", *beat_args(role, process_name(), work))
        self._heard = now

    def leave(self, role: ProcessRole) -> None:
        """Tells that this process ends as it should: its silence is no death."""
        self._heard = -BEAT_S
        self._forget(f"{role} {process_name()}".encode())

    def troubles(self) -> list[tuple[str, str]]:
        """Spiders of this machine that fetch nothing, and why: ``[("web1.4711.0a1b", "...")]``."""
        machine, _, _ = process_name().partition(".")
        since = queue_ms(self._client) - LIFE_S * 1000
        members = map(_member, self._client.zrangebyscore(_WHO, since, "+inf"))
        names = [
            name
            for role, name in members
            if role == ProcessRole.SPIDER and name.startswith(f"{machine}.")
        ]
        work = [(name, self._client.hget(f"{_WHO}:{name}", "work")) for name in names]
        return [(name, found.decode("utf-8", "replace")) for name, found in work if found]

    def take_silent(self) -> list[tuple[ProcessRole, str]]:
        """Returns processes that fell silent for ``LIFE_S`` since the last call.

        With those that were declared dead, which are forgotten. Of several callers one gets a
        process: ``[(ProcessRole.WORKER, "machine.4711")]``.
        """
        now_ms = queue_ms(self._client)
        until = now_ms - LIFE_S * 1000
        silent = self._client.zrangebyscore(_WHO, 0, until, withscores=True)
        found = [_member(each) for each, heard in silent if self._is_news(each, heard, now_ms)]
        return [(ProcessRole(role), name) for role, name in found]

    def _is_news(self, member: bytes, heard: float, now_ms: int) -> bool:
        """Whether the silence of a process is news; forgets it where nobody waits for it."""
        key = f"{_WHO}:{_member(member)[1]}"
        if not heard:
            is_told = self._client.hexists(key, "told")
            return self._forget(member) and not is_told
        if heard <= now_ms - REMEMBERED_S * 1000:
            self._forget(member)
            return False
        return bool(self._client.hsetnx(key, "told", 1))

    def silent(self, names: Sequence[str]) -> list[tuple[ProcessRole, str]]:
        """Returns those of some processes that were not heard for ``LIFE_S``, each time."""
        until = queue_ms(self._client) - LIFE_S * 1000
        found = map(_member, self._client.zrangebyscore(_WHO, "(0", until))
        # A spider's name has a part of its own: machine.4711.0a1b2c3d
        plain = [(ProcessRole(role), ".".join(name.split(".")[:2])) for role, name in found]
        return [(role, name) for role, name in plain if name in names]

    def declare_dead(self, is_dead: Callable[[str], bool]) -> None:
        """Declares processes dead by name; the next ``take_silent`` returns them."""
        for member in self._client.zrange(_WHO, 0, -1):
            if is_dead(f"{_member(member)[1]}."):
                self._client.zadd(_WHO, {member: 0}, xx=True)

    def ask_to_replace(self, name: str) -> None:
        """Asks the supervisor of a process, ``machine.4711``, to kill it and start another."""
        with self._client.pipeline() as pipe:
            pipe.sadd(_TO_REPLACE, name)
            pipe.expire(_TO_REPLACE, REPLACED_S)
            pipe.execute()

    def take_to_replace(self, mine: Sequence[str]) -> list[str]:
        """Returns those of a supervisor's processes that it is asked to replace, once."""
        asked = {each.decode() for each in self._client.smembers(_TO_REPLACE)}
        taken = [each for each in mine if each in asked]
        for each in taken:  # at every moment it is asked for or taken up
            self._client.set(f"{_REPLACED}:{each}", 1, ex=KEPT_REPLACED_S)
            self._client.srem(_TO_REPLACE, each)
        return taken

    def is_to_replace(self, name: str) -> bool:
        """Whether a supervisor is asked to replace a process, and none has taken it up."""
        return bool(self._client.sismember(_TO_REPLACE, name))

    def is_replaced(self, name: str) -> bool:
        """Whether its supervisor has taken up a process within the last hour, to replace it."""
        return bool(self._client.exists(f"{_REPLACED}:{name}"))

    def forget_all(self) -> None:
        """Forgets all processes: those of an earlier run, which ended with their queue."""
        for member in self._client.zrange(_WHO, 0, -1):
            self._forget(member)

    def _forget(self, member: bytes) -> bool:
        with self._client.pipeline() as pipe:
            pipe.zrem(_WHO, member)
            pipe.delete(f"{_WHO}:{_member(member)[1]}")
            return bool(pipe.execute()[0])


def _member(packed: bytes) -> tuple[str, str]:
    """The (role, name) of a member of ``cc:who``, ``b"worker machine.4711"``; any role."""
    role, _, name = packed.decode().partition(" ")
    return role, name


# What hosts wait for at this moment: the reason, until when, and how many URLs wait.
#
# ``lua/waits.lua`` reads it from the clocks and queues of the hosts, and changes nothing. The
# answer is of one moment: a host with a delay of a second changes between DELAY and IN_FLIGHT all
# the time.

MOST_HOSTS = 2_000
"""Hosts of a crawl that are examined; 2,000 take 0.2 s (server and client, one core)."""

CHUNK = 100  # hosts a call: the server answers others in between


class HostWaits(QueueMember):
    """The member ``waits`` of the queue; methods raise ``QueueUnavailable``."""

    def of(self, pairs: Sequence[tuple[str, str]]) -> Waits:
        """What hosts of crawls wait for; ``pairs`` are (crawl, host)."""
        hosts: list[WaitingHost] = []
        for start in range(0, max(1, len(pairs)), CHUNK):
            part = pairs[start : start + CHUNK]
            now, spiders, pages, size, holds, *rows = self._scripts(
                "waits", *(text for pair in part for text in pair)
            )
            found = zip(part, rows, strict=True)
            hosts += [_read(crawl_id, host, row) for (crawl_id, host), row in found]
        return Waits(
            at=from_ms(int(now)),
            hosts=hosts,
            known=len(pairs),
            spiders=int(spiders),
            pages_in_flight=int(pages),
            bytes_in_flight=int(size),
            holds=[Hold(word) for word in holds.decode().split()],
        )

    def of_crawl(self, crawl_id: str, most: int = MOST_HOSTS) -> Waits:
        """What the hosts of a crawl wait for; of more than ``most`` hosts, any ``most``."""
        known = int(self._client.scard(f"cc:h:{crawl_id}"))
        names = islice(self._client.sscan_iter(f"cc:h:{crawl_id}", count=1000), most)
        hosts = sorted({name.decode() for name in names})  # a scan may repeat a name
        found = self.of([(crawl_id, host) for host in hosts])
        return replace(found, known=max(known, len(hosts)))

    def troubled(self, most: int = MOST_HOSTS) -> list[HostTrouble]:
        """The hosts whose requests fail, those that failed last first; at most ``most``."""
        found = self._client.zrevrange("cc:troubled", 0, most - 1, withscores=True)
        with self._client.pipeline(transaction=False) as pipe:
            for host, _ in found:
                pipe.hmget(b"cc:g:" + host, "trouble", "clock")
                pipe.zrange(b"cc:gc:" + host, 0, -1)
            rows = pipe.execute()
        known = zip(found, rows[::2], rows[1::2], strict=True)
        return [
            _trouble(host.decode(), newest, row, crawls)
            for (host, newest), row, crawls in known
            if row[0]
        ]


def _read(crawl_id: str, host: str, row: Sequence[Any]) -> WaitingHost:
    """Decodes a row of ``waits.lua``: ``[b"delay", b"1700000000000", b"1000", 12, 0]``.

    Raises:
        ValueError: A field is damaged.
    """
    reason, until_ms, pause_ms, urls, held = row
    return WaitingHost(
        crawl=crawl_id,
        host=host,
        reason=WaitReason(reason.decode()),
        until=from_ms(int(until_ms)) if int(until_ms) else None,
        pause_s=int(pause_ms) / 1000,
        urls=int(urls),
        in_flight=int(held),
    )


def _trouble(host: str, newest: float, row: Sequence[Any], crawls: Sequence[bytes]) -> HostTrouble:
    """Decodes the fields ``trouble`` and ``clock`` of a host.

    Raises:
        ValueError: They are damaged.
    """
    outcome, since, requests, _, why = row[0].decode("utf-8", "replace").split(" ", 4)
    return HostTrouble(
        host=host,
        outcome=outcome,
        since=from_ms(int(since)),
        newest=from_ms(int(newest)),
        requests=int(requests),
        why=read_line(why),
        until=from_ms(int(row[1] or 0)),
        crawls=[each.decode() for each in crawls],
    )


MOST_READ = 500
"""Leases of a session, and claims, whose ages are read; larger fleets have older ones unseen."""


def read_now(client: Any, scripts: Scripts) -> QueueNow:
    """The queue at this moment; changes nothing.

    Raises:
        QueueUnavailable: The server is away.
        StoreDamaged: Another program has written into the queue.
    """
    with queue_errors():
        at, flight, jobs, sessions, claims, processes, numbers = scripts("live", MOST_READ)
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
    role, name = _member(member)
    return Process(
        name=name,
        role=ProcessRole(role),
        machine=machine.decode(),
        pid=int(pid),
        since=from_ms(int(since)),
        silent_s=int(silent) / 1000,
        work=work.decode("utf-8", "replace"),
    )


# What was fetched and cleaned, by crawl and host, since the last minute.
#
# Spiders add to it every five seconds, workers at the end of a job, in the round trips of their
# counters. Each minute a housekeeper takes all of it, for the store's samples, and adds it to the
# totals of the crawls and hosts that are kept, for Prometheus.

_TALLY, _TOTALS = "cc:tally", "cc:totals"
MOST_TALLIES = 20_000
"""Of spiders and workers, the newest: those of a minute of 3,000 pages a second in small jobs."""
TAKEN_S = 600
"""So long a minute's tally is there for another housekeeper, if the first cannot store it."""
FADES = 0.99
"""Of what makes a host busy, after a minute: half of it is left after an hour and ten minutes."""

Tally = Mapping[str, int]
"""Counts of figures (``Flow``) by crawl, host and figure: ``{"news a.example answers_2xx": 3}``."""
Totals = dict[str, dict[str, float]]
"""Counts of figures by what they are of: ``""``, ``:news``, ``@www.example.com``."""


def add_tally(pipe: Any, tally: Tally) -> None:
    """Adds the commands to a pipeline that add a tally."""
    if tally:
        pipe.rpush(_TALLY, msgspec.json.encode(tally))
        pipe.ltrim(_TALLY, -MOST_TALLIES, -1)


class Tallies(QueueMember):
    """The member ``tallies`` of the queue; methods raise ``QueueUnavailable``."""

    def take(self, minute: int) -> Totals:
        """Takes what was counted since the minute before, of everything and of what is kept.

        In the same minute it returns the same again.
        """
        key = f"{_TALLY}:{minute}"
        with self._client.pipeline() as pipe:
            pipe.renamenx(_TALLY, key)
            pipe.expire(key, TAKEN_S)
            pipe.lrange(key, 0, -1)
            is_taken, _, entries = pipe.execute(raise_on_error=False)
        found: Totals = {"": {}}
        for entry in entries:
            for name, n in _TALLY_ENTRY.decode(entry).items():
                crawl, host, figure = name.split(" ")
                for of in ("", f":{crawl}", f"@{host}"):
                    figures = found.setdefault(of, {})
                    figures[figure] = figures.get(figure, 0) + n
        kept = self._add(found) if is_taken is True else self.totals()
        return {of: found.get(of, {}) for of in kept}

    def _add(self, found: Totals) -> Totals:
        """Adds to the totals of what is kept, the busiest; forgets the totals of the rest."""
        totals, before = self.totals(), set(self.totals())
        for figures in totals.values():
            figures[BUSY] = figures.get(BUSY, 0) * FADES
        for of, figures in found.items():
            total = totals.setdefault(of, {})
            for figure, n in figures.items():
                total[figure] = total.get(figure, 0) + n
            total[BUSY] = total.get(BUSY, 0) + sum(figures.get(each, 0) for each in ANSWERS)
        for kind, most in MOST_KEPT.items():
            some = sorted((of for of in totals if of[:1] == kind), key=lambda of: -totals[of][BUSY])
            for of in some[most:]:
                del totals[of]
        with self._client.pipeline() as pipe:
            pipe.hset(
                _TOTALS, mapping={of: msgspec.json.encode(each) for of, each in totals.items()}
            )
            for of in before - totals.keys():
                pipe.hdel(_TOTALS, of)
            pipe.execute()
        return totals

    def totals(self) -> Totals:
        """Counts since the queue began, or since the crawl or the host was among the busiest."""
        found = self._client.hgetall(_TOTALS)
        return {of.decode(): _TOTAL.decode(figures) for of, figures in found.items()}

    def waiting(self, hosts: Sequence[str]) -> dict[str, int]:
        """How many URLs wait in memory at hosts, of all crawls: ``{"www.example.com": 12}``."""
        with self._client.pipeline(transaction=False) as pipe:
            for host in hosts:
                pipe.zrange(f"cc:gc:{host}", 0, -1)
            crawls = pipe.execute() if hosts else []
            pairs = [
                (host, crawl.decode())
                for host, each in zip(hosts, crawls, strict=True)
                for crawl in each
            ]
            for host, crawl in pairs:
                pipe.zcard(f"cc:q:{crawl}:{host}")
                pipe.zcard(f"cc:r:{crawl}:{host}")
            counts = pipe.execute() if pairs else []
        found = dict.fromkeys(hosts, 0)
        for place, (host, _) in enumerate(pairs):
            found[host] += counts[2 * place] + counts[2 * place + 1]
        return found


_TALLY_ENTRY = msgspec.json.Decoder(dict[str, int])
_TOTAL = msgspec.json.Decoder(dict[str, float])
