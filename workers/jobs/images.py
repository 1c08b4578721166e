"""Which images of a page are fetched, and what becomes of the others (paper 3).

An image is judged with its page, before anybody asks for it. Only what is content is fetched: from
whatever host the page names, for most pictures live on hosts of their own; the address guard and
each host's robots.txt hold for them as for pages. The rest stays in the page's record with kind and
reason, and is counted.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Callable, Iterable, Mapping

from cleaning.errors import InvalidUrl
from cleaning.records import Image, ImageKind, Via
from cleaning.urls.normal_form import host_of, normalize
from storage.crawl_types import CrawlSpec, Discovery, PageRole
from storage.queue.counters import Counter
from storage.queue.frontier import Frontier
from storage.store.images import IMAGE_RANK
from storage.store.protocol import Store
from workers.jobs.url_filter import MAX_URL_CHARS

HELD_BACK: Mapping[ImageKind, Counter] = {
    ImageKind.AD: Counter.IMAGES_HELD_BACK_AD,
    ImageKind.CHROME: Counter.IMAGES_HELD_BACK_CHROME,
    ImageKind.THUMB: Counter.IMAGES_HELD_BACK_THUMB,
    ImageKind.OTHER: Counter.IMAGES_HELD_BACK_OTHER,
}
TEXT_CHARS = 80


def sift_images(
    images: Iterable[Image],
    page_url: str,
    page_depth: int,
    allows: Callable[[str, str], bool] = lambda _host, _url: True,
) -> tuple[list[Discovery], Tally[Counter]]:
    """(what the frontier gets, why the rest does not) of a page's images, each address once.

    Args:
        images: All images of its record.
        page_url: Its URL; servers that give pictures to their own pages alone are told it.
        page_depth: Links from the nearest seed.
        allows: What the robots rules known so far say of (host, url).
    """
    taken: dict[str, Discovery] = {}
    counted: Tally[Counter] = Tally()
    for image in images:
        if image.kind is not ImageKind.CONTENT:
            counted[HELD_BACK[image.kind]] += 1
            continue
        address = _address(image.url)
        if not address or address[0] in taken:
            continue
        url, host = address
        if len(url) > MAX_URL_CHARS:
            counted[Counter.IMAGES_TOO_LONG] += 1
        elif not allows(host, url):
            counted[Counter.IMAGES_FORBIDDEN] += 1
        else:
            taken[url] = Discovery(
                url=url,
                depth=page_depth + 1,
                role=PageRole.IMAGE,
                via=Via.IMAGE,
                referrer=page_url,
                text=(image.caption or image.alt)[:TEXT_CHARS],
                rank=IMAGE_RANK,
            )
    counted[Counter.IMAGES_OFFERED] += len(taken)
    return list(taken.values()), +counted


def _address(url: str) -> tuple[str, str] | None:
    """(normal form, host) of an image's URL; None of one that is no address."""
    try:
        address = normalize(url)
        return address, host_of(address)
    except InvalidUrl:
        return None


def catch_up(store: Store, frontier: Frontier, spec: CrawlSpec) -> int:
    """Offers the images of pages that a crawl stored while it fetched none; how many are new.

    Call it before the store is told that the crawl fetches images now: whoever is killed in
    between does it again.
    """
    rows = [row for row in store.crawls.all() if row.spec.crawl_id == spec.crawl_id]
    if not spec.images or not rows or rows[0].spec.images:
        return 0
    return sum(
        frontier.add(spec.crawl_id, sift_images(page.images, page.url, page.depth)[0])
        for page in store.images.of_pages(spec.crawl_id)
    )


def offer_due(store: Store, frontier: Frontier, spec: CrawlSpec) -> int:
    """Offers the images that became content when pages were cleaned again; how many are new.

    Whoever is killed in between does it again: they are due until they are offered.

    Raises:
        NotFound: The queue does not know the crawl (any more); they stay due.
    """
    offered = new = 0
    while spec.images and (pages := store.images.due(spec.crawl_id)):
        found = [each for p in pages for each in sift_images(p.images, p.url, p.depth)[0]]
        new += frontier.add(spec.crawl_id, found)
        offered += len(found)
        store.images.end_due(spec.crawl_id, pages)
    if offered:
        frontier.count({Counter.IMAGES_OFFERED: offered, Counter.IMAGES_NEW: new})
    return new
