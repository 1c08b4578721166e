"""Lets failed URLs and stored pages wait in the queue again."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from crawlclean.cleaning.errors import ConfigError, NotFound
from crawlclean.storage.crawl_types import CrawlState, FailureReason, PageRole, UrlRow, UrlState
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.queue.ownership import check_owner, other_owners
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.failures import is_transient
from crawlclean.workers.operations.reading import read_time
from crawlclean.workers.operations.urls.near_matches import did_you_mean, near_hosts, unknown_name

PORTION = 500
"""URLs that are looked at together: the work of a moment, which is what a stop waits for."""

UNITS_S = {"m": 60, "h": 3600, "d": 86400}
_AGO = re.compile(r"(\d{1,6})([mhd])")


class EndedFilter(Struct, frozen=True, kw_only=True):
    """Which ended URLs of a crawl: failed ones, or pages with a record.

    Attributes:
        failed: Whether URLs that gave no record; otherwise pages with one.
        host: Only of this host; ``""``: of all.
        since: Only those fetched at this time or later; None: all.
        until: Only those fetched until then: one that ends again is not taken twice.
        reasons: Only failures of these reasons; none: transient ones, and status 5xx and 429.
        status: Only failures with this HTTP status; None: with any.
        no_body: Only pages whose record has no body.
    """

    failed: bool
    host: str = ""
    since: datetime | None = None
    until: datetime | None = None
    reasons: Collection[FailureReason] = ()
    status: int | None = None
    no_body: bool = False

    def holds(self, end: UrlRow) -> bool:
        """Whether a URL of the host is meant; ``no_body`` is not looked at."""
        if self.until is not None and end.finished_at > self.until:
            return False
        if self.since is not None and end.finished_at < self.since:
            return False
        if not self.failed:
            return end.state is UrlState.RECORD and end.role is PageRole.PAGE
        if self.status is not None and end.status != self.status:
            return False
        return end.reason in self.reasons if self.reasons else is_transient(end.reason, end.status)


def retry_failed(
    backends: Backends, target: str, host: str, reasons: Collection[FailureReason]
) -> dict[str, int]:
    """Offers failed URLs again; returns how many of each crawl wait to be fetched again.

    Args:
        backends: Queue and store.
        target: Name of a crawl, or a host in every crawl of the queue; ``""``: every crawl.
        host: Only of this host of the crawl; ``""``: of all.
        reasons: Only failures of these reasons; none: transient ones, and status 5xx and 429.

    Returns:
        Offered URLs by crawl: ``{"example.com-3f2a": 12}``; crawls without any are left out.

    Raises:
        NotFound: The queue has no crawl, and the store no host, of this name.
        StorageError: Another living queue runs the crawl.
    """
    with backends.queue(at_rest=True) as frontier, backends.store() as store:
        if target and not host and store.statistics.get(target) is not None:
            target, host = "", target
        wanted = EndedFilter(failed=True, host=host, reasons=reasons)
        crawls = _crawls(backends, frontier, store, target)
        return _offered(frontier, store, crawls, wanted)


def retry_some(backends: Backends, crawl: str, wanted: EndedFilter, most: int) -> int:
    """Offers at most ``most`` failed URLs of one crawl again; returns how many.

    Page ids are hashes: the URLs are a sample.

    Raises:
        NotFound: The queue has no crawl of this name.
        StorageError: Another living queue runs the crawl.
    """
    with backends.queue(at_rest=True) as frontier, backends.store() as store:
        (name,) = _crawls(backends, frontier, store, crawl)
        count = 0
        for found, _ in portions(store, name, wanted):
            count += frontier.reopen(name, found[: most - count])
            if count >= most:
                break
        if count:
            record_state(frontier, store, name)
    return count


def _crawls(backends: Backends, frontier: Frontier, store: Store, crawl: str) -> list[str]:
    queued = frontier.crawl_ids()
    if not crawl:
        others = other_owners(backends.settings.storage, frontier, store)
        return [each for each in queued if each not in others]
    check_owner(backends.settings.storage, frontier, store, [crawl])
    if crawl in queued:
        return [crawl]
    if store.crawls.get(crawl):
        raise NotFound(f"the queue has lost crawl {crawl}; `crawl recover {crawl}` rebuilds it")
    raise unknown_name(store, crawl)


def record_state(frontier: Frontier, store: Store, crawl: str) -> None:
    """Stores the new state of a finished crawl that has URLs to fetch again."""
    row = store.crawls.get(crawl)
    state = frontier.counts(crawl).state
    if row and row.state is CrawlState.FINISHED and state is not row.state:
        store.crawls.put(row.spec, state)


def _offered(
    frontier: Frontier, store: Store, crawls: Iterable[str], wanted: EndedFilter
) -> dict[str, int]:
    """Offers the URLs of each crawl; their numbers, of crawls with any."""
    offered = {}
    for crawl in crawls:
        count = sum(frontier.reopen(crawl, found) for found, _ in portions(store, crawl, wanted))
        if count:
            record_state(frontier, store, crawl)
            offered[crawl] = count
    return offered


# Stored pages wait in the queue as revisits. Until a newer record is stored the present one stays;
# when both differ, the present one becomes an older version. A page that waits or is under way is
# not offered twice.


class FoundPages(Struct, frozen=True, kw_only=True):
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


def fetch_again(backends: Backends, target: str, wanted: EndedFilter) -> dict[str, int]:
    """Offers stored pages to the queue again; returns how many of each crawl.

    Args:
        backends: Queue and store.
        target: Name of a crawl, or a host in every crawl.
        wanted: Which pages; its host is that of the target.

    Returns:
        Offered pages by crawl, ``{"example.com-3f2a": 12}``; crawls without any are left out.

    Raises:
        NotFound: No such crawl or host, or the queue has lost the crawl.
        StorageError: Another living queue runs the crawl.
    """
    with backends.queue(at_rest=True) as frontier, backends.store() as store:
        crawls, host = crawls_of_target(store, target)
        check_owner(backends.settings.storage, frontier, store, crawls)
        return _offered(frontier, store, crawls, replace(wanted, host=host))


def count_pages(
    store: Store, crawls: Sequence[str], wanted: EndedFilter, within_s: float
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
    store: Store, crawl: str, wanted: EndedFilter, after: str = ""
) -> Iterator[tuple[list[UrlRow], str]]:
    """Yields (some URLs of a crawl, last page id that was looked at), by page id.

    Args:
        store: Holds them.
        crawl: Name of the crawl.
        wanted: Which URLs; a portion may have none.
        after: Only URLs behind this id.
    """
    ended = store.urls.ended(crawl, wanted.host or None, failed=wanted.failed, after=after)
    while some := list(islice(ended, PORTION)):
        found = list(filter(wanted.holds, some))
        if wanted.no_body and found:
            empty = store.records.without_body(crawl, [end.page_id for end in found])
            found = [end for end in found if end.page_id in empty]
        yield found, some[-1].page_id
