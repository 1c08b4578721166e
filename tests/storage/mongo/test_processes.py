"""The MongoDB store under processes that die, at once, forked; and under a server that dies."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pymongo.errors import PyMongoError

from cleaning.errors import StoreUnavailable
from storage.crawl_types import UrlState
from storage.mongo.store import MongoStore
from tests.kit.mongo_server import MongoServer, own_store, plain_client, running
from tests.kit.outcomes import HOST, make_failure, make_outcome, page_id_of
from tests.kit.writers import JOB, in_child, job, output_of, writer
from tests.storage.store.store_contract import everything

ROOT = Path(__file__).parents[3]


@pytest.fixture
def store(server: MongoServer) -> Iterator[MongoStore]:
    with own_store(server.url("")) as opened:
        yield opened


def url_of(store: MongoStore) -> str:
    return store._db._url


def check_there(store: MongoStore, name: str, number: int) -> None:
    """Everything of a job is there."""
    for outcome in job(name, number):
        page_id = outcome.queued.page_id
        assert store.records.get(page_id) == outcome.record
        (row,) = store.urls.rows(page_id)
        assert row.state is UrlState.RECORD
        page = store.answers.page(page_id)
        assert page is not None
        assert page.html == outcome.queued.result.body.decode()


def check_counted(store: MongoStore, records: int) -> None:
    """Every page is counted, once."""
    stats = store.statistics.get(HOST)
    assert stats is not None
    assert stats.pages_by_state == {"record": records}
    assert store.records.count() == records == len(list(store.records.scan()))
    assert store.statistics.refresh() == 0


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
            check_there(store, "killed", number)
        store.statistics.refresh()  # of the half job too
        assert store.save(job("killed", told[-1] + 1)) >= 0
        check_there(store, "killed", told[-1] + 1)
        first = told[-1] + 2
    # one job a round died before it was begun, or is done since
    check_counted(store, first * JOB)


def test_processes_write_the_same_at_once(store: MongoStore) -> None:
    refreshed = 0
    with (
        writer(url_of(store), "same", 0, 5) as one,
        writer(url_of(store), "same", 0, 5) as two,
        writer(url_of(store), "other", 0, 5) as three,
    ):
        while None in [each.poll() for each in (one, two, three)]:
            refreshed += store.statistics.refresh()
            time.sleep(0.05)
        for process in (one, two, three):
            assert len(output_of(process).readlines()) == 5
    for number in range(5):
        check_there(store, "same", number)
        check_there(store, "other", number)
    check_counted(store, 10 * JOB)
    assert refreshed > 0


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
                    own.statistics.get(HOST)
                own.save([make_outcome(f"/{n}", model_version=100 + n) for n in range(3)])
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    stats = store.statistics.get(HOST)
    assert stats is not None
    assert (stats.pages_by_state, stats.model_version) == ({"record": 3}, 102)
    assert {record.model_version for record in store.records.scan()} == {100, 101, 102}
    seqs = [doc["saved_seq"] for doc in database_docs(store, "records")]
    assert len(set(seqs)) == 3


def database_docs(store: MongoStore, name: str) -> list[dict[str, object]]:
    with store._db.use() as database:
        return list(database[name].find())


def test_processes_open_a_new_database_at_once(store: MongoStore) -> None:
    url = url_of(store)
    with writer(url, "a", 0, 1) as one, writer(url, "b", 0, 1) as two:
        assert [output_of(each).read() for each in (one, two)] == ["0\n"] * 2
    check_counted(store, 2 * JOB)


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
                patiently(store.crawls.all)
                for number in range(4):
                    check_there(store, f"r{round_number}", number)
                assert store.save(job(f"r{round_number}", 4)) == JOB
                assert everything(store) != before
            check_counted(store, 2 * 5 * JOB)


def test_a_server_killed_during_saves(tmp_path: Path) -> None:
    chance = random.Random(7)
    with running(tmp_path) as server:
        url = server.url("t", "?serverSelectionTimeoutMS=300&heartbeatFrequencyMS=500")
        with closing(MongoStore(url)) as store:
            store.crawls.all()
            number = 0
            for _ in range(2):
                killer = threading.Timer(chance.uniform(0.02, 0.15), server.kill)
                killer.start()
                try:
                    while True:
                        store.save(job("s", number))
                        number += 1
                except StoreUnavailable:
                    killer.join()
                server.start()
                patiently(store.crawls.all)
                store.save(job("s", number))
                number += 1
            for each in range(number):
                check_there(store, "s", each)
            check_counted(store, number * JOB)


def patiently(act: Callable[[], object]) -> None:
    """Calls until the store answers again."""
    deadline = time.monotonic() + 10
    while True:
        try:
            act()
        except StoreUnavailable:
            assert time.monotonic() < deadline
        else:
            return


def test_a_server_that_answers_nothing(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        options = "?serverSelectionTimeoutMS=300&socketTimeoutMS=300&connectTimeoutMS=300"
        with closing(MongoStore(server.url("t", options))) as store:
            store.save([make_outcome()])
            server.freeze()
            with pytest.raises(StoreUnavailable, match="does not answer"):
                store.save([make_outcome("/2")])
            server.kill()


def test_the_server_dies_with_the_tests(tmp_path: Path) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("Linux only")
    code = (
        "import time; from pathlib import Path; "
        "from tests.kit.mongo_server import MongoServer; "
        f"server = MongoServer(Path({str(tmp_path)!r})); server.start(); "
        "print(server.url('x'), flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=ROOT, text=True
    ) as process:
        url = output_of(process).readline().strip()
        with plain_client(url) as client:
            client.admin.command("ping")
        process.kill()
    deadline = time.monotonic() + 5
    while answers(url):
        assert time.monotonic() < deadline


def answers(url: str) -> bool:
    """Whether a server is there."""
    try:
        with plain_client(f"{url}?serverSelectionTimeoutMS=200") as client:
            client.admin.command("ping")
            return True
    except PyMongoError:
        return False


# --- forks and threads ---------------------------------------------------------------------------


def test_no_client_crosses_a_fork(store: MongoStore) -> None:
    store.save([make_outcome("/parent")])
    parents = store._db._client
    reading = store.records.scan()
    next(reading)

    def save_in_child() -> None:
        assert store.records.get(page_id_of(f"https://{HOST}/parent")) is not None
        assert store._db._client is not parents
        store.save([make_outcome("/child", keep_raw=True)])
        store.close()

    for _ in range(3):
        in_child(save_in_child)
    assert store._db._client is parents
    assert store.records.count() == 2
    assert len(list(reading)) in (0, 1)
    store.save([make_outcome("/after")])
    assert store.records.count() == 3


def test_threads_and_forks(store: MongoStore) -> None:
    def work(name: str) -> None:
        for number in range(10):
            store.save([make_outcome(f"/{name}/{number}", keep_raw=True)])
            assert store.records.get(page_id_of(f"https://{HOST}/{name}/{number}")) is not None

    threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for number in range(4):
        in_child(lambda: store.save([make_failure(f"/failed/{number}")]))  # noqa: B023
    for thread in threads:
        thread.join()
    assert store.records.count() == 30
    assert len(store.urls.failures()) == 4
