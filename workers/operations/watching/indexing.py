"""Fills the search index beside a console, where no housekeeper does."""

from __future__ import annotations

import threading
from contextlib import suppress

from crawlclean.cleaning.errors import ServiceError
from crawlclean.storage.opening import has_ended
from crawlclean.workers.jobs.search import Indexer
from crawlclean.workers.operations.watching.kept_backends import KeptBackends

ROUND_S = 1.0  # as a housekeeper: new records are found a second later


class Indexing:
    """A thread that fills the index: with servers always, else while no crawl runs."""

    def __init__(self, backends: KeptBackends) -> None:
        """Starts the thread where the setting ``search`` is on.

        Args:
            backends: The store, which is opened at the first round.
        """
        self._backends = backends
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="indexing", daemon=True)
        if backends.settings.storage.search:
            self._thread.start()

    def close(self) -> None:
        """Ends the thread after its round."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        storage = self._backends.settings.storage
        indexer: Indexer | None = None
        while not self._stop.wait(ROUND_S):
            if storage.is_embedded and not has_ended(storage):
                continue  # its housekeeper does
            with suppress(ServiceError), self._backends.store() as store:  # no crawl yet, or away
                indexer = indexer or Indexer(self._backends.settings, store)
                indexer.round()
