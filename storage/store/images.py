"""Images of a crawl at rest: what tells them apart from pages, and what a store is asked of them.

An image is a URL with a life of its own in the queue, and a row of the store's URLs with the bytes
in the archive. Its id is not that of a page at the same address: sites link to the file that they
show, and a page must not be lost because somebody named its address as a picture's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Protocol

from cleaning.records import Image
from cleaning.urls.normal_form import normalize, page_id
from storage.crawl_types import PageRole

IMAGE_RANK = 1
"""Behind the seeds, before all else: most hosts of images have no pages to wait for."""


def image_id(url: str) -> str:
    """128-bit hex of the image at an address (32 lower-case digits).

    Raises:
        InvalidUrl: ``url`` is no absolute http(s) URL.
    """
    return blake2b(b"image " + normalize(url).encode(), digest_size=16).hexdigest()


def id_of(url: str, role: PageRole) -> str:
    """The id of a URL by what its bytes are for.

    Raises:
        InvalidUrl: ``url`` is no absolute http(s) URL.
    """
    return image_id(url) if role is PageRole.IMAGE else page_id(url)


DUE_AT_ONCE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class PageImages:
    """The images of a page that has a record; ``saved_seq`` is that record's number."""

    saved_seq: int
    url: str
    depth: int
    images: tuple[Image, ...]


class ImageStore(Protocol):
    """What a store tells of images; reads in steps of bounded size."""

    def page_images(self, crawl_id: str, host: str | None = None) -> Iterator[PageImages]:
        """The images of every page with a record (of one host), in the order they were saved.

        A page that is saved anew meanwhile may come twice.
        """

    def due_images(self, crawl_id: str, limit: int = DUE_AT_ONCE) -> list[PageImages]:
        """Pages with images that became content and are not offered yet, in any order."""

    def end_due_images(self, crawl_id: str, pages: Sequence[PageImages]) -> None:
        """Says that the images of pages are offered; what was saved since then stays due."""

    def forget_due_images(self, crawl_id: str, host: str | None = None) -> None:
        """Says that nothing of a crawl (of one host) is to be offered."""

    def archived_bytes(self, page_id: str, crawl_id: str | None = None) -> bytes | None:
        """The newest archived answer of a page or an image; None when the archive has none."""
