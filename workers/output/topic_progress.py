"""Progress of a topic crawl: the line of a crawl, with the relevant pages."""

from __future__ import annotations

import time
from contextlib import suppress

from crawlclean.cleaning.errors import ServiceError
from crawlclean.storage.opening import open_store
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.config import Settings
from crawlclean.workers.output.progress import Progress
from crawlclean.workers.output.status_line import Part

COUNT_S = 3.0  # between two counts of relevant pages


class TopicProgress(Progress):
    """Shows the counts of a topic crawl on standard error."""

    def __init__(self, settings: Settings, topic: str, max_time_s: float | None) -> None:
        """Shows nothing yet.

        Args:
            settings: Where the store is.
            topic: Name of the topic.
            max_time_s: When the crawl ends at the latest.
        """
        super().__init__(max_time_s=max_time_s)
        self._settings = settings
        self._topic = topic
        self._store: Store | None = None
        self._counted_at = 0.0
        self._text = ""

    def more_parts(self) -> list[Part]:
        """``relevant 34 (28 %)``; the numbers are at most ``COUNT_S`` old."""
        if time.monotonic() - self._counted_at > COUNT_S:
            with suppress(ServiceError):
                if self._store is None:
                    self._store = open_store(self._settings.storage)
                counts = self._store.topics.counts(self._topic, 0)
                share = f" ({100 * counts.relevant / counts.pages:.0f} %)" if counts.pages else ""
                self._text = f"relevant {counts.relevant}{share}"
            self._counted_at = time.monotonic()
        return [Part(self._text)] if self._text else []
