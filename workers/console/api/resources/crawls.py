"""Crawls."""

from __future__ import annotations

from crawlclean.workers.answers.crawls import CrawlLine
from crawlclean.workers.console.api.registry import Api, Call, PageOf, Part, following, place
from crawlclean.workers.operations.watching.answers import crawl_answer, crawl_answers
from crawlclean.workers.operations.watching.views.crawls import list_crawls

LIST = "crawls"


def register(api: Api) -> None:
    """Adds the addresses."""
    api.get("/crawls", get_crawls, query=Part, page_of=CrawlLine)
    api.get("/crawls/<crawl>", get_crawl, answer=CrawlLine)


def get_crawls(call: Call, query: Part) -> PageOf[CrawlLine]:
    """Crawls, newest first.

    The fields that tell what hosts wait for are left out here.
    """
    page = list_crawls(call.console.backends, place(query.after, LIST), query.limit)
    return PageOf(
        items=crawl_answers(call.console.backends, page.crawls, page.as_of),
        next=following(LIST, page.after),
        as_of=page.as_of,
    )


def get_crawl(call: Call, crawl: str) -> CrawlLine:
    """One crawl, with what its hosts wait for; at most 200 hosts are examined."""
    return crawl_answer(call.console.backends, crawl)
