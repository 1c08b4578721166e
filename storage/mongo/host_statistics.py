"""Host statistics of the MongoDB store, recomputed from the newest outcomes of a host's URLs.

Every outcome is written to ``urls`` with the mark ``stale``, e.g. ``www.example.com/news``. To
recompute a host, a process

    1. writes a new random ``round`` to every stale row,
    2. writes the round to the host,
    3. computes,
    4. stores the result if the host still has the round,
    5. stores the figures of lists and removes the mark from the rows that still have the round.

A row that changes after step 1 is a new document, stale and without a round: it is counted next
time. Of two processes that recompute at once, the one that wrote its round first stores nothing and
starts again. A process that dies leaves the marks.
"""

from __future__ import annotations

import random
import time
import uuid
from contextlib import suppress
from typing import Any

from pymongo.errors import DuplicateKeyError

from crawlclean.cleaning.errors import StoreUnavailable
from crawlclean.cleaning.records import HostStats, ImageKind, LinkKind
from crawlclean.storage.crawl_types import UrlState
from crawlclean.storage.mongo.connection import MongoConnection
from crawlclean.storage.mongo.stories import MongoStoryRows
from crawlclean.storage.mongo.writing import stale_key, write_owed
from crawlclean.storage.store.host_statistics import Group, failures_of, stats_of
from crawlclean.storage.store.overview import HostFigures, Overview
from crawlclean.storage.store.rows import stats_to_json
from crawlclean.storage.store.stories import count_copies

STEP = 1_000  # ids in one `$in`: a statement without bound would pass the limit of a message
REFRESH_HOSTS = 50
"""Hosts whose marks are removed together, after the totals of their crawls are computed."""
ATTEMPTS = 50  # processes that store pages of the host meanwhile make an attempt fail, and soon end

_SUMS = {
    "n": {"$sum": 1},
    "fetched_bytes": {"$sum": "$fetched_bytes"},
    "html_chars": {"$sum": "$html_chars"},
    "wait_ms": {"$sum": "$wait_ms"},
    "body_chars": {"$sum": "$body_chars"},
    "model_version": {"$max": "$model_version"},
    "first_at": {"$min": "$fetched_at"},
    "newest_at": {"$max": "$fetched_at"},
    "sample": {"$min": "$page_id"},
    **{f"links_{kind.value}": {"$sum": f"$links.{kind.value}"} for kind in LinkKind},
    **{f"images_{kind.value}": {"$sum": f"$images.{kind.value}"} for kind in ImageKind},
}
_BY = ("state", "kind", "certificate", "warnings", "reason", "status")
_GROUPS = {name: {"$ifNull": [f"${name}", None]} for name in _BY} | {
    "is_empty": {"$eq": ["$body_chars", 0]}
}


def compute_stats(
    db: MongoConnection, crawl_id: str, host: str
) -> tuple[HostStats, list[Group]] | None:
    """The statistics of a host of a crawl, and its URLs in groups; None without URLs."""
    of_host = {"crawl_id": crawl_id, "host": host}
    stages = [{"$match": of_host}, {"$group": {"_id": _GROUPS, **_SUMS}}]
    with db.use() as database:
        urls: list[Group] = [{**row["_id"], **row} for row in database.urls.aggregate(stages)]
        records = database.records.count_documents(of_host)
    if not urls:
        return None
    current = [each for each in urls if each["state"] == UrlState.RECORD]
    stats = stats_of(
        host,
        urls,
        current,
        near_duplicates=_near_duplicates(db, of_host),
        kept_records=max(0, records - sum(each["n"] for each in current)),
    )
    return stats, urls


def _near_duplicates(db: MongoConnection, of_host: dict[str, str]) -> int:
    in_story = {**of_host, "story": {"$exists": True}}
    current = set()
    with db.use() as database:
        found = list(database.signatures.find(in_story, {"page_id": 1, "story": 1}))
        for start in range(0, len(found), STEP):
            ids = [doc["_id"] for doc in found[start : start + STEP]]
            asked = {"_id": {"$in": ids}, "state": UrlState.RECORD.value}
            current |= {doc["_id"] for doc in database.urls.find(asked, {"_id": 1})}
        short = _short(database, of_host)
    pages = [(doc["page_id"], doc["story"]) for doc in found if doc["_id"] in current]
    return count_copies(MongoStoryRows(db), pages) + short


def _short(database: Any, of_host: dict[str, str]) -> int:
    """Records too short for a story with the body of another record of the host, save one each."""
    records = {
        **of_host,
        "state": UrlState.RECORD.value,
        "signature": {"$gt": ""},
        "has_story": {"$exists": False},
    }
    stages = [
        {"$match": records},
        {"$group": {"_id": "$signature", "n": {"$sum": 1}}},
        {"$match": {"n": {"$gt": 1}}},
        {"$group": {"_id": None, "n": {"$sum": "$n"}, "bodies": {"$sum": 1}}},
    ]
    for row in database.urls.aggregate(stages, allowDiskUse=True):  # a large host: many signatures
        return int(row["n"]) - int(row["bodies"])
    return 0


def refresh(db: MongoConnection, overview: Overview, crawl_id: str | None, host: str | None) -> int:
    """Recomputes the stale hosts of a crawl and a host (None: any); returns how many."""
    marks: dict[str, Any] = {"$exists": True}
    if host is not None:
        marks = {"$gte": f"{host}/", "$lt": f"{host}0"}  # 0 is the letter after /
    of_crawl = {} if crawl_id is None else {"crawl_id": crawl_id}
    asked = {"stale": marks, **of_crawl}
    groups = {"_id": {"crawl_id": "$crawl_id", "host": "$host"}}
    done = 0
    with db.use() as database:
        write_owed(database, {"owed.stale": marks, **of_crawl})
        found = database.urls.aggregate([{"$match": asked}, {"$group": groups}])
        dirty = [row["_id"] for row in found]
        for start in range(0, len(dirty), REFRESH_HOSTS):
            some = [_refresh_host(db, **each) for each in dirty[start : start + REFRESH_HOSTS]]
            counted = [each for each in some if each]
            overview.keep([figures for figures, _ in counted])
            for figures, turn in counted:
                key = stale_key(figures.crawl_id, figures.host)
                counted_now = {"$unset": {"stale": "", "round": ""}}
                database.urls.update_many({"stale": key, "round": turn}, counted_now)
            done += len(counted)
    return done


def is_behind(db: MongoConnection) -> bool:
    """Whether a host is stale."""
    stale = {"stale": {"$exists": True}}
    with db.use() as database:
        return database.urls.find_one(stale, {"_id": 1}, hint=[("stale", 1)]) is not None


def _refresh_host(db: MongoConnection, crawl_id: str, host: str) -> tuple[HostFigures, str] | None:
    """Recomputes a host; returns its figures and its round, None when it was not stale."""
    key = stale_key(crawl_id, host)
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(random.uniform(0, 0.02 * attempt))  # noqa: S311 (no secret)
        turn = uuid.uuid4().hex
        with db.use() as database:
            stale = database.urls.update_many({"stale": key}, {"$set": {"round": turn}})
            if not stale.matched_count:
                return None  # another process was first
            owner = {"crawl_id": crawl_id, "host": host, "round": turn}
            with suppress(DuplicateKeyError):  # another made it at the same moment: see 4
                database.hosts.update_one({"_id": key}, {"$set": owner}, upsert=True)
            found = compute_stats(db, crawl_id, host)
            if found is None:  # deleted meanwhile
                database.hosts.delete_one({"_id": key, "round": turn})
                continue
            stats, urls = found
            text = stats_to_json(stats).decode()
            ours = {"_id": key, "round": turn}
            if database.hosts.update_one(ours, {"$set": {"stats": text}}).matched_count:
                states, groups = stats.pages_by_state, failures_of(urls)
                return HostFigures(crawl_id=crawl_id, host=host, states=states, groups=groups), turn
    raise StoreUnavailable(f"others recompute the statistics of {host} all the time: try again")
