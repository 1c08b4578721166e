"""Pages on which workers died: named in an event, and kept as a case, to be reported.

The copy is no archived response: re-cleaning, learning and the console's pages never read it. Only
an export writes it, as it is.
"""

from __future__ import annotations

from datetime import UTC, datetime

from cleaning.phrases import counted
from storage.crawl_types import KeepRaw, QueuedPage
from storage.store.cases import (
    MOST_CASE_BYTES,
    MOST_CASES,
    Case,
    CasePage,
    CaseSubject,
    case_id_of,
    packed,
)
from storage.store.events import Event, EventKind
from storage.store.protocol import Store

MOST_CRASHES = 3
"""Workers that may have died on a page that is kept: one more, and keeping it was the cause."""

NO_MEMORY = "memory ran out on this page"


def note_poison(store: Store, page: QueuedPage, detail: str) -> None:
    """Stores an event that names a page on which workers died."""
    event = Event(
        kind=EventKind.POISON,
        host=page.host,
        crawl_id=page.crawl_id,
        text=f"{page.url}: {detail}",
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


def keep_poison(store: Store, page: QueuedPage, keep_raw: KeepRaw, model_version: int) -> bool:
    """Keeps a copy of a page on which workers died, as a case; returns whether it did.

    Args:
        store: The store.
        page: The page with its response, which nothing reads but the compression.
        keep_raw: Which responses the crawl archives: of a crawl that archives none nothing is kept.
        model_version: The model of its host; 0: none.
    """
    body = page.result.body
    if keep_raw is KeepRaw.NONE or page.crashes > MOST_CRASHES or not body:
        return False
    model = store.models.get(page.host, model_version) if model_version else None
    types = (value for name, value in page.result.headers if name.lower() == "content-type")
    kept = CasePage(
        url=page.url,
        fetched_at=page.fetched_at,
        content_type=next(types, ""),
        body=body,
        model=model.text if model else "",
        found="",
    )
    if sum(map(len, packed(kept).values())) > MOST_CASE_BYTES or store.cases.count() >= MOST_CASES:
        return False
    case_id = case_id_of(page.page_id, kept.digest, CaseSubject.CRASH, -1)
    case = Case(
        case_id=case_id,
        page_id=page.page_id,
        crawl_id=page.crawl_id,
        host=page.host,
        url=page.url,
        subject=CaseSubject.CRASH,
        place=-1,
        text="",
        start=-1,
        chars=0,
        was="killed",
        rule="",
        wanted="cleaned",
        note=crash_text(page),
        who="worker",
        at=datetime.now(UTC),
        digest=kept.digest,
    )
    store.cases.put(case, kept)
    return True
