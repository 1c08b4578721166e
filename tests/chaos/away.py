"""A server that is away during a crawl: which processes wait, what they log, what it costs."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from redis.exceptions import RedisError

from tests.chaos.fleets import CRAWL_LIMIT_S, LOOK_S, Servers
from tests.chaos.members import Member
from tests.chaos.rest import complaints
from tests.chaos.sites import Sites, text_sites
from tests.kit.processes import cpu_s, kill, send
from tests.kit.timing import wait_until

ROUTINE = re.compile(r"\S+ info (housekeeper swept|worker (url classes|learned|re-cleaned)) ")
SETTLE_S = 1.0  # what was under way ends first
LINES = 2  # "away" and "back"
CPU_SHARE = 0.05
SHORT_S, CPU_SHARE_SHORT = 10.0, 0.25  # a few looks weigh more in a short absence
PARTS = 3  # of an absence; work that was under way ends within one of them
NO_SPACE = 14031  # MongoDB's OutOfDiskSpace
WRITES = ["insert", "update", "findAndModify"]


@dataclass
class Absence:
    """The outcome of one absence of a server.

    ``lines`` are those that each process wrote because of it. ``cpu_share`` is the part of a core
    that each process of the product used in the quietest part of the absence: a process that
    polls without a pause shows in every part, one that ends its work late does not. The other
    server is left out: its housekeeping is its own.
    """

    server: str
    how: str
    seconds: float
    lines: dict[str, list[str]] = field(default_factory=dict)
    cpu_share: dict[str, float] = field(default_factory=dict)
    resumed_s: float = 0.0  # from its return to the next record

    @property
    def complaints(self) -> list[str]:
        """Processes that logged too much or used too much processor time, a line each."""
        most = CPU_SHARE if self.seconds >= SHORT_S else CPU_SHARE_SHORT
        return [
            *(f"{who} said {said}" for who, said in self.lines.items() if len(said) > LINES),
            *(f"{who} used {n}" for who, n in self.cpu_share.items() if n > most),
        ]


@dataclass
class Away:
    """Absences in one crawl, and the crawl at rest."""

    absences: list[Absence]
    at_rest: list[str]

    @property
    def complaints(self) -> list[str]:
        """Everything that is not as it should be."""
        told = [f"{a.server} {a.how}: {c}" for a in self.absences for c in a.complaints]
        return [*self.at_rest, *told]


def away(
    folder: Path,
    absences: Sequence[tuple[str, str]],
    seconds: float,
    *,
    pages: int = 600,
    latency_ms: int = 100,
    seed: int = 1,
    queue_folder: Path | None = None,
) -> Away:
    """A crawl during which servers are away, one after the other.

    Args:
        folder: For everything.
        absences: ``queue`` or ``mongo``, and ``dead``, ``frozen`` (keeps its connections) or
            ``full`` (nothing can be written).
        seconds: How long each is away.
        pages: How many there are; enough for the crawl to outlive the absences.
        latency_ms: Of every answer.
        seed: Of the site.
        queue_folder: Where the queue's file is; a small disk when it is to be full.
    """
    with (
        Sites(folder, text_sites(pages, latency_ms, seed, hosts=1)) as sites,
        Servers(folder, sites.seeds, hurry=False, queue_folder=queue_folder) as fleet,
    ):
        said: list[Absence] = []
        for n, (server, how) in enumerate(absences):
            goal = pages * (n + 0.5) / (len(absences) + 1)
            _until_stored(fleet, goal)
            said.append(_be_away(fleet, _Way(server, how, queue_folder), seconds))
        _until(fleet, fleet.is_done)
        fleet.come_to_rest()
        frontier = fleet.frontier()
        frontier.sweep()
        frontier.close()
        store = fleet.open_store()
        at_rest = complaints(fleet.client, fleet.crawl_id(), store, sites)
        store.close()
        if repeats := sum(sites.requests().values()) - pages:
            at_rest.append(f"{repeats} pages were asked for again")
    return Away(said, at_rest)


@dataclass(frozen=True)
class _Way:
    """Which server is away, and how."""

    server: str
    how: str
    queue_folder: Path | None

    @contextmanager
    def taken(self, fleet: Servers) -> Iterator[None]:
        """The server is away while this is open."""
        server = self.member(fleet)
        if self.how == "frozen":
            send(server.pid, signal.SIGSTOP)
            yield
            send(server.pid, signal.SIGCONT)
        elif self.how == "dead":
            server.is_held = True
            kill(server.pid)
            server.process.wait()
            yield
            server.is_held = False
            server.start()
        elif self.server == "mongo":
            with fleet.mongo_server.failing("alwaysOn", WRITES, errorCode=NO_SPACE):
                yield
        else:
            assert self.queue_folder is not None
            ballast = self.queue_folder / "ballast"
            _fill(ballast)
            yield
            ballast.unlink()

    def member(self, fleet: Servers) -> Member:
        """The server's process."""
        return fleet.queue if self.server == "queue" else fleet.mongo


def _fill(ballast: Path) -> None:
    with suppress(OSError), ballast.open("wb", buffering=0) as opened:
        while True:
            opened.write(bytes(1 << 16))


def _be_away(fleet: Servers, way: _Way, seconds: float) -> Absence:
    absence = Absence(server=way.server, how=way.how, seconds=seconds)
    before = {who: len(lines) for who, lines in fleet.lines().items()}
    servers = (fleet.queue, fleet.mongo)
    names = {m.pid: m.log.stem for m in fleet.members if m not in servers}
    with way.taken(fleet):
        _pass(fleet, SETTLE_S)
        parts = [_cpu_shares(fleet, names, (seconds - SETTLE_S) / PARTS) for _ in range(PARTS)]
        absence.cpu_share = {who: min(part[who] for part in parts) for who in names.values()}
    wait_until(lambda: _stored(fleet) >= 0)
    stored, returned = _stored(fleet), time.monotonic()
    _until(fleet, lambda: fleet.is_done() or _stored(fleet) > stored)
    absence.resumed_s = round(time.monotonic() - returned, 1)
    _pass(fleet, SETTLE_S)
    after = {who: lines[before.get(who, 0) :] for who, lines in fleet.lines().items()}
    absence.lines = {
        who: kept
        for who, lines in after.items()
        if (kept := [line for line in lines if not ROUTINE.match(line)])
    }
    return absence


def _cpu_shares(fleet: Servers, names: dict[int, str], seconds: float) -> dict[str, float]:
    used = {pid: cpu_s(pid) for pid in names}
    begun = time.monotonic()
    _pass(fleet, seconds)
    took = time.monotonic() - begun
    return {who: round((cpu_s(pid) - used[pid]) / took, 3) for pid, who in names.items()}


def _stored(fleet: Servers) -> int:
    try:
        return int(fleet.client.hget("cc:c:chaos", "stored") or 0)
    except RedisError:
        return -1


def _until_stored(fleet: Servers, goal: float) -> None:
    _until(fleet, lambda: _stored(fleet) >= goal or fleet.is_done())


def _pass(fleet: Servers, seconds: float) -> None:
    end = time.monotonic() + seconds
    _until(fleet, lambda: time.monotonic() >= end)


def _until(fleet: Servers, condition: Callable[[], bool]) -> None:
    """Looks after the fleet until a condition holds."""

    def is_over() -> bool:
        fleet.look_after()
        return condition()

    wait_until(is_over, CRAWL_LIMIT_S, LOOK_S)
