"""SIGKILL while a crawl learns, re-cleans or fetches: all processes, one process, all workers.

Before a kill all workers are stopped, and one must be in the phase to interrupt: only the host is
left to chance.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from redis.exceptions import RedisError

from crawlclean.storage.queue.jobs import LEARN_SITE, RECLEAN_HOST
from tests.chaos.fleets import Fleet
from tests.chaos.flight import answers, in_flight
from tests.chaos.kills import hit_by
from tests.kit.processes import frozen, is_alive, kill
from tests.kit.timing import wait_until

LEARNING, RECLEANING, CRAWLING = "learning", "re-cleaning", "crawling"
PHASES = {  # a kill each, until there are enough; all processes of a role die together
    LEARNING: ("tree", "worker", "job"),
    RECLEANING: ("tree", "worker", "job"),
    CRAWLING: ("tree", "spider", "queue", "housekeeper"),
}
MOST_SKIPPED = 2
LIMIT_S = 1800.0


@dataclass
class Kills:
    """The kills of a crawl.

    Attributes:
        done: (role, phase, requests so far), in order.
        waiting: Planned kills without anything to interrupt.
        in_flight: Pages in transfer at a kill: each may be requested again.
    """

    done: list[tuple[str, str, int]] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    in_flight: int = 0


class Killer:
    """Runs a crawl to its end, with planned kills."""

    def __init__(
        self, fleet: Fleet, count: int, seed: int, asked: Callable[[], int], expected: int
    ) -> None:
        """Plans the kills.

        Args:
            fleet: The processes.
            count: Number of kills.
            seed: Of all random choices.
            asked: Returns the number of requests so far.
            expected: Estimate of all requests.
        """
        self._fleet, self._asked = fleet, asked
        chance = random.Random(seed)  # noqa: S311 - which process dies
        every = [(phase, what) for n in range(count) for phase, kinds in PHASES.items()
                 for what in kinds[n : n + 1]]  # fmt: skip
        chosen = (every * (count // len(every) + 1))[:count]
        chance.shuffle(chosen)
        self._left: dict[str, list[str]] = {phase: [] for phase in PHASES}
        for phase, what in chosen:
            self._left[phase].append(what)
        goals = len(self._left[CRAWLING])
        self._goals = [int(expected * (n + chance.random()) / (goals + 1)) for n in range(goals)]
        self._skip = {phase: chance.randint(0, MOST_SKIPPED) for phase in (LEARNING, RECLEANING)}
        self._chance = chance
        self._seen: set[tuple[str, str]] = set()
        self.kills = Kills()

    def go(self) -> Kills:
        """Crawls to the end; returns the kills."""
        fleet = self._fleet

        def is_over() -> bool:
            fleet.look_after()
            if fleet.is_done():
                return True
            for phase, left in self._left.items():
                if left and self._is_time(phase):
                    self._kill(phase, left)
                    break
            return False

        wait_until(is_over, LIMIT_S)
        self.kills.waiting = [f"{w} while {p}" for p, left in self._left.items() for w in left]
        return self.kills

    def _is_time(self, phase: str) -> bool:
        if phase == CRAWLING:
            return self._asked() >= self._goals[len(self.kills_of(CRAWLING))]
        found = self._at_work(phase)
        if not found or found in self._seen:
            return False
        if self._skip[phase]:
            self._skip[phase] -= 1
            self._seen.add(found)
            return False
        return True

    def kills_of(self, phase: str) -> list[str]:
        """Returns the roles killed in a phase."""
        return [what for what, of, _ in self.kills.done if of == phase]

    def _at_work(self, phase: str) -> tuple[str, str] | None:
        """Returns (host, job) of a running learning or re-cleaning, or None."""
        client = self._fleet.client
        try:
            jobs: Mapping[str, str] = client.hgetall("cc:learn:jobs")
            tasks: Mapping[str, str] = client.hgetall("cc:learn:tasks")
            at_hand = {client.hget(key, "current_job") for key in client.smembers("rq:workers")}
        except RedisError:
            return None
        for host, job in jobs.items():
            task = tasks.get(host, "")
            if phase == LEARNING and LEARN_SITE in task:
                return host, job
            if phase == RECLEANING and RECLEAN_HOST in task and job in at_hand:
                return host, job
        return None

    def _kill(self, phase: str, left: list[str]) -> None:
        """Kills, unless the work to interrupt is already over."""
        fleet, what = self._fleet, left[-1]
        who = fleet.victims()
        if not answers(fleet.client) or not all(who.get(r) for r in ("worker", "spider")):
            return  # the last kill is not yet over
        if what != "tree" and not who.get(what):
            return
        with frozen(fleet.workforce()):
            if phase != CRAWLING and not self._at_work(phase):
                return
            who = fleet.victims()
            victims = fleet.tree() if what == "tree" else list(who.get(what, []))
            lost = hit_by(in_flight(fleet.client), (what,), victims, who)
            for pid in self._chance.sample(victims, len(victims)):
                kill(pid)
        left.pop()
        self.kills.in_flight += sum(page.state == "leased" for page in lost)
        self.kills.done.append((what, phase, self._asked()))
        sys.stderr.write(f"  {time.strftime('%H:%M:%S')} killed {what} while {phase}\n")
        wait_until(lambda: not any(map(is_alive, victims)), 10)
        if phase != CRAWLING:
            self._skip[phase] = self._chance.randint(0, MOST_SKIPPED)


def as_json(kills: Kills) -> dict[str, Any]:
    """Returns the kills for the result file."""
    return {
        "kills": [f"{what} while {phase}, after {n} requests" for what, phase, n in kills.done],
        "in_flight_at_kills": kills.in_flight,
    }
