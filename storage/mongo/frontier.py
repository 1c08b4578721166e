"""What the MongoDB store does for the frontier: it keeps its tail, and tells how URLs ended."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from pymongo import UpdateOne

from cleaning.errors import StoreDamaged
from storage.mongo.blobs import get_blob
from storage.mongo.connection import MongoConnection
from storage.store.codec import DAMAGE
from storage.store.images import DUE_AT_ONCE, PageImages
from storage.store.overflow_segments import Parcel
from storage.store.record_blobs import unpack_images, unpack_outlinks
from storage.store.url_outcomes import END_COLUMNS, EndedUrl, LinkedPage, ended_url

READ_ENDS = 1000
READ_LINKS = 100
DELETED_AT_ONCE = 1000

_END = END_COLUMNS.split(", ")

_LinkPart = tuple[int, str, int, bytes]
"""Number of a record, URL and depth of its page, its packed links."""


class MongoFrontierCollections:
    """Part of ``MongoStore``; ``ParcelStore``, ``EndReader``, ``ImageStore`` say what."""

    _db: MongoConnection

    def save_parcels(self, parcels: Sequence[Parcel]) -> None:
        """Keeps parcels; one whose id is kept already changes nothing."""
        writes = []
        for each in parcels:
            doc = {
                "crawl_id": each.crawl_id,
                "host": each.host,
                "urls": each.urls,
                "packed": each.packed,
            }
            writes.append(UpdateOne({"_id": each.parcel_id}, {"$setOnInsert": doc}, upsert=True))
        with self._db.use() as database:
            if writes:
                database.parcels.bulk_write(writes, ordered=False)

    def parcel(self, parcel_id: str) -> Parcel | None:
        """A parcel that is kept."""
        with self._db.use() as database:
            doc = database.parcels.find_one({"_id": parcel_id})
        if doc is None:
            return None
        try:
            return Parcel(
                parcel_id=parcel_id,
                crawl_id=doc["crawl_id"],
                host=doc["host"],
                urls=doc["urls"],
                packed=bytes(doc["packed"]),
            )
        except DAMAGE as error:
            raise StoreDamaged(f"a stored parcel cannot be read: {error}") from error

    def parcel_ids(self, crawl_id: str) -> list[str]:
        """The ids of a crawl's parcels, in any order."""
        with self._db.use() as database:
            return [doc["_id"] for doc in database.parcels.find({"crawl_id": crawl_id}, {"_id": 1})]

    def delete_parcels(self, parcel_ids: Collection[str]) -> int:
        """Forgets parcels; returns how many were there."""
        ids, deleted = list(parcel_ids), 0
        with self._db.use() as database:
            for start in range(0, len(ids), DELETED_AT_ONCE):
                part = ids[start : start + DELETED_AT_ONCE]
                deleted += database.parcels.delete_many({"_id": {"$in": part}}).deleted_count
        return deleted

    def forget_tail(self, crawl_id: str, host: str | None = None) -> int:
        """Forgets all parcels of a crawl (of one host); returns how many."""
        asked = {"crawl_id": crawl_id} | ({} if host is None else {"host": host})
        with self._db.use() as database:
            return int(database.parcels.delete_many(asked).deleted_count)

    def ended_urls(
        self, crawl_id: str, host: str | None = None, *, failed: bool = False
    ) -> Iterator[EndedUrl]:
        """Every ended URL of a crawl (of one host), by page id; ``failed``: only the failures."""
        asked: dict[str, Any] = {"crawl_id": crawl_id}
        if host is not None:
            asked["host"] = host
        if failed:
            asked["failed_at"] = {"$exists": True}
        wanted = dict.fromkeys((*_END, "reason"), 1)
        after = ""
        while True:
            with self._db.use() as database:
                page = {**asked, "_id": {"$gt": after}}
                # Without the hint each step might sort all of the crawl.
                found = database.urls.find(page, wanted).sort("_id").hint("_id_")
                docs = list(found.limit(READ_ENDS))
            for doc in docs:
                yield ended_url([*(doc.get(name) for name in _END), doc.get("reason")])
            if len(docs) < READ_ENDS:
                return
            after = docs[-1]["_id"]

    def linked_pages(self, crawl_id: str) -> Iterator[LinkedPage]:
        """Every page with a record, in the order they were saved."""
        for _, url, depth, links in self._link_parts({"crawl_id": crawl_id}):
            yield LinkedPage(url=url, depth=depth, outlinks=unpack_outlinks(links))

    def page_images(self, crawl_id: str, host: str | None = None) -> Iterator[PageImages]:
        """The images of every page with a record (of one host), in the order they were saved."""
        of_host = {} if host is None else {"host": host}
        for part in self._link_parts({"crawl_id": crawl_id, **of_host}):
            yield _page_images(part)

    def due_images(self, crawl_id: str, limit: int = DUE_AT_ONCE) -> list[PageImages]:
        """Pages with images that became content and are not offered yet, in any order."""
        with self._db.use() as database:
            docs = list(database.records.find({"images_due": crawl_id}).limit(limit))
            return [_page_images(part) for part in _parts_of(database, docs)]

    def end_due_images(self, crawl_id: str, pages: Sequence[PageImages]) -> None:
        """Says that the images of pages are offered; what was saved since then stays due."""
        offered = {"images_due": crawl_id, "saved_seq": {"$in": [page.saved_seq for page in pages]}}
        self._end_due(offered)

    def forget_due_images(self, crawl_id: str, host: str | None = None) -> None:
        """Says that nothing of a crawl (of one host) is to be offered."""
        self._end_due({"images_due": crawl_id} | ({} if host is None else {"host": host}))

    def _end_due(self, asked: Mapping[str, Any]) -> None:
        with self._db.use() as database:
            database.records.update_many(asked, {"$unset": {"images_due": ""}})

    def _link_parts(self, of: Mapping[str, str]) -> Iterator[_LinkPart]:
        """The packed links of records, in the order they were saved."""
        after = 0
        while True:
            asked = {**of, "saved_seq": {"$gt": after}}
            with self._db.use() as database:
                docs = list(database.records.find(asked).sort("saved_seq").limit(READ_LINKS))
                parts = _parts_of(database, docs)
            yield from parts
            if len(docs) < READ_LINKS:
                return
            after = docs[-1]["saved_seq"]


def _parts_of(database: Any, docs: Sequence[Mapping[str, Any]]) -> list[_LinkPart]:
    found = database.urls.find(
        {"_id": {"$in": [doc["_id"] for doc in docs]}}, {"url": 1, "depth": 1}
    )
    places = {doc["_id"]: doc for doc in found}
    return [
        (doc["saved_seq"], places[doc["_id"]]["url"], places[doc["_id"]]["depth"], links)
        for doc in docs
        if doc["_id"] in places and (links := _links(database, doc)) is not None
    ]


def _page_images(part: _LinkPart) -> PageImages:
    saved_seq, url, depth, links = part
    return PageImages(saved_seq=saved_seq, url=url, depth=depth, images=unpack_images(links))


def _links(database: Any, doc: Mapping[str, Any]) -> bytes | None:
    """None for a record that was replaced while it was read: it comes later, at its new place."""
    packed = get_blob(database, doc)
    return None if packed is None else packed[int(doc["head_bytes"]) :]
