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
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from pymongo.errors import DuplicateKeyError

from crawlclean.cleaning.errors import StoreUnavailable
from crawlclean.cleaning.records import HostStats, ImageKind, LinkKind, PageKind
from crawlclean.storage.crawl_types import FailureReason, UrlState
from crawlclean.storage.mongo.stories import MongoStoryRows, Opened
from crawlclean.storage.mongo.writing import stale_key, write_owed
from crawlclean.storage.store.encoded_outcomes import count_warnings
from crawlclean.storage.store.overview import Groups, HostFigures, Overview
from crawlclean.storage.store.rows import from_microseconds, stats_to_json
from crawlclean.storage.store.stories import count_copies

STEP = 1_000
REFRESH_HOSTS = 50
"""Hosts whose marks are removed together, after the totals of their crawls are computed."""
ATTEMPTS = 50

_SUMS = {
    "n": {"$sum": 1},
    "fetched_bytes": {"$sum": "$fetched_bytes"},
    "html_chars": {"$sum": "$html_chars"},
    "wait_ms": {"$sum": "$wait_ms"},
    "body_chars": {"$sum": "$body_chars"},
    "model_version": {"$max": "$model_version"},
    "first": {"$min": "$fetched_at"},
    "last": {"$max": "$fetched_at"},
    **{f"links_{kind.value}": {"$sum": f"$links.{kind.value}"} for kind in LinkKind},
    **{f"images_{kind.value}": {"$sum": f"$images.{kind.value}"} for kind in ImageKind},
}
_GROUPS = {
    "state": "$state",
    "kind": "$kind",
    "certificate": "$certificate",
    "warnings": "$warnings",
    "is_empty": {"$eq": ["$body_chars", 0]},
    "reason": "$reason",
    "status": {"$cond": [{"$eq": ["$reason", FailureReason.HTTP_STATUS.value]}, "$status", None]},
}


def compute_stats(database: Any, crawl_id: str, host: str) -> HostStats | None:
    """The statistics of a host of a crawl; None when no URL of it is stored.

    ``exact`` is True: a store does not know whether the queue is at rest.
    """
    of_host = {"crawl_id": crawl_id, "host": host}
    rows = list(
        database.urls.aggregate([{"$match": of_host}, {"$group": {"_id": _GROUPS, **_SUMS}}])
    )
    if not rows:
        return None
    states: Counter[str] = Counter()
    kinds: Counter[PageKind] = Counter()
    reasons: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    warnings: list[tuple[str, int]] = []
    empty_bodies = 0
    for row in rows:
        group, n = row["_id"], row["n"]
        states[group["state"]] += n
        if group["certificate"]:
            faults[group["certificate"]] += n
        if group["state"] == UrlState.RECORD.value:
            kinds[PageKind(group["kind"])] += n
            warnings.append((group["warnings"], n))
            empty_bodies += n * (group["is_empty"] and group["kind"] != PageKind.INDEX.value)
        elif group["state"] == UrlState.FAILED.value:
            reasons[group["reason"]] += n
            if group.get("status") is not None:
                statuses[str(group["status"])] += n

    def total(name: str) -> int:
        return sum(int(row[name]) for row in rows)  # a sum over 64 bits comes as a float

    links = {kind: total(f"links_{kind.value}") for kind in LinkKind}
    images = {kind: total(f"images_{kind.value}") for kind in ImageKind}
    return HostStats(
        host=host,
        pages_by_state=dict(states),
        pages_by_kind=dict(kinds),
        links_by_kind={kind: n for kind, n in links.items() if n},
        images_by_kind={kind: n for kind, n in images.items() if n},
        errors_by_reason=dict(reasons),
        certificate_faults=dict(faults),
        errors_by_status=dict(statuses),
        pages_by_warning=count_warnings(warnings),
        empty_bodies=empty_bodies,
        fetched_bytes=total("fetched_bytes"),
        html_chars=total("html_chars"),
        body_chars=total("body_chars"),
        near_duplicates=_near_duplicates(database, of_host),
        kept_records=max(
            0, database.records.count_documents(of_host) - states[UrlState.RECORD.value]
        ),
        wait_ms=total("wait_ms"),
        first_seen=from_microseconds(min(row["first"] for row in rows)),
        last_seen=from_microseconds(max(row["last"] for row in rows)),
        model_version=max(row["model_version"] for row in rows),
    )


def _near_duplicates(database: Any, of_host: dict[str, str]) -> int:
    in_story = {**of_host, "story": {"$exists": True}}
    found = list(database.signatures.find(in_story, {"page_id": 1, "story": 1}))
    current = set()
    for start in range(0, len(found), STEP):
        ids = [doc["_id"] for doc in found[start : start + STEP]]
        asked = {"_id": {"$in": ids}, "state": UrlState.RECORD.value}
        current |= {doc["_id"] for doc in database.urls.find(asked, {"_id": 1})}
    pages = [(doc["page_id"], doc["story"]) for doc in found if doc["_id"] in current]
    return count_copies(MongoStoryRows(Opened(database)), pages) + _short(database, of_host)


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


def refresh(database: Any, overview: Overview, crawl_id: str | None, host: str | None) -> int:
    """Recomputes the stale hosts of a crawl and a host (None: any); returns how many."""
    marks: dict[str, Any] = {"$exists": True}
    if host is not None:
        marks = {"$gte": f"{host}/", "$lt": f"{host}0"}  # 0 is the letter after /
    of_crawl = {} if crawl_id is None else {"crawl_id": crawl_id}
    write_owed(database, {"owed.stale": marks, **of_crawl})
    asked = {"stale": marks, **of_crawl}
    groups = {"_id": {"crawl_id": "$crawl_id", "host": "$host"}}
    dirty = [row["_id"] for row in database.urls.aggregate([{"$match": asked}, {"$group": groups}])]
    done = 0
    for start in range(0, len(dirty), REFRESH_HOSTS):
        some = [_refresh_host(database, **each) for each in dirty[start : start + REFRESH_HOSTS]]
        counted = [each for each in some if each]
        overview.keep([figures for figures, _ in counted])
        for figures, turn in counted:
            key = stale_key(figures.crawl_id, figures.host)
            database.urls.update_many(
                {"stale": key, "round": turn}, {"$unset": {"stale": "", "round": ""}}
            )
        done += len(counted)
    return done


def is_behind(database: Any) -> bool:
    """Whether a host is stale."""
    stale = {"stale": {"$exists": True}}
    return database.urls.find_one(stale, {"_id": 1}, hint=[("stale", 1)]) is not None


def _refresh_host(database: Any, crawl_id: str, host: str) -> tuple[HostFigures, str] | None:
    """Recomputes a host; returns its figures and its round, None when it was not stale."""
    key = stale_key(crawl_id, host)
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(random.uniform(0, 0.02 * attempt))  # noqa: S311 (no secret)
        turn = uuid.uuid4().hex
        if not database.urls.update_many({"stale": key}, {"$set": {"round": turn}}).matched_count:
            return None  # another process was first
        owner = {"crawl_id": crawl_id, "host": host, "round": turn}
        with suppress(DuplicateKeyError):  # another made it at the same moment: see 4
            database.hosts.update_one({"_id": key}, {"$set": owner}, upsert=True)
        stats = compute_stats(database, crawl_id, host)
        if stats is None:  # deleted meanwhile
            database.hosts.delete_one({"_id": key, "round": turn})
            continue
        states = stats.pages_by_state
        groups = _failure_groups(database, owner) if UrlState.FAILED in states else []
        text = stats_to_json(stats).decode()
        ours = {"_id": key, "round": turn}
        if database.hosts.update_one(ours, {"$set": {"stats": text}}).matched_count:
            return HostFigures(crawl_id=crawl_id, host=host, states=states, groups=groups), turn
    raise StoreUnavailable(f"others recompute the statistics of {host} all the time: try again")


def _failure_groups(database: Any, owner: Mapping[str, str]) -> Groups:
    """Failures of a host in a crawl by cause."""
    failed = {
        "crawl_id": owner["crawl_id"],
        "host": owner["host"],
        "state": UrlState.FAILED.value,
    }
    group = {
        "_id": {"reason": "$reason", "status": "$status"},
        "n": {"$sum": 1},
        "first": {"$min": "$fetched_at"},
        "newest": {"$max": "$fetched_at"},
        "sample": {"$min": "$_id"},
    }
    return [
        (
            row["_id"]["reason"],
            row["_id"]["status"],
            row["n"],
            row["first"],
            row["newest"],
            row["sample"].partition(":")[0],
        )
        for row in database.urls.aggregate([{"$match": failed}, {"$group": group}])
    ]
