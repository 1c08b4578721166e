"""Images of a crawl at rest: their ids, and those that wait to be offered to the frontier.

An image is a URL with a life of its own in the queue, and a row of the store's URLs with the bytes
in the archive. Its id is not that of a page at the same address: sites link to the file that they
show, and a page must not be lost because somebody named its address as a picture's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from cleaning.records import Image
from cleaning.urls.normal_form import normalize, page_id
from storage.crawl_types import PageRole
from storage.store.ports import Blobs, PackedRecord, Tables, of
from storage.store.record_blobs import unpack_images
from storage.store.records import packed_records, placed

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
READ_PAGES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class PageImages:
    """The images of a page that has a record; ``saved_seq`` is that record's number."""

    saved_seq: int
    url: str
    depth: int
    images: tuple[Image, ...]


class Images:
    """Images of records; lists are read in steps of bounded size."""

    def __init__(self, tables: Tables, blobs: Blobs) -> None:
        self._tables = tables
        self._blobs = blobs

    def of_pages(self, crawl_id: str, host: str | None = None) -> Iterator[PageImages]:
        """The images of every page with a record (of one host), in the order they were saved.

        A page that is saved anew meanwhile may come twice.
        """
        for found in packed_records(self._blobs, of(crawl_id, host), READ_PAGES):
            yield from self._images(found)

    def due(self, crawl_id: str, limit: int = DUE_AT_ONCE) -> list[PageImages]:
        """Pages with images that became content and are not offered yet, in any order."""
        found, _ = self._blobs.records({"images_due": crawl_id}, 0, limit)
        return list(self._images(found))

    def end_due(self, crawl_id: str, pages: Sequence[PageImages]) -> None:
        """Marks the images of pages as offered; what was saved since then stays due."""
        offered = [page.saved_seq for page in pages]
        where = {"images_due": crawl_id, "saved_seq": offered}
        self._tables.clear("records", "images_due", where)

    def forget_due(self, crawl_id: str, host: str | None = None) -> None:
        """Forgets that images of a crawl (of one host) are to be offered."""
        where = {"images_due": crawl_id} | ({} if host is None else {"host": host})
        self._tables.clear("records", "images_due", where)

    def _images(self, found: Sequence[PackedRecord]) -> Iterator[PageImages]:
        for each, url, depth in placed(self._tables, found):
            images = unpack_images(each.links)
            yield PageImages(saved_seq=each.saved_seq, url=url, depth=depth, images=images)
