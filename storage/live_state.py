"""What the queue and its processes do at one moment, as values; ``queue/live.py`` reads them.

Durations are seconds by the clock of the queue's server, so clocks of other machines do not matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from msgspec import Struct

# What hosts of crawls wait for, as values; ``queue/waits.py`` reads them from the queue.


class WaitReason(StrEnum):
    """What a host of a crawl waits for."""

    DELAY = "delay"  # the crawl's own delay, --delay or the hosts file
    SLOWED = "slowed"  # an operator's longer delay for the host
    CRAWL_DELAY = "crawl_delay"  # the Crawl-delay of robots.txt, which is longer
    SLOW_ANSWERS = "slow_answers"  # a longer pause, because the host answers slowly
    SLOW_DOWN = "slow_down"  # the host answered 429 or 503, perhaps with Retry-After
    ROBOTS = "robots"  # robots.txt cannot be had
    AWAY = "away"  # connections fail
    GONE = "gone"  # connections failed for so long that URLs end without a request
    RETRY = "retry"  # all its URLs have failed and wait for the next attempt
    ADDRESS = "address"  # another host at its address is asked (politeness=ip)
    IN_FLIGHT = "in_flight"  # the answer to a request
    RANK = "rank"  # the better URLs of other hosts (topic crawls)
    READY = "ready"  # a spider, which takes a URL at its next call
    IN_STORE = "in_store"  # its URLs, which come back from the store
    PAUSED = "paused"  # an operator's `crawl resume HOST`
    CRAWL_PAUSED = "crawl_paused"  # an operator's `crawl resume CRAWL`
    CRAWL_STOPPED = "crawl_stopped"  # the next `run`
    LIMIT = "limit"  # a larger --max-pages
    NOTHING_LEFT = "nothing_left"  # no URL of the host waits


class Hold(StrEnum):
    """Why nothing is leased at any host."""

    PAGES = "pages"  # too many pages wait for workers
    BYTES = "bytes"  # too many bytes wait for workers
    MEMORY = "memory"  # the memory of the queue's server is nearly full
    DISK = "disk"  # the disk of the store is full, or the data folder has reached its quota


class WaitingHost(Struct, frozen=True, kw_only=True):
    """What a host of a crawl waits for.

    Attributes:
        crawl: Name of the crawl.
        host: Lower-case authority.
        reason: What the host waits for.
        until: End of the wait; null when it is not known.
        pause_s: Pause between a response and the next request, seconds.
        urls: URLs of the crawl that wait in memory; those in the store do not count.
        in_flight: Requests under way to the host, of all crawls.
    """

    crawl: str
    host: str
    reason: WaitReason
    until: datetime | None
    pause_s: float
    urls: int
    in_flight: int


class HostTrouble(Struct, frozen=True, kw_only=True):
    """How requests to a host fail, of all crawls; it ends with ten good answers in a row.

    Attributes:
        host: Lower-case authority.
        outcome: How the newest of them failed: ``slow_down`` (429, 503), ``none`` (no response), or
            ``error``: another status, where none failed in one of these ways.
        since: When the first of them failed.
        newest: When the newest of them failed.
        requests: How many failed.
        why: What was logged of the newest one, for a person: a message, or ``timeout: ...``.
        until: No request before.
        crawls: Crawls with work at the host.
    """

    host: str
    outcome: str
    since: datetime
    newest: datetime
    requests: int
    why: str
    until: datetime
    crawls: Sequence[str]


class Waits(Struct, frozen=True, kw_only=True):
    """What hosts wait for, at one moment.

    Attributes:
        at: The moment, by the clock of the queue's server.
        hosts: The examined hosts.
        known: Hosts there are; more than ``hosts`` when not all were examined.
        spiders: Spiders alive.
        pages_in_flight: Fetched pages that wait for workers or that workers hold.
        bytes_in_flight: Their packed size.
        holds: Why nothing is leased at any host; empty: leasing goes on.
    """

    at: datetime
    hosts: Sequence[WaitingHost] = ()
    known: int = 0
    spiders: int = 0
    pages_in_flight: int = 0
    bytes_in_flight: int = 0
    holds: Sequence[Hold] = ()


HEARTBEAT_S = 15.0
"""A process that lives is heard at least so often."""

SILENT_S = 20.0
"""A process that was not heard for so long is silent: what it holds is given to others, and the
console shows it. An idle worker is heard every 11 s."""


class ProcessRole(StrEnum):
    """What a process does."""

    SPIDER = "spider"  # fetches
    WORKER = "worker"  # cleans, learns
    HOUSEKEEPER = "housekeeper"  # redoes lost work, queues what is due again, tells receivers
    CONSOLE = "console"  # shows the operators' pages

    @classmethod
    def _missing_(cls, value: object) -> ProcessRole | None:
        """Reads the roles of version 0.2, which its processes may have left in a queue."""
        return cls.HOUSEKEEPER if value in ("sweeper", "keeper", "sender") else None


class Process(Struct, frozen=True, kw_only=True):
    """A process.

    Attributes:
        name: ``machine.4711``, of a spider with its session: ``machine.4711.0a1b2c3d``.
        role: What it does.
        machine: Name of its machine.
        pid: Its process id there.
        since: When it was heard first.
        silent_s: Seconds since it was heard last; up to 15 are usual.
        work: What it works on, a line for a person; may be empty.
    """

    name: str
    role: ProcessRole
    machine: str
    pid: int
    since: datetime
    silent_s: float
    work: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpiderSession:
    """A spider's session, and the URLs that it holds.

    Attributes:
        name: ``machine.4711.0a1b2c3d``.
        is_alive: Whether it was renewed in time; the housekeeper takes the URLs of a dead one.
        leases: URLs that it fetches or is about to fetch.
        oldest_s: Seconds since the oldest of these leases; None without a lease.
    """

    name: str
    is_alive: bool
    leases: int
    oldest_s: float | None


class Claim(Struct, frozen=True, kw_only=True):
    """A job of pages that a worker holds.

    Attributes:
        job_id: ``j17``.
        worker: Name of the worker.
        crawl_id: The crawl of its pages.
        host: Their host.
        pages: Their number when the job was claimed.
        page_id: The page that is being cleaned; ``""``: none, or not known.
        age_s: Seconds since the worker claimed it.
        is_alive: Whether it was renewed in time; the housekeeper redoes a dead one.
    """

    job_id: str
    worker: str
    crawl_id: str
    host: str
    pages: int
    page_id: str
    age_s: float
    is_alive: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueNow:
    """The queue at one moment.

    Attributes:
        at: The moment, by the clock of the queue's server.
        pages_in_flight: Fetched pages that wait for workers or that workers hold (the backlog).
        bytes_in_flight: Their packed size.
        holds: Why nothing is leased at any host; empty: leasing goes on.
        damage: Why the store's database cannot be read; ``""``: it can.
        jobs: Jobs of pages that no worker has taken.
        oldest_job_s: Seconds that the oldest of them has waited; None without one. A job that was
            enqueued again counts from then.
        sessions: Spiders' sessions, the dead ones with leases included.
        leases: URLs that they hold.
        oldest_lease_s: Seconds since the oldest of these leases; None without one.
        claims: Jobs that workers hold.
        oldest_claim_s: Seconds since the oldest of these claims; None without one.
        processes: Processes heard in the last minute, by role and name.
        lost: Processes that were not heard for longer and did not say that they end, nor were
            declared dead: of the last six hours, by role and name.
        up_s: Seconds since the queue's server started.
        ready_hosts: Hosts (and shared addresses) that may be asked now.
        hosts: Hosts (and shared addresses) with work in a queue.
        learning: Hosts that are learned or re-cleaned.
        paused_hosts: Hosts that an operator paused.
        stopped_classes: URL classes that are stopped as spider traps.
        memory_bytes: Memory of the queue's server.
        memory_limit_bytes: Its limit; None without one.
        counters: Process counters since the queue began: ``{"records": 480, ...}``.
    """

    at: datetime
    pages_in_flight: int
    bytes_in_flight: int
    holds: Sequence[Hold]
    damage: str
    jobs: int
    oldest_job_s: float | None
    sessions: Sequence[SpiderSession]
    leases: int
    oldest_lease_s: float | None
    claims: Sequence[Claim]
    oldest_claim_s: float | None
    processes: Sequence[Process]
    ready_hosts: int
    hosts: int
    learning: int
    paused_hosts: int
    stopped_classes: int
    memory_bytes: int
    memory_limit_bytes: int | None
    up_s: float
    lost: Sequence[Process] = ()
    counters: Mapping[str, int] = field(default_factory=dict)

    @property
    def spiders(self) -> int:
        """Spiders alive."""
        return sum(each.is_alive for each in self.sessions)

    @property
    def is_starting(self) -> bool:
        """Whether it is too early to miss a process: none is known for a heartbeat's time."""
        known = [*self.processes, *self.lost]
        oldest_s = max(((self.at - each.since).total_seconds() for each in known), default=None)
        return self.up_s < HEARTBEAT_S or (oldest_s is not None and oldest_s < HEARTBEAT_S)

    def of_role(self, role: ProcessRole) -> list[Process]:
        """The processes of a role."""
        return [each for each in self.processes if each.role is role]


class StoppedClass(Struct, frozen=True, kw_only=True):
    """A URL class that is stopped as a spider trap.

    Attributes:
        crawl_id: The crawl.
        host: Lower-case authority.
        pattern: The class: ``/cal/*``; a group ends with ``**``.
        since: When it was stopped.
    """

    crawl_id: str
    host: str
    pattern: str
    since: datetime
