"""The program with defects planted into the spider: each path breaks one step of its way.

``python -m tests.kit.defects`` takes the arguments of the program.
"""

from __future__ import annotations

import sys
from typing import Any

from crawlclean.cleaning.errors import StorageError
from crawlclean.crawler import leasing
from crawlclean.crawler.leasing import LeaseSource
from crawlclean.crawler.spiders.site import SiteSpider
from crawlclean.crawler.transfer.requests import LeaseFilter
from crawlclean.storage.crawl_types import FetchResult, Lease
from crawlclean.workers.cli import main

REQUEST, ANSWERED, UNANSWERED = "/request", "/answered", "/unanswered"
FINISH, TWICE = "/finish", "/twice"


class DefectError(Exception):
    """Something nobody thought of."""


def plant() -> None:
    """Makes the steps fail at their paths."""
    refusal, moved, without_answer, put, end = (
        LeaseFilter.failure_of,
        SiteSpider._moved_robots,
        SiteSpider._without_answer,
        LeaseSource.put,
        SiteSpider._end,
    )
    ended: list[str] = []

    def break_at(lease: Lease, *paths: str) -> None:
        if lease.url.endswith(paths):
            raise DefectError(f"at\n{lease.url}")

    async def bad_refusal(self: LeaseFilter, lease: Lease) -> Any:
        break_at(lease, REQUEST)
        return await refusal(self, lease)

    def bad_moved(self: SiteSpider, lease: Lease, response: Any) -> Any:
        break_at(lease, ANSWERED)
        return moved(self, lease, response)

    def bad_without_answer(self: SiteSpider, lease: Lease, *rest: Any) -> Any:
        break_at(lease, UNANSWERED)
        return without_answer(self, lease, *rest)

    async def bad_put(self: LeaseSource, lease: Lease, result: FetchResult, **how: Any) -> None:
        if result.status:
            break_at(lease, FINISH)
        await put(self, lease, result, **how)

    async def bad_end(self: SiteSpider, lease: Lease, result: FetchResult, **how: Any) -> None:
        if lease.url.endswith(TWICE) and len(ended) < 2:
            ended.append(lease.url)
            raise StorageError("the server refuses this result")
        await end(self, lease, result, **how)

    LeaseFilter.failure_of = bad_refusal  # type: ignore[method-assign]
    SiteSpider._moved_robots = bad_moved  # type: ignore[method-assign]
    SiteSpider._without_answer = bad_without_answer  # type: ignore[method-assign,assignment]
    LeaseSource.put = bad_put  # type: ignore[method-assign]
    SiteSpider._end = bad_end  # type: ignore[method-assign]


if __name__ == "__main__":
    plant()
    setattr(leasing, "RENEW_S", 0.1)  # noqa: B010 - a name it imports, not its own
    sys.exit(main(sys.argv[1:]))
