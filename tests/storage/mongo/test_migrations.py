"""Databases of older schemas are brought to ours when they are opened."""

from __future__ import annotations

from crawlclean.storage.crawl_types import CrawlSpec, CrawlState
from crawlclean.storage.mongo import schema as mongo_schema
from crawlclean.storage.mongo.store import MongoStore
from tests.kit.mongo_server import inside
from tests.kit.outcomes import HOST, make_outcome


def test_a_database_of_schema_14_is_brought_to_ours(store: MongoStore) -> None:
    store.crawls.put(CrawlSpec(crawl_id="c1", seeds=()), CrawlState.STOPPED)
    database = inside(store)
    database.crawls.update_one({"_id": "c1"}, {"$unset": {"queue": ""}})
    database.meta.update_one({"_id": "schema"}, {"$set": {"version": 14}})
    store.close()
    (row,) = store.crawls.all()
    assert (row.spec.crawl_id, row.queue) == ("c1", "")
    database = inside(store)
    assert database.crawls.find_one({"_id": "c1"})["queue"] == ""
    assert database.meta.find_one({"_id": "schema"})["version"] == mongo_schema.SCHEMA


def test_reported_verdicts_of_older_databases_stay_until_their_crawl_goes(
    store: MongoStore,
) -> None:
    store.save([make_outcome()])
    rows = [("c1", "a.example"), ("c1", HOST), ("c2", HOST), ("c3", HOST)]
    inside(store).cases.insert_many([{"crawl_id": crawl, "host": host} for crawl, host in rows])
    store.close()
    store.delete_host("c2", HOST)
    store.delete_crawl("c1")
    left = inside(store).cases.find({}, {"_id": 0})
    assert list(left) == [{"crawl_id": "c3", "host": HOST}]
