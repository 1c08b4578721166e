"""The sweeper's part in topic crawls over several queue servers: who leases how good URLs.

A topic crawl leases its best URL across all hosts. A server knows its own hosts; each second its
sweeper tells the others which rank it has leased lately, and hosts that are worse by more than the
floor wait there. A rank counts for 3 s, so a server that leases nothing holds nobody up.
"""

from __future__ import annotations

import time
from contextlib import suppress

from cleaning.errors import QueueUnavailable
from storage.queue.servers.members import WorkingMember
from workers.context import Context

AWAY_PAUSE_S = 10.0
"""A server that did not answer is not told again for this long: a try may take a second."""


class TopicFloors:
    """Tells the other servers of a list what topic crawls lease on this one."""

    def __init__(self, context: Context) -> None:
        """Has told nothing yet."""
        self._context = context
        self._away_until: dict[int, float] = {}

    def round(self) -> None:
        """Tells each other server that answers.

        Raises:
            QueueUnavailable: The server of this sweeper is away.
        """
        own = self._context.frontier
        if not isinstance(own, WorkingMember):
            return
        leased = own.own_topics.leased_lately()
        for index in range(own.place.number) if leased else ():
            if index == own.place.index or time.monotonic() < self._away_until.get(index, 0.0):
                continue
            self._away_until[index] = time.monotonic() + AWAY_PAUSE_S
            with suppress(QueueUnavailable):
                for crawl, (rank, for_ms) in leased.items():
                    own.other(index).topics.hear(crawl, rank, for_ms)
                del self._away_until[index]
