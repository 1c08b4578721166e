"""Pages on which workers died: named in an event, and by what cleaning them did."""

from __future__ import annotations

from crawlclean.cleaning.lexicon import counted
from crawlclean.storage.crawl_types import FailureReason, Outcome, QueuedPage
from crawlclean.storage.store.journal import Event, EventKind
from crawlclean.storage.store.protocol import Store

MOST_CRASHES = 3
"""Workers that may have died on an archived page: one more, and archiving it was the cause."""

NO_MEMORY = "memory ran out on this page"


def note_poison(store: Store, outcome: Outcome) -> None:
    """Stores an event that names the page, if workers died on it."""
    page, failure = outcome.queued, outcome.failure
    if failure is None or failure.reason is not FailureReason.POISON:
        return
    event = Event(
        kind=EventKind.POISON,
        host=page.host,
        crawl_id=page.crawl_id,
        text=f"{page.url}: {failure.detail}",
        link=page.page_id,
    )
    store.events.add(event)


def crash_text(page: QueuedPage) -> str:
    """What cleaning a page did to its workers: ``cleaning it killed 3 workers``."""
    times = min(page.crashes, sum(step.detail == NO_MEMORY for step in page.log))
    killed = page.crashes - times
    parts = [f"cleaning it killed {counted(killed, 'worker')}"] if killed or not times else []
    parts += [f"memory ran out {counted(times, 'time')} while it was cleaned"] if times else []
    return "; ".join(parts)
