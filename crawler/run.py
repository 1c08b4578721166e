"""The spider's process: runs one ``SiteSpider`` until SIGTERM or SIGINT."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from scrapy.crawler import AsyncCrawlerProcess

from crawlclean.crawler.config import CrawlConfig
from crawlclean.crawler.hosts_file import load_hosts
from crawlclean.crawler.settings import scrapy_settings
from crawlclean.crawler.spiders.site import SiteSpider
from crawlclean.crawler.transfer.certificates import tls_context
from crawlclean.storage.config import StorageConfig

GRACE_S = 3.0  # for open requests at a stop; a request may take a minute


class _Process(AsyncCrawlerProcess):
    """Scrapy's process, which waits at most ``GRACE_S`` for open requests at shutdown."""

    _ending: asyncio.Task[None] | None = None

    def _signal_shutdown(self, signum: int, frame: Any) -> None:
        super()._signal_shutdown(signum, frame)
        from twisted.internet import reactor

        clock = cast(Any, reactor)
        clock.callFromThread(clock.callLater, GRACE_S, self._give_up)

    def _give_up(self) -> None:
        self._ending = asyncio.ensure_future(self._give_back())

    async def _give_back(self) -> None:
        """Gives back the leases of open requests, then stops."""
        for crawler in self.crawlers:
            if isinstance(crawler.spider, SiteSpider):
                await crawler.spider.end_session()
        self._stop_reactor()


def fetch_pages(redis_url: str, config: CrawlConfig, storage: StorageConfig) -> None:
    """Runs one spider in this process; returns after SIGTERM or SIGINT, its results in the queue.

    Must be called from the main thread: it installs signal handlers and runs the event loop.

    Raises:
        ConfigError: The hosts file or the file of authorities is invalid.
        StorageError: The queue refused a call that every spider needs.
    """
    # Errors of these files are reported before anything is started.
    load_hosts(config.hosts_file)
    tls_context(str(config.ca_file or ""))
    process = _Process(scrapy_settings(redis_url, config, storage))
    crawler = process.create_crawler(SiteSpider)
    process.crawl(crawler)
    process.start()
    spider = crawler.spider
    if isinstance(spider, SiteSpider) and spider.source.failure:
        raise spider.source.failure
