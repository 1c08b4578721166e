"""Crawls, hosts with their URL classes and models, failures, and what takes the room."""

from __future__ import annotations

from crawlclean.workers.answers.crawls import CrawlLine
from crawlclean.workers.console.api.registry import Api, Call, PageOf, Part, following, place
from crawlclean.workers.operations.failures import failed_urls, failure_causes, failure_groups
from crawlclean.workers.operations.hosts.classes import url_classes
from crawlclean.workers.operations.hosts.host_models import model_answer, model_versions
from crawlclean.workers.operations.hosts.hosts import host_answer, hosts_by_figure
from crawlclean.workers.operations.watching.answers import (
    crawl_answer,
    crawl_answers,
)
from crawlclean.workers.operations.watching.views.crawls import list_crawls
from crawlclean.workers.operations.watching.views.space import hosts_room, room_of

# Crawls.

CRAWLS = "crawls"


def register_crawls(api: Api) -> None:
    """Adds the addresses."""
    api.get("/crawls", get_crawls, query=Part, page_of=CrawlLine)
    api.get("/crawls/<crawl>", get_crawl, answer=CrawlLine)


def get_crawls(call: Call, query: Part) -> PageOf[CrawlLine]:
    """Crawls, newest first.

    The fields that tell what hosts wait for are left out here.
    """
    page = list_crawls(call.console.backends, place(query.after, CRAWLS), query.limit)
    return PageOf(
        items=crawl_answers(call.console.backends, page.crawls, page.as_of),
        next=following(CRAWLS, page.after),
        as_of=page.as_of,
    )


def get_crawl(call: Call, crawl: str) -> CrawlLine:
    """One crawl, with what its hosts wait for; at most 200 hosts are examined."""
    return crawl_answer(call.console.backends, crawl)


# Failures: groups of a host and a cause, their URLs, causes of crawls.


def register_failures(api: Api) -> None:
    """Adds the addresses."""
    api.ask("get_failures", "/failures", failure_groups)
    api.ask("get_failed_urls", "/failures/urls", failed_urls)
    api.ask("get_failure_causes", "/failures/causes", failure_causes)


# Hosts, their URL classes and models.


def register_hosts(api: Api) -> None:
    """Adds the addresses."""
    api.ask("get_hosts", "/hosts", hosts_by_figure)
    api.ask("get_host", "/hosts/<host>", host_answer)
    api.ask("get_classes", "/hosts/<host>/classes", url_classes)
    api.ask("get_models", "/hosts/<host>/models", model_versions)
    api.ask("get_model", "/hosts/<host>/models/<int:version>", model_answer)


# What takes the room.


def register_space(api: Api) -> None:
    """Adds the addresses."""
    api.ask("get_space", "/space", room_of)
    api.ask("get_host_space", "/space/hosts", hosts_room)
