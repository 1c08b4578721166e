"""The image filter of a crawl: which images of a page are fetched (paper 3).

An image is judged with its page, before it is requested. Only content images are fetched, from any
host, for most pictures are on hosts of their own; the address guard and each host's robots.txt
hold for them as for pages. The other images stay in the page's record with kind and reason, and
are counted. A topic's crawl fetches images of relevant pages alone (ADR 38).
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from crawlclean.cleaning.records import Image, ImageKind, Via
from crawlclean.cleaning.urls.normal_form import host_of, normal_form
from crawlclean.storage.crawl_types import CrawlSpec, Discovery, Outcome, PageRole
from crawlclean.storage.queue.counters import Counter
from crawlclean.storage.queue.entries import LINK_TEXT_CHARS, MAX_URL_CHARS
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.store.pictures import IMAGE_RANK, PageImages
from crawlclean.storage.store.protocol import Store

if TYPE_CHECKING:  # `run` offers images without the cleaner
    from crawlclean.workers.jobs.outcomes import Ending

HELD_BACK: Mapping[ImageKind, Counter] = {
    ImageKind.AD: Counter.IMAGES_HELD_BACK_AD,
    ImageKind.CHROME: Counter.IMAGES_HELD_BACK_CHROME,
    ImageKind.THUMB: Counter.IMAGES_HELD_BACK_THUMB,
    ImageKind.OTHER: Counter.IMAGES_HELD_BACK_OTHER,
}


def filter_images(
    images: Iterable[Image],
    page_url: str,
    page_depth: int,
    allows: Callable[[str, str], bool] = lambda _host, _url: True,
) -> tuple[list[Discovery], Tally[Counter]]:
    """Returns (discoveries for the frontier, counts) of a page's images, each URL once.

    Args:
        images: All images of the page's record.
        page_url: Sent as the referrer: some servers give pictures to their own pages alone.
        page_depth: Links from the nearest seed to the page.
        allows: Whether the robots rules known so far allow (host, url).
    """
    taken: dict[str, Discovery] = {}
    counted: Tally[Counter] = Tally()
    for image in images:
        if image.kind is not ImageKind.CONTENT:
            counted[HELD_BACK[image.kind]] += 1
            continue
        url = normal_form(image.url)
        if not url or url in taken:
            continue
        if len(url) > MAX_URL_CHARS:
            counted[Counter.IMAGES_TOO_LONG] += 1
        elif not allows(host_of(url), url):
            counted[Counter.IMAGES_FORBIDDEN] += 1
        else:
            taken[url] = Discovery(
                url=url,
                depth=page_depth + 1,
                role=PageRole.IMAGE,
                via=Via.IMAGE,
                referrer=page_url,
                text=(image.caption or image.alt)[:LINK_TEXT_CHARS],
                rank=IMAGE_RANK,
            )
    counted[Counter.IMAGES_OFFERED] += len(taken)
    return list(taken.values()), +counted


def images_of(
    endings: Iterable[Ending],
    allows: Callable[[str, str], bool],
    is_wanted: Callable[[Outcome], bool],
) -> tuple[list[Discovery], Tally[Counter]]:
    """Returns (discoveries for the frontier, counts) of the images of pages with a record.

    Args:
        endings: Of the pages.
        allows: Whether the robots rules known so far allow (host, url).
        is_wanted: Whether the images of a page are fetched: a topic wants those of relevant pages.
    """
    found: dict[str, Discovery] = {}
    counted: Tally[Counter] = Tally()
    for ending in endings:
        page, record = ending.outcome.queued, ending.outcome.record
        if record is None:
            continue
        if not is_wanted(ending.outcome):
            counted[Counter.IMAGES_HELD_BACK_TOPIC] += len(record.images)
            continue
        taken, more = filter_images(record.images, page.url, page.depth, allows)
        counted += more
        for discovery in taken:
            found.setdefault(discovery.url, discovery)
    return list(found.values()), counted


def catch_up(store: Store, frontier: Frontier, spec: CrawlSpec) -> int:
    """Offers the images of pages that a crawl stored while it fetched no images.

    Must be called before the new crawl specification is stored: a process that is killed in
    between offers them again.

    Returns:
        The number of URLs that are new to the crawl.
    """
    row = store.crawls.get(spec.crawl_id)
    if not spec.images or row is None or row.spec.images:
        return 0
    return sum(
        frontier.add(spec.crawl_id, filter_images(page.images, page.url, page.depth)[0])
        for page in wanted_pages(store, spec)
    )


def wanted_pages(store: Store, spec: CrawlSpec) -> Iterator[PageImages]:
    """Yields the images of the stored pages whose images a crawl may fetch.

    Of a topic's crawl these are the relevant pages, also those that other crawls have fetched.
    """
    if not spec.topic:
        yield from store.images.of_pages(spec.crawl_id)
        return
    for page in store.topics.relevant(spec.topic):
        images = store.images.of_page(page.page_id, page.crawl_id)
        if images is not None:
            yield images


def offer_due(store: Store, frontier: Frontier, spec: CrawlSpec) -> int:
    """Offers the images that became content by re-cleaning, or whose page became relevant.

    They are due until they are offered: a process that is killed in between offers them again.

    Returns:
        The number of URLs that are new to the crawl.

    Raises:
        NotFound: The queue does not know the crawl (any more); the images stay due.
    """
    offered = new = 0
    while spec.images and (pages := store.images.due(spec.crawl_id)):
        wanted = {page.page_id for page in pages}
        if spec.topic:
            known = store.topics.known(spec.topic, wanted)
            wanted = {page for page, is_relevant in known.items() if is_relevant}
        found = [
            each
            for page in pages
            if page.page_id in wanted
            for each in filter_images(page.images, page.url, page.depth)[0]
        ]
        new += frontier.add(spec.crawl_id, found)
        offered += len(found)
        store.images.end_due(spec.crawl_id, pages)
    if offered:
        frontier.count({Counter.IMAGES_OFFERED: offered, Counter.IMAGES_NEW: new})
    return new
