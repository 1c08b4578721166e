"""Other crawlers, each in a process of a separate environment: ``python peers.py TOOL OPTIONS``.

- ``plain``: Scrapy fetches a list of URLs, without link extraction; robots.txt is obeyed.
- ``scrapy``: Scrapy; trafilatura for the text. With a folder, its requests wait there (JOBDIR).
- ``scrapy-redis``: its defaults and Scrapy's link extractor; trafilatura for the text.
- ``crawlee``: Crawlee for Python with its file storage, clocks of its throttling request manager;
  trafilatura for the text.

``OPTIONS`` is JSON, an ``Options``. Every page with a text is a line of the file ``kept``, written
when the page is done, as an item pipeline writes it. At its end a tool prints
``{"responses": 2145, "texts": 828}``.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

FETCHING = {
    "LOG_ENABLED": False,
    "ROBOTSTXT_OBEY": True,
    "CONCURRENT_REQUESTS": 32,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
    "TELNETCONSOLE_ENABLED": False,
}


@dataclass(frozen=True, slots=True)
class Options:
    """What a tool crawls, and where it keeps it.

    Attributes:
        urls: Seeds; for ``plain`` all URLs.
        kept: File of the URLs with a text.
        folder: For the tool's own state.
        queue_url: Redis server of ``scrapy-redis``.
        delay_s: Least time between two requests to a host.
    """

    urls: list[str]
    kept: str = ""
    folder: str = ""
    queue_url: str = ""
    delay_s: float = 0.0

    @property
    def hosts(self) -> list[str]:
        """Hosts of the seeds, with their ports."""
        return sorted({urlsplit(url).netloc for url in self.urls})


class Kept:
    """Counts responses and writes the URLs whose pages have a text."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT) if path else -1
        self.found = {"responses": 0, "bytes": 0, "texts": 0}

    def count(self, size: int) -> None:
        """Counts a response without reading it."""
        self.found["responses"] += 1
        self.found["bytes"] += size

    def read(self, url: str, status: int, text: str) -> None:
        """Extracts the text of a response and keeps it."""
        import trafilatura

        self.count(len(text))
        if status == 200 and trafilatura.extract(text, url=url):
            self.found["texts"] += 1
            if self._file >= 0:
                os.write(self._file, f"{url}\n".encode())


def plain(options: Options) -> dict[str, int]:
    """Fetches every URL once."""
    from scrapy import Request, Spider
    from scrapy.crawler import CrawlerProcess

    kept = Kept("")

    class Plain(Spider):
        name = "plain"

        async def start(self) -> Any:
            for url in options.urls:
                yield Request(url, callback=self.parse, dont_filter=True)

        def parse(self, response: Any) -> None:
            kept.count(len(response.body))

    process = CrawlerProcess({**FETCHING, "RETRY_ENABLED": False, "HTTPERROR_ALLOW_ALL": True})
    process.crawl(Plain)
    process.start()
    return kept.found


def scrapy(options: Options) -> dict[str, int]:
    """Crawls the seeds' hosts with Scrapy alone."""
    from scrapy import Request
    from scrapy.crawler import CrawlerProcess
    from scrapy.linkextractors import LinkExtractor
    from scrapy.spiders import CrawlSpider, Rule

    kept = Kept(options.kept)

    class Site(CrawlSpider):
        name = "site"
        allowed_domains = tuple(host.partition(":")[0] for host in options.hosts)
        rules = (Rule(LinkExtractor(), callback="read", follow=True),)

        async def start(self) -> Any:
            for url in options.urls:  # filtered: no link asks for them again, unless after a kill
                yield Request(url, dont_filter=bool(options.folder))

        def parse_start_url(self, response: Any, **_: Any) -> None:
            self.read(response)

        def read(self, response: Any) -> None:
            kept.read(response.url, response.status, response.text)

    process = CrawlerProcess({**FETCHING, **clock_of(options), "JOBDIR": options.folder})
    process.crawl(Site)
    process.start()
    return kept.found


def scrapy_redis(options: Options) -> dict[str, int]:
    """Crawls the seeds' hosts with scrapy-redis; a process without seeds joins."""
    import redis
    from scrapy.crawler import CrawlerProcess
    from scrapy.linkextractors import LinkExtractor
    from scrapy.spiders import Rule
    from scrapy_redis.spiders import RedisCrawlSpider

    kept = Kept(options.kept)

    class Site(RedisCrawlSpider):  # type: ignore[misc]
        name = "site"
        redis_key = "site:start_urls"
        max_idle_time = 3
        rules = (Rule(LinkExtractor(allow_domains=options.hosts), callback="read", follow=True),)

        def parse_start_url(self, response: Any, **_: Any) -> None:
            self.read(response)

        def read(self, response: Any) -> None:
            kept.read(response.url, response.status, response.text)

    with redis.Redis.from_url(options.queue_url) as client:
        if client.setnx("site:begun", 1):
            client.lpush("site:start_urls", *(json.dumps({"url": url}) for url in options.urls))
    process = CrawlerProcess(
        {
            **FETCHING,
            **clock_of(options),
            "REDIS_URL": options.queue_url,
            "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
            "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        }
    )
    process.crawl(Site)
    process.start()
    return kept.found


def clock_of(options: Options) -> dict[str, Any]:
    """Returns the settings of Scrapy's clock; it does not read Crawl-delay."""
    if not options.delay_s:
        return {}
    return {"DOWNLOAD_DELAY": options.delay_s, "RANDOMIZE_DOWNLOAD_DELAY": False}


def crawlee(options: Options) -> dict[str, int]:
    """Crawls the seeds' hosts with Crawlee; what a killed process left is taken up again."""
    import asyncio

    from crawlee import ConcurrencySettings, service_locator
    from crawlee.configuration import Configuration
    from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
    from crawlee.request_loaders import ThrottlingRequestManager
    from crawlee.storages import RequestQueue

    kept = Kept(options.kept)

    async def crawl() -> None:
        service_locator.set_configuration(
            Configuration(storage_dir=options.folder, purge_on_start=False, log_level="ERROR")
        )
        queue: Any = await RequestQueue.open()
        if options.delay_s:
            queue = ThrottlingRequestManager(
                queue,
                domains=[host.partition(":")[0] for host in options.hosts],
                request_manager_opener=RequestQueue.open,
            )
        crawler = ParselCrawler(
            request_manager=queue,
            respect_robots_txt_file=True,
            concurrency_settings=ConcurrencySettings(max_concurrency=32, desired_concurrency=32),
            configure_logging=False,
        )

        async def read(context: ParselCrawlingContext) -> None:
            response = context.http_response
            text = (await response.read()).decode("utf-8", "replace")
            kept.read(context.request.url, response.status_code, text)
            await context.enqueue_links(strategy="same-hostname")

        crawler.router.default_handler(read)
        await crawler.run(options.urls, purge_request_queue=False)

    asyncio.run(crawl())
    return kept.found


TOOLS = {"plain": plain, "scrapy": scrapy, "scrapy-redis": scrapy_redis, "crawlee": crawlee}

if __name__ == "__main__":
    result = TOOLS[sys.argv[1]](Options(**json.loads(Path(sys.argv[2]).read_text("utf-8"))))
    sys.stdout.write(json.dumps(result) + "\n")
