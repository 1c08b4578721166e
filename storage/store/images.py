"""Images of a crawl at rest: their ids, and those that wait to be offered to the frontier.

An image is a URL of the queue, a row of the store's ``urls``, and bytes in the archive (ADR 22).
Its id differs from that of a page at the same address: sites link to the file that they show, and
a page must not be lost because another page embeds its address as an image.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from crawlclean.cleaning.records import Image
from crawlclean.cleaning.urls.normal_form import normalize, page_id
from crawlclean.storage.crawl_types import PageRole
from crawlclean.storage.store.ports import Blobs, PackedRecord, Tables, of
from crawlclean.storage.store.record_blobs import unpack_images
from crawlclean.storage.store.records import packed_records, placed

IMAGE_RANK = 1
"""Rank of images: behind the seeds, before pages; most image hosts have no pages."""


def image_id(url: str) -> str:
    """The id of the image at an address: 32 lower-case hex digits (128 bits).

    Raises:
        InvalidUrl: ``url`` is no absolute http(s) URL.
    """
    return blake2b(b"image " + normalize(url).encode(), digest_size=16).hexdigest()


def id_of(url: str, role: PageRole) -> str:
    """The id of a URL: ``image_id`` for images, ``page_id`` for other roles.

    Raises:
        InvalidUrl: ``url`` is no absolute http(s) URL.
    """
    return image_id(url) if role is PageRole.IMAGE else page_id(url)


DUE_AT_ONCE = 100
READ_PAGES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class PageImages:
    """The images of a page with a record; ``saved_seq`` is the number of the record's save."""

    saved_seq: int
    page_id: str
    url: str
    depth: int
    images: tuple[Image, ...]


class Images:
    """The member ``images``; lists are read in steps of bounded size."""

    def __init__(self, tables: Tables, blobs: Blobs) -> None:
        self._tables = tables
        self._blobs = blobs

    def of_pages(self, crawl_id: str, host: str | None = None) -> Iterator[PageImages]:
        """Yields the images of every record of a crawl (of one host), in the order of their saves.

        A page that is saved again meanwhile may be yielded twice.
        """
        for found in packed_records(self._blobs, of(crawl_id, host), READ_PAGES):
            yield from self._images(found)

    def of_page(self, page: str, crawl_id: str) -> PageImages | None:
        """The images of one record; None without the record."""
        found = self._blobs.record(page, crawl_id)
        return next(self._images([found]), None) if found else None

    def make_due(self, crawl_id: str, pages: Iterable[tuple[str, str]]) -> None:
        """Marks the images of records as due for a crawl.

        Args:
            crawl_id: The crawl that fetches the images.
            pages: (page, crawl of its record).
        """
        for page, of_crawl in pages:
            where = {"page_id": page, "crawl_id": of_crawl}
            self._tables.change("records", where, {"images_due": crawl_id})

    def due(self, crawl_id: str, limit: int = DUE_AT_ONCE) -> list[PageImages]:
        """Pages whose images are wanted since their save, and not yet offered, in any order."""
        found, _ = self._blobs.records({"images_due": crawl_id}, 0, limit)
        return list(self._images(found))

    def end_due(self, crawl_id: str, pages: Sequence[PageImages]) -> None:
        """Marks the images of pages as offered; pages saved again since then stay due."""
        offered = [page.saved_seq for page in pages]
        where = {"images_due": crawl_id, "saved_seq": offered}
        self._tables.change("records", where, {"images_due": None})

    def forget_due(self, crawl_id: str, host: str | None = None) -> None:
        """Marks all images of a crawl (of one host) as not due."""
        where = {"images_due": crawl_id} | ({} if host is None else {"host": host})
        self._tables.change("records", where, {"images_due": None})

    def _images(self, found: Sequence[PackedRecord]) -> Iterator[PageImages]:
        for each, url, depth in placed(self._tables, found):
            images = unpack_images(each.links)
            yield PageImages(
                saved_seq=each.saved_seq,
                page_id=each.page_id,
                url=url,
                depth=depth,
                images=images,
            )
