"""The store of the server mode: one MongoDB database, raw pages included.

**Fence.** That of ``storage/sqlite/store.py``, word for word; both pass
``tests/storage/store/store_contract.py``. Needs MongoDB 4.4 or newer, standalone or replica set.

**No transactions**, because standalone servers have none. Every document is written by compare
and set, in an order that a repeated save of the job completes (``writing.py``). An interrupted save
may leave records or raw pages whose ``urls`` row still shows the state before. Two processes that
save different content of one page and version at once may leave the counts of one beside the record
of the other, until either is saved again.

**Order.** Records are numbered by a counter before they are written. A scan during a save may pass
a number that is written a moment later: the next scan shows it.

**Processes and threads.** Any number of both; the client is opened at first use, and again after a
fork.

**Durability.** Every write waits for the journal, of the majority in a replica set. Measured on a
busy machine of two cores, 127 links and 30 KB of source a page, kept raw: 1,610 to 1,700 outcomes
per CPU-second of the client in jobs of 20 (SQLite there 1,240 to 1,880), 400 to 480 in jobs of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from crawlclean.storage.mongo.connection import MongoConnection
from crawlclean.storage.mongo.host_statistics import is_behind, refresh
from crawlclean.storage.mongo.ports import MongoBlobs, MongoTables, owner_of
from crawlclean.storage.mongo.stories import (
    MongoStoryRows,
    delete_stories,
    put_stories,
)
from crawlclean.storage.mongo.writing import put_pages, save_outcomes
from crawlclean.storage.store.overview import (
    COUNTED,
    SAMPLED,
    Space,
    SpaceKind,
)
from crawlclean.storage.store.pictures import save_picture
from crawlclean.storage.store.ports import Ports, Where, of
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.visits import Visits, Work


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


DELETE_ROWS = 500  # in one step: other writers come in between
OF_PAGES = ("topic_pages", "versions", "pictures", "records", "raw", "chunks", "urls", "cases")
"""Collections with documents of pages; ``cases`` is in older databases alone: verdicts reported as
wrong, with copies of pages."""


class MongoStore(Store):
    """The ``Store`` of the server mode; methods are documented in ``storage/store/protocol.py``."""

    def __init__(self, url: str) -> None:
        """Opens nothing yet.

        Args:
            url: ``mongodb://user:password@host:port/database``; the database is ``crawl`` when
                the URL names none; it is created at first use.
        """
        self._db = MongoConnection(url)
        ports = Ports(
            tables=MongoTables(self._db),
            blobs=MongoBlobs(self._db),
            story_rows=partial(MongoStoryRows, self._db),
            refresh=lambda *asked: refresh(self._db, self.overview, *asked),
            is_behind=partial(is_behind, self._db),
            put_pages=partial(put_pages, self._db),
        )
        super().__init__(ports)

    def close(self) -> None:
        """Closes the connections; the store is not used afterwards."""
        self._db.close()

    # --- saving ---

    def _save(self, work: Sequence[Work], visits: Visits) -> int:
        """Stores outcomes; after an error, saving the same ones again completes the save."""
        with self._db.use() as database:
            changed = save_outcomes(database, self._ports, work, visits)
        saved = [
            each
            for each, found in work
            if not (each.outcome.unchanged or (found and found.is_unchanged))
        ]
        put_stories(self._db, saved)
        for each, _ in work:
            save_picture(self._ports.tables, each)
        return changed

    # --- deleting ---

    def space(self) -> list[Space]:
        """What each crawl takes, by a sample of its documents; parts over 12 MB do not count."""
        found = []
        with self._db.use() as database:
            crawls = sorted(doc["_id"] for doc in database.crawls.find({}, {"_id": 1}))
            for kind in SpaceKind:
                for crawl in crawls:
                    n = database[kind.value].count_documents({"crawl_id": crawl})
                    if n:
                        _, mean = _sample(database[kind.value], {"crawl_id": crawl})
                        size = round(mean * n)
                        found.append(Space(crawl, kind, n, size, is_estimate=n > SAMPLED))
        return found

    def sample_host(self, host: str) -> tuple[int, float, float]:
        """Responses of a host, and mean sizes; parts over 12 MB do not count."""
        where = {"host": host}
        with self._db.use() as database:
            _, response_bytes = _sample(database.raw, where)
            _, record_bytes = _sample(database.records, where)
            responses = database.raw.count_documents(where, limit=COUNTED)
        return responses, response_bytes, record_bytes

    def raw_space(self, crawl_id: str | None, host: str | None = None) -> tuple[int, int, int]:
        """What dropping the responses of a crawl, a host or both would free, by a sample.

        The server keeps the space in its files, for what is stored next.
        """
        wanted = of(crawl_id, host)
        with self._db.use() as database:
            n = database.raw.count_documents(wanted)
            size = round(_sample(database.raw, wanted)[1] * n)
        return n, size, size

    def _drop_raw(self, where: Where, limit: int) -> int:
        """Deletes archived responses, each with its chunks."""
        with self._db.use() as database:
            found = database.raw.find(where, {"_id": 1}).limit(limit)
            keys = [doc["_id"] for doc in found]
            dropped = database.raw.delete_many({"_id": {"$in": keys}}).deleted_count
            owners = [owner_of("raw", key) for key in keys]
            database.chunks.delete_many({"owner": {"$in": owners}})
        return int(dropped)

    def _free_raw(self) -> None:
        """Does nothing: the server keeps the space in its files."""

    def _delete_pages(self, where: Where) -> int:
        """Deletes pages, and what hangs on them, in small steps."""
        deleted = {}
        delete_stories(self._db, where)
        with self._db.use() as database:
            for name in OF_PAGES:
                deleted[name] = 0
                while True:
                    found = database[name].find(where, {"_id": 1}).limit(DELETE_ROWS)
                    ids = [doc["_id"] for doc in found]
                    if not ids:
                        break
                    gone = database[name].delete_many({"_id": {"$in": ids}})
                    deleted[name] += gone.deleted_count
        return deleted["records"]
