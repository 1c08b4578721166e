"""The peers of ``crawl.py``, run in a separate environment.

- ``plain``: Scrapy fetches a list of URLs, without link extraction; robots.txt is obeyed.
- ``redis``: scrapy-redis with its defaults and Scrapy's link extractor; trafilatura for the text.

Both print JSON: ``{"responses": 2145, "texts": 828}``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def plain(urls: list[str]) -> dict[str, int]:
    """Fetches every URL once."""
    from scrapy import Request, Spider
    from scrapy.crawler import CrawlerProcess

    found = {"responses": 0, "bytes": 0}

    class Plain(Spider):
        name = "plain"

        async def start(self) -> Any:
            for url in urls:
                yield Request(url, callback=self.parse, dont_filter=True)

        def parse(self, response: Any) -> None:
            found["responses"] += 1
            found["bytes"] += len(response.body)

    process = CrawlerProcess(
        {
            "LOG_ENABLED": False,
            "ROBOTSTXT_OBEY": True,
            "CONCURRENT_REQUESTS": 32,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
            "RETRY_ENABLED": False,
            "HTTPERROR_ALLOW_ALL": True,
            "TELNETCONSOLE_ENABLED": False,
        }
    )
    process.crawl(Plain)
    process.start()
    return found


def scrapy_redis(home: str, redis_url: str, host: str) -> dict[str, int]:
    """Crawls a host with scrapy-redis; trafilatura extracts the texts."""
    import trafilatura
    from scrapy.crawler import CrawlerProcess
    from scrapy.linkextractors import LinkExtractor
    from scrapy.spiders import Rule
    from scrapy_redis.spiders import RedisCrawlSpider

    found = {"responses": 0, "texts": 0}

    class Site(RedisCrawlSpider):  # type: ignore[misc]
        name = "site"
        redis_key = "site:start_urls"
        max_idle_time = 3
        rules = (Rule(LinkExtractor(allow_domains=[host]), callback="read", follow=True),)

        def parse_start_url(self, response: Any, **_: Any) -> None:
            self.read(response)

        def read(self, response: Any) -> None:
            found["responses"] += 1
            if response.status == 200 and trafilatura.extract(response.text, url=response.url):
                found["texts"] += 1

    import redis

    redis.Redis.from_url(redis_url).lpush("site:start_urls", json.dumps({"url": home}))
    process = CrawlerProcess(
        {
            "LOG_ENABLED": False,
            "REDIS_URL": redis_url,
            "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
            "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
            "ROBOTSTXT_OBEY": True,
            "CONCURRENT_REQUESTS": 32,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
            "TELNETCONSOLE_ENABLED": False,
        }
    )
    process.crawl(Site)
    process.start()
    return found


if __name__ == "__main__":
    if sys.argv[1] == "plain":
        result = plain(json.loads(Path(sys.argv[2]).read_text("utf-8")))
    else:
        result = scrapy_redis(*sys.argv[2:5])
    sys.stdout.write(json.dumps(result) + "\n")
