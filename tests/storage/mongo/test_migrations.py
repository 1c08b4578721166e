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
    of_topic = {"topic": "quake", "kind": "webhook"}
    times = dict.fromkeys(("since", "owned_until", "next_try"), 7)
    sums = dict.fromkeys(("tries", "sent", "copies", "given_up"), 2)
    texts = {"target": "http://a.example/", "owner": "", "last_error": "status 500"}
    webhook = {**of_topic, **times, **sums, **texts, "is_private": 1}
    page = {**of_topic, "page_id": "4f" * 16}
    database.receivers.insert_one({"_id": "quake/webhook", **webhook})
    database.outbox.insert_one({"_id": "quake/webhook/4f", **page, "at": 7})
    database.told.insert_one({"_id": "quake/webhook/12", **page, "number": 12})
    database.meta.update_one({"_id": "schema"}, {"$set": {"version": 14}})
    store.close()
    (row,) = store.crawls.all()
    assert (row.spec.crawl_id, row.queue) == ("c1", "")
    database = inside(store)
    assert database.crawls.find_one({"_id": "c1"})["queue"] == ""
    assert database.meta.find_one({"_id": "schema"})["version"] == mongo_schema.SCHEMA
    (kept,) = store.receivers.of("quake")
    assert (kept.name, kept.private, kept.tries) == ("webhook:quake", True, 2)
    (waiting,) = store.receivers.waiting(kept, 9)
    assert (waiting.topic, waiting.page_id, waiting.level) == ("quake", "4f" * 16, "story")
    assert store.receivers.told(waiting, [12]) == {"4f" * 16}
    assert store.receivers.end(kept, waiting, lost=1).given_up == 3
    assert store.receivers.count_waiting(kept) == 0


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
