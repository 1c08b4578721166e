"""The spider's process: runs one ``SiteSpider`` until SIGTERM or SIGINT.

The queue decides what is fetched, when, how often and by whom, so Scrapy's filters, delays,
retries, redirects, cookies and robots handling are not loaded (ADR 24). Content encodings are
decoded by ``transfer/content_encoding.py``, which reports broken bodies.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

from scrapy.crawler import AsyncCrawlerProcess

from crawlclean.crawler.config import CrawlConfig
from crawlclean.crawler.hosts_file import load_hosts
from crawlclean.crawler.leasing import LOOKUP_SLOTS
from crawlclean.crawler.spiders.site import SiteSpider
from crawlclean.crawler.transfer.certificates import tls_context
from crawlclean.storage.config import StorageConfig

GRACE_S = 3.0  # for open requests at a stop; a request may take a minute


def scrapy_settings(config: CrawlConfig) -> dict[str, Any]:
    """Returns Scrapy's settings; plain values only, because Scrapy copies them deeply."""
    return {
        "CA_FILE": str(config.ca_file.resolve()) if config.ca_file else "",
        "TWISTED_DNS_RESOLVER": "crawlclean.crawler.addresses.guard.GuardedResolver",
        # A look-up of a name that no server knows holds a thread for seconds.
        "REACTOR_THREADPOOL_MAXSIZE": 2 * LOOKUP_SLOTS,
        "CONCURRENT_REQUESTS_PER_DOMAIN": config.concurrency,
        "DOWNLOAD_WARNSIZE": 0,
        "DOWNLOAD_HANDLERS": dict.fromkeys(("data", "file", "ftp", "http", "https", "s3")),
        "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
        # Empty, instead of switching components off one by one: those would still be loaded at
        # every start, and components of later versions would be on.
        "EXTENSIONS_BASE": {},
        "SPIDER_MIDDLEWARES_BASE": {},
        "DOWNLOADER_MIDDLEWARES_BASE": {},
        "LOG_ENABLED": False,  # our own logging is set up by the process
        "LOG_INSTALL_ROOT_HANDLER": False,
        "STATS_DUMP": False,
    }


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
    hosts = load_hosts(config.hosts_file)
    tls_context(str(config.ca_file or ""))
    process = _Process(scrapy_settings(config))
    crawler = process.create_crawler(SiteSpider)
    process.crawl(crawler, redis_url, config, storage, hosts)
    process.start()
    spider = crawler.spider
    if isinstance(spider, SiteSpider) and spider.source.failure:
        raise spider.source.failure
