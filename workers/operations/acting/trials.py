"""Trying one page of a host: what it answers now, before anybody resumes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice, product

from cleaning.errors import ConfigError, NotFound
from cleaning.urls.normal_form import host_of, page_id
from storage.crawl_types import CrawlState, PageRole, UrlState
from storage.queue.frontier import Frontier
from storage.queue.servers.spread import open_reopener
from storage.store.protocol import Store
from storage.store.urls import EndedUrl
from workers.config import Settings
from workers.operations.acting.action import (
    Action,
    Asked,
    Done,
    Fact,
    Note,
    Plan,
    Safety,
    Subject,
)
from workers.operations.backends import existing_store, queue_side
from workers.operations.urls.near_matches import with_scheme

SAMPLED = 5
"""Pages among which one is chosen where no change of the host has named any."""

NOTHING_FETCHES = (
    "no crawl runs on {data}, so nothing fetches. `run {url} --max-pages 1 --data FOLDER` fetches "
    "this page alone into a folder of its own"
)


def _plan(settings: Settings, asked: Asked) -> Plan:
    with existing_store(settings) as store, queue_side(settings, at_rest=False) as side:
        frontier = side.frontier
        names = _crawls(store, asked.target)
        if frontier is not None and frontier.is_fetching():
            end = _chosen(store, asked, _running(frontier, names))
            notes = (Note.ONE_REQUEST,)
        else:
            end, notes = _chosen(store, asked, names), (Note.NEEDS_SPIDER,)
    return Plan(facts={Fact.PAGES: 1}, notes=notes, chosen={"url": end.url})


def _try(settings: Settings, asked: Asked) -> Done:
    with existing_store(settings) as store, queue_side(settings, at_rest=False) as side:
        frontier = side.frontier
        names = _crawls(store, asked.target)
        if frontier is None or not frontier.is_fetching():
            url = _chosen(store, asked, names).url
            raise NotFound(NOTHING_FETCHES.format(data=settings.storage.data, url=url))
        end = _chosen(store, asked, running := _running(frontier, names))
        crawl = next(each for each in running if store.urls.end(end.page_id, each))
        with closing(open_reopener(frontier.url)) as reopener:
            is_waiting = reopener.try_page(crawl, end)
    return Done(facts={Fact.PAGES: int(is_waiting)}, notes=(Note.ONE_REQUEST,))


def _crawls(store: Store, host: str) -> Sequence[str]:
    """The crawls that the store knows the host of.

    Raises:
        NotFound: There is none.
    """
    found = store.statistics.crawls_of([host]).get(host, ())
    if not found:
        raise NotFound(f"nothing of {host} is stored; `hosts` lists what is")
    return sorted(found)


def _running(frontier: Frontier, names: Sequence[str]) -> Sequence[str]:
    """Those of some crawls that lease URLs.

    Raises:
        NotFound: None does.
    """
    counts = frontier.counts_of(names)
    running = [
        name
        for name in names
        if name in counts and counts[name].state in (CrawlState.RUNNING, CrawlState.FINISHED)
    ]
    if not running:
        raise NotFound(f"no crawl of the host runs: resume one of {', '.join(names)} first")
    return running


def _chosen(store: Store, asked: Asked, crawls: Sequence[str]) -> EndedUrl:
    """The page that is asked for; else an example of the host's newest change, else any page.

    Raises:
        ConfigError: The URL is of another host.
        NotFound: No crawl has ended it, or none has ended any page of the host.
    """
    if url := asked.values.get("url", ""):
        url = with_scheme(store, url)
        if host_of(url) != asked.target:
            raise ConfigError(f"{url} is no page of {asked.target}")
        ids = [page_id(url)]
    else:
        ids = list(_candidates(store, asked.target, crawls))
    for each, crawl in product(ids, crawls):
        end = store.urls.end(each, crawl)
        if end is not None and end.role is PageRole.PAGE:
            return end
    raise NotFound(f"no crawl that runs has fetched {url or f'a page of {asked.target}'} before")


def _candidates(store: Store, host: str, crawls: Sequence[str]) -> Iterator[str]:
    for drift in islice(store.drifts.of(host), 1):
        yield from map(page_id, drift.alarm.examples)
    for state, crawl in product((UrlState.RECORD, UrlState.FAILED), crawls):
        yield from (row.page_id for row in store.urls.sample(crawl, host, state, SAMPLED))


TRIAL_ACTIONS = (
    Action(
        name="try_page",
        safety=Safety.REVERSIBLE,
        subject=Subject.HOST,
        plan=_plan,
        act=_try,
        values=("url",),
    ),
)
