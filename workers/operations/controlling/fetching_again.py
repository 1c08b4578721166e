"""Fetches stored pages once more: those of a crawl or a host, since a time, without a body or all.

The URLs wait in the queue as revisits. Until a newer record is stored the present one stays; when
both differ, the present one becomes an older version. A page that waits or is under way is not
offered twice.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice

from crawlclean.cleaning.errors import ConfigError, NotFound
from crawlclean.storage.crawl_types import CrawlState, PageRole, UrlState
from crawlclean.storage.queue.maintenance import UrlReopener
from crawlclean.storage.queue.ownership import check_owner
from crawlclean.storage.store.overview import RawSpace
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.urls import EndedUrl
from crawlclean.workers.answers.control import DroppedRaw, TargetKind
from crawlclean.workers.config import Settings
from crawlclean.workers.operations.backends import any_queue, existing_store, queue_side
from crawlclean.workers.operations.controlling.retrying import record_state
from crawlclean.workers.operations.reading import read_time
from crawlclean.workers.operations.urls.near_matches import did_you_mean, near_hosts

PORTION = 500
"""URLs that are looked at together."""

UNITS_S = {"m": 60, "h": 3600, "d": 86400}
_AGO = re.compile(r"(\d{1,6})([mhd])")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFilter:
    """Which stored pages of a crawl.

    Attributes:
        host: Only of this host; ``""``: of all.
        since: Only those fetched at this time or later; None: all.
        until: Only those fetched until then: one that has been fetched again is not taken twice.
        no_body: Only those whose record has no body.
    """

    host: str = ""
    since: datetime | None = None
    until: datetime | None = None
    no_body: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPages:
    """How many pages a filter finds.

    Attributes:
        pages: Their number.
        hosts: Hosts of them.
        is_whole: Whether every page was looked at; otherwise there may be more.
    """

    pages: int
    hosts: int
    is_whole: bool


def read_since(text: str, now: datetime) -> datetime | None:
    """The time of ``6h`` (ago), ``30m``, ``2d``, ``2026-01-31T12:00``; None of ``""``.

    Raises:
        ConfigError: The text is neither.
    """
    if not text:
        return None
    if found := _AGO.fullmatch(text):
        try:
            return now - timedelta(seconds=int(found[1]) * UNITS_S[found[2]])
        except OverflowError as error:
            raise ConfigError(f"{text} is too long ago") from error
    return read_time(text)


def crawls_of_target(store: Store, target: str) -> tuple[Sequence[str], str]:
    """The (crawls, host) of the name of a crawl (host ``""``: all), or of a host.

    Raises:
        NotFound: The store has neither.
    """
    if store.crawls.get(target):
        return [target], ""
    crawls = store.statistics.crawls_of([target]).get(target, ())
    if not crawls:
        hint = did_you_mean(near_hosts(store, target))
        raise NotFound(f"no crawl and no host of the store is named {target}{hint}")
    return sorted(crawls), target


def fetch_again(settings: Settings, target: str, wanted: PageFilter) -> dict[str, int]:
    """Offers stored pages to the queue again; returns how many of each crawl.

    Args:
        settings: Where store and queue are.
        target: Name of a crawl, or a host in every crawl.
        wanted: Which pages; its host is that of the target.

    Returns:
        Offered pages by crawl, ``{"example.com-3f2a": 12}``; crawls without any are left out.

    Raises:
        NotFound: No such crawl or host, or the queue has lost the crawl.
        StorageError: Another living queue runs the crawl.
    """
    offered = {}
    with any_queue(settings) as frontier, existing_store(settings) as store:
        crawls, host = crawls_of_target(store, target)
        asked = replace(wanted, host=host)
        check_owner(settings.storage, frontier, store, crawls)
        for crawl in crawls:
            with closing(UrlReopener(frontier.url)) as reopener:
                found = portions(store, crawl, asked)
                count = sum(reopener.reopen(crawl, pages) for pages, _ in found)
            if count:
                record_state(frontier, store, crawl)
                offered[crawl] = count
    return offered


def count_pages(
    store: Store, crawls: Sequence[str], wanted: PageFilter, within_s: float
) -> FoundPages:
    """Counts what a filter finds in some crawls, for so many seconds at most."""
    until = time.monotonic() + within_s
    pages, hosts = 0, set[str]()
    for crawl in crawls:
        for found, _ in portions(store, crawl, wanted):
            pages += len(found)
            hosts.update(end.host for end in found)
            if time.monotonic() > until:
                return FoundPages(pages=pages, hosts=len(hosts), is_whole=False)
    return FoundPages(pages=pages, hosts=len(hosts), is_whole=True)


def portions(
    store: Store, crawl: str, wanted: PageFilter, after: str = ""
) -> Iterator[tuple[list[EndedUrl], str]]:
    """Yields (stored pages of a crawl, last page id that was looked at), by page id.

    Args:
        store: Holds them.
        crawl: Name of the crawl.
        wanted: Which pages; a portion may have none.
        after: Only pages behind this id.
    """
    ended = store.urls.ended(crawl, wanted.host or None, after=after)
    while some := list(islice(ended, PORTION)):
        found = [end for end in some if _is_meant(end, wanted)]
        if wanted.no_body and found:
            empty = store.records.without_body(crawl, [end.page_id for end in found])
            found = [end for end in found if end.page_id in empty]
        yield found, some[-1].page_id


def _is_meant(end: EndedUrl, wanted: PageFilter) -> bool:
    return (
        end.state is UrlState.RECORD
        and end.role is PageRole.PAGE
        and (wanted.since is None or end.ended_at >= wanted.since)
        and (wanted.until is None or end.ended_at <= wanted.until)
    )


# Drops archived responses of a crawl or a host, to free room; their records stay.

STEP = 1000
"""Responses that are dropped between two looks at whether to go on: about 0.2 s."""


def raw_place(settings: Settings, store: Store, target: str) -> tuple[str | None, str | None]:
    """The (crawl, host) of what is dropped; None: any.

    Raises:
        NotFound: The store has neither crawl nor host of this name.
        ConfigError: The crawl is not at rest: it learns hosts from its archive.
    """
    _, host = crawls_of_target(store, target)
    if host:
        return None, host
    # A queue at rest is started for this, and its file written anew when it is stopped.
    with queue_side(settings, at_rest=True) as side:
        if side.frontier is not None:
            counts = side.frontier.counts_of([target]).get(target)
            if counts and counts.state in (CrawlState.RUNNING, CrawlState.PAUSED) and counts.open:
                raise ConfigError(f"crawl {target} is not finished: stop it first, or name a host")
    return target, None


def plan_drop(settings: Settings, target: str) -> DroppedRaw:
    """What `drop_raw` would free; changes nothing.

    Raises:
        NotFound: No such crawl or host.
        ConfigError: The crawl is not at rest.
    """
    with existing_store(settings) as store:
        crawl, host = raw_place(settings, store, target)
        return _answer(target, host, store.raw_space(crawl, host))


def drop_raw(settings: Settings, target: str) -> DroppedRaw:
    """Drops the archived responses of a crawl, or of a host in every crawl.

    Raises:
        NotFound: No such crawl or host.
        ConfigError: The crawl is not at rest.
    """
    with existing_store(settings) as store:
        crawl, host = raw_place(settings, store, target)
        space = store.raw_space(crawl, host)
        store.drop_raw(crawl, host)
    return _answer(target, host, space)


def _answer(target: str, host: str | None, space: RawSpace) -> DroppedRaw:
    kind = TargetKind.HOST if host else TargetKind.CRAWL
    freed = space.freed_bytes
    return DroppedRaw(kind=kind, target=target, responses=space.responses, freed_bytes=freed)
