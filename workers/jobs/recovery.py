"""A crawl's frontier from what the store knows: done after the queue was lost altogether.

1. URLs that ended with a record or a failure, or that robots.txt forbids, are marked as seen.
2. Seeds, spills of the frontier's tail, redirects and sitemaps are offered: the last two are cheap
   to fetch again and lead on; the addresses in a sitemap are in no record.
3. The outlinks of all records are offered, under the rules of the crawl, and their content images
   if it fetches any.

Robots rules are asked anew, so what they forbid is found out by the spider. Everything is read in
steps of bounded size, and doing it again changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from cleaning.errors import InvalidUrl, StoreDamaged
from cleaning.records import Outlink, Via
from storage.crawl_types import CrawlRow, CrawlState, Discovery, PageRole, UrlState
from storage.queue.entries import read_pending
from storage.queue.frontier import Frontier
from storage.queue.maintenance import CrawlRebuilder
from storage.queue.overflow import Overflow
from storage.queue.spill_format import Entry, unpack_entries
from storage.store.images import IMAGE_RANK, id_of
from storage.store.protocol import Store
from storage.store.urls import EndedUrl
from workers.jobs.images import sift_images
from workers.jobs.outcomes import NESTED_SITEMAP_RANK
from workers.jobs.url_filter import HOPS, Admission

T = TypeVar("T")

ENDED = frozenset({UrlState.RECORD, UrlState.IMAGE, UrlState.FAILED, UrlState.EXCLUDED})
BATCH = 1000
SPILL_AFTER = 20  # batches
RECENT_URLS = 200_000
SAY_S = 5.0


@dataclass(slots=True)
class Recovered:
    """What was done: URLs marked as ended, pages whose links were read, URLs that wait now."""

    ended: int = 0
    pages: int = 0
    offered: int = 0


class Recovery:
    """Rebuilds crawls of one store in one queue."""

    def __init__(
        self,
        store: Store,
        frontier: Frontier,
        rebuilding: CrawlRebuilder,
        tail: Overflow,
        say: Callable[[str], None],
    ) -> None:
        """``say`` is told, every few seconds, how far it is."""
        self._store = store
        self._frontier = frontier
        self._rebuilding = rebuilding
        self._tail = tail
        self._say = say
        self._said = time.monotonic()
        self._batches = 0

    def recover(self, row: CrawlRow) -> Recovered:
        """Rebuilds one crawl; it is left finished, paused or stopped, as the store says.

        Raises:
            StorageError: Store or queue cannot go on; doing it again goes on.
        """
        spec = row.spec
        done = Recovered()
        is_over = _is_over(row)
        self._rebuilding.begin(spec)
        for ends in _batches(self._store.urls.ended(spec.crawl_id)):
            marked = [end for end in ends if is_over or end.state in ENDED]
            done.ended += self._rebuilding.mark_ended(spec.crawl_id, marked)
            for end in ends:
                if end.via is Via.REDIRECT and end.depth == 0:  # from a seed to the site it means
                    self._frontier.widen(spec.crawl_id, end.url)
            self._tell(row, done)
        if not is_over:
            self._offer_all(row, done)
        state = CrawlState.STOPPED if row.state is not CrawlState.PAUSED else row.state
        self._rebuilding.finish(spec.crawl_id, CrawlState.FINISHED if is_over else state)
        return done

    def _offer_all(self, row: CrawlRow, done: Recovered) -> None:
        spec = row.spec
        admission = Admission(spec, self._frontier.more_hosts(spec.crawl_id))
        seeds = [Discovery(url=url, rank=0) for url in spec.seeds]
        self._offer(row, done, seeds)
        self._offer_spills(row, done)
        leading = (e for e in self._store.urls.ended(spec.crawl_id) if e.state not in ENDED)
        for ends in _batches(leading):
            self._offer(row, done, [found for end in ends for found in _again(end, admission)])
        if spec.images:
            self._offer(row, done, self._pictured(row))
        self._offer(row, done, self._linked(row, done, admission))

    def _offer_spills(self, row: CrawlRow, done: Recovered) -> None:
        crawl_id = row.spec.crawl_id
        for spill_id in self._store.spills.ids(crawl_id):
            spill = self._store.spills.get(spill_id)
            if spill is None or self._rebuilding.waits_for(crawl_id, spill_id):
                continue
            try:
                entries = unpack_entries(spill.host, spill.packed)
            except StoreDamaged as error:
                self._say(f"{spill.urls} waiting URLs of {spill.host} are lost: {error}")
                continue
            self._offer(row, done, _found(spill.host, entries))
            self._rebuilding.forget_later([spill_id])

    def _linked(self, row: CrawlRow, done: Recovered, admission: Admission) -> Iterator[Discovery]:
        """What the records lead to; what was offered a moment ago is left out."""
        recent: set[str] = set()
        for page in self._store.records.linked(row.spec.crawl_id):
            done.pages += 1
            taken, _ = admission.sift(page.outlinks, page.url, page.depth)
            for found in taken:
                if found.url not in recent:
                    recent.add(found.url)
                    yield found
            if len(recent) > RECENT_URLS:
                recent.clear()

    def _pictured(self, row: CrawlRow) -> Iterator[Discovery]:
        """The content images of the records."""
        for page in self._store.images.of_pages(row.spec.crawl_id):
            yield from sift_images(page.images, page.url, page.depth)[0]

    def _offer(self, row: CrawlRow, done: Recovered, found: Iterable[Discovery]) -> None:
        for batch in _batches(found):
            done.offered += self._frontier.add(row.spec.crawl_id, batch)
            self._batches += 1
            if self._batches % SPILL_AFTER == 0:
                self._tail.spill()
            self._tell(row, done)

    def _tell(self, row: CrawlRow, done: Recovered) -> None:
        if time.monotonic() - self._said >= SAY_S:
            self._said = time.monotonic()
            self._say(
                f"recovering {row.spec.crawl_id}: {done.ended} URLs done before, links of "
                f"{done.pages} pages read, {done.offered} URLs waiting"
            )


def _is_over(row: CrawlRow) -> bool:
    """Whether nothing was left; a crawl whose budget was spent is finished too, with URLs left."""
    most = row.spec.max_pages
    spent = most is not None and row.pages.get(UrlState.RECORD, 0) >= most
    return row.state is CrawlState.FINISHED and not spent


def _found(host: str, entries: Iterable[Entry]) -> Iterator[Discovery]:
    """What was offered once; an entry that is no address is left out."""
    for score, entry in entries:
        try:
            found = read_pending(host, score, entry)
            id_of(found.url, found.role)
        except (ValueError, InvalidUrl):
            continue
        yield found


def _again(end: EndedUrl, admission: Admission) -> list[Discovery]:
    """A redirect or a sitemap, as it was found."""
    if end.role is PageRole.SITEMAP or end.state is UrlState.SITEMAP:
        found = Discovery(
            url=end.url,
            depth=end.depth,
            role=PageRole.SITEMAP,
            via=end.via,
            referrer=end.referrer,
            rank=NESTED_SITEMAP_RANK,
        )
        return [found]
    if end.role is PageRole.IMAGE:
        found = Discovery(
            url=end.url,
            depth=end.depth,
            role=PageRole.IMAGE,
            via=end.via,
            referrer=end.referrer,
            text=end.link_text,
            rank=IMAGE_RANK,
        )
        return [found]
    outlink = Outlink(url=end.url, via=end.via, text=end.link_text)
    depth = end.depth if end.via in HOPS else end.depth - 1
    taken, _ = admission.sift([outlink], end.referrer or "", depth)
    return [replace(found, referrer=end.referrer) for found in taken]


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    batch: list[T] = []
    for item in items:
        batch.append(item)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
