"""The SQLite store under many processes and threads: the contract, kills, readers."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

from crawlclean.storage.sqlite.connection import WAL_LIMIT_BYTES
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.protocol import Store
from tests.kit.outcomes import HOST, make_outcome
from tests.kit.recount import counted
from tests.kit.segments import archived_bodies
from tests.kit.some import some
from tests.kit.writers import JOB, job, output_of, writer
from tests.storage.store.processes_contract import ProcessesContract, is_saved


class TestSqliteProcesses(ProcessesContract):
    def check_child(self, store: Store) -> None:
        """No file of the database is open."""
        assert isinstance(store, SqliteStore)
        if not Path("/proc/self/fd").exists():
            return  # only Linux shows open files
        for descriptor in Path("/proc/self/fd").iterdir():
            with suppress(FileNotFoundError):  # the one that listed them
                assert not str(descriptor.readlink()).startswith(str(store.path))

    def test_processes_save_equal_and_other_pages_at_once(
        self, store: Store, where: Path | str
    ) -> None:
        super().test_processes_save_equal_and_other_pages_at_once(store, where)
        assert isinstance(store, SqliteStore)
        assert len(archived_bodies(store)) == 2 * self.jobs * JOB
        assert store.repair_archive() == 0


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
            assert is_saved(store, "killed", number)
        is_saved(store, "killed", told[-1] + 1)  # it died before it could tell, or before that
        assert not is_saved(store, "killed", told[-1] + 2)
        first = told[-1] + 2
    store.repair_archive()
    bodies = archived_bodies(store)
    for number in told:
        for outcome in job("killed", number):
            assert bodies[outcome.queued.url] == outcome.queued.result.body
    assert some(counted(store).get(HOST)).pages_by_state == {"record": store.records.count()}
    with store._db.use() as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


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
