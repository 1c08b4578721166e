"""An answer becomes a page of the queue."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from scrapy.crawler import Crawler

from storage.crawl_types import FetchResult, Lease


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """One lease and what fetching it gave: the spider's only item.

    ``host_wait_ms`` is how long the answer asks us to leave its host alone. The result is not
    shown: Scrapy logs an item that fails, and bodies are never logged.
    """

    lease: Lease
    result: FetchResult = field(repr=False)
    host_wait_ms: int = 0


class _Finisher(Protocol):
    async def finish(self, fetched: Fetched) -> None: ...


class QueuePipeline:
    """Puts every result into the queue; the lease ends when the queue has it."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> QueuePipeline:
        """The pipeline of a crawler."""
        return cls(crawler)

    async def process_item(self, item: Any) -> Any:
        """Hands one result over and drops it from memory."""
        await cast(_Finisher, self._crawler.spider).finish(item)
        return None
