"""The MongoDB store: the contract, equality with SQLite, page sizes, schema."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crawlclean.cleaning.errors import (
    SchemaMismatch,
    StoreDamaged,
)
from crawlclean.storage.crawl_types import FailureReason, Outcome, UrlState
from crawlclean.storage.mongo import ports as mongo_chunks, schema as mongo_schema
from crawlclean.storage.mongo.store import MongoStore
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.protocol import Store
from tests.kit.mongo_server import (
    MongoServer,
    empty,
    given_url,
    inside,
    own_store,
    plain_client,
    url_of,
)
from tests.kit.outcomes import HOST, later, make_failure, make_outcome, with_queued
from tests.kit.some import some
from tests.storage.store.contracts import EveryContract
from tests.storage.store.store_contract import everything


@pytest.fixture(scope="module", params=["secantusdb", *(["given"] if given_url() else [])])
def prepared(request: pytest.FixtureRequest, server: MongoServer) -> Iterator[str]:
    """URL of a database whose indexes are made, which takes longer than most tests of a store."""
    url = given_url() if request.param == "given" else None
    with own_store(url or server.url("")) as made:
        made.crawls.all()
        yield url_of(made)


class TestMongoStore(EveryContract):
    @pytest.fixture
    def store(self, prepared: str) -> Iterator[MongoStore]:
        with closing(MongoStore(prepared)) as opened:
            yield opened
        empty(prepared)


# --- the same as SQLite --------------------------------------------------------------------------


def any_outcome(chance: random.Random) -> Outcome:
    number, at = chance.randrange(6), later(chance.randrange(4))
    path = f"/{number}"
    crawl_id = chance.choice(["c1", "c1", "c2"])
    if chance.random() < 0.3:
        reason = chance.choice(list(FailureReason))
        state = chance.choice([UrlState.FAILED, UrlState.EXCLUDED, UrlState.FAILED])
        made = make_failure(path, at=at, crawl_id=crawl_id, reason=reason, state=state)
    elif chance.random() < 0.1:
        made = replace(make_outcome(path, at=at, crawl_id=crawl_id), record=None)
        made = replace(made, state=UrlState.REDIRECT)
    else:
        made = make_outcome(
            path,
            at=at,
            crawl_id=crawl_id,
            model_version=chance.randrange(3),
            links=chance.randrange(20),
            text=chance.choice(["甲", "乙"]),
            body=chance.choice([b"", b"<p>x</p>", b"<p>longer</p>"]),
            keep_raw=chance.random() < 0.4,
        )
    return with_queued(made, host="other.example" if number > 3 else HOST)


def test_both_stores_answer_the_same(store: MongoStore, tmp_path: Path) -> None:
    chance = random.Random(20261120)
    with closing(SqliteStore(tmp_path / "store.db")) as other:
        both: tuple[Store, Store] = (store, other)
        for _ in range(60):
            job = [any_outcome(chance) for _ in range(chance.randrange(1, 8))]
            assert store.save(job) == other.save(job)
            if chance.random() < 0.3:
                one, two = (everything(each) for each in both)
                assert one == two
                for page_id in store.urls.find_ids(""):
                    for crawl_id in (None, "c1", "c2"):
                        one, two = (each.answers.page(page_id, crawl_id) for each in both)
                        assert one == two
                        one, two = (each.records.get(page_id, crawl_id) for each in both)
                        assert one == two
                assert list(store.records.scan("c2")) == list(other.records.scan("c2"))
            if chance.random() < 0.05:
                one, two = (each.delete_host("c1", HOST) for each in both)
                assert one == two
        one, two = (each.delete_crawl("c1") for each in both)
        assert one == two
        assert everything(store) == everything(other)


# --- pages of any size ---------------------------------------------------------------------------


def test_a_page_over_the_document_limit(store: MongoStore) -> None:
    body = random.Random(1).randbytes((12 << 20) + 1000)
    big = make_outcome(body=body, keep_raw=True)
    headers = (("Content-Type", "text/plain; charset=latin-1"),)
    big = with_queued(big, result=replace(big.queued.result, headers=headers))
    assert store.save([big, make_outcome("/2", keep_raw=True)]) == 2
    assert store.save([big]) == 0
    assert len(some(store.answers.page(big.queued.page_id)).html) > 11 << 20
    assert inside(store).chunks.count_documents({}) == 2
    assert store.delete_host("c1", HOST) == 2
    assert inside(store).chunks.count_documents({}) == 0


def test_large_records_are_read_and_replaced(
    store: MongoStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mongo_chunks, "CHUNK_BYTES", 500)
    monkeypatch.setattr("crawlclean.storage.mongo.ports.READ_BYTES", 2000)
    monkeypatch.setattr("crawlclean.storage.store.records.READ_ROWS", 4)
    for model_version in range(3):
        outcomes = [
            make_outcome(f"/{n}", links=40 * (n % 3), model_version=model_version)
            for n in range(11)
        ]
        store.save(outcomes)
        assert list(store.records.scan()) == [outcome.record for outcome in outcomes]
    owners = inside(store).chunks.distinct("model_version")
    assert owners == [2]


def test_a_record_replaced_while_it_is_read(
    store: MongoStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mongo_chunks, "CHUNK_BYTES", 500)
    one, two = make_outcome(links=40), make_outcome(links=40, model_version=1)
    store.save([one])
    read: Callable[[Any, Any], bytes | None] = mongo_chunks.get_blob

    def replaced_first(database: Any, doc: Any) -> bytes | None:
        monkeypatch.setattr("crawlclean.storage.mongo.ports.get_blob", read)
        store.save([two])
        return read(database, doc)

    monkeypatch.setattr("crawlclean.storage.mongo.ports.get_blob", replaced_first)
    assert store.records.get(one.queued.page_id) == two.record
    inside(store).chunks.delete_many({})
    with pytest.raises(StoreDamaged, match="are gone"):
        store.records.get(one.queued.page_id)
    with pytest.raises(StoreDamaged, match="are gone"):
        list(store.records.scan())


def test_a_raw_page_without_its_row_is_not_shown(store: MongoStore) -> None:
    outcome = make_outcome(keep_raw=True)
    store.save([outcome, make_outcome(keep_raw=True, crawl_id="c2", at=later(1))])
    inside(store).urls.delete_many({"crawl_id": "c2"})
    page = some(store.answers.page(outcome.queued.page_id))
    assert page.fetched_at == outcome.queued.fetched_at
    assert store.answers.page(outcome.queued.page_id, "c2") is None


# --- the schema ----------------------------------------------------------------------------------


def test_indexes(store: MongoStore) -> None:
    database = inside(store)
    assert len(database.urls.index_information()) == 8
    assert len(database.records.index_information()) == 9
    assert len(database.spills.index_information()) == 3


@pytest.mark.parametrize(("change", "advice"), [(1, "newer version"), (-1, "older version")])
def test_another_schema_in_the_database(
    store: MongoStore, change: int, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mongo_schema, "SCHEMA", 7)
    inside(store).meta.update_one({"_id": "schema"}, {"$set": {"version": 7 + change}})
    store.close()
    with pytest.raises(
        SchemaMismatch, match=f"schema {7 + change}, .* schema 7: .*{advice}"
    ) as caught:
        store.crawls.all()
    assert "\n" not in str(caught.value)


def test_who_died_making_the_indexes_is_completed(store: MongoStore) -> None:
    database = inside(store)
    database.spills.drop_indexes()
    database.meta.update_one({"_id": "schema"}, {"$set": {"version": 0}})
    store.close()
    assert len(inside(store).spills.index_information()) == 3
    assert inside(store).meta.find_one({"_id": "schema"})["version"] == mongo_schema.SCHEMA


def test_anothers_database(store: MongoStore) -> None:
    with plain_client(url_of(store)) as client:
        client.get_default_database().theirs.insert_one({"x": 1})
    with pytest.raises(StoreDamaged, match="another program"):
        store.save([make_outcome()])


def test_damaged_documents(store: MongoStore) -> None:
    outcome = make_outcome(keep_raw=True)
    page_id = outcome.queued.page_id
    for spoiled in ({"blob": b"\0"}, {"blob": None}, {"head_bytes": None}):
        store.save([outcome])
        inside(store).records.update_one({}, {"$set": spoiled})
        with pytest.raises(StoreDamaged, match="cannot be read"):
            store.records.get(page_id)
        store.delete_crawl("c1")


def test_every_write_waits_for_the_journal(store: MongoStore) -> None:
    assert inside(store).write_concern.document == {"w": "majority", "j": True, "wtimeout": 30000}
