"""Saves of the MongoDB store that end between two writes, or meet another save there."""

from __future__ import annotations

import random
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crawlclean.cleaning.errors import StoreUnavailable
from crawlclean.storage.crawl_types import Outcome
from crawlclean.storage.mongo import (
    host_statistics as mongo_statistics,
    ports as mongo_chunks,
    writing as mongo_writing,
)
from crawlclean.storage.mongo.store import MongoStore
from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.mongo_server import MongoServer, inside, own_store
from tests.kit.outcomes import HOST, later, make_failure, make_outcome
from tests.kit.recount import counted, recount
from tests.kit.some import some
from tests.storage.store.store_contract import everything

WRITES = ["insert", "update", "delete", "findAndModify"]


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
                page = some(store.answers.page(outcome.queued.page_id))
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
            assert counted(store).get(HOST) == recount(store, "c1", HOST)
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
    assert some(counted(store).get(HOST)).pages_by_state == {"record": 6, "failed": 1}


# --- two at once, step by step ------------------------------------------------------------------


@pytest.mark.parametrize("is_new", [True, False])
def test_who_loses_a_document_decides_again(
    store: MongoStore, monkeypatch: pytest.MonkeyPatch, is_new: bool
) -> None:
    older, newer = make_outcome(at=later(1)), make_outcome(at=later(2))
    if not is_new:
        store.save([make_outcome()])
    write = mongo_writing.FencedCollection.write

    def overtaken(self: Any, planned: Any, known: Any) -> list[str]:
        monkeypatch.setattr(mongo_writing.FencedCollection, "write", write)
        assert store.save([newer]) == 1
        return write(self, planned, known)

    monkeypatch.setattr(mongo_writing.FencedCollection, "write", overtaken)
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
    assert some(counted(store).get(HOST)).pages_by_state == {"record": 2}
    assert store.statistics.refresh() == 0
