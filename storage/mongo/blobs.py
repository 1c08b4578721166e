"""The large things of the MongoDB store: bytes of any size, though documents end at 16 MB.

What fits lies in its document (``blob``). What does not is written as chunks first, under a name
that its content decides, and the document then names it: a reader never sees half of it, and
saving the same again after a crash writes the same chunks again. Chunks of older versions go once
their document has moved on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pymongo import ASCENDING, ReplaceOne

from cleaning.errors import StoreDamaged
from storage.mongo.connection import MongoConnection
from storage.mongo.tables import key_of
from storage.store.codec import DAMAGE
from storage.store.record_blobs import decompress
from storage.store.records import ArchivedAnswer, PackedRecord
from storage.store.tables import Where

READ_BYTES = 16 << 20
"""Of one reading of records, or little more."""

CHUNK_BYTES = 12 << 20
"""Of one document; what else is in it is far below the 4 MB left."""

_T = TypeVar("_T")


def owner_of(collection: str, key: str) -> str:
    """The name of a document among the owners of chunks."""
    return f"{collection}/{key}"


def put_blob(database: Any, owner: str, doc: Mapping[str, Any], data: bytes) -> dict[str, Any]:
    """The fields that carry the data in the document ``doc``; chunks are stored when needed.

    ``doc`` has ``crawl_id``, ``host``, ``fetched_at``, ``digest`` and perhaps ``model_version``.
    """
    if len(data) <= CHUNK_BYTES:
        return {"blob": data, "chunks": 0}
    version = (doc["fetched_at"], doc.get("model_version", 0))
    name = f"{owner}/{version[0]}/{version[1]}/{doc['digest'].hex()}"
    starts = range(0, len(data), CHUNK_BYTES)
    for number, start in enumerate(starts):
        chunk_id = f"{name}:{number}"
        chunk = {
            "_id": chunk_id,
            "owner": owner,
            "crawl_id": doc["crawl_id"],
            "host": doc["host"],
            "fetched_at": version[0],
            "model_version": version[1],
            "data": data[start : start + CHUNK_BYTES],
        }
        database.chunks.bulk_write([ReplaceOne({"_id": chunk_id}, chunk, upsert=True)])
    return {"blob": None, "blob_name": name, "chunks": len(starts)}


def get_blob(database: Any, doc: Mapping[str, Any]) -> bytes | None:
    """The data of a document, or None when its chunks are gone: it was replaced meanwhile.

    Raises:
        StoreDamaged: The document holds something else.
    """
    try:
        if not doc["chunks"]:
            return bytes(doc["blob"])
        parts = []
        for number in range(doc["chunks"]):
            chunk = database.chunks.find_one({"_id": f"{doc['blob_name']}:{number}"})
            if chunk is None:
                return None
            parts.append(chunk["data"])
        return b"".join(parts)
    except (KeyError, TypeError) as error:
        raise StoreDamaged(f"a stored document cannot be read: {error}") from error


def drop_old_chunks(database: Any, collection: str, key: str) -> None:
    """Deletes chunks older than what their document now holds.

    Nobody can still need them: an older version loses the fence.
    """
    found = database[collection].find_one({"_id": key}, {"fetched_at": 1, "model_version": 1})
    if found is None:
        return
    at, model = found["fetched_at"], found.get("model_version", 0)
    older = [{"fetched_at": {"$lt": at}}, {"fetched_at": at, "model_version": {"$lt": model}}]
    database.chunks.delete_many({"owner": owner_of(collection, key), "$or": older})


class MongoBlobs:
    """``storage.store.records.Blobs``; see there for the methods."""

    def __init__(self, db: MongoConnection) -> None:
        self._db = db

    def record(self, page_id: str, crawl_id: str) -> PackedRecord | None:
        """The newest record of a page of a crawl."""
        return self._read("records", key_of(page_id, crawl_id), _packed_record)

    def answer(self, page_id: str, crawl_id: str) -> ArchivedAnswer | None:
        """The newest archived answer of a URL of a crawl."""
        return self._read("raw", key_of(page_id, crawl_id), _answer)

    def _read(
        self, collection: str, key: str, read: Callable[[Any, Mapping[str, Any]], _T | None]
    ) -> _T | None:
        """What ``read`` makes of a document, or None when there is none.

        A document that was replaced while it was read is read again; one whose chunks are gone
        is damage.
        """
        seen: Any = None
        while True:
            with self._db.use() as database:
                doc = database[collection].find_one({"_id": key})
                answer = None if doc is None else read(database, doc)
            if doc is None or answer is not None:
                return answer
            if doc == seen:
                raise StoreDamaged(f"parts of {key} are gone: restore them from a backup")
            seen = doc

    def records(self, where: Where, after: int, limit: int) -> tuple[list[PackedRecord], int]:
        """Records with a number greater than ``after``, and the number to go on behind."""
        docs, size, more = [], 0, True
        asked = {**where, "saved_seq": {"$gt": after}}
        with self._db.use() as database:
            query = database.records.find(asked).sort("saved_seq", ASCENDING).limit(limit)
            with query as cursor:
                for doc in cursor:
                    docs.append(doc)
                    size += len(doc["blob"] or b"")
                    if doc["chunks"] or size > READ_BYTES:
                        break
                else:
                    more = len(docs) == limit
            found = [self._still(database, doc) for doc in docs]
        last = docs[-1]["saved_seq"] if docs and more else 0
        return [each for each in found if each is not None], last

    def _still(self, database: Any, doc: Mapping[str, Any]) -> PackedRecord | None:
        """The record of a document; None when it was replaced meanwhile.

        Raises:
            StoreDamaged: Its chunks are gone.
        """
        record = _packed_record(database, doc)
        if record is None:
            still = {name: doc[name] for name in ("_id", "saved_seq")}
            if database.records.find_one(still, {"_id": 1}):
                raise StoreDamaged(f"parts of {doc['_id']} are gone: restore a backup")
        return record


def _packed_record(database: Any, doc: Mapping[str, Any]) -> PackedRecord | None:
    packed = get_blob(database, doc)
    if packed is None:
        return None
    page_id, _, crawl_id = doc["_id"].partition(":")
    try:
        cut = int(doc["head_bytes"])
    except DAMAGE as error:
        raise StoreDamaged(f"a stored record cannot be read: {error}") from error
    return PackedRecord(doc["saved_seq"], page_id, crawl_id, packed[:cut], packed[cut:])


def _answer(database: Any, doc: Mapping[str, Any]) -> ArchivedAnswer | None:
    packed = get_blob(database, doc)
    if packed is None:
        return None
    headers = tuple((name, value) for name, value in doc["headers"])
    body = decompress(packed)
    return ArchivedAnswer(doc["url"], doc["fetched_at"], doc["status"], headers, body)
