"""Host statistics of the MongoDB store, recomputed from the newest outcomes of a host's URLs.

Every outcome is written to ``urls`` with the mark ``stale``, e.g. ``www.example.com/news``. To
recompute a host, a process

    1. writes a new random ``round`` to every stale row,
    2. writes the round to the host,
    3. computes,
    4. stores the result if the host still has the round,
    5. removes the mark from the rows that still have the round.

A row that changes after step 1 is a new document, stale and without a round: it is counted next
time. Of two processes that recompute at once, the one that wrote its round first stores nothing and
starts again. A process that dies leaves the marks.
"""

from __future__ import annotations

import random
import time
import uuid
from collections import Counter
from contextlib import suppress
from typing import Any

from pymongo.errors import DuplicateKeyError

from cleaning.errors import StoreUnavailable
from cleaning.records import HostStats, ImageKind, LinkKind, PageKind
from storage.crawl_types import FailureReason, UrlState
from storage.mongo.writing import stale_key, write_owed
from storage.store.codec import from_microseconds, stats_to_json
from storage.store.encoded_outcomes import count_warnings

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
        wait_ms=total("wait_ms"),
        first_seen=from_microseconds(min(row["first"] for row in rows)),
        last_seen=from_microseconds(max(row["last"] for row in rows)),
        model_version=max(row["model_version"] for row in rows),
    )


def _near_duplicates(database: Any, of_host: dict[str, str]) -> int:
    records = {**of_host, "state": UrlState.RECORD.value, "signature": {"$gt": ""}}
    stages = [
        {"$match": records},
        {"$group": {"_id": "$signature", "n": {"$sum": 1}}},
        {"$match": {"n": {"$gt": 1}}},
        {"$group": {"_id": None, "n": {"$sum": "$n"}}},
    ]
    for row in database.urls.aggregate(stages, allowDiskUse=True):  # a large host: many signatures
        return int(row["n"])
    return 0


def refresh(database: Any, crawl_id: str | None, host: str | None) -> int:
    """Recomputes the stale hosts of a crawl and a host (None: any); returns how many."""
    marks: dict[str, Any] = {"$exists": True}
    if host is not None:
        marks = {"$gte": f"{host}/", "$lt": f"{host}0"}  # 0 is the letter after /
    of_crawl = {} if crawl_id is None else {"crawl_id": crawl_id}
    write_owed(database, {"owed.stale": marks, **of_crawl})
    asked = {"stale": marks, **of_crawl}
    groups = {"_id": {"crawl_id": "$crawl_id", "host": "$host"}}
    dirty = list(database.urls.aggregate([{"$match": asked}, {"$group": groups}]))
    return sum(_refresh_host(database, **each["_id"]) for each in dirty)


def _refresh_host(database: Any, crawl_id: str, host: str) -> int:
    """Recomputes a host; returns 1, or 0 when it was not stale."""
    key = stale_key(crawl_id, host)
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(random.uniform(0, 0.02 * attempt))  # noqa: S311 (no secret)
        turn = uuid.uuid4().hex
        if not database.urls.update_many({"stale": key}, {"$set": {"round": turn}}).matched_count:
            return 0  # another process was first
        owner = {"crawl_id": crawl_id, "host": host, "round": turn}
        with suppress(DuplicateKeyError):  # another made it at the same moment: see 4
            database.hosts.update_one({"_id": key}, {"$set": owner}, upsert=True)
        stats = compute_stats(database, crawl_id, host)
        if stats is None:  # deleted meanwhile
            database.hosts.delete_one({"_id": key, "round": turn})
            continue
        text = stats_to_json(stats).decode()
        ours = {"_id": key, "round": turn}
        if database.hosts.update_one(ours, {"$set": {"stats": text}}).matched_count:
            database.urls.update_many(
                {"stale": key, "round": turn}, {"$unset": {"stale": "", "round": ""}}
            )
            return 1
    raise StoreUnavailable(f"others recompute the statistics of {host} all the time: try again")
