"""The MongoDB store: the contract, the same as SQLite, saves that die, sizes, schema.

Over 400 lines, because all of it is one store seen from outside.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cleaning.errors import (
    SchemaMismatch,
    StoreDamaged,
    StoreUnavailable,
)
from cleaning.records import LinkKind
from storage.crawl_types import FailureReason, Outcome, UrlState
from storage.mongo import chunks as mongo_chunks
from storage.mongo import host_statistics as mongo_statistics
from storage.mongo import schema as mongo_schema
from storage.mongo import writing as mongo_writing
from storage.mongo.store import MongoStore
from storage.sqlite.store import SqliteStore
from storage.store.protocol import Store
from tests.kit.mongo_server import (
    MongoServer,
    given_url,
    own_store,
    plain_client,
)
from tests.kit.outcomes import HOST, later, make_failure, make_outcome
from tests.kit.recount import recount
from tests.storage.store.drifts_contract import DriftsContract
from tests.storage.store.frontier_contract import FrontierContract
from tests.storage.store.images_contract import ImagesContract
from tests.storage.store.models_contract import ModelsContract
from tests.storage.store.store_contract import StoreContract, everything

WRITES = ["insert", "update", "delete", "findAndModify"]


@pytest.fixture
def store(server: MongoServer) -> Iterator[MongoStore]:
    with own_store(server.url("")) as opened:
        yield opened


class TestMongoStore(
    StoreContract, FrontierContract, ModelsContract, DriftsContract, ImagesContract
):
    @pytest.fixture(params=["secantusdb", *(["given"] if given_url() else [])])
    def store(self, request: pytest.FixtureRequest, server: MongoServer) -> Iterator[MongoStore]:
        url = given_url() if request.param == "given" else None
        with own_store(url or server.url("")) as opened:
            yield opened

    def test_it_is_a_store(self, store: MongoStore) -> None:
        as_protocol: Store = store
        assert as_protocol is store


def inside(store: MongoStore) -> Any:
    """The store's database, to look at and to spoil."""
    with store._db.use() as database:
        return database


def url_of(store: MongoStore) -> str:
    return store._db._url


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
    other = replace(made.queued, host="other.example" if number > 3 else HOST)
    return replace(made, queued=other)


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


# --- saves that die ------------------------------------------------------------------------------


def a_job() -> list[Outcome]:
    """Outcomes of every kind, over an earlier state: records, failures, raw pages, both large."""
    noise = random.Random(5)
    return [
        make_outcome("/new", keep_raw=True),
        make_outcome("/again", at=later(5), text="新", keep_raw=True, body=noise.randbytes(3000)),
        make_outcome("/cleaned-again", model_version=2, body=b"", links=60),
        make_outcome("/was-failed", at=later(5)),
        make_failure("/fails-now", at=later(5)),
        make_failure("/new-failure"),
    ]


def earlier(noise: random.Random) -> list[Outcome]:
    return [
        make_outcome("/again", keep_raw=True, body=noise.randbytes(4000), links=60),
        make_outcome("/cleaned-again", body=b"x" * 700, links=60),
        make_failure("/was-failed"),
        make_outcome("/fails-now"),
    ]


def test_saving_again_completes_what_died_between_two_writes(
    server: MongoServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mongo_chunks, "CHUNK_BYTES", 900)
    with closing(SqliteStore(tmp_path / "store.db")) as reference:
        reference.save(earlier(random.Random(1)))
        reference.save(a_job())
        expected = everything(reference)
    writes = 0
    chunks = []
    while True:
        with own_store(server.url("")) as store:
            store.save(earlier(random.Random(1)))
            store.statistics.refresh()
            died = False
            with server.failing({"skip": writes}, WRITES, closeConnection=True):
                try:
                    store.save(a_job())
                except StoreUnavailable:
                    died = True
            store.close()  # or it waits half a second before it connects again
            if writes % 4:  # the half job is counted before the rest comes
                store.statistics.refresh()
            again = store.save(a_job())
            assert again > 0 if died and writes == 0 else again <= 6
            assert everything(store) == expected
            assert store.statistics.refresh() == 0
            assert store.save(a_job()) == 0
            for outcome in a_job()[:2]:
                page = store.answers.page(outcome.queued.page_id)
                assert page is not None
                assert page.fetched_at == outcome.queued.fetched_at
            chunks.append(inside(store).chunks.distinct("_id"))
        if not died:
            break
        writes += 1
    assert writes > 10
    assert len(chunks[0]) > 4
    assert all(each == chunks[0] for each in chunks)  # nothing is left of earlier versions


def test_statistics_follow_records_whose_save_died(server: MongoServer) -> None:
    pages = [make_outcome(f"/{n}", body=b"<p>x" * n, keep_raw=True) for n in range(1, 4)]
    again = []
    for page in pages:
        assert page.record is not None
        queued = replace(page.queued, result=replace(page.queued.result, body=b""))
        record = replace(page.record, model_version=2, links=page.record.links[3:])
        again.append(replace(page, queued=queued, record=record, keep_raw=False))
    writes, died = 0, True
    while died:
        with own_store(server.url("")) as store:
            store.save(pages)
            died = False
            with server.failing({"skip": writes}, WRITES, closeConnection=True):
                try:
                    store.save(again)
                except StoreUnavailable:
                    died = True
            store.close()
            assert store.statistics.get(HOST) == recount(store, "c1", HOST)
            assert store.statistics.refresh() == 0
            assert inside(store).records.count_documents({"owed": {"$exists": True}}) == 0
        writes += 1
    assert writes > 3


def test_statistics_that_died_are_computed_again(server: MongoServer, store: MongoStore) -> None:
    store.save([make_outcome("/1"), make_failure("/2")])
    for writes in range(5):
        died = server.failing({"skip": writes}, ["update", "aggregate"], closeConnection=True)
        with died, pytest.raises(StoreUnavailable):
            store.statistics.refresh()
        store.close()
        store.save([make_outcome(f"/more/{writes}")])
    assert store.statistics.refresh() == 1
    stats = store.statistics.get(HOST)
    assert stats is not None
    assert stats.pages_by_state == {"record": 6, "failed": 1}


# --- two at once, step by step ------------------------------------------------------------------


@pytest.mark.parametrize("is_new", [True, False])
def test_who_loses_a_document_decides_again(
    store: MongoStore, monkeypatch: pytest.MonkeyPatch, is_new: bool
) -> None:
    older, newer = make_outcome(at=later(1)), make_outcome(at=later(2))
    if not is_new:
        store.save([make_outcome()])
    write = mongo_writing._Collection.write

    def overtaken(self: Any, planned: Any, known: Any) -> list[str]:
        monkeypatch.setattr(mongo_writing._Collection, "write", write)
        assert store.save([newer]) == 1
        return write(self, planned, known)

    monkeypatch.setattr(mongo_writing._Collection, "write", overtaken)
    assert store.save([older]) == 0
    assert store.records.get(newer.queued.page_id) == newer.record
    assert store.urls.rows(newer.queued.page_id)[0].finished_at == later(2)


def test_who_is_overtaken_computes_statistics_again(
    store: MongoStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save([make_outcome("/1")])
    compute = mongo_statistics.compute_stats

    def overtaken(database: Any, crawl_id: str, host: str) -> Any:
        monkeypatch.setattr(mongo_statistics, "compute_stats", compute)
        old = compute(database, crawl_id, host)
        store.save([make_outcome("/2")])
        assert store.statistics.refresh() == 1
        return old

    monkeypatch.setattr(mongo_statistics, "compute_stats", overtaken)
    stats = store.statistics.get(HOST)
    assert stats is not None
    assert stats.pages_by_state == {"record": 2}
    assert store.statistics.refresh() == 0


# --- pages of any size ---------------------------------------------------------------------------


def test_a_page_over_the_document_limit(store: MongoStore) -> None:
    body = random.Random(1).randbytes((12 << 20) + 1000)
    big = make_outcome(body=body, keep_raw=True)
    big = replace(
        big,
        queued=replace(
            big.queued,
            result=replace(
                big.queued.result, headers=(("Content-Type", "text/plain; charset=latin-1"),)
            ),
        ),
    )
    assert store.save([big, make_outcome("/2", keep_raw=True)]) == 2
    assert store.save([big]) == 0
    page = store.answers.page(big.queued.page_id)
    assert page is not None
    assert len(page.html) > 11 << 20
    assert inside(store).chunks.count_documents({}) == 2
    assert store.delete_host("c1", HOST) == 2
    assert inside(store).chunks.count_documents({}) == 0


def test_large_records_are_read_and_replaced(
    store: MongoStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mongo_chunks, "CHUNK_BYTES", 500)
    monkeypatch.setattr("storage.mongo.ports.READ_BYTES", 2000)
    monkeypatch.setattr("storage.store.records.READ_ROWS", 4)
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
        monkeypatch.setattr("storage.mongo.ports.get_blob", read)
        store.save([two])
        return read(database, doc)

    monkeypatch.setattr("storage.mongo.ports.get_blob", replaced_first)
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
    page = store.answers.page(outcome.queued.page_id)
    assert page is not None
    assert page.fetched_at == outcome.queued.fetched_at
    assert store.answers.page(outcome.queued.page_id, "c2") is None


# --- the schema ----------------------------------------------------------------------------------


def test_indexes(store: MongoStore) -> None:
    database = inside(store)
    assert len(database.urls.index_information()) == 6
    assert len(database.records.index_information()) == 8
    assert len(database.parcels.index_information()) == 2


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
    database.parcels.drop_indexes()
    database.meta.update_one({"_id": "schema"}, {"$set": {"version": 0}})
    store.close()
    assert len(inside(store).parcels.index_information()) == 2
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


def test_impossible_outcomes_change_nothing(store: MongoStore) -> None:
    with pytest.raises(StoreDamaged, match=r"/t/1 cannot be stored: ValueError: .* exactly when"):
        store.save([replace(make_outcome(), record=None)])
    made = make_outcome("/1", keep_raw=True)
    wrong: Any = object()
    for page_id in ("\ud800", wrong):
        bad = replace(made, queued=replace(made.queued, page_id=page_id))
        with pytest.raises(StoreDamaged, match=f"https://{HOST}/1 cannot be stored"):
            store.save([make_outcome("/2", keep_raw=True), bad])
    assert everything(store) == ([], [], [], [])
    assert inside(store).raw.count_documents({}) == 0


def test_numbers_from_outside_are_cut_to_64_bits(store: MongoStore) -> None:
    for path, huge in (("/1", 1 << 80), ("/2", -(1 << 80))):
        made = make_failure(path)
        result = replace(made.queued.result, status=huge)
        queued = replace(made.queued, result=result, depth=huge, attempt=huge)
        assert store.save([replace(made, queued=queued, html_chars=huge)]) == 1
        assert store.save([replace(made, queued=queued, html_chars=huge)]) == 0
    limits = {(1 << 63) - 1, -(1 << 63)}
    assert {row.status for row in store.urls.failures()} == limits
    assert {row.attempts for row in store.urls.failures()} == limits


def test_text_that_utf_8_cannot_carry_is_stored_without_it(store: MongoStore) -> None:
    made = make_outcome("/1", keep_raw=True)
    bad = "a\ud800b"
    result = replace(made.queued.result, headers=((bad, bad), ("ETag", bad)))
    queued = replace(made.queued, url=f"http://{bad}/", host=bad, result=result)
    assert store.save([replace(made, queued=queued)]) == 1
    assert store.urls.rows(queued.page_id)[0].host == "a\ufffdb"
    assert [stats.host for stats in store.statistics.all()] == ["a\ufffdb"]


def test_every_write_waits_for_the_journal(store: MongoStore) -> None:
    assert inside(store).write_concern.document == {"w": "majority", "j": True, "wtimeout": 30000}


def test_every_link_kind_is_counted(store: MongoStore) -> None:
    store.save([make_outcome(links=4 * len(LinkKind))])
    stats = store.statistics.get(HOST)
    assert stats is not None
    assert stats.links_by_kind == dict.fromkeys(LinkKind, 4)
