"""Events that charts mark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from crawlclean.cleaning.errors import ServiceError
from crawlclean.storage.store.journal import Event
from crawlclean.workers.operations.watching.kept_backends import KeptBackends
from crawlclean.workers.operations.watching.now.history import History, Range

EVENTS_S = 10.0
"""How old the events of charts may be."""

MOST_EVENTS = 500
"""Events that are read, the newest of a range: a month of a busy crawl has more."""


@dataclass(frozen=True, slots=True)
class Marked:
    """Events of a range.

    Attributes:
        events: Newest first.
        since: The range's beginning; where not all events were read, the time of the oldest one.
    """

    events: Sequence[Event]
    since: datetime


def events_of(backends: KeptBackends, found: History, asked: Range) -> Marked:
    """Returns the events of the time that charts show; none while the store is away.

    Args:
        backends: Queue and store.
        found: What the charts show.
        asked: Its range.
    """

    def ask() -> list[Event]:
        with backends.store() as store:
            return store.events.read(limit=MOST_EVENTS)

    try:
        newest = backends.remembered(("events", asked), EVENTS_S, ask)
    except ServiceError:
        return Marked((), found.since)
    events = [each for each in newest if each.at and found.since <= each.at <= found.until]
    is_whole = len(newest) < MOST_EVENTS or len(events) < len(newest)
    oldest = events[-1].at if events else None
    return Marked(events, found.since if is_whole or oldest is None else oldest)
