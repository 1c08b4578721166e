"""Pages that kill workers, seen by somebody: Now is silent about them until there are more.

That somebody has seen the pages of a host and a crawl is an event, which names the newest failure
that was there. A later one makes the group news again.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from storage.crawl_types import FailureReason
from storage.store.codec import from_microseconds, to_microseconds
from storage.store.events import Event, EventKind
from storage.store.overview import FailureGroup
from storage.store.protocol import Store

LOOKED_AT = 20
"""Events of a host among which the newest about these failures is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """That somebody has seen failures.

    Attributes:
        who: Who: ``session 4f11``.
        at: When.
        until: The newest failure that was seen.
    """

    who: str
    at: datetime | None
    until: datetime


def seen_by(store: Store, group: FailureGroup) -> Seen | None:
    """Who has seen all failures of a group; None: nobody, or there are newer ones."""
    events = store.events.read(
        limit=LOOKED_AT, kind=EventKind.SEEN.value, host=group.host, crawl_id=group.crawl_id
    )
    for event in events:
        reason, _, until = event.link.partition(" ")
        if reason == group.reason.value and until.isdecimal():
            seen = Seen(who=event.text, at=event.at, until=from_microseconds(int(until)))
            return seen if seen.until >= group.newest_at else None
    return None


def note_seen(store: Store, crawl: str, host: str, who: str, until: datetime | None) -> None:
    """Stores that somebody has seen the poison pages of a host, those of ``until`` and before.

    Args:
        store: The store.
        crawl: Their crawl.
        host: Their host.
        who: Who has seen them: ``session 4f11``.
        until: The newest of them; None: nothing counts as seen any more.
    """
    number = to_microseconds(until) if until else 0
    store.events.add(
        Event(
            kind=EventKind.SEEN,
            host=host,
            crawl_id=crawl,
            text=who,
            link=f"{FailureReason.POISON.value} {number}",
        )
    )
