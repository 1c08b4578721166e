"""The drift events of the MongoDB store: a document each, written whole."""

from __future__ import annotations

from pymongo import DESCENDING

from storage.mongo.connection import MongoConnection
from storage.store.drifts import DRIFT_COLUMNS, KEPT_DRIFTS, DriftEvent, drift_row, drift_values

_COLUMNS = DRIFT_COLUMNS.split(", ")
_NEWEST = [("at", DESCENDING), ("model_version", DESCENDING)]


class MongoDrifts:
    """Part of ``MongoStore``; see ``DriftStore`` for the methods."""

    _db: MongoConnection

    def save_drift(self, event: DriftEvent) -> None:
        """Stores an event, or what was done about it since."""
        values = dict(zip(_COLUMNS, drift_values(event), strict=True))
        key = f"{event.host}/{event.model_version}/{values['at']}"
        with self._db.use() as database:
            doc = {"_id": key, "host": event.host, **values}
            database.drifts.replace_one({"_id": key}, doc, upsert=True)
            found = database.drifts.find({"host": event.host}, {"_id": 1}).sort(_NEWEST)
            old = [each["_id"] for each in found][KEPT_DRIFTS:]
            if old:
                database.drifts.delete_many({"_id": {"$in": old}})

    def drifts(self, host: str) -> list[DriftEvent]:
        """All that are kept of a host, newest first."""
        with self._db.use() as database:
            docs = list(database.drifts.find({"host": host}).sort(_NEWEST))
        return [drift_row(host, [doc.get(name) for name in _COLUMNS]) for doc in docs]

    def delete_drifts(self, host: str) -> int:
        """Forgets the events of a host; returns how many."""
        with self._db.use() as database:
            return int(database.drifts.delete_many({"host": host}).deleted_count)
