"""The SQLite store under many processes and threads: killed, at once, forked."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from storage.crawl_types import UrlState
from storage.sqlite.connection import WAL_LIMIT_BYTES
from storage.sqlite.store import SqliteStore
from tests.kit.outcomes import HOST, make_failure, make_outcome, page_id_of
from tests.kit.segments import archived_bodies
from tests.kit.writers import JOB, in_child, job, output_of, writer

ROOT = Path(__file__).parents[3]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "store.db")
    yield opened
    opened.close()


def check_whole(store: SqliteStore, name: str, number: int) -> bool:
    """Whether a job is there, after checking that it is there as a whole or not at all."""
    outcomes = job(name, number)
    pages = [outcome.queued.page_id for outcome in outcomes]
    there = [page for page in pages if store.records.get(page) is not None]
    if not there:
        assert not any(store.urls.rows(page) or store.answers.page(page) for page in pages)
        return False
    for outcome, page_id in zip(outcomes, pages, strict=True):
        assert store.records.get(page_id) == outcome.record
        (row,) = store.urls.rows(page_id)
        assert row.state is UrlState.RECORD
        page = store.answers.page(page_id)
        assert page is not None
        assert page.html == outcome.queued.result.body.decode()
    return True


def test_killed_writers_leave_whole_jobs(store: SqliteStore) -> None:
    chance = random.Random(20260301)
    told: list[int] = []
    first = 0
    for _ in range(8):
        with writer(store.path, "killed", first, 1000) as process:
            for _ in range(chance.randrange(1, 8)):
                told.append(int(output_of(process).readline()))
            for _ in range(chance.randrange(300_000)):  # any point of the next saves
                pass
            process.kill()
            told += map(int, output_of(process).read().split())
        for number in range(first, told[-1] + 1):
            assert check_whole(store, "killed", number)
        check_whole(store, "killed", told[-1] + 1)  # it died before it could tell, or before that
        assert not check_whole(store, "killed", told[-1] + 2)
        first = told[-1] + 2
    store.repair_archive()
    bodies = archived_bodies(store)
    for number in told:
        for outcome in job("killed", number):
            assert bodies[outcome.queued.url] == outcome.queued.result.body
    stats = store.statistics.get(HOST)
    assert stats is not None
    assert stats.pages_by_state == {"record": store.records.count()}
    with store._db.use() as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_processes_write_at_once(store: SqliteStore) -> None:
    with (
        writer(store.path, "same", 0, 20) as one,
        writer(store.path, "same", 0, 20) as two,
        writer(store.path, "other", 0, 20) as three,
    ):
        for number in range(10):
            store.save([make_failure(f"/failed/{number}")])
        for process in (one, two, three):
            assert len(output_of(process).readlines()) == 20
    for number in range(20):
        assert check_whole(store, "same", number)
        assert check_whole(store, "other", number)
    assert len(list(store.records.scan())) == 40 * JOB
    stats = store.statistics.get(HOST)
    assert stats is not None
    assert stats.pages_by_state == {"record": 40 * JOB, "failed": 10}
    assert len(archived_bodies(store)) == 40 * JOB
    assert store.repair_archive() == 0


def test_processes_open_a_new_store_at_once(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    with (
        writer(path, "a", 0, 1) as one,
        writer(path, "b", 0, 1) as two,
        writer(path, "c", 0, 1) as three,
    ):
        assert [output_of(each).read() for each in (one, two, three)] == ["0\n"] * 3
    store = SqliteStore(path)
    assert store.records.count() == 3 * JOB
    store.close()


def test_a_reader_does_not_make_the_log_grow(store: SqliteStore) -> None:
    store.save([make_outcome(f"/first/{n}", links=30) for n in range(1000)])
    log = Path(f"{store.path}-wal")
    largest = 0
    with writer(store.path, "w", 0, 100, 20) as process:
        seen = 0
        reading = store.records.scan()
        for line in output_of(process):
            for _ in range(20):
                seen += next(reading, None) is not None
            largest = max(largest, log.stat().st_size)
            done = int(line)
        assert done == 99
    assert seen == 2000
    assert sum(1 for _ in store.records.scan()) == 3000
    assert largest <= WAL_LIMIT_BYTES


def test_no_connection_crosses_a_fork(store: SqliteStore) -> None:
    def save_in_child() -> None:
        for descriptor in Path("/proc/self/fd").iterdir():
            with suppress(FileNotFoundError):  # the one that listed them
                assert not str(descriptor.readlink()).startswith(str(store.path))
        assert store.records.get(page_id_of(f"https://{HOST}/parent")) is not None
        store.save([make_outcome("/child", keep_raw=True)])

    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc to see open files")
    store.save([make_outcome("/parent")])
    reading = store.records.scan()
    next(reading)
    in_child(save_in_child)
    assert store.records.count() == 2
    assert len(list(reading)) in (0, 1)
    store.save([make_outcome("/after")])
    assert store.records.count() == 3


def test_threads_take_turns(store: SqliteStore) -> None:
    def work(name: str) -> None:
        for number in range(10):
            store.save([make_outcome(f"/{name}/{number}", keep_raw=True)])
            assert store.records.get(page_id_of(f"https://{HOST}/{name}/{number}")) is not None

    threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for _ in range(5):
        in_child(lambda: store.records.count())
    for thread in threads:
        thread.join()
    assert store.records.count() == 30
    assert len(archived_bodies(store)) == 30
