"""The spider's process, from code: fetch what a queue leases until stopped."""

from __future__ import annotations

from scrapy.crawler import AsyncCrawlerProcess

from crawler.config import CrawlConfig
from crawler.settings import scrapy_settings
from crawler.spiders.site import SiteSpider
from storage.config import StorageConfig


def fetch_pages(redis_url: str, config: CrawlConfig, storage: StorageConfig) -> None:
    """Runs one spider in this process; returns after SIGTERM or SIGINT, its answers handed over.

    Must be called from the main thread: it installs signal handlers and runs the event loop.
    """
    process = AsyncCrawlerProcess(scrapy_settings(redis_url, config, storage))
    process.crawl(SiteSpider)
    process.start()
