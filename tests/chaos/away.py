"""A server that is away while a crawl runs: who waits, what is said, what it costs."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos.fleets import Member, Servers
from tests.chaos.processes import cpu_s, kill, send, until
from tests.chaos.rest import complaints
from tests.chaos.sites import Sites

ROUTINE = re.compile(r"\S+ info sweeper swept ")
SETTLE_S = 1.0  # what was under way ends first
LINES = 2  # "away" and "back"
CPU_SHARE = 0.05


@dataclass
class Absence:
    """What an absence of a server came to.

    ``lines`` are those that each process wrote because of it, ``cpu_share`` the part of a core
    that it used meanwhile.
    """

    server: str
    how: str
    seconds: float
    lines: dict[str, list[str]] = field(default_factory=dict)
    cpu_share: dict[str, float] = field(default_factory=dict)
    resumed_s: float = 0.0  # from its return to the next record

    @property
    def complaints(self) -> list[str]:
        """What somebody would mind."""
        return [
            *(f"{who} said {said}" for who, said in self.lines.items() if len(said) > LINES),
            *(f"{who} used {n}" for who, n in self.cpu_share.items() if n > CPU_SHARE),
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
) -> Away:
    """A crawl during which servers are away, one after the other.

    Args:
        folder: For everything.
        absences: ``queue`` or ``mongo``, and ``frozen`` (keeps its connections) or ``dead``.
        seconds: How long each is away.
        pages: How many there are; enough for the crawl to outlive the absences.
        latency_ms: Of every answer.
        seed: Of the site.
    """
    with (
        Sites(folder, pages, latency_ms, seed, hosts=1) as sites,
        Servers(folder, sites.seeds, hurry=False) as fleet,
    ):
        said: list[Absence] = []
        for n, (server, how) in enumerate(absences):
            goal = pages * (n + 0.5) / (len(absences) + 1)
            _until_asked(fleet, sites, goal)
            said.append(_be_away(fleet, server, how, seconds))
        until(lambda: _looked(fleet) and fleet.is_done())
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


def _be_away(fleet: Servers, name: str, how: str, seconds: float) -> Absence:
    absence = Absence(server=name, how=how, seconds=seconds)
    server = fleet.queue if name == "queue" else fleet.mongo
    before = {who: len(lines) for who, lines in fleet.lines().items()}
    _leave(server, how)
    _pass(fleet, SETTLE_S)
    names = {pid: f"{m.log.stem}" for m in fleet.members for pid in [m.pid] if m is not server}
    used = {pid: cpu_s(pid) for pid in names}
    begun = time.monotonic()
    _pass(fleet, seconds - SETTLE_S)
    took = time.monotonic() - begun
    absence.cpu_share = {
        who: round((cpu_s(pid) - used[pid]) / took, 3) for pid, who in names.items()
    }
    stored = _come_back(fleet, server, how)
    returned = time.monotonic()
    until(lambda: _looked(fleet) and (fleet.is_done() or _stored(fleet) > stored))
    absence.resumed_s = round(time.monotonic() - returned, 1)
    _pass(fleet, SETTLE_S)
    after = {who: lines[before.get(who, 0) :] for who, lines in fleet.lines().items()}
    absence.lines = {
        who: kept
        for who, lines in after.items()
        if (kept := [line for line in lines if not ROUTINE.match(line)])
    }
    return absence


def _leave(server: Member, how: str) -> None:
    if how == "frozen":
        send(server.pid, signal.SIGSTOP)
    else:
        server.is_held = True
        kill(server.pid)
        assert server.process is not None
        server.process.wait()


def _come_back(fleet: Servers, server: Member, how: str) -> int:
    """Records stored before anybody can go on, as far as the queue can tell."""
    if how == "frozen":
        send(server.pid, signal.SIGCONT)
    else:
        server.is_held = False
        server.start()
    until(lambda: _stored(fleet) >= 0, 60)
    return _stored(fleet)


def _stored(fleet: Servers) -> int:
    from redis.exceptions import RedisError

    try:
        return int(fleet.client.hget("cc:c:chaos", "stored") or 0)
    except RedisError:
        return -1


def _until_asked(fleet: Servers, sites: Sites, goal: float) -> None:
    until(lambda: _looked(fleet) and (sites.asked() >= goal or fleet.is_done()))


def _pass(fleet: Servers, seconds: float) -> None:
    end = time.monotonic() + seconds
    until(lambda: _looked(fleet) and time.monotonic() >= end)


def _looked(fleet: Servers) -> bool:
    fleet.look_after()
    return True
