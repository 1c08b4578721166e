"""What happened, newest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from storage.store.events import Event
from workers.operations.watching.kept_backends import KeptBackends


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPage:
    """A part of the list of events.

    Attributes:
        events: Newest first.
        after: Number of the last one, as in the address; ``""`` at the end.
    """

    events: Sequence[Event]
    after: str


def list_events(
    backends: KeptBackends, of: Mapping[str, str], before: int | None = None, limit: int = 50
) -> EventPage:
    """Returns events.

    Args:
        backends: Queue and store.
        of: Only events with these values of ``kind``, ``host``, ``crawl_id``.
        before: Only events with a smaller number; None: from the newest.
        limit: At most this many.
    """
    with backends.store() as store:
        events = store.events.read(before, limit + 1, **of)
    after = f"{events[limit - 1].seq}~" if len(events) > limit else ""
    return EventPage(events=events[:limit], after=after)
