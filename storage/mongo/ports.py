"""The ports of the MongoDB store: ``Tables`` as commands, ``Blobs`` as documents and chunks.

A row is a document whose ``_id`` is the row's key as one text: ``4f11...:news`` of a page and a
crawl, ``www.example.com/3`` of a host and a version; the number of a story is itself the ``_id``. A
column without a value is an absent field.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from pymongo import ASCENDING, DESCENDING, ReplaceOne, UpdateOne

from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.cleaning.json_values import DAMAGE
from crawlclean.storage.mongo.connection import MongoConnection
from crawlclean.storage.store.ports import (
    PAGE_KEY,
    PRESENT,
    Answer,
    Fold,
    Key,
    PackedRecord,
    Row,
    Scan,
    Values,
    Where,
)
from crawlclean.storage.store.rows import decompress, from_microseconds, to_microseconds
from crawlclean.storage.store.tables import KEYS

# Blobs over 12 MB as chunks of the collection ``chunks``: a MongoDB document ends at 16 MB.
#
# A smaller blob is the field ``blob`` of its document. A larger one is written as chunks first,
# named after owner, version and digest, e.g. ``records/4f11...:c1/1772366400123456/0/9c1f...:0``;
# then its document names them. So a reader never sees half a blob, and a save that is repeated
# after a crash writes the same chunks. Chunks of older versions are deleted once their document has
# moved on.

CHUNK_BYTES = 12 << 20
"""Largest blob or chunk in one document; its other fields are far below the 4 MB left."""


def owner_of(collection: str, key: str) -> str:
    """The owner of a document's chunks, ``records/4f11...:c1``."""
    return f"{collection}/{key}"


def put_blob(database: Any, owner: str, doc: Mapping[str, Any], data: bytes) -> dict[str, Any]:
    """Stores the chunks of a large blob; returns the fields for its document.

    Args:
        database: A ``pymongo`` database.
        owner: The document's ``owner_of``.
        doc: Its other fields: ``crawl_id``, ``host``, ``fetched_at``, ``digest`` and, for a
            record, ``model_version``.
        data: The blob.

    Returns:
        ``{"blob": b"...", "chunks": 0}``, or with 2 chunks
        ``{"blob": None, "blob_name": "records/4f11...", "chunks": 2}``.
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
    """The blob of a document; None when its chunks are gone because it was replaced meanwhile.

    Raises:
        StoreDamaged: The document lacks the fields of ``put_blob``.
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
    """Deletes chunks older than the version that their document now holds.

    No writer can still need them: an older version never replaces a newer one.
    """
    found = database[collection].find_one({"_id": key}, {"fetched_at": 1, "model_version": 1})
    if found is None:
        return
    at, model = found["fetched_at"], found.get("model_version", 0)
    older = [{"fetched_at": {"$lt": at}}, {"fetched_at": at, "model_version": {"$lt": model}}]
    database.chunks.delete_many({"owner": owner_of(collection, key), "$or": older})


SEARCHED = 512
"""Documents read for all keys of a row; when there are more, each key is read by itself."""

READ_BYTES = 16 << 20
"""Bytes after which one read of records ends."""

Document = Mapping[str, Any]

_T = TypeVar("_T")


class MongoTables:
    """``Tables`` by commands; the methods are documented in ``storage/store/ports.py``."""

    def __init__(self, db: MongoConnection) -> None:
        self._db = db

    @contextmanager
    def together(self) -> Iterator[None]:
        """Nothing: standalone servers have no transactions."""
        yield

    def add(self, table: str, rows: Sequence[Row]) -> int:
        """Inserts the rows whose keys are new; returns how many were inserted."""
        if not rows:
            return 0
        writes = [
            UpdateOne({"_id": _id_of(table, row)}, {"$setOnInsert": dict(row)}, upsert=True)
            for row in rows
        ]
        with self._db.use() as database:
            return int(database[table].bulk_write(writes, ordered=False).upserted_count)

    def put(self, table: str, *rows: Row, keep: Collection[str] = ()) -> None:
        """Inserts or replaces rows; existing rows keep their values of the columns ``keep``."""
        writes = []
        for row in rows:
            change = {"$set": {name: value for name, value in row.items() if name not in keep}}
            if keep:
                change["$setOnInsert"] = {name: row[name] for name in keep}
            writes.append(UpdateOne({"_id": _id_of(table, row)}, change, upsert=True))
        if writes:
            with self._db.use() as database:
                database[table].bulk_write(writes, ordered=False)

    def get(self, table: str, keys: Collection[Key], columns: Sequence[str]) -> dict[Key, Values]:
        """Rows by key; a key without a row is not in the result."""
        by_id = {_joined(table, key): key for key in keys}
        asked = {"_id": {"$in": list(by_id)}}
        if not by_id:
            return {}
        with self._db.use() as database:
            docs = list(database[table].find(asked, _fields(table, columns)))
        return {by_id[doc["_id"]]: _values(table, doc, columns) for doc in docs}

    def scan(self, wanted: Scan) -> list[Values]:
        """The rows of a query."""
        table = wanted.table
        asked = asked_for(table, wanted.where)
        order = _order(table, wanted.order)
        if any(wanted.after):  # of page and crawl, or of one column
            asked.update(_behind(wanted, order))
        way = DESCENDING if wanted.backwards else ASCENDING
        with self._db.use() as database:
            found = database[table].find(asked, _fields(table, wanted.columns))
            if order:
                found = found.sort([(name, way) for name in order])
            is_long = table == "urls" or (table == "raw" and "host" not in wanted.where)
            if wanted.after and is_long and order == ["_id"]:
                found = found.hint("_id_")  # without it each step might sort all of the crawl
            if wanted.limit is not None:
                found = found.limit(wanted.limit)
            docs = list(found)
        return [_values(table, doc, wanted.columns) for doc in docs]

    def delete(self, table: str, where: Where) -> int:
        """Deletes the matching rows; returns how many."""
        with self._db.use() as database:
            return int(database[table].delete_many(asked_for(table, where)).deleted_count)

    def change(self, table: str, where: Where, values: Row) -> int:
        """Sets columns of the matching rows; returns how many rows match."""
        new = {name: value for name, value in values.items() if value is not None}
        gone = {name: "" for name in values if name not in new}
        update = {**({"$set": new} if new else {}), **({"$unset": gone} if gone else {})}
        with self._db.use() as database:
            return int(database[table].update_many(asked_for(table, where), update).matched_count)

    def increase(self, table: str, key: Row, amounts: Mapping[str, float]) -> None:
        """Adds amounts to columns of the row of a key; a missing row is made, from 0."""
        update = {"$inc": dict(amounts), "$setOnInsert": dict(key)}
        with self._db.use() as database:
            database[table].update_one({"_id": _id_of(table, key)}, update, upsert=True)

    def lower(self, table: str, where: Where, column: str, value: int) -> None:
        """Sets a column of the matching rows that have a larger value there, or none."""
        with self._db.use() as database:
            database[table].update_many(asked_for(table, where), {"$min": {column: value}})

    def add_keyed(self, table: str, row: Row, keys: Sequence[int]) -> bool:
        """Inserts a row that ``nearest`` finds by keys; False when its key is there already."""
        return bool(self.add(table, [{**row, "keys": list(keys)}]))

    def nearest(
        self, table: str, keys: Sequence[int], columns: Sequence[str], read: int, most: int
    ) -> list[Values]:
        """The rows that have the most keys in common with these, most common keys first."""
        fields = _fields(table, (*columns, "keys"))
        with self._db.use() as database:
            asked = {"keys": {"$in": list(keys)}}
            found = list(database[table].find(asked, fields).limit(SEARCHED))
            if len(found) == SEARCHED:
                each_key = (database[table].find({"keys": key}, fields).limit(read) for key in keys)
                found = [doc for docs in each_key for doc in docs]
        wanted = set(keys)
        docs = {doc["_id"]: doc for doc in found}.values()
        by_keys = sorted(docs, key=lambda doc: (-len(wanted.intersection(doc["keys"])), doc["_id"]))
        return [_values(table, doc, columns) for doc in by_keys[:most]]

    def count(self, table: str, where: Where) -> int:
        """Number of matching rows."""
        with self._db.use() as database:
            return int(database[table].count_documents(asked_for(table, where)))

    def now_us(self) -> int:
        """The time of the primary server."""
        with self._db.use() as database:
            answer = database.client.admin.command("hello")
        return to_microseconds(answer["localTime"])

    def fold(
        self, table: str, by: Sequence[str], columns: Sequence[tuple[str, Fold]], where: Where
    ) -> list[Values]:
        """Matching rows as one row for each value of the columns ``by``."""
        folds: dict[str, Any] = {
            f"f{n}": {"$sum": 1} if how == "count" else {f"${how}": f"${name}"}
            for n, (name, how) in enumerate(columns)
        }
        group = {"_id": {name: f"${name}" for name in by}, **folds}
        with self._db.use() as database:
            found = database[table].aggregate(
                [{"$match": asked_for(table, where)}, {"$group": group}]
            )
            return [
                [*(row["_id"][name] for name in by), *(row[name] for name in folds)]
                for row in found
            ]


class MongoBlobs:
    """``Blobs`` by documents and chunks; documented in ``storage/store/ports.py``."""

    def __init__(self, db: MongoConnection) -> None:
        self._db = db

    def record(self, page_id: str, crawl_id: str) -> PackedRecord | None:
        """The newest record of a page of a crawl."""
        return self._read("records", key_of(page_id, crawl_id), _packed_record)

    def answer(self, page_id: str, crawl_id: str) -> Answer | None:
        """The newest archived response of a URL of a crawl."""
        return self._read("raw", key_of(page_id, crawl_id), _answer)

    def _read(
        self, collection: str, key: str, read: Callable[[Any, Mapping[str, Any]], _T | None]
    ) -> _T | None:
        """Reads a document and decodes it with ``read``; None when there is no document.

        A document that was replaced during the read is read again.

        Raises:
            StoreDamaged: Its chunks are gone.
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
        """Records with ``saved_seq`` > ``after``, and the next call's ``after`` (0: the end)."""
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
            found = [self._current(database, doc) for doc in docs]
        last = docs[-1]["saved_seq"] if docs and more else 0
        return [each for each in found if each is not None], last

    def _current(self, database: Any, doc: Mapping[str, Any]) -> PackedRecord | None:
        """Decodes the record of a document; None when it was replaced meanwhile.

        Raises:
            StoreDamaged: Its chunks are gone.
        """
        record = _packed_record(database, doc)
        if record is None:
            still = {name: doc[name] for name in ("_id", "saved_seq")}
            if database.records.find_one(still, {"_id": 1}):
                raise StoreDamaged(f"parts of {doc['_id']} are gone: restore a backup")
        return record


def key_of(page_id: str, crawl_id: str) -> str:
    """The ``_id`` of a URL of a crawl, ``4f11...:news``; raises when it is no valid UTF-8.

    Those of a URL in all crawls lie between ``4f11...:`` and ``4f11...;``.
    """
    key = page_id + ":" + crawl_id
    key.encode()
    return key


def _has_page_key(table: str) -> bool:
    """Whether ``_id`` is page and crawl: they are read from it, so an index can cover the query."""
    return KEYS[table] == PAGE_KEY


def _joined(table: str, key: Key) -> Any:
    if table == "stories":
        return key[0]
    return (":" if _has_page_key(table) else "/").join(map(str, key))


def _id_of(table: str, row: Row) -> Any:
    return _joined(table, tuple(row[name] for name in KEYS[table]))


def asked_for(table: str, where: Where) -> dict[str, Any]:
    """The MongoDB filter of a condition."""
    asked: dict[str, Any] = {}
    for name, wanted in where.items():
        if wanted is PRESENT:
            asked[name] = {"$exists": True}
        elif isinstance(wanted, (list, tuple)):
            asked[name] = {"$in": list(wanted)}
        else:
            asked[name] = wanted
    if table == "stories" and "story" in asked:
        asked["_id"] = asked.pop("story")
    if _has_page_key(table) and "page_id" in asked:
        page_id = asked.pop("page_id")
        if "crawl_id" in asked:
            asked["_id"] = key_of(page_id, asked.pop("crawl_id"))
        else:
            ids = page_id["$in"] if isinstance(page_id, dict) else [page_id]
            # ; is the letter after :
            asked["$or"] = [{"_id": {"$gte": f"{each}:", "$lt": f"{each};"}} for each in ids]
    return asked


def _order(table: str, order: Sequence[str]) -> list[str]:
    """The fields to sort by; page and crawl together are ``_id``."""
    if not _has_page_key(table):
        return ["_id" if (table, name) == ("stories", "story") else name for name in order]
    return [("_id" if name == "page_id" else name) for name in order if name != "crawl_id"]


def _behind(wanted: Scan, order: Sequence[str]) -> dict[str, Any]:
    """The condition that a row comes behind ``wanted.after``.

    ``{"_id": {"$gt": "4f11...:news"}}``; with a column before the key, two cases:
    ``{"$or": [{"fetched_at": {"$lt": 17}}, {"fetched_at": 17, "_id": {"$lt": "4f11...:news"}}]}``.
    """
    sign = "$lt" if wanted.backwards else "$gt"
    first = wanted.after[0]
    if order == ["_id"]:
        return {"_id": {sign: _joined(wanted.table, tuple(filter(None, wanted.after)))}}
    if len(wanted.after) == 1:
        return {order[0]: {sign: first}}
    if "_id" not in order:
        cases = (
            {**dict(zip(order[:n], wanted.after, strict=False)), order[n]: {sign: value}}
            for n, value in enumerate(wanted.after)
        )
        return {"$or": list(cases)}
    key = _joined(wanted.table, wanted.after[1:])
    return {"$or": [{order[0]: {sign: first}}, {order[0]: first, "_id": {sign: key}}]}


def _fields(table: str, columns: Sequence[str]) -> dict[str, int]:
    """The projection of columns, always with ``_id``."""
    own = PAGE_KEY if _has_page_key(table) else ()
    return {"_id": 1, **{name: 1 for name in columns if name not in own}}


def _values(table: str, doc: Document, columns: Sequence[str]) -> Values:
    own: Document = {}
    if _has_page_key(table):
        own = dict(zip(PAGE_KEY, doc["_id"].split(":", 1), strict=True))
    elif table == "stories":
        own = {"story": doc["_id"]}
    return [own[name] if name in own else doc.get(name) for name in columns]


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


def _answer(database: Any, doc: Mapping[str, Any]) -> Answer | None:
    packed = get_blob(database, doc)
    if packed is None:
        return None
    headers = tuple((name, value) for name, value in doc["headers"])
    body = decompress(packed)
    return Answer(doc["url"], from_microseconds(doc["fetched_at"]), doc["status"], headers, body)
