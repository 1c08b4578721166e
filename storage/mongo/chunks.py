"""Blobs over 12 MB as chunks of the collection ``chunks``: a MongoDB document ends at 16 MB.

A smaller blob is the field ``blob`` of its document. A larger one is written as chunks first, named
after owner, version and digest, e.g. ``records/4f11...:c1/1772366400123456/0/9c1f...:0``; then its
document names them. So a reader never sees half a blob, and a save that is repeated after a crash
writes the same chunks. Chunks of older versions are deleted once their document has moved on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pymongo import ReplaceOne

from crawlclean.cleaning.errors import StoreDamaged

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
