"""Pauses of hosts at rest: what `pause HOST` asked for, and when.

The queue holds back the host; the store keeps the pause for commands that run without the queue,
and for a queue that was lost.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from crawlclean.storage.store.events import Event, EventKind, Events
from crawlclean.storage.store.ports import Scan, Tables
from crawlclean.storage.store.row_types import RowType


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
    crawls: tuple[str, ...] = ()
    who: str = ""
    why: str = ""


_PAUSE = RowType(Pause, "pause")


class Pauses:
    """The member ``pauses``: one row a paused host."""

    def __init__(self, tables: Tables, events: Events) -> None:
        self._tables = tables
        self._events = events

    def put(self, pause: Pause) -> None:
        """Stores a pause; a host that is paused already keeps its time, who, and why."""
        with self._tables.together():
            is_new = not self._tables.get("pauses", [(pause.host,)], ("host",))
            row = _PAUSE.row(replace(pause, crawls=tuple(sorted(pause.crawls))))
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
        rows = self._tables.scan(Scan("pauses", _PAUSE.columns, order=("host",)))
        return list(map(_PAUSE.read, rows))


def _by(who: str) -> str:
    return f" by {who}" if who else ""
