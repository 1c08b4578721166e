"""Stored pages as a list: of a host, a crawl or all, by kind, time, length, confidence, copies."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec

from crawlclean.cleaning.records import PageKind
from crawlclean.storage.store.overview import PageRow
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.answers.hosts import PageLine
from crawlclean.workers.answers.making import answer_of
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.parts import Part, Place

Chars = Annotated[int, msgspec.Meta(ge=0)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Time = Annotated[datetime, msgspec.Meta(tz=True)]

MOST_LOOKED = 2_000
"""Pages that are looked at for one part of the list, in 30 ms: a filter that few pages pass would
else read all pages of a crawl. The part then ends early, and the next one goes on behind it."""

MOST_ROWS = 1_000  # of one read


def list_pages(
    backends: Backends,
    crawl: str = "",
    host: str = "",
    kind: PageKind | None = None,
    since: Time | None = None,
    until: Time | None = None,
    least_chars: Chars | None = None,
    most_chars: Chars | None = None,
    most_confidence: Share | None = None,
    copies: bool | None = None,
    after: Place | None = None,
    limit: int = 50,
) -> Part[PageLine]:
    """Stored pages, those saved last first.

    A part may have fewer rows than `limit`, or none, and a `next`: few pages pass the filter, and
    the next part goes on where this one ended.

    Args:
        backends: Queue and store.
        crawl: Only of this crawl.
        host: Only of this host.
        kind: Only of this kind.
        since: Only pages saved then or later.
        until: Only pages saved before.
        least_chars: Only pages whose bodies have at least so many characters.
        most_chars: Only pages whose bodies have at most so many.
        most_confidence: Only pages whose bodies are right with at most this probability.
        copies: true: only pages whose text other pages have, too; false: only others.
        after: Only saves with a smaller number than the first of both.
        limit: At most this many.
    """

    def is_wanted(page: PageRow) -> bool:
        return (
            kind in (None, page.kind)
            and copies in (None, page.story is not None)
            and (least_chars is None or page.body_chars >= least_chars)
            and (most_chars is None or page.body_chars <= most_chars)
            and (most_confidence is None or _is_unsure(page, most_confidence))
        )

    with backends.store() as store:
        places = [(crawl or None, host or None)]
        if host and not crawl:
            places = [(each, host) for each in store.statistics.crawls_of([host]).get(host, ())]
        before = after[0] if after else store.records.first_number(until) if until else None
        first = store.records.first_number(since) if since else 0
        found: list[PageRow] = []
        rows, left, goes_on = limit + 1, MOST_LOOKED, first is not None
        while goes_on and left > 0 and len(found) <= limit:
            looked = store.overview.pages(places, before, rows) if places else []
            found += [page for page in looked if page.saved_seq >= (first or 0) and is_wanted(page)]
            before = looked[-1].saved_seq if looked else 0
            goes_on = before > (first or 0)
            left -= len(looked)
            rows = min(2 * rows, MOST_ROWS)
        shown = found[:limit]
        last = shown[-1].saved_seq if len(found) > limit else before if goes_on else None
        return Part(items=[_line(store, page) for page in shown], after=str(last or ""))


def _line(store: Store, page: PageRow) -> PageLine:
    title = store.records.title(page.page_id, page.crawl_id)
    has_copies = page.story is not None
    return answer_of(PageLine, page, crawl=page.crawl_id, title=title, has_copies=has_copies)


def _is_unsure(page: PageRow, most: float) -> bool:
    return page.confidence is not None and page.confidence <= most
