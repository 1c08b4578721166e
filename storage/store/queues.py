"""The queues that run crawls of a store: where they are, and when they were last heard.

A store may serve several queues, each a Redis server with its own id (``queue/identity.py``). The
sweeper of each is heard here every ten seconds; the row of a crawl names the queue that runs it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from crawlclean.storage.store.codec import from_microseconds
from crawlclean.storage.store.ports import Scan, Tables

LIFE_S = 60.0
"""A queue that was not heard for so long is gone."""
KEPT_S = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRow:
    """A queue.

    Attributes:
        queue_id: 32 hex digits.
        place: Where it is, without a password: ``redis://db1:6379/0``.
        server: The run of its server, which a restart changes: 40 hex digits.
        heard_at: When its sweeper was last heard, by the database's clock.
        silent_s: Seconds since then.
    """

    queue_id: str
    place: str
    server: str
    heard_at: datetime
    silent_s: float

    @property
    def is_alive(self) -> bool:
        """Whether it was heard a moment ago."""
        return self.silent_s < LIFE_S


class Queues:
    """The member ``queues``: one row a queue."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def hear(self, queue_id: str, place: str, server: str) -> None:
        """Stores that a queue lives, as of now."""
        row = {
            "queue_id": queue_id,
            "place": place,
            "server": server,
            "heard_at": self._tables.now_us(),
        }
        self._tables.put("queues", row)

    def forget(self, queue_id: str) -> None:
        """Deletes a queue: its server has another by now."""
        self._tables.delete("queues", {"queue_id": queue_id})

    def forget_gone(self, named: Collection[str]) -> None:
        """Deletes queues that were silent for a day, and that no crawl names.

        Args:
            named: Ids of the queues that crawls name.
        """
        for row in self.all():
            if row.silent_s > KEPT_S and row.queue_id not in named:
                self.forget(row.queue_id)

    def all(self) -> list[QueueRow]:
        """Every queue, by id."""
        columns = ("queue_id", "place", "server", "heard_at")
        rows = self._tables.scan(Scan("queues", columns, order=("queue_id",)))
        now_us = self._tables.now_us() if rows else 0
        return [
            QueueRow(
                queue_id=queue_id,
                place=place,
                server=server,
                heard_at=from_microseconds(heard_at),
                silent_s=max(0, now_us - heard_at) / 1e6,
            )
            for queue_id, place, server, heard_at in rows
        ]
