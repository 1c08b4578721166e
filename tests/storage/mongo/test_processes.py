"""The MongoDB store under many processes, under writers that die, under a server that dies."""

from __future__ import annotations

import random
import threading
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from crawlclean.cleaning.errors import StoreUnavailable
from crawlclean.storage.mongo.store import MongoStore
from crawlclean.storage.store.protocol import Store
from tests.kit.mongo_server import running, url_of
from tests.kit.outcomes import HOST, make_outcome
from tests.kit.recount import counted
from tests.kit.some import some
from tests.kit.timing import wait_until
from tests.kit.writers import JOB, job, output_of, writer
from tests.storage.store.processes_contract import ProcessesContract, check_counted, is_saved
from tests.storage.store.store_contract import everything

ROOT = Path(__file__).parents[3]


class TestMongoProcesses(ProcessesContract):
    jobs = 5
    counts_later = True
    parents_client: object = None

    def check_child(self, store: Store) -> None:
        assert isinstance(store, MongoStore)
        store.crawls.all()
        assert store._db._client is not self.parents_client

    def test_no_connection_crosses_a_fork(self, store: Store) -> None:
        assert isinstance(store, MongoStore)
        store.crawls.all()
        self.parents_client = store._db._client
        super().test_no_connection_crosses_a_fork(store)
        assert store._db._client is self.parents_client


def test_a_killed_writers_job_is_completed_by_saving_it_again(store: MongoStore) -> None:
    chance = random.Random(20261120)
    first = 0
    for _ in range(3):
        with writer(url_of(store), "killed", first, 1000) as process:
            told = [int(output_of(process).readline()) for _ in range(chance.randrange(1, 5))]
            for _ in range(chance.randrange(300_000)):  # any point of the next save
                pass
            process.kill()
            told += map(int, output_of(process).read().split())
        for number in told:
            assert is_saved(store, "killed", number)
        store.statistics.refresh()  # of the half job too
        assert store.save(job("killed", told[-1] + 1)) >= 0
        assert is_saved(store, "killed", told[-1] + 1)
        first = told[-1] + 2
    # one job a round died before it was begun, or is done since
    check_counted(store, first * JOB)


def test_processes_replace_each_others_pages_at_once(store: MongoStore) -> None:
    """Threads with stores of their own: who loses a document reads it again and decides again."""
    failed: list[BaseException] = []

    def work(seed: int) -> None:
        chance = random.Random(seed)
        try:
            with closing(MongoStore(url_of(store))) as own:
                for _ in range(8):
                    versions = [chance.randrange(100) for _ in range(4)]
                    own.save([make_outcome(f"/{v % 3}", model_version=v) for v in versions])
                    counted(own).get(HOST)
                own.save([make_outcome(f"/{n}", model_version=100 + n) for n in range(3)])
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    stats = some(counted(store).get(HOST))
    assert (stats.pages_by_state, stats.model_version) == ({"record": 3}, 102)
    assert {record.model_version for record in store.records.scan()} == {100, 101, 102}
    seqs = [doc["saved_seq"] for doc in database_docs(store, "records")]
    assert len(set(seqs)) == 3


def database_docs(store: MongoStore, name: str) -> list[dict[str, object]]:
    with store._db.use() as database:
        return list(database[name].find())


def test_a_killed_server_keeps_what_was_acknowledged(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        url = server.url("t", "?serverSelectionTimeoutMS=300&heartbeatFrequencyMS=500")
        with closing(MongoStore(url)) as store:
            for round_number in range(2):
                for number in range(3):
                    assert store.save(job(f"r{round_number}", number)) == JOB
                before = everything(store)
                store.save(job(f"r{round_number}", 3))
                server.kill()
                with pytest.raises(StoreUnavailable, match="does not answer"):
                    store.save(job(f"r{round_number}", 4))
                server.start()
                wait_until(partial(can_read, store))
                for number in range(4):
                    assert is_saved(store, f"r{round_number}", number)
                assert store.save(job(f"r{round_number}", 4)) == JOB
                assert everything(store) != before
            check_counted(store, 2 * 5 * JOB)


def can_read(store: MongoStore) -> bool:
    """Whether the store reads again; its client finds a new server by itself."""
    try:
        store.crawls.all()
    except StoreUnavailable:
        return False
    return True


def test_a_server_that_answers_nothing(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        options = "?serverSelectionTimeoutMS=300&socketTimeoutMS=300&connectTimeoutMS=300"
        with closing(MongoStore(server.url("t", options))) as store:
            store.save([make_outcome()])
            server.freeze()
            with pytest.raises(StoreUnavailable, match="does not answer"):
                store.save([make_outcome("/2")])
            server.kill()
