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
from storage.store.events import Event, EventKind, Events
from storage.store.ports import Scan, Tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """A paused host.

    Attributes:
        host: Lower-case authority.
        since: When an operator paused the host.
        crawls: The crawls that knew the host then.
        who: Who paused the host, ``root@machine``; ``""``: not known.
        why: Why, in words for a person, may be empty.
    """

    host: str
    since: datetime
    crawls: Sequence[str] = ()
    who: str = ""
    why: str = ""


class Pauses:
    """The member ``pauses``: one row a paused host."""

    def __init__(self, tables: Tables, events: Events) -> None:
        self._tables = tables
        self._events = events

    def put(self, pause: Pause) -> None:
        """Stores a pause; a host that is paused already keeps its time, who, and why."""
        row = {
            "host": pause.host,
            "since": to_microseconds(pause.since),
            "crawls": json.dumps(sorted(pause.crawls)),
            "who": pause.who,
            "why": pause.why,
        }
        with self._tables.together():
            is_new = not self._tables.get("pauses", [(pause.host,)], ("host",))
            self._tables.put("pauses", row, keep=("since", "who", "why"))
            if is_new:
                text = f"paused{_by(pause.who)}" + (f": {pause.why}" if pause.why else "")
                self._events.add(Event(kind=EventKind.PAUSED, host=pause.host, text=text))

    def delete(self, host: str, who: str = "") -> bool:
        """Deletes the pause of a host; returns whether there was one.

        Args:
            host: Lower-case authority.
            who: Who resumes it.
        """
        with self._tables.together():
            was_there = bool(self._tables.delete("pauses", {"host": host}))
            if was_there:
                text = f"resumed{_by(who)}"
                self._events.add(Event(kind=EventKind.RESUMED, host=host, text=text))
        return was_there

    def all(self) -> list[Pause]:
        """Every pause, by host.

        Raises:
            StoreDamaged: This program never wrote a row.
        """
        columns = ("host", "since", "crawls", "who", "why")
        rows = self._tables.scan(Scan("pauses", columns, order=("host",)))
        try:
            return [
                Pause(
                    host=host,
                    since=from_microseconds(since),
                    crawls=tuple(json.loads(crawls)),
                    who=who,
                    why=why,
                )
                for host, since, crawls, who, why in rows
            ]
        except DAMAGE as error:
            raise StoreDamaged(f"a stored pause cannot be read: {error}") from error


def _by(who: str) -> str:
    return f" by {who}" if who else ""
