"""What Scrapy is told, and the last look at where an answer came from."""

from __future__ import annotations

import asyncio
import json
from ipaddress import ip_address
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Headers, HtmlResponse
from scrapy.settings import Settings

from crawlclean.crawler.config import CrawlConfig
from crawlclean.crawler.leasing import LOOKUP_SLOTS, OutageDetector
from crawlclean.crawler.robots import user_agent
from crawlclean.crawler.run import scrapy_settings
from crawlclean.crawler.spiders.site import SiteSpider
from crawlclean.crawler.transfer.responses import header_pairs
from crawlclean.storage.crawl_types import FailureReason, FetchResult, Lease
from tests.kit.queues import make_lease


def test_the_user_agent_names_us_and_whom_to_ask() -> None:
    assert user_agent(CrawlConfig()).startswith("crawlclean/")
    assert " " not in user_agent(CrawlConfig())
    assert user_agent(CrawlConfig(contact="a@b.example")).endswith(" (+a@b.example)")


def test_settings_are_plain_and_leave_nothing_to_scrapy() -> None:
    config = CrawlConfig(concurrency=7)
    settings = scrapy_settings(config)
    assert json.loads(json.dumps(settings)) == settings
    kinds = ("EXTENSIONS", "SPIDER_MIDDLEWARES", "DOWNLOADER_MIDDLEWARES")
    known = Settings(settings)
    assert not [path for kind in kinds for path in known.getwithbase(kind)]
    assert settings["TWISTED_DNS_RESOLVER"] == "crawlclean.crawler.addresses.guard.GuardedResolver"
    assert settings["CONCURRENT_REQUESTS_PER_DOMAIN"] == 7
    assert settings["REACTOR_THREADPOOL_MAXSIZE"] == 2 * LOOKUP_SLOTS


def test_headers_are_text_without_codings_that_are_undone() -> None:
    headers = Headers({"Set-Cookie": ["a=1", "b=2"], "X": "\xe4\xb8\xad".encode("latin-1")})
    headers["Content-Encoding"] = "gzip"
    headers["Transfer-Encoding"] = "chunked"
    assert header_pairs(headers) == (
        ("Set-Cookie", "a=1"),
        ("Set-Cookie", "b=2"),
        ("X", "\xe4\xb8\xad"),
    )


@pytest.mark.parametrize(
    ("address", "private", "refused"),
    [
        ("10.0.0.1", False, True),
        ("::1", False, True),
        ("10.0.0.1", True, False),
        ("8.8.8.8", False, False),
        (None, False, False),
    ],
)
def test_an_answer_from_a_private_address_is_dropped(
    address: str | None, private: bool, refused: bool
) -> None:
    lease = make_lease(allow_private=private)
    request = Request(lease.url, meta={"lease": lease, "begun": 0.0})
    response = HtmlResponse(
        lease.url,
        body=b"<p>inside",
        headers={"Content-Type": "text/html"},
        request=request,
        ip_address=ip_address(address) if address else None,
    )

    ended: list[FetchResult] = []

    async def end(_lease: Lease, result: FetchResult, **_how: int) -> None:
        ended.append(result)

    async def answered() -> Request | None:
        spider: Any = SiteSpider.__new__(SiteSpider)  # no process, no queue: only this step
        spider._max_attempts = 3
        spider._network = OutageDetector()
        spider._requests = SimpleNamespace(cookies_after=lambda lease, _: lease.cookies)
        spider._end = end
        request: Request | None = await spider.answered(lease, response)
        return request

    assert not asyncio.run(answered())
    [result] = ended
    failure = result.failure
    if refused:
        assert failure is not None
        assert failure.reason is FailureReason.ADDRESS_REFUSED
        assert result.body == b""
    else:
        assert failure is None
        assert result.body == b"<p>inside"
