"""Images of crawls at rest, by crawl and by their looks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b

from msgspec import Struct

from crawlclean.cleaning.errors import StoreUnavailable
from crawlclean.cleaning.records import Image
from crawlclean.cleaning.topics.pictures import Picture, is_same_picture, picture_keys
from crawlclean.cleaning.urls.normal_form import normalize, page_id
from crawlclean.storage.crawl_types import Outcome, PageRole
from crawlclean.storage.store.encoded_outcomes import EncodedOutcome
from crawlclean.storage.store.ports import (
    Fold,
    Member,
    PackedRecord,
    Scan,
    Tables,
    of,
)
from crawlclean.storage.store.records import packed_records, placed
from crawlclean.storage.store.rows import RowType, unpack_images

# Images of a crawl at rest: their ids, and those that wait to be offered to the frontier.
#
# An image is a URL of the queue, a row of the store's ``urls``, and bytes in the archive (ADR 22).
# Its id differs from that of a page at the same address: sites link to the file that they show, and
# a page must not be lost because another page embeds its address as an image.

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


DUE_AT_ONCE = 100  # pages of a round: its caller asks again
READ_PAGES = 200  # held in memory at once: a row has a whole record


class PageImages(Struct, frozen=True, kw_only=True):
    """The images of a page with a record; ``saved_seq`` is the number of the record's save."""

    saved_seq: int
    page_id: str
    url: str
    depth: int
    images: tuple[Image, ...]


class Images(Member):
    """The member ``images``; lists are read in steps of bounded size."""

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


# The member ``pictures``: the images of topics' crawls by their looks, and which are copies.
#
# A row stands beside an image's row of ``urls``. Copies of a crawl (equal bytes, or prints of the
# same picture) are a group; its number is the least number of its members' ids, so every order of
# arrival ends at the same groups. A picture that matches two groups joins them by giving all
# members the smaller number. Of two workers at once each has written its picture before it
# searches, and searches again after it has joined: the later one sees the other.

KEY_ROWS = 64
"""Pictures read for a key: one of a frequent shade has thousands."""

CANDIDATES = 32
"""Pictures compared with a new one, those with the most keys in common."""

ATTEMPTS = 20  # more than two are needed only when others join the same pictures
NUMBER_DIGITS = 15  # hex digits of a page id, 60 bits: both stores have signed numbers of 64


class PictureRow(Struct, frozen=True, kw_only=True):
    """A stored image of a topic's crawl.

    Attributes:
        page_id: Id of the image.
        crawl_id: Its crawl.
        host: Its host.
        fetched_at: End of the response, microseconds since 1970 UTC.
        sha256: Of its bytes, 64 hex digits.
        width: In points; 0 when unknown.
        height: In points; 0 when unknown.
        file_bytes: Length of the file.
        prints: As in ``Picture``.
        group: Number of its group.
    """

    page_id: str
    crawl_id: str
    host: str
    fetched_at: int
    sha256: str
    width: int
    height: int
    file_bytes: int
    prints: bytes
    group: int

    @property
    def size(self) -> tuple[int, int, str]:
        """By which the largest picture of a group is found: points, bytes, id."""
        return self.width * self.height, self.file_bytes, self.page_id


PICTURE = RowType(PictureRow, "picture", group="grp")


def save_picture(tables: Tables, each: EncodedOutcome) -> None:
    """Writes the picture of an outcome, if it has one, and joins it with its copies.

    Repeating it changes nothing, and completes what a killed process began.
    """
    if each.outcome.picture is None:
        return
    row = _row_of(each, each.outcome.picture)
    keys = picture_keys(row.prints, row.crawl_id)
    tables.add_keyed("pictures", PICTURE.row(row), keys)
    for _ in range(ATTEMPTS):
        found = _same_bytes(tables, row)
        if keys:
            near = tables.nearest("pictures", keys, PICTURE.columns, KEY_ROWS, CANDIDATES)
            similar = map(PICTURE.read, near)
            found += [each for each in similar if is_same_picture(row.prints, each.prints)]
        groups = sorted({known.group for known in found if known.crawl_id == row.crawl_id})
        if len(groups) < 2:
            return
        joined = {"crawl_id": row.crawl_id, "grp": groups[1:]}
        tables.change("pictures", joined, {"grp": groups[0]})
    raise StoreUnavailable("others join the same pictures all the time: try again")


def _row_of(each: EncodedOutcome, picture: Picture) -> PictureRow:
    outcome: Outcome = each.outcome
    return PictureRow(
        page_id=outcome.queued.page_id,
        crawl_id=outcome.queued.crawl_id,
        host=each.host,
        fetched_at=each.version[0],
        sha256=each.url_row["sha256"] or "",
        width=picture.width,
        height=picture.height,
        file_bytes=len(outcome.queued.result.body),
        prints=picture.prints,
        group=int(outcome.queued.page_id[:NUMBER_DIGITS], 16),
    )


def _same_bytes(tables: Tables, row: PictureRow) -> list[PictureRow]:
    """The pictures with the same bytes, at least the row itself; one of each group is enough."""
    where = {"crawl_id": row.crawl_id, "sha256": row.sha256}
    found = tables.scan(Scan("pictures", PICTURE.columns, where, limit=CANDIDATES))
    own = tables.get("pictures", [(row.page_id, row.crawl_id)], PICTURE.columns)
    return list(map(PICTURE.read, (*found, *own.values())))


class Pictures(Member):
    """The member ``pictures``."""

    def of_image(self, image_id: str, crawl_id: str) -> PictureRow | None:
        """The row of an image; None when its crawl follows no topic, or has not fetched it."""
        found = self._tables.get("pictures", [(image_id, crawl_id)], PICTURE.columns)
        return next(map(PICTURE.read, found.values()), None)

    def copies(self, crawl_id: str, group: int) -> list[PictureRow]:
        """The members of a group, the largest first."""
        where = {"crawl_id": crawl_id, "grp": group}
        found = map(PICTURE.read, self._tables.scan(Scan("pictures", PICTURE.columns, where)))
        return sorted(found, key=lambda row: row.size, reverse=True)

    def groups(self, crawl_id: str) -> list[tuple[int, int]]:
        """(number, images) of all groups of a crawl, the one with the newest image first."""
        folds: tuple[tuple[str, Fold], ...] = (("page_id", "count"), ("fetched_at", "max"))
        found = self._tables.fold("pictures", ("grp",), folds, {"crawl_id": crawl_id})
        ordered = sorted(found, key=lambda row: (row[2], row[0]), reverse=True)
        return [(group, images) for group, images, _ in ordered]
