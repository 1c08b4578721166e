"""Answers of the console's API: as the commands print them, without refreshing a figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from crawlclean.cleaning.errors import NotFound, ServiceError
from crawlclean.cleaning.records import CleanRecord
from crawlclean.workers.answers.crawls import CrawlLine as CrawlAnswer
from crawlclean.workers.answers.topics import StoryLine
from crawlclean.workers.operations.controlling.crawls import CrawlStatus, crawl_line
from crawlclean.workers.operations.reading import find_page, is_page_id
from crawlclean.workers.operations.topics.told_stories import story_line, story_of_id
from crawlclean.workers.operations.urls.near_matches import with_scheme
from crawlclean.workers.operations.watching.kept_backends import KeptBackends
from crawlclean.workers.operations.watching.views.crawls import find_crawl

STORIES_S = 30.0
"""How old a list of stories may be: it reads every member."""


def crawl_answers(
    backends: KeptBackends, lines: Sequence[CrawlStatus], as_of: datetime | None
) -> list[CrawlAnswer]:
    """Crawls of a list whose figures were computed then, without what their hosts wait for."""
    paused = _paused_by_crawl(backends)
    return [crawl_line(replace(line, as_of=as_of), paused(line.name)) for line in lines]


def crawl_answer(backends: KeptBackends, crawl: str) -> CrawlAnswer:
    """One crawl in full.

    Raises:
        NotFound: No crawl has this name.
    """
    found = find_crawl(backends, crawl)
    paused = _paused_by_crawl(backends)
    return crawl_line(found.line, paused(crawl), with_hosts=True)


def record_answer(backends: KeptBackends, target: str) -> CleanRecord:
    """The newest record of a page.

    Args:
        backends: Queue and store.
        target: Its URL, or the beginning of its id.

    Raises:
        NotFound: None is stored.
        InvalidUrl: It is no http(s) URL.
    """
    with backends.store() as store:
        url = target if is_page_id(target) else with_scheme(store, target)
        record = store.records.get(find_page(store, url))
    if record is None:
        raise NotFound(f"no record of {target}")
    return record


def story_answers(backends: KeptBackends, limit: int, *, by_size: bool) -> list[StoryLine]:
    """The newest or the largest stories, as they were half a minute ago at most."""

    def ask() -> list[StoryLine]:
        with backends.store() as store:
            member = store.stories
            found = member.largest(limit) if by_size else member.newest(limit)
            return [story_line(store, each, with_pages=False) for each in found]

    return backends.remembered(("stories", limit, by_size), STORIES_S, ask)


def story_answer(backends: KeptBackends, story: str) -> StoryLine:
    """One story with its pages.

    Raises:
        NotFound: There is none of this id.
    """
    with backends.store() as store:
        return story_line(store, story_of_id(store, story), with_pages=True)


def _paused_by_crawl(backends: KeptBackends) -> Callable[[str], list[str]]:
    """Paused hosts of each crawl: of the queue while it runs, else of the store."""
    with backends.store() as store:
        hosts: dict[str, Sequence[str]] = {pause.host: pause.crawls for pause in store.pauses.all()}
    with suppress(ServiceError), backends.queue() as frontier:
        hosts = {pause.host: frontier.crawls_of(pause.host) for pause in frontier.pauses()}
    return lambda crawl: sorted(host for host, crawls in hosts.items() if crawl in crawls)
