"""Pauses of hosts at rest: what `pause HOST` asked for, and when.

The queue holds back the host; the store keeps the pause for commands that run without the queue,
and for a queue that was lost.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cleaning.errors import StoreDamaged
from cleaning.json_values import DAMAGE
from storage.store.codec import from_microseconds, to_microseconds
from storage.store.ports import Scan, Tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """A paused host.

    Attributes:
        host: Lower-case authority.
        since: When an operator paused the host.
        crawls: The crawls that knew the host then.
    """

    host: str
    since: datetime
    crawls: Sequence[str] = ()


class Pauses:
    """The member ``pauses``: one row a paused host."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def put(self, pause: Pause) -> None:
        """Stores a pause; a host that is paused already keeps its time."""
        row = {
            "host": pause.host,
            "since": to_microseconds(pause.since),
            "crawls": json.dumps(sorted(pause.crawls)),
        }
        self._tables.put("pauses", row, keep=("since",))

    def delete(self, host: str) -> bool:
        """Deletes the pause of a host; returns whether there was one."""
        return bool(self._tables.delete("pauses", {"host": host}))

    def all(self) -> list[Pause]:
        """Every pause, by host.

        Raises:
            StoreDamaged: This program never wrote a row.
        """
        rows = self._tables.scan(Scan("pauses", ("host", "since", "crawls"), order=("host",)))
        try:
            return [
                Pause(host=host, since=from_microseconds(since), crawls=tuple(json.loads(crawls)))
                for host, since, crawls in rows
            ]
        except DAMAGE as error:
            raise StoreDamaged(f"a stored pause cannot be read: {error}") from error
