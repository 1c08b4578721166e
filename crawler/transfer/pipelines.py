"""Scrapy's item pipeline: a result goes into the queue."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from scrapy.crawler import Crawler

from storage.crawl_types import FetchResult, Lease


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A lease and its result: the spider's only item.

    ``host_wait_ms`` is the pause of the host that the response asks for. The result has no repr:
    Scrapy logs an item that fails, and bodies are never logged.
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
        """Puts one result into the queue and drops it from memory."""
        await cast(_Finisher, self._crawler.spider).finish(item)
        return None
