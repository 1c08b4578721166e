"""What is in flight when something dies, and how long it takes until it is done."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
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
            pipe.hmget(key, "s", "sp", "j", "ro")
        found = pipe.execute()
        for _, _, job, _ in found:
            pipe.hget(f"cc:j:{job}", "w")
        workers = pipe.execute()
    flying = []
    for key, (state, spider, _, role), worker in zip(keys, found, workers, strict=True):
        if state is None or role == "robots":
            continue
        owner = spider if state == "leased" else worker if state == "claimed" else ""
        flying.append(Flying(key, state, (owner or "").rpartition(".")[0]))
    return flying


@dataclass
class Redo:
    """How long pages took that were in flight when something died, by what died."""

    waiting: dict[str, tuple[float, float, str]] = field(default_factory=dict)
    took: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    worst_of_all_s: float = 0.0

    def hit(self, pages: Iterable[Flying], what: str) -> None:
        """Pages that lost somebody now."""
        now = time.monotonic()
        for page in pages:
            first = self.waiting.get(page.key, (now, now, ""))[0]
            self.waiting[page.key] = (first, now, what)

    def look(self, client: Any) -> None:
        """Notes what is done by now; a queue that is away tells nothing."""
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
                first, last, what = self.waiting.pop(key)
                self.took[what].append(now - last)
                self.worst_of_all_s = max(self.worst_of_all_s, now - first)

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


def asking(call: Callable[[], Any]) -> Any:
    """The queue's answer, or None while it is away."""
    try:
        return call()
    except RedisError:
        return None
