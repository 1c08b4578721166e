"""Fills the search index from the records of the store, and leaves out what the store has not.

A housekeeper does it beside its other work where the setting ``search`` is on, or a console.
"""

from __future__ import annotations

import logging
import time

from crawlclean.cleaning.errors import ServiceError
from crawlclean.storage.search import SearchFile
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.config import Settings

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
        seq = self._index.newest()
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
        self._checked = pages[-1][0] if len(pages) == CHECKED_PAGES else 0
        known = self._store.records.numbers([(page, crawl) for _, page, crawl in pages])
        gone = [seq for seq, page, crawl in pages if (page, crawl) not in known]
        if gone:
            self._index.forget(gone)
        self._index.begin_anew_if_dead()
        return len(gone)


log = logging.getLogger(__name__)

ROUND_S = 0.2
"""Of each second at most so much is spent: 200 records."""

CHECK_S = 10.0  # between two checks: pages that are purged may be found for some time


class Indexer:
    """Fills the index of a data folder a bit in each round; does nothing while search is off."""

    def __init__(self, settings: Settings, store: Store) -> None:
        """Opens nothing yet.

        Args:
            settings: Whether to index, and where.
            store: Where the records are.
        """
        self._settings = settings
        self._store = store
        self._filler: SearchFiller | None = None
        self._is_failing = False
        self._checked_at = 0.0

    def round(self) -> int:
        """Indexes records for a moment; returns how many. An error is logged once."""
        if not self._settings.storage.search:
            return 0
        try:
            if self._filler is None:
                index = SearchFile(self._settings.storage.data)
                is_late = not self._settings.storage.is_embedded
                self._filler = SearchFiller(self._store, index, may_be_late=is_late)
            added = self._filler.fill(ROUND_S)
            if time.monotonic() - self._checked_at >= CHECK_S:
                self._checked_at = time.monotonic()
                self._filler.check()
        except ServiceError as error:
            if not self._is_failing:
                log.warning("the search index is not filled", extra={"why": str(error)})
            self._is_failing = True
            return 0
        self._is_failing = False
        return added
