"""URLs of the store as discoveries, as they were first offered to the queue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from crawlclean.cleaning.errors import InvalidUrl
from crawlclean.cleaning.records import Outlink
from crawlclean.storage.crawl_types import Discovery, PageRole, UrlState
from crawlclean.storage.queue.entries import Entry, read_pending
from crawlclean.storage.store.pictures import IMAGE_RANK, id_of
from crawlclean.storage.store.urls import EndedUrl
from crawlclean.workers.jobs.outcomes import NESTED_SITEMAP_RANK
from crawlclean.workers.jobs.url_filter import HOPS, UrlFilter


def discoveries(host: str, entries: Iterable[Entry]) -> Iterator[Discovery]:
    """Yields the URLs of an overflow segment as they were offered; invalid entries are left out."""
    for score, entry in entries:
        try:
            found = read_pending(host, score, entry)
            id_of(found.url, found.role)
        except (ValueError, InvalidUrl):
            continue
        yield found


def rediscovered(end: EndedUrl, url_filter: UrlFilter) -> list[Discovery]:
    """Returns the discovery of a sitemap, an image or a page, as it was first made."""
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
    taken, _ = url_filter.filter([outlink], end.referrer or "", depth)
    return [replace(found, referrer=end.referrer) for found in taken]
