from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO

import pytest
from warcio.archiveiterator import ArchiveIterator

from cleaning.errors import SchemaMismatch, StoreDamaged, StoreFull, StoreUnavailable
from cleaning.records import ImageKind, LinkKind
from storage import sqlite_schema
from storage.base import Outcome, Store, UrlState
from storage.sqlite import WAL_LIMIT_BYTES, SqliteStore
from tests.storage.store_contract import (
    HOST,
    StoreContract,
    everything,
    later,
    make_failure,
    make_outcome,
    page_id_of,
)

ROOT = Path(__file__).parents[2]
JOB = 5


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "store.db")
    yield opened
    opened.close()


class TestSqliteStore(StoreContract):
    def test_it_is_a_store(self, store: SqliteStore) -> None:
        as_protocol: Store = store
        assert as_protocol is store


# --- several processes ---------------------------------------------------------------------------


def job(name: str, number: int, size: int = JOB) -> list[Outcome]:
    """A job whose pages nobody else saves; every page is kept raw."""
    return [
        make_outcome(
            f"/{name}/{number}/{page}",
            links=30,
            body=f"{name} {number} {page} ".encode() * 400,
            keep_raw=True,
        )
        for page in range(size)
    ]


def write_jobs(path: str, name: str, first: int, count: int, size: int = JOB) -> None:
    """What the writing processes run: prints a job's number once it is saved."""
    store = SqliteStore(Path(path))
    print("ready", flush=True)
    for number in range(first, first + count):
        store.save(job(name, number, size))
        print(number, flush=True)


@contextmanager
def writer(
    path: Path, name: str, first: int, count: int, size: int = JOB
) -> Iterator[subprocess.Popen[str]]:
    """A process that runs ``write_jobs``; killed on leaving if it still runs."""
    code = (
        "from tests.storage.test_sqlite import write_jobs; "
        f"write_jobs({str(path)!r}, {name!r}, {first}, {count}, {size})"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=ROOT, text=True
    ) as process:
        try:
            assert output_of(process).readline() == "ready\n"
            yield process
        finally:
            process.kill()


def output_of(process: subprocess.Popen[str]) -> IO[str]:
    assert process.stdout is not None
    return process.stdout


def archived_bodies(store: SqliteStore) -> dict[str, bytes]:
    """Every answer in the segment files, as another WARC tool reads them."""
    found = {}
    for segment in sorted((store.path.parent / "raw").iterdir()):
        with segment.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                if record.rec_type == "response":
                    url = record.rec_headers["WARC-Target-URI"]
                    found[url] = record.raw_stream.read()
    return found


def check_whole(store: SqliteStore, name: str, number: int) -> bool:
    """Whether a job is there, after checking that it is there as a whole or not at all."""
    outcomes = job(name, number)
    pages = [outcome.queued.page_id for outcome in outcomes]
    there = [page for page in pages if store.record(page) is not None]
    if not there:
        assert not any(store.url_rows(page) or store.raw_page(page) for page in pages)
        return False
    for outcome, page_id in zip(outcomes, pages, strict=True):
        assert store.record(page_id) == outcome.record
        (row,) = store.url_rows(page_id)
        assert row.state is UrlState.RECORD
        page = store.raw_page(page_id)
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
    stats = store.host_stats(HOST)
    assert stats is not None
    assert stats.pages_by_state == {"record": store.count_records()}
    with store._connection() as db:
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
    assert len(list(store.records())) == 40 * JOB
    stats = store.host_stats(HOST)
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
    assert store.count_records() == 3 * JOB
    store.close()


def test_a_reader_does_not_make_the_log_grow(store: SqliteStore) -> None:
    store.save([make_outcome(f"/first/{n}", links=30) for n in range(1000)])
    log = Path(f"{store.path}-wal")
    largest = 0
    with writer(store.path, "w", 0, 100, 20) as process:
        seen = 0
        reading = store.records()
        for line in output_of(process):
            for _ in range(20):
                seen += next(reading, None) is not None
            largest = max(largest, log.stat().st_size)
            done = int(line)
        assert done == 99
    assert seen == 2000
    assert sum(1 for _ in store.records()) == 3000
    assert largest <= WAL_LIMIT_BYTES


def in_child(act: Callable[[], object]) -> None:
    """Runs ``act`` in a forked child, as a worker's job does, and asserts that it returned."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons: other threads run
        child = os.fork()
    if child == 0:
        status = 1
        try:
            act()
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_no_connection_crosses_a_fork(store: SqliteStore) -> None:
    def save_in_child() -> None:
        for descriptor in Path("/proc/self/fd").iterdir():
            with suppress(FileNotFoundError):  # the one that listed them
                assert not str(descriptor.readlink()).startswith(str(store.path))
        assert store.record(page_id_of(f"https://{HOST}/parent")) is not None
        store.save([make_outcome("/child", keep_raw=True)])

    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc to see open files")
    store.save([make_outcome("/parent")])
    reading = store.records()
    next(reading)
    in_child(save_in_child)
    assert store.count_records() == 2
    assert len(list(reading)) in (0, 1)
    store.save([make_outcome("/after")])
    assert store.count_records() == 3


def test_threads_take_turns(store: SqliteStore) -> None:
    def work(name: str) -> None:
        for number in range(10):
            store.save([make_outcome(f"/{name}/{number}", keep_raw=True)])
            assert store.record(page_id_of(f"https://{HOST}/{name}/{number}")) is not None

    threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for _ in range(5):
        in_child(lambda: store.count_records())
    for thread in threads:
        thread.join()
    assert store.count_records() == 30
    assert len(archived_bodies(store)) == 30


# --- the archive's place in it -------------------------------------------------------------------


def test_segments_nobody_needs_are_removed(store: SqliteStore) -> None:
    raw = store.path.parent / "raw"
    store.save([make_outcome("/1", keep_raw=True)])
    store.save([make_outcome("/2", keep_raw=True, crawl_id="c2")])
    assert len(list(raw.iterdir())) == 1
    store.delete_crawl("c1")
    assert len(list(raw.iterdir())) == 1
    store.delete_host("c2", HOST)
    assert list(raw.iterdir()) == []
    store.save([make_outcome("/3", keep_raw=True)])
    assert len(archived_bodies(store)) == 1


def test_an_equal_answer_is_archived_once(store: SqliteStore) -> None:
    store.save([make_outcome(keep_raw=True)])
    (segment,) = (store.path.parent / "raw").iterdir()
    size = segment.stat().st_size
    store.save([make_outcome(keep_raw=True), make_outcome(keep_raw=True, model_version=2)])
    assert segment.stat().st_size == size


def test_a_failure_without_an_answer_archives_nothing(store: SqliteStore) -> None:
    store.save([replace(make_failure(), keep_raw=True)])
    assert not (store.path.parent / "raw").exists()


def test_a_missing_segment_is_damage(store: SqliteStore) -> None:
    outcome = make_outcome(keep_raw=True)
    store.save([outcome])
    (segment,) = (store.path.parent / "raw").iterdir()
    segment.unlink()
    with pytest.raises(StoreDamaged, match=r"00001\.warc\.gz is gone"):
        store.raw_page(outcome.queued.page_id)


# --- errors --------------------------------------------------------------------------------------


def test_no_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no database\n" * 200)
    with pytest.raises(StoreDamaged, match=r"notes\.txt is no SQLite database"):
        SqliteStore(path).crawls()


def test_anothers_database(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE theirs (x)")
    db.close()
    with pytest.raises(StoreDamaged, match="another program"):
        SqliteStore(path).save([make_outcome()])


def test_newer_version_on_disk(store: SqliteStore) -> None:
    store.save([make_outcome()])
    store.close()
    db = sqlite3.connect(store.path)
    db.execute(f"PRAGMA user_version = {len(sqlite_schema.MIGRATIONS) + 1}")
    db.close()
    with pytest.raises(SchemaMismatch, match="newer version"):
        store.crawls()


def test_an_older_file_is_migrated(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.save([make_outcome()])
    store.close()
    added = ("ALTER TABLE crawls ADD COLUMN note TEXT", "UPDATE crawls SET note = ''")
    monkeypatch.setattr(sqlite_schema, "MIGRATIONS", (*sqlite_schema.MIGRATIONS, added))
    assert store.count_records() == 1
    db = sqlite3.connect(store.path)
    assert db.execute("PRAGMA user_version").fetchall() == [(len(sqlite_schema.MIGRATIONS),)]
    db.close()


def test_missing_directory(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="make sure its directory exists"):
        SqliteStore(tmp_path / "nowhere" / "store.db").crawls()
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable):
        SqliteStore(tmp_path / "file" / "store.db").crawls()


def test_locked_by_another(store: SqliteStore) -> None:
    store.save([make_outcome()])
    other = SqliteStore(store.path, busy_timeout_s=0.05)
    with store._transaction(), pytest.raises(StoreUnavailable, match=r"locked .* 0\.05 s"):
        other.save([make_outcome("/2")])
    assert other.save([make_outcome("/2")]) == 1
    other.close()


def test_over_its_size(store: SqliteStore) -> None:
    store.save([make_outcome("/1", keep_raw=True)])
    before = everything(store)
    with store._connection() as db:
        (pages,) = db.execute("PRAGMA page_count").fetchall()[0]
        db.execute(f"PRAGMA max_page_count = {pages + 2}").fetchall()
    big = [make_outcome(f"/big/{n}", links=300, keep_raw=True) for n in range(50)]
    with pytest.raises(StoreFull, match="no space left"):
        store.save(big)
    assert everything(store) == before
    store.close()
    assert store.save(big) == 50
    assert len(archived_bodies(store)) == 51


@contextmanager
def tiny_disk(folder: Path, options: str) -> Iterator[Path]:
    folder.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    try:
        mounted = os.geteuid() == 0 and not subprocess.run(mount, capture_output=True).returncode
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("needs the right to mount a tmpfs")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("keep_raw", [False, True])
def test_disk_full(tmp_path: Path, keep_raw: bool) -> None:
    with tiny_disk(tmp_path / "disk", "size=1m") as disk:
        store = SqliteStore(disk / "store.db")
        noise = random.Random(1)
        saved = 0

        def save(number: int) -> None:
            body = noise.randbytes(20_000)
            store.save([make_outcome(f"/{number}", body=body, keep_raw=keep_raw, links=200)])

        def fill() -> None:
            nonlocal saved
            while True:
                save(saved)
                saved += 1

        with pytest.raises(StoreFull, match="free some") as caught:
            fill()
        assert "\n" not in str(caught.value)
        assert saved > 0
        for number in range(saved):
            assert store.record(page_id_of(f"https://{HOST}/{number}")) is not None
        assert store.record(page_id_of(f"https://{HOST}/{saved}")) is None
        if keep_raw:
            store.repair_archive()  # the archive or the database may have met the end first
            assert len(archived_bodies(store)) == saved
        store.close()


def test_read_only_disk(tmp_path: Path) -> None:
    with tiny_disk(tmp_path / "disk", "size=1m") as disk:
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with pytest.raises(StoreUnavailable, match="can write to it"):
            SqliteStore(disk / "store.db").save([make_outcome()])


def test_damaged_blob(store: SqliteStore) -> None:
    outcome = make_outcome()
    store.save([outcome])
    with store._transaction() as db:
        db.execute("UPDATE record_blobs SET links = x'00'")
    with pytest.raises(StoreDamaged, match="cannot be read"):
        store.record(outcome.queued.page_id)
    with pytest.raises(StoreDamaged):
        list(store.records())


def test_an_outcome_without_its_record_is_a_defect(store: SqliteStore) -> None:
    with pytest.raises(ValueError, match="exactly when"):
        store.save([replace(make_outcome(), record=None)])
    with pytest.raises(ValueError, match="exactly when"):
        store.save([replace(make_outcome(), state=UrlState.FAILED)])


def test_every_kind_has_its_column() -> None:
    db = sqlite3.connect(":memory:")
    for migration in sqlite_schema.MIGRATIONS:
        for statement in migration:
            db.execute(statement)
    columns = {row[1] for row in db.execute("PRAGMA table_info(records)")}
    db.close()
    assert {f"links_{kind.value}" for kind in LinkKind} <= columns
    assert {f"images_{kind.value}" for kind in ImageKind} <= columns


def test_a_failed_transaction_changes_nothing(store: SqliteStore) -> None:
    store.save([make_outcome("/1")])
    before = everything(store)
    good = make_outcome("/2", at=later(1))
    bad = replace(make_outcome("/3"), html_chars=1 << 80)  # SQLite has no such number
    with pytest.raises(OverflowError):
        store.save([good, bad])
    assert everything(store) == before
    assert store.save([good]) == 1
