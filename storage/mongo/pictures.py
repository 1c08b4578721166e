"""Pictures of topics in MongoDB: a document for each image, with the keys that find its copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crawlclean.storage.mongo.connection import MongoConnection
from crawlclean.storage.mongo.ports import key_of
from crawlclean.storage.store.pictures import CANDIDATES, KEY_ROWS, PICTURE, PictureRow

SEARCHED = 512
"""Documents read for all keys of a picture; when there are more, each key is read by itself."""


class MongoPictureRows:
    """``PictureRows`` by commands; the methods are documented in ``storage/store/pictures.py``."""

    def __init__(self, db: MongoConnection) -> None:
        self._db = db

    def put(self, row: PictureRow, keys: Sequence[int]) -> None:
        """Writes a picture; a known one stays as it is."""
        doc = {**PICTURE.row(row), "keys": list(keys)}
        del doc["page_id"]
        asked = {"_id": key_of(row.page_id, row.crawl_id)}
        with self._db.use() as database:
            database.pictures.update_one(asked, {"$setOnInsert": doc}, upsert=True)

    def similar(self, keys: Sequence[int]) -> list[PictureRow]:
        """Pictures with the most keys in common."""
        if not keys:
            return []
        with self._db.use() as database:
            found = list(database.pictures.find({"keys": {"$in": list(keys)}}).limit(SEARCHED))
            if len(found) == SEARCHED:
                each_key = (database.pictures.find({"keys": key}).limit(KEY_ROWS) for key in keys)
                found = [doc for docs in each_key for doc in docs]
        docs = {doc["_id"]: doc for doc in found}
        wanted = set(keys)
        shared = {name: len(wanted.intersection(doc["keys"])) for name, doc in docs.items()}
        best = sorted(shared, key=lambda name: (-shared[name], name))[:CANDIDATES]
        return [_picture(docs[name]) for name in best]


def _picture(doc: Mapping[str, Any]) -> PictureRow:
    page_id, _, crawl_id = doc["_id"].partition(":")
    return PICTURE.read((page_id, crawl_id, *(doc[name] for name in PICTURE.columns[2:])))
