"""Pages in flight when a process dies, and the time until each is done."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from typing import Any

from redis.exceptions import RedisError


@dataclass(frozen=True, slots=True)
class Flying:
    """One page that somebody works on; ``owner`` is the process's name, ``""`` nobody."""

    key: str
    state: str
    owner: str


def in_flight(client: Any) -> list[Flying]:
    """Every page that is leased, queued, claimed or waits to be tried again."""
    keys = list(client.scan_iter("cc:p:*", count=1000))
    with client.pipeline(transaction=False) as pipe:
        for key in keys:
            pipe.hmget(key, "state", "session", "job", "role")
        found = pipe.execute()
        for _, _, job, _ in found:
            pipe.hget(f"cc:j:{job}", "worker")
        workers = pipe.execute()
    flying = []
    for key, (state, spider, _, role), worker in zip(keys, found, workers, strict=True):
        if state is None or role == "robots":
            continue
        owner = spider if state == "leased" else worker if state == "claimed" else ""
        flying.append(Flying(key, state, (owner or "").rpartition(".")[0]))
    return flying


@dataclass(frozen=True, slots=True)
class Hit:
    """A page hit by kills: when first and last, by which kill, and its owner if that one died."""

    first: float
    last: float
    what: str
    dead_owner: str


@dataclass
class Redo:
    """How long pages took that were in flight when something died, by what died."""

    waiting: dict[str, Hit] = field(default_factory=dict)
    took: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    worst_of_all_s: float = 0.0

    def hit(self, pages: Iterable[Flying], what: str, dead: Container[str]) -> list[Flying]:
        """The pages that lost somebody now; not those that still wait for an earlier death."""
        now = time.monotonic()
        lost = []
        for page in pages:
            old = self.waiting.get(page.key)
            if old and old.dead_owner and old.dead_owner == page.owner:
                continue
            owner = page.owner if page.owner in dead else ""
            self.waiting[page.key] = Hit(old.first if old else now, now, what, owner)
            lost.append(page)
        return lost

    def look(self, client: Any) -> None:
        """Notes the pages that are done by now; does nothing while the queue is away."""
        keys = list(self.waiting)
        if not keys:
            return
        try:
            with client.pipeline(transaction=False) as pipe:
                for key in keys:
                    pipe.exists(key)
                there = pipe.execute()
        except RedisError:
            return
        now = time.monotonic()
        for key, exists in zip(keys, there, strict=True):
            if not exists:
                hit = self.waiting.pop(key)
                self.took[hit.what].append(now - hit.last)
                self.worst_of_all_s = max(self.worst_of_all_s, now - hit.first)

    @property
    def worst_s(self) -> float:
        """The longest time from a page's (last) kill to its end."""
        return max((max(each) for each in self.took.values()), default=0.0)

    def table(self) -> dict[str, dict[str, float]]:
        """By what died: how many pages, the median and the worst time in seconds."""
        return {
            what: {
                "pages": len(took),
                "median_s": round(statistics.median(took), 1),
                "worst_s": round(max(took), 1),
            }
            for what, took in sorted(self.took.items())
        }


def answers(client: Any) -> bool:
    """Whether the queue answers now."""
    try:
        return bool(client.ping())
    except RedisError:
        return False
