"""Which images of a page are fetched, and what becomes of the others (paper 3).

An image is judged with its page, before anybody asks for it. Only what is content is fetched: from
whatever host the page names, for most pictures live on hosts of their own; the address guard and
each host's robots.txt hold for them as for pages. The rest stays in the page's record with kind and
reason, and is counted.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from cleaning.errors import InvalidUrl
from cleaning.records import Image, ImageKind, ImageReason, Via
from cleaning.urls.normal_form import host_of, normalize, page_id
from storage.crawl_types import CrawlSpec, Discovery, PageRole, UrlRow, UrlState
from storage.queue.counters import Counter
from storage.queue.frontier import Frontier
from storage.store.images import IMAGE_RANK, image_id
from storage.store.protocol import Store
from workers.jobs.url_filter import MAX_HOPS, MAX_URL_CHARS

HELD_BACK: Mapping[ImageKind, Counter] = {
    ImageKind.AD: Counter.IMAGES_HELD_BACK_AD,
    ImageKind.CHROME: Counter.IMAGES_HELD_BACK_CHROME,
    ImageKind.THUMB: Counter.IMAGES_HELD_BACK_THUMB,
    ImageKind.OTHER: Counter.IMAGES_HELD_BACK_OTHER,
}
ASKED = frozenset({UrlState.IMAGE, UrlState.REDIRECT, UrlState.FAILED})
OK = 200
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


def find_image(store: Store, url: str, crawl_id: str | None = None) -> UrlRow | None:
    """The row of a stored image, where its address leads; None when it is not stored.

    The newest of all crawls, or one crawl's.
    """
    for _ in range(MAX_HOPS + 1):
        address = _address(url)
        if not address:
            return None
        known = [r for r in store.urls.rows(image_id(address[0])) if crawl_id in (None, r.crawl_id)]
        stored = next((row for row in known if row.state is UrlState.IMAGE), None)
        if stored or not known or known[0].state is not UrlState.REDIRECT:
            return stored
        url = next((s.detail for s in reversed(known[0].log) if s.step == "redirects to"), "")
    return None


@dataclass(slots=True)
class ImageReport:
    """What became of the images of a host's pages; each address counts once a crawl.

    Attributes:
        content: Addresses that are content on at least one page: those are fetched.
        stored: Those of them that are stored.
        stored_bytes: Bytes of these.
        held_back: Addresses that are content on no page and were not asked for, by the kind of
            the last page that shows them; each is a request that was not made.
        reasons: The same by reason.
        too_early: Addresses that are content on no page any more, and were asked for before.
        known: How many of those held back have a size that is known without asking: another
            crawl has stored the image, or the address was answered as a page.
        known_bytes: Bytes of these; nothing is assumed of the others.
    """

    content: int = 0
    stored: int = 0
    stored_bytes: int = 0
    held_back: Tally[ImageKind] = field(default_factory=Tally)
    reasons: Tally[ImageReason] = field(default_factory=Tally)
    too_early: int = 0
    known: int = 0
    known_bytes: int = 0

    @property
    def requests_saved(self) -> int:
        """How many requests were not made."""
        return self.held_back.total()


def report_images(store: Store, host: str, crawl_ids: Iterable[str]) -> ImageReport:
    """What became of the images on a host's pages, from its records as they are now."""
    report = ImageReport()
    for crawl_id in crawl_ids:
        content, others = _by_address(
            image for page in store.images.of_pages(crawl_id, host) for image in page.images
        )
        report.content += len(content)
        for url in content:
            row = find_image(store, url, crawl_id)
            report.stored += row is not None
            report.stored_bytes += row.fetched_bytes if row else 0
        for url, image in others.items():
            rows = store.urls.rows(image_id(url))
            if any(row.crawl_id == crawl_id and row.state in ASKED for row in rows):
                report.too_early += 1
                continue
            report.held_back[image.kind] += 1
            report.reasons[image.reason] += 1
            size = _known_bytes(store, url)
            report.known += size is not None
            report.known_bytes += size or 0
    return report


def _known_bytes(store: Store, url: str) -> int | None:
    """What an answer at an address would weigh, as far as one was given before; None: unknown."""
    image = find_image(store, url)
    if image:
        return image.fetched_bytes
    pages = (row.fetched_bytes for row in store.urls.rows(page_id(url)) if row.status == OK)
    return next((size for size in pages if size), None)


def _by_address(images: Iterable[Image]) -> tuple[set[str], dict[str, Image]]:
    """(addresses of content, the other addresses and how each was judged); both in normal form."""
    content: set[str] = set()
    others: dict[str, Image] = {}
    for image in images:
        address = _address(image.url)
        if address is None:
            continue  # nothing that could be asked for
        if image.kind is ImageKind.CONTENT:
            content.add(address[0])
        else:
            others[address[0]] = image
    return content, {url: image for url, image in others.items() if url not in content}
