"""Fills the search index from the records of the store, and leaves out what the store has not."""

from __future__ import annotations

import time

from crawlclean.storage.search import SearchFile
from crawlclean.storage.store.protocol import Store

STEP_RECORDS = 50
"""Records of one transaction: 50 ms, for which other writers of the index wait."""

LATE_SAVES = 200
"""Saves before the newest known one that are read again on servers: a save that began earlier may
end later there. SQLite numbers them in the order in which they end."""

CHECKED_PAGES = 200
"""Of one call: a look-up each, some milliseconds."""


class SearchFiller:
    """Brings an index up to date, a bounded part at a time."""

    def __init__(self, store: Store, index: SearchFile, *, may_be_late: bool) -> None:
        """Reads nothing yet.

        Args:
            store: Where the records are.
            index: The index.
            may_be_late: Whether saves may end in another order than that of their numbers.
        """
        self._store = store
        self._index = index
        self._late = LATE_SAVES if may_be_late else 0
        self._last = -1
        self._checked = 0

    def fill(self, within_s: float) -> int:
        """Indexes records until none is left or the time is over; returns how many.

        Args:
            within_s: Seconds, > 0; one step is done in any case.

        Raises:
            StorageError: The store or the index cannot be read; the next call goes on.
        """
        end = time.monotonic() + within_s
        newest = self._store.records.last_number()
        seq = self._index.state().seq
        if newest == self._last and seq >= newest:
            return 0
        added, place = 0, max(0, seq - self._late)
        while texts := self._store.records.texts(place, STEP_RECORDS):
            place = texts[-1].seq
            added += self._index.add(texts, place)
            if time.monotonic() > end:
                return added
        self._last = newest
        return added

    def check(self) -> int:
        """Leaves out some pages whose records are gone; returns how many.

        Each call looks at the next pages, from the last ones it goes on with the first.
        """
        pages = self._index.some(self._checked, CHECKED_PAGES)
        self._checked = pages[-1].seq if len(pages) == CHECKED_PAGES else 0
        known = self._store.records.numbers([(page.page_id, page.crawl_id) for page in pages])
        gone = [page.seq for page in pages if (page.page_id, page.crawl_id) not in known]
        if gone:
            self._index.forget(gone)
        self._index.begin_anew_if_dead()
        return len(gone)
