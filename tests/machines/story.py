"""A crawl on three machines while their cables are cut, one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from redis.exceptions import RedisError

from tests.chaos.fleets import CRAWL
from tests.chaos.rest import complaints
from tests.chaos.sites import Sites, text_sites
from tests.kit.timing import wait_until
from tests.machines.fleet import CLOCKS_S, DELAY_MS, SITES, Machines, PlacedWeb, machines
from tests.machines.namespaces import Network

LIMIT_S = 1500.0
LOOK_S = 0.25
CUT = ("spiders", "workers", "servers")
LATENCY_MS = 20


@dataclass(frozen=True, kw_only=True)
class Weather:
    """What the network is like, and how much is crawled over it."""

    pages: int
    cut_s: float
    delay_ms: float
    loss: float
    seed: int = 1


@dataclass
class CutCable:
    """One cut: records stored before it, while it lasted, and how soon after it work went on."""

    machine: str
    seconds: float
    stored_before: int
    stored_meanwhile: int
    next_record_s: float


@dataclass
class Told:
    """The outcome; ``shortest_pause_s`` is of any two requests, as the sites' servers saw them."""

    pages: int
    seconds: float = 0.0
    clocks_s: dict[str, int] = field(default_factory=lambda: dict(CLOCKS_S))
    cuts: list[CutCable] = field(default_factory=list)
    requests: int = 0
    repeats: int = 0
    demanded_pause_s: float = DELAY_MS / 1000
    shortest_pause_s: dict[str, float] = field(default_factory=dict)
    packets: dict[str, dict[str, int]] = field(default_factory=dict)
    warnings: dict[str, int] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)


def crawl(folder: Path, weather: Weather, faketime: Path, say: Callable[[str], None]) -> Told:
    """Crawls three sites to their end, cutting each machine's cable once on the way.

    Args:
        folder: For everything.
        weather: What the network is like.
        faketime: The library that shifts the machines' clocks.
        say: Gets a line of progress now and then.
    """
    told = Told(pages=weather.pages)
    begun = time.monotonic()
    with (
        Network(folder / "network", machines(weather.delay_ms, weather.loss)) as network,
        Sites(
            folder,
            text_sites(weather.pages, LATENCY_MS, weather.seed, hosts=len(SITES)),
            partial(PlacedWeb, network),
        ) as sites,
        Machines(folder, sites.seeds, network, faketime) as fleet,
    ):
        say(f"{weather.pages} pages of {len(SITES)} sites; clocks {CLOCKS_S}")
        for n, machine in enumerate(CUT):
            goal = weather.pages * (n + 0.5) / (len(CUT) + 1.5)
            _until(fleet, partial(_has_stored, fleet, goal))
            told.cuts.append(_cut(fleet, machine, weather.cut_s, say))
        _until(fleet, fleet.is_done)
        say(f"all {_stored(fleet)} records stored")
        told.packets = network.figures()
        network.calm()
        fleet.come_to_rest()
        _check(told, fleet, sites)
    told.seconds = round(time.monotonic() - begun, 1)
    return told


def _cut(fleet: Machines, machine: str, seconds: float, say: Callable[[str], None]) -> CutCable:
    before = _stored(fleet)
    say(f"{before} records; cable of the {machine} cut for {seconds:.0f} s")
    fleet.network.cut(machine)
    end = time.monotonic() + seconds
    _until(fleet, lambda: time.monotonic() >= end)
    fleet.network.mend(machine)
    mended = time.monotonic()
    wait_until(lambda: _stored(fleet) >= 0, LIMIT_S, LOOK_S)
    meanwhile = _stored(fleet)
    _until(fleet, lambda: _stored(fleet) > meanwhile or fleet.is_done())
    later = time.monotonic() - mended
    say(f"mended; {meanwhile - before} records meanwhile, the next one {later:.1f} s later")
    return CutCable(machine, seconds, before, meanwhile - before, round(later, 1))


def _check(told: Told, fleet: Machines, sites: Sites) -> None:
    frontier = fleet.frontier()
    frontier.sweep()  # sessions of who was just stopped
    frontier.close()
    store = fleet.open_store()
    told.complaints = complaints(fleet.client, CRAWL, store, sites, one_clock=False)
    store.close()
    asked = sites.requests()
    told.requests = sum(asked.values())
    told.repeats = told.requests - len(asked)
    told.shortest_pause_s = {
        host: round(min(pauses), 3) for host, pauses in sites.pauses_s().items()
    }
    for host, pause in told.shortest_pause_s.items():
        if pause < told.demanded_pause_s:
            told.complaints.append(f"{host} was asked {pause} s after an answer")
    for who, lines in fleet.lines().items():
        told.warnings[who] = sum(" warning " in line for line in lines)
        if any(line.startswith("Traceback") for line in lines):
            told.complaints.append(f"{who} has a traceback in its log")


def _stored(fleet: Machines) -> int:
    """Records so far, -1 while the queue cannot be asked."""
    try:
        return fleet.stored()
    except RedisError:
        return -1


def _has_stored(fleet: Machines, goal: float) -> bool:
    return _stored(fleet) >= goal or fleet.is_done()


def _until(fleet: Machines, condition: Callable[[], bool]) -> None:
    def is_over() -> bool:
        fleet.look_after()
        return condition()

    wait_until(is_over, LIMIT_S, LOOK_S)
