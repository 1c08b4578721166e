"""What happened to crawls, hosts and processes, in one list.

The store writes the events of what it keeps: a crawl's state (``crawls.py``), a host's model and
changes (``models.py``, ``drifts.py``), pauses (``pauses.py``). The sweeper writes those of
processes, `recover` its own. The newest 20,000 are kept; a purge deletes none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

from crawlclean.storage.store.numbered import NumberedRows
from crawlclean.storage.store.ports import Tables
from crawlclean.storage.store.row_types import RowType

KEPT_EVENTS = 20_000
"""Events kept, the newest: some 5 MB."""
REPEATS = 32
"""Newest events that a dated one is compared with: a repeated job writes it once."""


class EventKind(StrEnum):
    """What happened."""

    CRAWL = "crawl"  # a crawl has another state
    DRIFT = "drift"  # a host changed
    MODEL = "model"  # a host has another version of its model
    NOT_LEARNED = "not_learned"  # a host was not learned, because its jobs died
    PAUSED = "paused"  # an operator paused a host
    RESUMED = "resumed"  # an operator ended the pause
    DIED = "died"  # a process died; its work was given to others
    TRAP = "trap"  # a URL class was stopped as a spider trap
    POISON = "poison"  # pages were set aside, because they kill workers
    RECOVERED = "recovered"  # a crawl was rebuilt from the store
    AWAY = "away"  # queue or store were away, and are back
    SEEN = "seen"  # of older versions: somebody had seen pages of a host that kill workers


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event.

    Attributes:
        kind: What happened.
        text: A line for a person: ``version 3, drift: 14 of 20 pages do not fit``.
        host: Its host; ``""``: none.
        crawl_id: Its crawl; ``""``: none.
        link: What it is about, by kind: the model version (``3``), the new state of the crawl
            (``finished``), the process (``machine.4711``); ``""``: nothing more.
        at: When; None while it is added: now.
        seq: Its number, from 1; 0 while it is added.
    """

    kind: EventKind
    text: str
    host: str = ""
    crawl_id: str = ""
    link: str = ""
    at: datetime | None = None
    seq: int = 0


class Events:
    """The member ``events``."""

    def __init__(self, tables: Tables) -> None:
        self._rows = NumberedRows(tables, "events", RowType(Event, "event"), KEPT_EVENTS)

    def add(self, event: Event) -> int:
        """Stores an event; returns its number.

        An event with a time that is among the newest already is not stored again.
        """
        if event.at is not None:
            for known in self._rows.read(None, REPEATS):
                if replace(known, seq=0) == event:
                    return known.seq
        return self._rows.add(event if event.at else replace(event, at=datetime.now(UTC)))

    def newest(self) -> int:
        """The number of the newest event; 0 before the first."""
        return self._rows.newest()

    def read(self, before: int | None = None, limit: int = 50, **of: str) -> list[Event]:
        """Events, newest first, at most ``limit``.

        Args:
            before: Only events with a smaller number; None is all.
            limit: At most this many, >= 1.
            of: Only events with these values of ``kind``, ``host`` or ``crawl_id``.
        """
        return self._rows.read(before, limit, of)
