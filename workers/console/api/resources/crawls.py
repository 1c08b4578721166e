"""Crawls, hosts with their URL classes and models, failures, and what takes the room."""

from __future__ import annotations

from dataclasses import dataclass

from crawlclean.storage.store.overview import HostColumn, HostRow
from crawlclean.workers.answers.crawls import CrawlLine, UrlClass
from crawlclean.workers.answers.hosts import HostAnswer, ModelAnswer, ModelLine
from crawlclean.workers.console.api.problems import refuse
from crawlclean.workers.console.api.registry import Api, Call, Name, PageOf, Part, following, place
from crawlclean.workers.operations.failures import failed_urls, failure_causes, failure_groups
from crawlclean.workers.operations.watching.answers import (
    crawl_answer,
    crawl_answers,
    host_answer,
    model_answer,
    model_lines,
)
from crawlclean.workers.operations.watching.views.crawls import list_crawls
from crawlclean.workers.operations.watching.views.hosts import (
    find_host,
    list_hosts,
    named_hosts,
    paused_rows,
)
from crawlclean.workers.operations.watching.views.space import HostSpace, Room, hosts_room, room_of

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


@dataclass(frozen=True, slots=True, kw_only=True)
class HostsQuery(Part):
    """Which hosts.

    Attributes:
        sort: The figure to sort by, largest first.
        q: Only the first hosts whose names begin so, also behind ``www.``; without ``after``.
        paused: Only paused hosts, by name; without ``after`` and ``limit``.
    """

    sort: HostColumn = "records"
    q: Name = ""
    paused: bool = False


def register_hosts(api: Api) -> None:
    """Adds the addresses."""
    api.get("/hosts", get_hosts, query=HostsQuery, page_of=HostRow)
    api.get("/hosts/<host>", get_host, answer=HostAnswer)
    api.get("/hosts/<host>/classes", get_classes, page_of=UrlClass)
    api.get("/hosts/<host>/models", get_models, page_of=ModelLine)
    api.get("/hosts/<host>/models/<int:version>", get_model, answer=ModelAnswer)


def get_hosts(call: Call, query: HostsQuery) -> PageOf[HostRow]:
    """Hosts by a figure, largest first.

    The figures are kept ones, which cost nothing to read: fewer than those of `hosts`.
    """
    backends, of = call.console.backends, f"hosts {query.sort}"
    after = place(query.after, of)
    if after and (query.q or query.paused):
        refuse(400, "after: the hosts of q and paused are in one part")
    if query.q:
        page = named_hosts(backends, query.q.strip().lower())
    elif query.paused:
        page = paused_rows(backends)
    else:
        page = list_hosts(backends, query.sort, after, query.limit)
    return PageOf(items=page.rows, next=following(of, page.after), as_of=page.as_of)


def get_host(call: Call, host: str) -> HostAnswer:
    """One host in full: statistics, what it waits for, changes.

    As `hosts HOST` prints it, but for `image_requests`, which are left out: they are counted from
    all rows. `exact` is false when figures are older than this moment.
    """
    return host_answer(call.console.backends, host)


def get_classes(call: Call, host: str) -> PageOf[UrlClass]:
    """URL classes of a host in each of its crawls, at most 100; none while no queue runs."""
    return PageOf(items=find_host(call.console.backends, host).classes)


def get_models(call: Call, host: str) -> PageOf[ModelLine]:
    """Versions of a host's model, newest first."""
    return PageOf(items=model_lines(call.console.backends, host))


def get_model(call: Call, version: int, host: str) -> ModelAnswer:
    """One version of a host's model."""
    return model_answer(call.console.backends, host, version)


# What takes the room.

SPACE = "space hosts"


def register_space(api: Api) -> None:
    """Adds the addresses."""
    api.get("/space", get_space, answer=Room)
    api.get("/space/hosts", get_host_space, query=Part, page_of=HostSpace)


def get_space(call: Call) -> Room:
    """Parts of the data folder, and what each crawl takes; at most a minute old."""
    return room_of(call.console.backends)


def get_host_space(call: Call, query: Part) -> PageOf[HostSpace]:
    """What hosts take over all crawls, the most fetched first, at most 20 in a part."""
    found = hosts_room(call.console.backends, place(query.after, SPACE), query.limit)
    return PageOf(items=found.hosts, next=following(SPACE, found.after), as_of=found.as_of)
