"""Bytes of any size in MongoDB, whose documents end at 16 MB.

What fits lies in its document (``blob``). What does not is written as chunks first, under a name
that its content decides, and the document then names it: a reader never sees half of it, and
saving the same again after a crash writes the same chunks again. Chunks of older versions go once
their document has moved on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pymongo import ReplaceOne

from cleaning.errors import StoreDamaged

CHUNK_BYTES = 12 << 20
"""Of one document; what else is in it is far below the 4 MB left."""

Version = tuple[int, int]


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
