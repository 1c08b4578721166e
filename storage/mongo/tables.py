"""Rows of the MongoDB store: the port ``Tables`` as commands.

A row is a document whose ``_id`` is the row's key as one text: ``4f11...:c1`` of a page and a
crawl, ``a.example/3`` of a host and a version. A column without a value is no field.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pymongo import ASCENDING, DESCENDING, UpdateOne

from storage.mongo.connection import MongoConnection
from storage.store.tables import KEYS, PAGE_KEY, PRESENT, Key, Row, Scan, Values, Where

Document = Mapping[str, Any]


class MongoTables:
    """``storage.store.tables.Tables``; see there for the methods."""

    def __init__(self, db: MongoConnection) -> None:
        self._db = db

    @contextmanager
    def together(self) -> Iterator[None]:
        """Nothing: standalone servers have no transactions."""
        yield

    def add(self, table: str, rows: Sequence[Row]) -> int:
        """Inserts rows; one whose key is there already changes nothing. Returns how many came."""
        if not rows:
            return 0
        writes = [
            UpdateOne({"_id": _id_of(table, row)}, {"$setOnInsert": dict(row)}, upsert=True)
            for row in rows
        ]
        with self._db.use() as database:
            return int(database[table].bulk_write(writes, ordered=False).upserted_count)

    def put(self, table: str, row: Row, keep: Collection[str] = ()) -> None:
        """Inserts or replaces a row; columns of ``keep`` of a row that is there stay."""
        change = {"$set": {name: value for name, value in row.items() if name not in keep}}
        if keep:
            change["$setOnInsert"] = {name: row[name] for name in keep}
        with self._db.use() as database:
            database[table].update_one({"_id": _id_of(table, row)}, change, upsert=True)

    def get(self, table: str, keys: Collection[Key], columns: Sequence[str]) -> dict[Key, Values]:
        """The rows of keys; a key without a row is not in the answer."""
        by_id = {_joined(table, key): key for key in keys}
        asked = {"_id": {"$in": list(by_id)}}
        if not by_id:
            return {}
        with self._db.use() as database:
            docs = list(database[table].find(asked, _fields(table, columns)))
        return {by_id[doc["_id"]]: _values(table, doc, columns) for doc in docs}

    def scan(self, wanted: Scan) -> list[Values]:
        """The values of the columns, row by row."""
        table = wanted.table
        asked = _asked(table, wanted.where)
        order = _order(table, wanted.order)
        if any(wanted.after):  # of page and crawl, or of one column
            key = _joined(table, tuple(filter(None, wanted.after)))
            asked[order[0]] = {"$gt": key if order == ["_id"] else wanted.after[0]}
        way = DESCENDING if wanted.backwards else ASCENDING
        with self._db.use() as database:
            found = database[table].find(asked, _fields(table, wanted.columns))
            if order:
                found = found.sort([(name, way) for name in order])
            if wanted.after and table == "urls":
                found = found.hint("_id_")  # without it each step might sort all of the crawl
            if wanted.limit is not None:
                found = found.limit(wanted.limit)
            docs = list(found)
        return [_values(table, doc, wanted.columns) for doc in docs]

    def delete(self, table: str, where: Where) -> int:
        """Deletes rows; returns how many."""
        with self._db.use() as database:
            return int(database[table].delete_many(_asked(table, where)).deleted_count)

    def clear(self, table: str, column: str, where: Where) -> None:
        """Takes the value of one column from rows."""
        with self._db.use() as database:
            database[table].update_many(_asked(table, where), {"$unset": {column: ""}})

    def count(self, table: str, where: Where) -> int:
        """How many rows there are."""
        with self._db.use() as database:
            return int(database[table].count_documents(_asked(table, where)))

    def count_by(self, table: str, column: str, where: Where) -> dict[Any, int]:
        """How many rows have each value of a column."""
        stages = [
            {"$match": _asked(table, where)},
            {"$group": {"_id": f"${column}", "n": {"$sum": 1}}},
        ]
        with self._db.use() as database:
            return {row["_id"]: row["n"] for row in database[table].aggregate(stages)}


def key_of(page_id: str, crawl_id: str) -> str:
    """The ``_id`` of a URL of a crawl; of all crawls, those from ``page:`` to ``page;``."""
    key = page_id + ":" + crawl_id
    key.encode()  # raises for what no UTF-8 can carry
    return key


def _has_page_key(table: str) -> bool:
    """Whether page and crawl are read from ``_id``: indexes that have it then answer alone."""
    return KEYS[table] == PAGE_KEY


def _joined(table: str, key: Key) -> str:
    return (":" if _has_page_key(table) else "/").join(map(str, key))


def _id_of(table: str, row: Row) -> str:
    return _joined(table, tuple(row[name] for name in KEYS[table]))


def _asked(table: str, where: Where) -> dict[str, Any]:
    """The filter of a condition."""
    asked: dict[str, Any] = {}
    for name, wanted in where.items():
        if wanted is PRESENT:
            asked[name] = {"$exists": True}
        elif isinstance(wanted, (list, tuple)):
            asked[name] = {"$in": list(wanted)}
        else:
            asked[name] = wanted
    if _has_page_key(table) and "page_id" in asked:
        page_id = asked.pop("page_id")
        if "crawl_id" in asked:
            asked["_id"] = key_of(page_id, asked.pop("crawl_id"))
        else:
            asked["_id"] = {"$gte": f"{page_id}:", "$lt": f"{page_id};"}  # ; is the letter after :
    return asked


def _order(table: str, order: Sequence[str]) -> list[str]:
    """The fields of an order; page and crawl together are ``_id``."""
    if not _has_page_key(table):
        return list(order)
    return [("_id" if name == "page_id" else name) for name in order if name != "crawl_id"]


def _fields(table: str, columns: Sequence[str]) -> dict[str, int]:
    """The projection of columns; ``_id`` is always there."""
    own = PAGE_KEY if _has_page_key(table) else ()
    return {"_id": 1, **{name: 1 for name in columns if name not in own}}


def _values(table: str, doc: Document, columns: Sequence[str]) -> Values:
    if not _has_page_key(table):
        return [doc.get(name) for name in columns]
    page_id, _, crawl_id = doc["_id"].partition(":")
    own = {"page_id": page_id, "crawl_id": crawl_id}
    return [own[name] if name in own else doc.get(name) for name in columns]
