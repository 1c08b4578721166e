"""What became of the images on a host's pages: fetched, or held back and why."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable
from dataclasses import dataclass, field

from cleaning.errors import InvalidUrl
from cleaning.records import Image, ImageKind, ImageReason
from cleaning.urls.normal_form import normalize, page_id
from storage.crawl_types import UrlState
from storage.store.images import image_id
from storage.store.protocol import Store
from workers.operations.stored_images import find_image

ASKED = frozenset({UrlState.IMAGE, UrlState.REDIRECT, UrlState.FAILED})
OK = 200


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


def report_host(store: Store, host: str) -> ImageReport | None:
    """Reports on the images of a host's pages; None when no crawl of the host fetches images."""
    crawls = [row.spec.crawl_id for row in store.crawls.all() if row.spec.images]
    report = report_images(store, host, crawls)
    return report if report.content or report.held_back or report.too_early else None


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
    """Bytes of an earlier answer of an address, as image or as page; None when there was none."""
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
        try:
            address = normalize(image.url)
        except InvalidUrl:
            continue  # nothing that could be asked for
        if image.kind is ImageKind.CONTENT:
            content.add(address)
        else:
            others[address] = image
    return content, {url: image for url, image in others.items() if url not in content}
