"""Rebuilds the queue of crawls from the store, after Redis lost it, or the store its last pages.

1. URLs that ended with a record or a failure, or that robots.txt forbids, are marked as seen.
2. The targets of redirects are offered, and the redirects marked as seen. A class of redirecting
   URLs may be refused by now: asked again, a redirect would end without a request, and its target
   would be lost.
3. Seeds, overflow segments and sitemaps are offered: the URLs of a sitemap are in no record.
4. The outlinks of all records are offered, as the crawl's URL filter allows, and their content
   images if the crawl fetches images.

A crawl that another queue ran is like a lost one: it is rebuilt, also where this queue has an older
state of it. One that another queue runs (``storage/queue/ownership.py``) is left alone.

A store that is older than its queue (``storage/queue/ownership.py``) lacks pages that the queue
takes for done, and the URLs that only these pages named. The queue holds fingerprints of them, no
URLs. So the crawl is deleted in the queue, and rebuilt like one that the queue has lost.

Robots rules are not rebuilt: the spider fetches robots.txt again. Everything is read in steps of
bounded size, and a second recovery changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from crawlclean.cleaning.errors import InvalidUrl, NotFound, StorageError, StoreDamaged
from crawlclean.cleaning.lexicon import counted
from crawlclean.cleaning.messages import Message
from crawlclean.cleaning.records import Outlink, Via
from crawlclean.cleaning.urls.url_choice import UrlChoice
from crawlclean.storage.crawl_types import (
    CrawlRow,
    CrawlSpec,
    CrawlState,
    Discovery,
    FailureReason,
    PageRole,
    Scope,
    UrlRow,
    UrlState,
)
from crawlclean.storage.queue.entries import (
    NESTED_SITEMAP_RANK,
    Entry,
    read_pending,
    unpack_entries,
)
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.queue.ownership import (
    announce,
    check_owner,
    find_gap,
    other_owners,
    owned_line,
)
from crawlclean.storage.store.journal import Event, EventKind
from crawlclean.storage.store.pictures import IMAGE_RANK, id_of
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.answers.control import RecoveredCrawl
from crawlclean.workers.config import Settings
from crawlclean.workers.hooks.calling import HookCalls
from crawlclean.workers.hooks.loading import load_hooks
from crawlclean.workers.jobs.images import filter_images
from crawlclean.workers.jobs.url_classes import MOVED
from crawlclean.workers.jobs.url_filter import HOPS, UrlFilter
from crawlclean.workers.operations.backends import Backends

if TYPE_CHECKING:
    from crawlclean.workers.context import Context
    from crawlclean.workers.operations.crawling.lifecycle import CrawlBackends


# URLs of the store as discoveries, as they were first offered to the queue.


def discoveries(host: str, entries: Iterable[Entry]) -> Iterator[Discovery]:
    """Yields the URLs of an overflow segment as they were offered; invalid entries are left out."""
    for score, entry in entries:
        try:
            found = read_pending(host, score, entry)
            id_of(found.url, found.role)
        except (ValueError, InvalidUrl):
            continue
        yield found


def rediscovered(end: UrlRow, url_filter: UrlFilter) -> list[Discovery]:
    """Returns the discovery of a sitemap, an image or a page, as it was first made."""
    is_sitemap = end.role is PageRole.SITEMAP or end.state is UrlState.SITEMAP
    if is_sitemap or end.role is PageRole.IMAGE:
        found = Discovery(
            url=end.url,
            depth=end.depth,
            role=PageRole.SITEMAP if is_sitemap else PageRole.IMAGE,
            via=end.via,
            referrer=end.referrer,
            text="" if is_sitemap else end.link_text,
            rank=NESTED_SITEMAP_RANK if is_sitemap else IMAGE_RANK,
        )
        return [found]
    outlink = Outlink(url=end.url, via=end.via, text=end.link_text)
    depth = end.depth if end.via in HOPS else end.depth - 1
    taken, _ = url_filter.filter([outlink], end.referrer or "", depth)
    return [replace(found, referrer=end.referrer) for found in taken]


T = TypeVar("T")

SEEN = frozenset({UrlState.RECORD, UrlState.IMAGE, UrlState.FAILED, UrlState.EXCLUDED})
BATCH = 1000  # URLs of one call: the server answers others in between
SPILL_AFTER = 20  # batches
# Found a moment ago, 30 MB: others are offered once more, in vain.
RECENT_URLS = 200_000
REPORT_S = 5.0  # between two lines of progress


def recover_crawls(
    settings: Settings, names: Sequence[str], report: Callable[[str], None], *, force: bool
) -> Iterator[RecoveredCrawl]:
    """Rebuilds crawls that queue or store have lost in part; yields each when it is whole.

    Args:
        settings: Where store and queue are.
        names: Crawls; none: all that the queue lacks, and all of which the store is older than the
            queue, but those that another living queue runs.
        report: Called with a line of progress every few seconds.
        force: Also rebuild crawls that the queue has: URLs that it has not seen are offered. And
            take over those of the named crawls that another living queue runs.

    Raises:
        NotFound: No crawl has this name.
        StorageError: Nothing of the crawl is lost, or another living queue runs it.
    """
    with (
        Backends(settings) as backends,
        backends.queue(at_rest=True) as frontier,
        backends.store() as store,
    ):
        recovery = Recovery(settings, store, frontier, report)
        announce(settings.storage, frontier, store)
        if names and not force:
            check_owner(settings.storage, frontier, store, names, report)
        recovery.forget_newer(names)
        frontier.keep_paused(store.pauses.all())
        frontier.slow(*store.slowdowns.all())
        for row in _wanted(store, recovery, names, force=force):
            ended, _ = recovery.recover(row)
            crawl = row.spec.crawl_id
            waiting = frontier.counts(crawl).pending
            text = Message("rebuilt", ended, waiting)
            store.events.add(Event(kind=EventKind.RECOVERED, crawl_id=crawl, text=text))
            yield RecoveredCrawl(crawl=crawl, ended=ended, waiting=waiting)


def _wanted(
    store: Store, recovery: Recovery, names: Sequence[str], *, force: bool
) -> list[CrawlRow]:
    """Returns the crawls to rebuild.

    Raises:
        NotFound: No crawl has one of the names.
        StorageError: The queue has a named crawl, and ``force`` is off.
    """
    if not names:
        recovery.report_others()
        return recovery.all_crawls() if force else recovery.lost_crawls()
    rows = {row.spec.crawl_id: row for row in store.crawls.all()}
    for name in names:
        if name not in rows:
            raise NotFound(Message("no_crawl", name))
        if not force and not recovery.is_lost(rows[name]):
            raise StorageError(
                f"the queue has crawl {name}: `run` resumes it; --force offers the URLs "
                "that its queue has not seen"
            )
    return [rows[name] for name in dict.fromkeys(names)]


class Recovery:
    """Rebuilds crawls of one store in one queue."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        frontier: Frontier,
        report: Callable[[str], None],
    ) -> None:
        """Has done nothing yet; ``report`` gets a line of progress every few seconds."""
        self._store = store
        self._frontier = frontier
        self._rebuilder = frontier.maintenance
        most = settings.storage.max_pending_urls
        self._overflow = frontier.overflow(store.spills, most)
        self._hooks = HookCalls(load_hooks(settings))
        self._report = report
        self._queue_id = frontier.queue_id()
        self._others = partial(other_owners, settings.storage, frontier, store, report)
        self._reported = time.monotonic()
        self._batches = 0
        # Of the crawl that is rebuilt: URLs marked as seen, records read, URLs that wait now.
        self._ended = self._pages = self._offered = 0

    def is_lost(self, row: CrawlRow) -> bool:
        """Whether the queue lacks a crawl, in whole or in part."""
        is_elsewhere = row.queue not in ("", self._queue_id)
        return is_elsewhere or self._rebuilder.is_lost(row.spec.crawl_id)

    def forget_newer(self, names: Collection[str]) -> None:
        """Deletes crawls in the queue of which the store is older; they are lost crawls then.

        Args:
            names: Only these crawls; none: all.
        """
        others = () if names else self._others()
        for crawl in self._frontier.crawl_ids():
            if (names and crawl not in names) or crawl in others:
                continue
            if not find_gap(self._frontier, self._store.urls, crawl):
                continue
            self._report(f"the store is older than the queue of {crawl}: rebuilding the queue")
            # First: the row says what to rebuild, should this process die. It may be missing, too.
            self._store.crawls.put(self._frontier.spec(crawl), CrawlState.STOPPED)
            for host in self._frontier.hosts(crawl):  # its model may be gone: learn it anew
                self._frontier.learning.forget(host)
            self._frontier.purge(crawl)

    def lost_crawls(self) -> list[CrawlRow]:
        """Returns the crawls of the store that the queue lacks, and no other living queue runs."""
        return [row for row in self.all_crawls() if self.is_lost(row)]

    def report_others(self) -> None:
        """Reports a line for each crawl that another living queue runs."""
        for crawl, owner in self._others().items():
            self._report(owned_line(crawl, owner))

    def all_crawls(self) -> list[CrawlRow]:
        """Returns the crawls that fetch pages, but those that another living queue runs."""
        others = self._others()
        return [
            row
            for row in self._store.crawls.all()
            if row.spec.seeds and row.state is not CrawlState.PURGED  # no import, none purged
            if row.spec.crawl_id not in others
        ]

    def recover(self, row: CrawlRow) -> tuple[int, int]:
        """Rebuilds one crawl; it is left finished, paused or stopped, as the store has it.

        Returns:
            How many URLs were marked as seen, and how many wait now that did not before.

        Raises:
            StorageError: Store or queue failed; the next call completes the work.
        """
        spec = row.spec
        self._ended = self._pages = self._offered = 0
        is_over = self._is_over(row)
        self._rebuilder.begin(spec)
        for ends in _batches(self._store.urls.ended(spec.crawl_id)):
            marked = [end for end in ends if is_over or end.state in SEEN]
            self._ended += self._rebuilder.mark_ended(spec.crawl_id, marked)
            for end in ends:
                if end.via is Via.REDIRECT and end.depth == 0:  # a seed redirected to it
                    self._frontier.widen(spec.crawl_id, end.url)
            self._report_progress(row)
        if not is_over:
            self._offer_all(row)
        self._store.crawls.give_to(spec.crawl_id, self._queue_id)
        state = CrawlState.STOPPED if row.state is not CrawlState.PAUSED else row.state
        self._rebuilder.finish(spec.crawl_id, CrawlState.FINISHED if is_over else state)
        return self._ended, self._offered

    def _offer_all(self, row: CrawlRow) -> None:
        spec = row.spec
        for end, target in self._redirects(row):
            if target and _is_first(end, spec):
                self._frontier.widen(spec.crawl_id, target)
        url_filter = UrlFilter(
            spec,
            self._frontier.more_hosts(spec.crawl_id),
            hooks=self._hooks,
            gate=self._frontier.topics,
        )
        for moved in _batches(self._redirects(row)):
            self._follow(row, moved, url_filter)
        seeds = [Discovery(url=url, rank=0) for url in spec.seeds]
        self._offer(row, seeds)
        self._offer_segments(row)
        ended = self._store.urls.ended(spec.crawl_id)
        leading = (end for end in ended if end.state not in SEEN and not _is_moved_page(end))
        for ends in _batches(leading):
            if spec.scope is Scope.TOPIC:
                self._frontier.topics.take_hosts(spec.crawl_id, {end.host for end in ends})
            found = [each for end in ends for each in rediscovered(end, url_filter)]
            self._offer(row, found)
        if spec.images:
            self._offer(row, self._content_images(row))
        self._offer(row, self._outlinks(row, url_filter))

    def _redirects(self, row: CrawlRow) -> Iterator[tuple[UrlRow, str]]:
        """Yields (URL of a page, URL that it redirects to or ``""``)."""
        for end in self._store.urls.redirects(row.spec.crawl_id):
            if _is_moved_page(end):
                yield (
                    end,
                    next((step.detail for step in reversed(end.log) if step.step == MOVED), ""),
                )

    def _follow(
        self,
        row: CrawlRow,
        moved: Sequence[tuple[UrlRow, str]],
        url_filter: UrlFilter,
    ) -> None:
        """Offers the targets of redirects as the first request did; without a target, the URL."""
        found: list[Discovery] = []
        for end, target in moved:
            if target:
                outlink = Outlink(url=target, via=Via.REDIRECT)
                found += url_filter.filter([outlink], end.url, end.depth)[0]
            else:
                found += rediscovered(end, url_filter)
        self._offer(row, found)
        followed = [end for end, target in moved if target]
        self._ended += self._rebuilder.mark_ended(row.spec.crawl_id, followed)

    def _offer_segments(self, row: CrawlRow) -> None:
        """Offers the URLs that had overflowed into the store."""
        crawl_id = row.spec.crawl_id
        for spill_id in self._store.spills.ids(crawl_id):
            spill = self._store.spills.get(spill_id)
            if spill is None or self._rebuilder.waits_for(crawl_id, spill_id):
                continue
            try:
                entries = unpack_entries(spill.host, spill.packed)
            except StoreDamaged as error:
                self._report(f"{spill.urls} waiting URLs of {spill.host} are lost: {error}")
                continue
            self._offer(row, discoveries(spill.host, entries))
            self._rebuilder.forget_later([spill_id])

    def _outlinks(self, row: CrawlRow, url_filter: UrlFilter) -> Iterator[Discovery]:
        """Yields the outlinks of the records; those yielded a moment ago are left out."""
        recent: set[str] = set()
        for url, depth, outlinks in self._store.records.linked(row.spec.crawl_id):
            self._pages += 1
            taken, _ = url_filter.filter(outlinks, url, depth)
            for found in taken:
                if found.url not in recent:
                    recent.add(found.url)
                    yield found
            if len(recent) > RECENT_URLS:
                recent.clear()

    def _content_images(self, row: CrawlRow) -> Iterator[Discovery]:
        for page in self._store.images.of_pages(row.spec.crawl_id):
            yield from filter_images(page.images, page.url, page.depth)[0]

    def _offer(self, row: CrawlRow, found: Iterable[Discovery]) -> None:
        for batch in _batches(found):
            self._offered += self._frontier.add(row.spec.crawl_id, batch)
            self._batches += 1
            if self._batches % SPILL_AFTER == 0:
                self._overflow.spill()
            self._report_progress(row)

    def _is_over(self, row: CrawlRow) -> bool:
        """Whether a crawl had no URL left; with a spent budget it is finished with URLs left."""
        most = row.spec.max_pages
        if row.state is not CrawlState.FINISHED:
            return False
        return most is None or self._store.records.count(row.spec.crawl_id) < most

    def _report_progress(self, row: CrawlRow) -> None:
        if time.monotonic() - self._reported >= REPORT_S:
            self._reported = time.monotonic()
            self._report(
                f"recovering {row.spec.crawl_id}: {counted(self._ended, 'URL')} done before, "
                f"links of {counted(self._pages, 'page')} read, "
                f"{counted(self._offered, 'URL')} waiting"
            )


def _is_moved_page(end: UrlRow) -> bool:
    return end.state is UrlState.REDIRECT and end.role is PageRole.PAGE


def _is_first(end: UrlRow, spec: CrawlSpec) -> bool:
    """Whether a redirect is that of a seed, or follows such a redirect."""
    return end.url in spec.seeds or (end.depth == 0 and end.via is Via.REDIRECT)


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    left = iter(items)
    while batch := list(islice(left, BATCH)):
        yield batch


# A crawl whose next run follows more URLs: what earlier runs left out is offered again.
#
# The links that a crawl leaves out are in no queue. When ``--include``, ``--exclude``, ``--scope``
# or ``--depth`` let more URLs pass than before, the links of the stored pages are read again.
# Sitemaps and redirects are fetched again, because the URLs that they lead to are in no record.

LEADING = frozenset({UrlState.REDIRECT, UrlState.SITEMAP})
WIDTH = {Scope.HOST: 0, Scope.DOMAIN: 1, Scope.TOPIC: 1, Scope.ANY: 2}


def leads_further(old: CrawlSpec, new: CrawlSpec) -> bool:
    """Whether a specification may let a URL pass that the older one of the crawl left out."""
    fewer_excluded = not set(old.exclude) <= set(new.exclude)
    more_included = bool(old.include) and not (new.include and set(new.include) <= set(old.include))
    deeper = old.max_depth is not None and (new.max_depth is None or new.max_depth > old.max_depth)
    return fewer_excluded or more_included or deeper or WIDTH[new.scope] > WIDTH[old.scope]


def offer_again(
    backends: CrawlBackends | Context, row: CrawlRow, spec: CrawlSpec, report: Callable[[str], None]
) -> int:
    """Offers what a crawl left out and now follows; returns how many URLs wait for that reason.

    Must be called when the queue has the new specification and the store has the older one: a
    process that is killed in between does it again.

    Args:
        backends: Queue and store.
        row: The crawl in the store.
        spec: Its new specification.
        report: Called with a line of progress every few seconds.
    """
    if not leads_further(row.spec, spec):
        return 0
    crawl = spec.crawl_id
    offered = 0
    for ends in _batches(_left_out(backends, spec)):
        offered += backends.frontier.reopen(crawl, ends)
    recovery = Recovery(backends.settings, backends.store, backends.frontier, report)
    return offered + recovery.recover(replace(row, spec=spec, state=CrawlState.STOPPED))[1]


def _left_out(backends: CrawlBackends | Context, spec: CrawlSpec) -> Iterator[UrlRow]:
    """Yields the URLs that waited when a pattern excluded them, redirects and sitemaps."""
    choice = UrlChoice(spec.include, spec.exclude)
    for end in backends.store.urls.ended(spec.crawl_id):
        is_left_out = end.reason is FailureReason.PATTERN or end.state in LEADING
        if is_left_out and (end.state is UrlState.SITEMAP or not choice.reason(end.url)):
            yield end
