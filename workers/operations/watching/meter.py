"""Rates of this moment."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from datetime import datetime

from crawlclean.storage.live_state import QueueNow
from crawlclean.storage.queue.counters import Counter

WINDOW_S = 30.0
"""Rates of this moment are means of this time: a host with a delay answers once in seconds."""

SHORTEST_S = 1.0  # counters of a shorter time give rates that jump


class Meter:
    """Rates of the last half minute, from counters as they are read."""

    def __init__(self) -> None:
        """Has read nothing."""
        self._lock = threading.Lock()
        self._read: deque[tuple[datetime, Mapping[str, int]]] = deque()

    def read(self, queue: QueueNow) -> dict[str, float]:
        """Adds a reading; returns events per second by counter, empty after the first reading."""
        with self._lock:
            newest = self._read[-1] if self._read else None
            if newest and (
                queue.counters.get(Counter.LEASES, 0) < newest[1].get(Counter.LEASES, 0)
                or queue.at < newest[0]
            ):
                self._read.clear()  # another queue
            self._read.append((queue.at, queue.counters))
            while (queue.at - self._read[0][0]).total_seconds() > WINDOW_S:
                self._read.popleft()
            at, before = self._read[0]
        seconds = (queue.at - at).total_seconds()
        if seconds < SHORTEST_S:
            return {}
        return {
            name: max(0.0, (value - before.get(name, 0)) / seconds)
            for name, value in queue.counters.items()
        }
