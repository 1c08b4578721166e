"""All results of the server mode in one MongoDB database, raw pages among them.

**Same answers.** What ``storage/sqlite/store.py`` says of the fence holds here word for word; both
are under ``tests/storage/store/store_contract.py``. Needs MongoDB 4.4 or newer, standalone or
replica set.

**No transactions**, because standalone servers have none. Every document is written by compare
and set, in an order that saving the same job again completes (``mongo_writing.py``). What can be
seen of a save that died: records or raw pages whose ``urls`` row still shows the state before.
Two processes that save different content of one page and version at once may leave the counts of
one beside the record of the other, until either is saved again.

**Order.** Records are numbered by a counter before they are written. Who reads ``records`` while
others save may pass a number that is written a moment later: the next reading shows it.

**Processes and threads.** Any number of both; the client is opened lazily, anew after a fork.

**Durability.** Every write waits for the journal, of the majority in a replica set. Measured on a
busy machine of two cores, 127 links and 30 KB of source a page, kept raw: 1,610 to 1,700 outcomes
per CPU-second of the client in jobs of 20 (SQLite there 1,240 to 1,880), 400 to 480 in jobs of one.

**Files.** ``mongo_schema.py`` the collections, ``mongo_connection.py`` the client and its errors,
``mongo_writing.py`` outcomes as documents, ``mongo_blobs.py`` bytes over the document limit,
``mongo_statistics.py`` the hosts, ``mongo_sites.py`` models and pages of a host,
``mongo_drifts.py`` its changes; here is the protocol.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from typing import Any, TypeVar

from pymongo import ASCENDING, DESCENDING

from cleaning.document.raw_page import RawPage
from cleaning.errors import StoreDamaged
from cleaning.records import CleanRecord, HostStats
from storage.crawl_types import (
    CrawlRow,
    CrawlSpec,
    CrawlState,
    FailureRow,
    Outcome,
    UrlRow,
    UrlState,
)
from storage.mongo.blobs import get_blob
from storage.mongo.connection import MongoConnection
from storage.mongo.drifts import MongoDrifts
from storage.mongo.frontier import MongoFrontierCollections
from storage.mongo.host_statistics import refresh
from storage.mongo.hosts import MongoSiteCollections
from storage.mongo.writing import key_of, save_outcomes
from storage.store import rows
from storage.store.codec import (
    DAMAGE,
    spec_from_json,
    spec_to_json,
    stats_from_json,
    to_microseconds,
)
from storage.store.deduplication import Once
from storage.store.encoded_outcomes import encode_outcome
from storage.store.host_statistics import merge_stats
from storage.store.record_blobs import decompress, unpack_record

READ_ROWS = 200
READ_BYTES = 16 << 20
DELETE_ROWS = 500

_FOUND_BY = ("depth", "referrer", "via", "link_text", "discovered_at")
_URL = rows.URL_COLUMNS.split(", ")
_FAILURE = rows.FAILURE_COLUMNS.split(", ")

_T = TypeVar("_T")
RawAnswer = tuple[list[Any], int, tuple[tuple[str, str], ...], bytes]
"""Values as ``raw_page`` reads them, status, headers, body."""


class MongoStore(MongoFrontierCollections, MongoSiteCollections, MongoDrifts):
    """The ``Store`` of the server mode; see ``storage.store.protocol.Store`` for its methods."""

    def __init__(self, url: str) -> None:
        """Touches nothing yet.

        Args:
            url: ``mongodb://user:password@host:port/database``; the database is ``crawl`` when
                the URL names none, and is made at first use.
        """
        self._db = MongoConnection(url)

    def close(self) -> None:
        """Closes the connections; the store is not used afterwards."""
        self._db.close()

    # --- saving ---

    def save(self, outcomes: Sequence[Outcome]) -> int:
        """Stores all outcomes; returns how many changed something.

        When it does not return, saving the same outcomes again completes what it began.
        """
        if not outcomes:
            return 0
        encoded = [encode_outcome(outcome) for outcome in outcomes]
        with self._db.use() as database:
            return save_outcomes(database, encoded)

    # --- crawls ---

    def put_crawl(self, spec: CrawlSpec, state: CrawlState) -> None:
        """Creates or updates a crawl's row; ``created_at`` stays."""
        row = {"spec": spec_to_json(spec).decode(), "state": state.value}
        created = {"created_at": time.time_ns() // 1000}
        with self._db.use() as database:
            database.crawls.update_one(
                {"_id": spec.crawl_id}, {"$set": row, "$setOnInsert": created}, upsert=True
            )

    def crawls(self) -> list[CrawlRow]:
        """All crawls, oldest first."""
        found = []
        with self._db.use() as database:
            for doc in list(database.crawls.find().sort([("created_at", 1), ("_id", 1)])):
                stages = [
                    {"$match": {"crawl_id": doc["_id"]}},
                    {"$group": {"_id": "$state", "n": {"$sum": 1}}},
                ]
                counts = [(row["_id"], row["n"]) for row in database.urls.aggregate(stages)]
                spec = spec_from_json(doc["spec"])
                found.append(rows.crawl_row(spec, doc["state"], doc["created_at"], counts))
        return found

    def delete_crawl(self, crawl_id: str) -> int:
        """Forgets a crawl's row and all that is stored of it; returns records deleted.

        Deletes in small steps, the crawl's row last: an interrupted call is repeated.
        """
        deleted = self._delete({"crawl_id": crawl_id})
        with self._db.use() as database:
            database.crawls.delete_one({"_id": crawl_id})
        return deleted

    def delete_host(self, crawl_id: str, host: str) -> int:
        """The same for one host of a crawl; the crawl's row stays."""
        return self._delete({"crawl_id": crawl_id, "host": host})

    def _delete(self, asked: Mapping[str, str]) -> int:
        deleted = {}
        with self._db.use() as database:
            for name in ("parcels", "records", "raw", "chunks", "urls", "hosts"):
                deleted[name] = 0
                while True:
                    found = database[name].find(asked, {"_id": 1}).limit(DELETE_ROWS)
                    ids = [doc["_id"] for doc in found]
                    if not ids:
                        break
                    gone = database[name].delete_many({"_id": {"$in": ids}})
                    deleted[name] += gone.deleted_count
        return deleted["records"]

    # --- reading ---

    def record(self, page_id: str, crawl_id: str | None = None) -> CleanRecord | None:
        """The newest record of a page, in one crawl or in all."""
        order = ("fetched_at", "model_version", "saved_seq")
        return self._newest("records", _of_page(page_id, crawl_id), order, _record)

    def _newest(
        self,
        collection: str,
        asked: Mapping[str, Any],
        order: Sequence[str],
        read: Callable[[Any, Mapping[str, Any]], _T | None],
    ) -> _T | None:
        """What ``read`` makes of the newest document, or None when there is none.

        A document that was replaced while it was read is read again; one whose chunks are gone
        is damage.
        """
        seen: Any = None
        while True:
            with self._db.use() as database:
                found = list(database[collection].find(asked, dict.fromkeys(order, 1)))
                if not found:
                    return None
                newest = max(found, key=lambda doc: tuple(doc[name] for name in order))
                doc = database[collection].find_one({"_id": newest["_id"]})
                if doc is None:
                    continue
                answer = read(database, doc)
            if answer is not None:
                return answer
            if doc == seen:
                raise StoreDamaged(f"parts of {doc['_id']} are gone: restore them from a backup")
            seen = doc

    def find_page_ids(self, prefix: str, limit: int = 10) -> list[str]:
        """Page ids of records or urls that begin with a hex prefix, at most ``limit``."""
        prefix = prefix.lower()
        if not set(prefix) <= set("0123456789abcdef"):
            return []
        found: dict[str, None] = {}
        # g is the first letter after the hex digits
        asked = {"_id": {"$gte": prefix, "$lt": prefix + "g"}}
        with self._db.use() as database, database.urls.find(asked, {"_id": 1}) as cursor:
            for doc in cursor.sort("_id", ASCENDING):
                if len(found) >= limit:
                    break
                found[doc["_id"].partition(":")[0]] = None
        return list(found)[:limit]

    def url_rows(self, page_id: str) -> list[UrlRow]:
        """What every crawl knows about a URL, newest first; ``finished_at`` is the fetch's end."""
        with self._db.use() as database:
            docs = list(database.urls.find(_of_page(page_id, None), dict.fromkeys(_URL, 1)))
        docs.sort(key=lambda doc: (-doc["fetched_at"], doc["crawl_id"]))
        return [rows.url_row([doc.get(name) for name in _URL]) for doc in docs]

    def records(
        self, crawl_id: str | None = None, since: datetime | None = None
    ) -> Iterator[CleanRecord]:
        """Records in the order they were saved, read in pages of bounded size.

        ``since`` keeps those saved at or after it. A record that is saved anew while this runs
        comes once all the same.
        """
        after = 0
        if since is not None:
            with self._db.use() as database:
                saved_since = {"saved_at": {"$gte": to_microseconds(since)}}
                first = database.records.find_one(
                    saved_since, {"saved_seq": 1}, sort=[("saved_at", 1), ("saved_seq", 1)]
                )
            if first is None:
                return
            after = first["saved_seq"] - 1
        asked: dict[str, Any] = {} if crawl_id is None else {"crawl_id": crawl_id}
        with closing(Once()) as once:
            while True:
                page, more = self._page_of_records({**asked, "saved_seq": {"$gt": after}})
                for after, key, record in page:  # noqa: B007 (the last one is where to go on)
                    if record is not None and once.is_first(key):
                        yield record
                if not more:
                    return

    def _page_of_records(
        self, asked: Mapping[str, Any]
    ) -> tuple[list[tuple[int, str, CleanRecord | None]], bool]:
        """(number, key, record) in order, and whether more follow; no cursor stays open.

        A record is None when it was replaced while it was read: it comes later, at its new place.
        """
        docs, size = [], 0
        more = True
        with self._db.use() as database:
            query = database.records.find(asked).sort("saved_seq", ASCENDING).limit(READ_ROWS)
            with query as cursor:
                for doc in cursor:
                    docs.append(doc)
                    size += len(doc["blob"] or b"")
                    if doc["chunks"] or size > READ_BYTES:
                        break
                else:
                    more = len(docs) == READ_ROWS
            page = []
            for doc in docs:
                record = _record(database, doc)
                if record is None:
                    still = {name: doc[name] for name in ("_id", "saved_seq")}
                    if database.records.find_one(still, {"_id": 1}):
                        raise StoreDamaged(f"parts of {doc['_id']} are gone: restore a backup")
                page.append((doc["saved_seq"], str(doc["_id"]), record))
        return page, more

    def sample_records(self, crawl_id: str, host: str, limit: int) -> list[CleanRecord]:
        """Records of a host of a crawl, those with the smallest page ids, at most ``limit``."""
        asked = {"crawl_id": crawl_id, "host": host}
        with self._db.use() as database:
            found = database.records.find(asked, {"_id": 1}).sort("_id", ASCENDING).limit(limit)
            ids = [doc["_id"] for doc in found]
        read = (self.record(key.partition(":")[0], crawl_id) for key in ids)
        return [record for record in read if record is not None]

    def sample_url_rows(
        self, crawl_id: str, host: str, state: UrlState, limit: int
    ) -> list[UrlRow]:
        """The same of URLs that reached a state."""
        asked = {"crawl_id": crawl_id, "host": host, "state": str(state)}
        with self._db.use() as database:
            found = database.urls.find(asked, dict.fromkeys(_URL, 1))
            docs = list(found.sort("_id", ASCENDING).limit(limit))
        return [rows.url_row([doc.get(name) for name in _URL]) for doc in docs]

    def count_records(self, crawl_id: str | None = None) -> int:
        """How many records are stored."""
        with self._db.use() as database:
            return int(
                database.records.count_documents({} if crawl_id is None else {"crawl_id": crawl_id})
            )

    def failures(
        self, crawl_id: str | None = None, host: str | None = None, limit: int = 1000
    ) -> list[FailureRow]:
        """Newest first."""
        if limit < 1:
            return []  # to MongoDB 0 is no limit
        asked = {"failed_at": {"$exists": True}, **_asked(crawl_id, host)}
        with self._db.use() as database:
            found = database.urls.find(asked, dict.fromkeys(_FAILURE, 1))
            docs = list(found.sort([("failed_at", DESCENDING), ("_id", DESCENDING)]).limit(limit))
        return [rows.failure_row([doc[name] for name in _FAILURE]) for doc in docs]

    def raw_page(self, page_id: str, crawl_id: str | None = None) -> RawPage | None:
        """The archived page, decoded, or None when the archive does not hold it."""
        found = self._raw_answer(page_id, crawl_id)
        return rows.raw_page(*found) if found else None

    def archived_bytes(self, page_id: str, crawl_id: str | None = None) -> bytes | None:
        """The newest archived answer of a page or an image; None when the archive has none."""
        found = self._raw_answer(page_id, crawl_id)
        return found[3] if found else None

    def _raw_answer(self, page_id: str, crawl_id: str | None) -> RawAnswer | None:
        asked = _of_page(page_id, crawl_id)
        with self._db.use() as database:
            found_by = {doc["_id"]: doc for doc in database.urls.find(asked)}

        def read(database: Any, doc: Mapping[str, Any]) -> RawAnswer | None:
            packed = get_blob(database, doc)
            if packed is None:
                return None
            end = found_by[doc["_id"]]
            place: tuple[Any, ...] = (None, None, None)
            row = [*place, doc["url"], doc["fetched_at"], doc["crawl_id"]]
            row += [end[name] for name in _FOUND_BY]
            headers = tuple((name, value) for name, value in doc["headers"])
            return row, doc["status"], headers, decompress(packed)

        return self._newest("raw", {"_id": {"$in": list(found_by)}}, ("fetched_at",), read)

    # --- statistics ---

    def hosts(self, crawl_id: str | None = None) -> list[HostStats]:
        """Statistics of all hosts, most pages first; dirty ones are recomputed first."""
        return self._stats(crawl_id, None)

    def host_stats(self, host: str, crawl_id: str | None = None) -> HostStats | None:
        """Statistics of one host, recomputed when dirty; None for an unknown host.

        ``exact`` is True: whether the queue is at rest is not the store's to know.
        """
        found = self._stats(crawl_id, host)
        return found[0] if found else None

    def refresh_statistics(self) -> int:
        """Recomputes the statistics of all dirty hosts; returns how many."""
        with self._db.use() as database:
            return refresh(database, None, None)

    def _stats(self, crawl_id: str | None, host: str | None) -> list[HostStats]:
        by_host: dict[str, list[HostStats]] = {}
        with self._db.use() as database:
            refresh(database, crawl_id, host)
            asked: dict[str, Any] = {**_asked(crawl_id, None), "stats": {"$exists": True}}
            if host is not None:  # 0 is the letter after /
                asked["_id"] = {"$gte": f"{host}/", "$lt": f"{host}0"}
            for doc in database.hosts.find(asked).sort("crawl_id", ASCENDING):
                by_host.setdefault(doc["host"], []).append(stats_from_json(doc["stats"]))
        merged = [merge_stats(parts) for parts in by_host.values()]
        return sorted(merged, key=lambda s: (-sum(s.pages_by_state.values()), s.host))


def _asked(crawl_id: str | None, host: str | None) -> dict[str, str]:
    given = {"crawl_id": crawl_id, "host": host}
    return {name: value for name, value in given.items() if value is not None}


def _of_page(page_id: str, crawl_id: str | None) -> dict[str, Any]:
    if crawl_id is not None:
        return {"_id": key_of(page_id, crawl_id)}
    return {"_id": {"$gte": f"{page_id}:", "$lt": f"{page_id};"}}  # ; is the letter after :


def _record(database: Any, doc: Mapping[str, Any]) -> CleanRecord | None:
    packed = get_blob(database, doc)
    if packed is None:
        return None
    try:
        cut = int(doc["head_bytes"])
    except DAMAGE as error:
        raise StoreDamaged(f"a stored record cannot be read: {error}") from error
    return unpack_record(packed[:cut], packed[cut:])
