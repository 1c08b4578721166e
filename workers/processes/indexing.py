"""Fills the search index beside a housekeeper, or a console, where the setting ``search`` is on."""

from __future__ import annotations

import logging
import time

from crawlclean.cleaning.errors import ServiceError
from crawlclean.storage.search import SearchFile
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.config import Settings
from crawlclean.workers.jobs.search import SearchFiller

log = logging.getLogger(__name__)

ROUND_S = 0.2
"""Of each second at most so much is spent: 200 records."""

CHECK_S = 10.0


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
