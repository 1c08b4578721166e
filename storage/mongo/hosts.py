"""What the MongoDB store keeps and tells of one host: its models, its pages.

A version of a model is one document, inserted once under host and number: of two who insert the
same, the second is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pymongo import ASCENDING, DESCENDING
from pymongo.errors import DuplicateKeyError

from storage.crawl_types import PageRole
from storage.mongo.connection import MongoConnection
from storage.store.codec import from_microseconds
from storage.store.host_pages import ArchivedPage, RecordVersion
from storage.store.models import (
    KEPT_VERSIONS,
    VERSION_COLUMNS,
    ModelVersion,
    StoredModel,
    pack_text,
    unpack_text,
    version_row,
    version_values,
)

READ_PAGES = 1000

_VERSION = VERSION_COLUMNS.split(", ")


class MongoSiteCollections:
    """Part of ``MongoStore``; see ``ModelStore`` and ``SitePages`` for the methods."""

    _db: MongoConnection

    # --- models ---

    def save_model(self, model: StoredModel) -> bool:
        """Whether the version is now stored: False unless it is newer than all of its host."""
        host, version = model.about.host, model.about.version
        doc = {"_id": f"{host}/{version}", "host": host, "packed": pack_text(model.text)}
        doc |= dict(zip(_VERSION, version_values(model), strict=True))
        if version <= self.newest_model_version(host):
            return False
        with self._db.use() as database:
            try:
                database.models.insert_one(doc)
            except DuplicateKeyError:
                return False
            found = database.models.find({"host": host}, {"version": 1})
            kept = [each["version"] for each in found.sort("version", DESCENDING)]
            for old in kept[KEPT_VERSIONS:]:
                database.models.delete_one({"_id": f"{host}/{old}"})
        return True

    def model(self, host: str, version: int | None = None) -> StoredModel | None:
        """A version of a host's model, the newest when ``version`` is None; None without."""
        asked: dict[str, Any] = {"host": host}
        if version is not None:
            asked["version"] = version
        with self._db.use() as database:
            doc = database.models.find_one(asked, sort=[("version", DESCENDING)])
        if doc is None:
            return None
        return StoredModel(about=_about(doc), text=unpack_text(doc.get("packed")))

    def model_versions(self, host: str) -> list[ModelVersion]:
        """All that are kept of a host, newest first."""
        with self._db.use() as database:
            found = database.models.find({"host": host}, {"packed": 0})
            docs = list(found.sort("version", DESCENDING))
        return [_about(doc) for doc in docs]

    def newest_model_version(self, host: str) -> int:
        """The number of the version in use, 0 when the host has none."""
        with self._db.use() as database:
            newest = [("version", DESCENDING)]
            doc = database.models.find_one({"host": host}, {"version": 1}, sort=newest)
        return 0 if doc is None else int(doc["version"])

    def delete_models(self, host: str) -> int:
        """Forgets what a host taught; returns how many versions were kept."""
        with self._db.use() as database:
            return int(database.models.delete_many({"host": host}).deleted_count)

    # --- pages ---

    def archived_pages(self, host: str) -> Iterator[ArchivedPage]:
        """The newest answer of every page of every crawl that is archived."""
        for docs in self._steps("raw", host, ("fetched_at",)):
            keys = [doc["_id"] for doc in docs]
            with self._db.use() as database:
                pages = {"_id": {"$in": keys}, "role": {"$ne": str(PageRole.IMAGE)}}
                found = database.urls.find(pages, {"url": 1})
                urls = {doc["_id"]: doc["url"] for doc in found}
            for doc in docs:
                if doc["_id"] in urls:  # else it is being saved, or deleted
                    page_id, _, crawl_id = doc["_id"].partition(":")
                    yield ArchivedPage(
                        page_id=page_id,
                        crawl_id=crawl_id,
                        url=urls[doc["_id"]],
                        fetched_at=from_microseconds(doc["fetched_at"]),
                    )

    def record_versions(
        self, host: str, after: tuple[str, str] = ("", "")
    ) -> Iterator[RecordVersion]:
        """Every record of the host behind a (page id, crawl)."""
        begun = ":".join(after) if any(after) else ""
        for docs in self._steps("records", host, ("fetched_at", "model_version"), begun):
            keys = [doc["_id"] for doc in docs]
            with self._db.use() as database:
                of_pages = {"host": host, "_id": {"$in": keys}}
                found = database.raw.find(of_pages, {"fetched_at": 1})
                archived = {doc["_id"]: doc["fetched_at"] for doc in found}
            for doc in docs:
                page_id, _, crawl_id = doc["_id"].partition(":")
                yield RecordVersion(
                    page_id=page_id,
                    crawl_id=crawl_id,
                    fetched_at=from_microseconds(doc["fetched_at"]),
                    model_version=doc["model_version"],
                    is_archived=archived.get(doc["_id"]) == doc["fetched_at"],
                )

    def _steps(
        self, collection: str, host: str, wanted: Sequence[str], after: str = ""
    ) -> Iterator[list[Mapping[str, Any]]]:
        """Documents behind an ``_id`` with it and what is wanted, all of it in an index."""
        while True:
            asked = {"host": host, "_id": {"$gt": after}}
            with self._db.use() as database:
                found = database[collection].find(asked, dict.fromkeys(wanted, 1))
                docs = list(found.sort("_id", ASCENDING).limit(READ_PAGES))
            yield docs
            if len(docs) < READ_PAGES:
                return
            after = docs[-1]["_id"]

    def records_by_model(self, host: str) -> dict[int, int]:
        """Records of the host, by the version of the model that made them; 0: none did."""
        stages = [
            {"$match": {"host": host}},
            {"$group": {"_id": "$model_version", "n": {"$sum": 1}}},
        ]
        with self._db.use() as database:
            return {row["_id"]: row["n"] for row in database.records.aggregate(stages)}


def _about(doc: Mapping[str, Any]) -> ModelVersion:
    return version_row(doc["host"], [doc.get(name) for name in _VERSION])
