"""Space of crawls in the MongoDB store, and dropping archived responses."""

from __future__ import annotations

from typing import Any

from crawlclean.storage.mongo.chunks import owner_of
from crawlclean.storage.store.ports import of
from crawlclean.storage.store.space import COUNTED, SAMPLED, HostSample, RawSpace, Space, SpaceKind

DROP_ROWS = 500


def space(database: Any) -> list[Space]:
    """What each crawl takes, by a sample of its documents; parts over 12 MB do not count."""
    crawls = sorted(doc["_id"] for doc in database.crawls.find({}, {"_id": 1}))
    found = []
    for kind in SpaceKind:
        for crawl in crawls:
            n = database[kind.value].count_documents({"crawl_id": crawl})
            if not n:
                continue
            _, mean = _sample(database[kind.value], {"crawl_id": crawl})
            found.append(
                Space(
                    crawl_id=crawl,
                    kind=kind,
                    items=n,
                    stored_bytes=round(mean * n),
                    is_estimate=n > SAMPLED,
                )
            )
    return found


def sample_host(database: Any, host: str) -> HostSample:
    """Sizes of what is stored of a host; parts over 12 MB do not count."""
    where = {"host": host}
    _, response_bytes = _sample(database.raw, where)
    records, record_bytes = _sample(database.records, where)
    return HostSample(
        responses=database.raw.count_documents(where, limit=COUNTED),
        response_bytes=response_bytes,
        records=records,
        record_bytes=record_bytes,
    )


def _sample(collection: Any, where: dict[str, str]) -> tuple[int, float]:
    """Number and mean size of the first documents that fit."""
    stages: list[dict[str, Any]] = [
        {"$match": where},
        {"$limit": SAMPLED},
        {
            "$group": {
                "_id": None,
                "n": {"$sum": 1},
                "mean": {"$avg": {"$binarySize": {"$ifNull": ["$blob", ""]}}},
            }
        },
    ]
    found = next(iter(collection.aggregate(stages)), None)
    return (found["n"], float(found["mean"])) if found else (0, 0.0)


def raw_space(database: Any, crawl_id: str | None, host: str | None) -> RawSpace:
    """What dropping the responses of a crawl, a host or both would free, by a sample.

    The server keeps the space in its files, for what is stored next.
    """
    wanted = of(crawl_id, host)
    n = database.raw.count_documents(wanted)
    if not n:
        return RawSpace(responses=0, stored_bytes=0, freed_bytes=0)
    size = round(_sample(database.raw, wanted)[1] * n)
    return RawSpace(responses=n, stored_bytes=size, freed_bytes=size, is_estimate=n > SAMPLED)


def drop_rows(
    database: Any, crawl_id: str | None, host: str | None, limit: int | None = None
) -> int:
    """Deletes archived responses in small steps, each with its chunks; returns how many."""
    dropped = 0
    while limit is None or dropped < limit:
        some = DROP_ROWS if limit is None else min(DROP_ROWS, limit - dropped)
        found = database.raw.find(of(crawl_id, host), {"_id": 1}).limit(some)
        keys = [doc["_id"] for doc in found]
        if not keys:
            break
        dropped += database.raw.delete_many({"_id": {"$in": keys}}).deleted_count
        owners = [owner_of("raw", key) for key in keys]
        database.chunks.delete_many({"owner": {"$in": owners}})
    return dropped
