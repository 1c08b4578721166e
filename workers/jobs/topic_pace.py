"""The pace of topic crawls: between fewer, better pages and the pages an hour that were asked.

A topic crawl waits for hosts with good links rather than fetch worse ones; how much worse may be
fetched is its floor. With ``--pages-per-hour`` the floor moves every minute, until the crawl spends
as many pages as were asked. Every sweeper does it; several move the floor faster, not elsewhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

from cleaning.errors import NotFound
from storage.queue.frontier import Frontier
from storage.store.protocol import Store
from storage.topic_types import TopicState
from workers.jobs.topic_rows import order_of

EVERY_S = 60.0
STEP = 5
"""Ranks, a tenth of a logit: an hour takes the floor from one end to the other."""
LOWEST, HIGHEST = 0, 450


class TopicPace:
    """Moves the floors of topic crawls with a wanted pace."""

    def __init__(
        self, store: Store, frontier: Frontier, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Moves nothing yet; ``clock`` is in seconds."""
        self._store = store
        self._frontier = frontier
        self._clock = clock
        self._wanted: dict[tuple[str, int], float | None] = {}
        self._before: dict[str, tuple[float, int]] = {}

    def adjust(self) -> None:
        """Moves the floor of every running topic whose last move is a minute ago."""
        running = self._store.topics.versions(state=TopicState.RUNNING)
        for name, (version, crawl_id) in running.items():
            wanted = self._wanted_pace(name, version)
            if wanted is not None:
                with suppress(NotFound):  # its queue was lost
                    self._move(crawl_id, wanted)

    def _wanted_pace(self, name: str, version: int) -> float | None:
        if (name, version) not in self._wanted:
            row = self._store.topics.get(name)
            self._wanted[name, version] = None if row is None else order_of(row).pages_per_hour
        return self._wanted[name, version]

    def _move(self, crawl_id: str, wanted: float) -> None:
        now, stored = self._clock(), self._frontier.counts(crawl_id).stored
        begun, before = self._before.setdefault(crawl_id, (now, stored))
        if now - begun < EVERY_S:
            return
        self._before[crawl_id] = now, stored
        pace = (stored - before) / (now - begun) * 3600
        floor = self._frontier.topics.floor(crawl_id)
        moved = floor + STEP if pace < wanted else floor - STEP
        self._frontier.topics.set_floor(crawl_id, min(HIGHEST, max(LOWEST, moved)))
