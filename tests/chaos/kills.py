"""Kills processes of a crawl with -9, again and again; counts pages lost and pages done twice.

Each kill takes one process, two at the same moment, or all; twice all are told to stop, twice each.
A page may be asked for again once for each kill that found it in flight, and must be done again
soon after its last one.
"""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crawlclean.storage.queue.entries import process_name
from tests.chaos.fleets import CRAWL_LIMIT_S, LOOK_S, Embedded, Fleet, fleet_of
from tests.chaos.flight import Flying, Redo, answers, in_flight
from tests.chaos.rest import archived, complaints
from tests.chaos.sites import Sites, text_sites
from tests.kit.processes import family_of, frozen, is_alive, kill, send
from tests.kit.timing import wait_until

REDO_LIMIT_S = 60.0
TREE = ("tree",)
STOP = ("stop",)
STOPPABLE = ("run", "spider", "worker", "housekeeper")
BETWEEN_REQUESTS_S = 0.3
WORST_PAIRS = (
    ("spider", "housekeeper"),
    ("worker", "housekeeper"),
    ("spider", "queue"),
    ("worker", "queue"),
    ("worker", "mongo"),
    ("queue", "mongo"),
)
Kill = tuple[str, ...]


@dataclass
class Report:
    """The outcome of a bout of kills."""

    store: str
    pages: int
    seed: int
    kills: dict[str, int] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)
    requests: int = 0
    repeats: int = 0
    in_flight_at_kills: int = 0
    redone: dict[str, dict[str, float]] = field(default_factory=dict)
    redo_worst_s: float = 0.0
    redo_worst_of_all_s: float = 0.0  # from the first of several kills that hit a page
    archived_again: int = 0
    tracebacks: int = 0
    seconds: float = 0.0

    @property
    def is_clean(self) -> bool:
        """Nothing lost or doubled, no repeat that no kill explains, nothing redone late."""
        return (
            not self.complaints
            and self.repeats <= self.in_flight_at_kills
            and self.redo_worst_s <= REDO_LIMIT_S
        )


def plan(kills: int, roles: Sequence[str], chance: random.Random) -> list[Kill]:
    """The kills in order: a tenth is everything, a fifth are pairs, the rest each role in turn.

    Two requests to stop come on top.
    """
    pairs = [pair for pair in WORST_PAIRS if set(pair) <= set(roles)]
    chance.shuffle(pairs)
    count = kills // 5
    chosen: list[Kill] = [TREE] * (kills // 10)
    chosen += [pairs[n % len(pairs)] for n in range(count)]
    order = list(roles)
    chance.shuffle(order)
    chosen += [(order[n % len(order)],) for n in range(kills - len(chosen))]
    chosen += [STOP] * 2
    chance.shuffle(chosen)
    return chosen


class Bout:
    """One crawl with all its kills."""

    def __init__(self, fleet: Fleet, sites: Sites, report: Report, chance: random.Random) -> None:
        self.fleet, self.sites, self.report, self.chance = fleet, sites, report, chance
        self.redo = Redo()
        self.counted: Counter[str] = Counter()
        self._looked = 0.0

    def go(self, kills: Sequence[Kill]) -> None:
        """Crawls to the end, with the kills spread over it."""
        for n, what in enumerate(kills):
            goal = self.report.pages * (n + self.chance.random()) / (len(kills) + 0.5)
            self._until(lambda goal=goal: self.sites.asked() >= goal or self.fleet.is_done())
            if not self._kill(what):
                break
        self._until(self.fleet.is_done)
        self.redo.look(self.fleet.client)
        self.report.kills = dict(sorted(self.counted.items()))

    def _until(self, condition: Any) -> None:
        def looked() -> bool:
            self.fleet.look_after()
            if self.redo.waiting and time.monotonic() - self._looked > 0.1:
                self.redo.look(self.fleet.client)
                self._looked = time.monotonic()
            return bool(condition())

        wait_until(looked, CRAWL_LIMIT_S, LOOK_S)

    def _kill(self, what: Kill) -> bool:
        """Kills when all that is to die lives; False when the crawl was over before."""
        fleet = self.fleet

        def is_time() -> bool:
            who = fleet.victims()
            lives = what in (TREE, STOP) or all(who.get(role) for role in what)
            if fleet.is_done():
                return True
            if not lives or not answers(fleet.client):
                return False
            # The process of the jobs lives between two jobs, too: then it holds nothing.
            return "job" not in what or any(p.state == "claimed" for p in in_flight(fleet.client))

        self._until(is_time)
        if fleet.is_done():
            return False
        if what == STOP:
            self._stop()
            return True
        with frozen(fleet.workforce()):
            flying = in_flight(fleet.client)
            who = fleet.victims()
            victims = (
                fleet.tree()
                if what == TREE
                else [self.chance.choice(who[role]) for role in what if who.get(role)]
            )
            hit = hit_by(flying, what, victims, who)
            for pid in self.chance.sample(victims, len(victims)):
                kill(pid)
        name = "+".join(what)
        lost = self.redo.hit(hit, name, {process_name(pid) for pid in victims})
        self.report.in_flight_at_kills += sum(page.state == "leased" for page in lost)
        self.counted[name] += 1
        wait_until(lambda: not any(map(is_alive, victims)))
        return True

    def _stop(self) -> None:
        """Sends SIGTERM twice to all who work, then starts them again as a supervisor would."""
        fleet = self.fleet
        told = [m for m in fleet.members if m.role in STOPPABLE and m.is_running()]
        flying = in_flight(fleet.client)
        names = {process_name(pid) for m in told for pid in [m.pid, *family_of(m.pid)]}
        for _ in range(2):
            for member in told:
                send(member.pid, signal.SIGTERM)
            with suppress(AssertionError):  # some need no second request
                wait_until(lambda: not any(m.is_running() for m in told), BETWEEN_REQUESTS_S)
        wait_until(lambda: not any(m.is_running() for m in told))
        lost = self.redo.hit([page for page in flying if page.owner in names], STOP[0], names)
        self.report.in_flight_at_kills += sum(page.state == "leased" for page in lost)
        self.counted[STOP[0]] += 1
        for member in told:
            member.start()


def hit_by(
    flying: Sequence[Flying], what: Kill, victims: Sequence[int], who: dict[str, list[int]]
) -> list[Flying]:
    """Pages that the victims held, or that wait for the victims' work."""
    if {"tree", "run", "queue"} & set(what):
        return list(flying)
    names = {process_name(pid) for pid in victims}
    if "job" in what and len(who["worker"]) == 1:
        names.add(process_name(who["worker"][0]))
    return [
        page
        for page in flying
        if page.owner in names or (page.state == "claimed" and {"mongo", "job"} & set(what))
    ]


def bout(
    folder: Path,
    store: str,
    pages: int,
    kills: int | Sequence[Kill],
    seed: int,
    *,
    latency_ms: int = 20,
    hosts: int = 3,
    hurry: bool = False,
) -> Report:
    """Report of one crawl with all its kills.

    Args:
        folder: For everything.
        store: ``sqlite`` (`run`) or ``mongo`` (processes and servers of their own).
        pages: How many there are.
        kills: How many, or which.
        seed: Of every choice.
        latency_ms: Of every answer.
        hosts: How many the pages are spread over.
        hurry: Whether a silent process counts as dead after a few seconds.
    """
    report = Report(store=store, pages=pages, seed=seed)
    chance = random.Random(seed)
    begun = time.monotonic()
    with (
        Sites(folder, text_sites(pages, latency_ms, seed, hosts)) as sites,
        fleet_of(store, folder, sites.seeds, hurry=hurry) as fleet,
    ):
        chosen = plan(kills, fleet.roles, chance) if isinstance(kills, int) else kills
        fight = Bout(fleet, sites, report, chance)
        fight.go(chosen)
        fleet.come_to_rest()
        frontier = fleet.frontier()
        frontier.sweep()  # sessions of who was just stopped
        frontier.close()
        opened = fleet.open_store()
        report.complaints = complaints(fleet.client, fleet.crawl_id(), opened, sites)
        opened.close()
        asked = sites.requests()
        report.requests = sum(asked.values())
        report.repeats = report.requests - len(asked)
        if isinstance(fleet, Embedded):
            copies = archived(fleet.data)
            report.archived_again = sum(copies.values()) - len(copies)
            if set(copies) != {url for url, _ in sites.pages()}:
                report.complaints.append("the archive does not hold the pages")
        report.redone = fight.redo.table()
        report.redo_worst_s = round(fight.redo.worst_s, 1)
        report.redo_worst_of_all_s = round(fight.redo.worst_of_all_s, 1)
        report.tracebacks = sum(
            line.strip().startswith("Traceback") for log in fleet.lines().values() for line in log
        )
    report.seconds = round(time.monotonic() - begun, 1)
    return report
