"""The SQLite store: the contract, its archive, its disk, its schema."""

from __future__ import annotations

import gc
import random
import sqlite3
import subprocess
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crawlclean.cleaning.errors import (
    DatabaseDamaged,
    SchemaMismatch,
    StoreDamaged,
    StoreFull,
    StoreUnavailable,
)
from crawlclean.cleaning.records import ImageKind, LinkKind
from crawlclean.storage.sqlite import schema as sqlite_schema, store as space
from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.disks import tiny_disk
from tests.kit.outcomes import HOST, make_failure, make_outcome, page_id_of
from tests.kit.segments import archived_bodies
from tests.storage.store.contracts import EveryContract
from tests.storage.store.store_contract import everything
from tests.storage.store.stories_contract import told, told_by_hosts


class TestSqliteStore(EveryContract):
    """The contract, in a file."""


def test_a_story_of_many_pages_has_few_pointers(store: SqliteStore) -> None:
    pages = told_by_hosts(1, 60)
    for each in pages:
        store.save([each])
    assert len(told(store, pages[0])) == len(pages)
    with closing(sqlite3.connect(store.path)) as db:
        (pointers,) = db.execute("SELECT count(*) FROM stories").fetchone()
    assert pointers < 12  # each page that joins reads them all


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


def test_what_is_left_of_a_dropped_crawl_s_segment_is_moved(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space, "MOVED_FROM_BYTES", 1)
    raw = store.path.parent / "raw"
    store.save([make_outcome(f"/{n}", keep_raw=True) for n in range(8)])
    store.save([make_outcome("/left", keep_raw=True, crawl_id="c2")])
    before = archived_bodies(store)
    (segment,) = raw.iterdir()
    responses, stored_bytes, freed_bytes = store.raw_space("c1")
    assert responses == 8
    assert stored_bytes < freed_bytes < segment.stat().st_size
    assert store.drop_raw("c1", limit=3) == 3
    assert list(raw.iterdir()) == [segment], "nothing moves before the end"
    assert store.drop_raw("c1", limit=9) == 5
    (moved,) = raw.iterdir()
    assert moved != segment
    (kept,) = archived_bodies(store).items()
    assert kept[1] == before[kept[0]]
    page = make_outcome("/left").queued
    assert store.answers.body(page.page_id, "c2") == kept[1]
    store.save([make_outcome("/more", keep_raw=True)])
    assert len(archived_bodies(store)) == 2


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
        store.answers.page(outcome.queued.page_id)


# --- errors --------------------------------------------------------------------------------------


def test_no_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no database\n" * 200)
    with pytest.raises(StoreDamaged, match=r"notes\.txt is no SQLite database"):
        SqliteStore(path).crawls.all()


def spoil(path: Path, *tables: str) -> None:
    """Overwrites the first page of tables with noise."""
    with closing(sqlite3.connect(path)) as db:
        roots = dict(db.execute("SELECT name, rootpage FROM sqlite_master").fetchall())
        (size,) = db.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        for table in tables:
            file.seek((roots[table] - 1) * size)
            file.write(random.Random(7).randbytes(size))


def test_a_damaged_page_and_a_damaged_header(tmp_path: Path) -> None:
    path = tmp_path / "records.sqlite"
    with closing(SqliteStore(path)) as store:
        store.save([make_outcome(f"/{n}") for n in range(50)])
    spoil(path, "record_blobs")
    with closing(SqliteStore(path)) as store:
        with pytest.raises(
            DatabaseDamaged, match=r"records\.sqlite is damaged .*put a backup back"
        ):
            list(store.records.scan())
        with pytest.raises(DatabaseDamaged):
            store.save([make_outcome("/50")])
        assert len(list(store.urls.ended("c1"))) == 50, "the failed save left nothing"
    with path.open("r+b") as file:
        file.write(b"x" * 100)
    with closing(SqliteStore(path)) as store, pytest.raises(DatabaseDamaged, match="header"):
        store.crawls.all()


@pytest.mark.parametrize("is_killed", [False, True])
def test_damage_is_found_before_the_first_page(tmp_path: Path, *, is_killed: bool) -> None:
    path = tmp_path / "records.sqlite"
    with closing(SqliteStore(path)) as store:
        store.save([make_outcome(f"/{n}") for n in range(50)])
    spoil(path, "record_blobs", "raw")
    if is_killed:
        (tmp_path / "records.sqlite-wal").write_bytes(b"what a killed process has left")
    with closing(SqliteStore(path)) as store, pytest.raises(DatabaseDamaged, match="is damaged"):
        store.check()


def test_a_check_ends_in_time(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.save([make_outcome(f"/{n}") for n in range(200)])
    monkeypatch.setattr("crawlclean.storage.sqlite.connection.LOOK_STEPS", 1)
    for limit in ("CHECK_S", "CHECK_AFTER_CRASH_S"):
        monkeypatch.setattr(f"crawlclean.storage.sqlite.store.{limit}", 0.0)
    store.check()
    assert store.crawls.all() == [], "the connection goes on"


def test_anothers_database(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE theirs (x)")
    db.close()
    with pytest.raises(StoreDamaged, match="another program"):
        SqliteStore(path).save([make_outcome()])


@pytest.mark.parametrize(("change", "advice"), [(1, "newer version"), (-1, "older version")])
def test_another_schema_on_disk(
    store: SqliteStore, change: int, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_schema, "SCHEMA", 7)
    store.save([make_outcome()])
    store.close()
    db = sqlite3.connect(store.path)
    db.execute(f"PRAGMA user_version = {7 + change}")
    db.close()
    with pytest.raises(
        SchemaMismatch, match=f"schema {7 + change}, .* schema 7: .*{advice}"
    ) as caught:
        store.crawls.all()
    assert "\n" not in str(caught.value)


@pytest.fixture
def plans(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How the database does each query from here on."""
    found: list[str] = []
    rows = store._db.rows

    def explained(sql: str, *values: Any) -> list[Any]:
        steps = rows(f"EXPLAIN QUERY PLAN {sql}", *values)
        found.append(" ".join(row[3] for row in steps))
        return rows(sql, *values)

    monkeypatch.setattr(store._db, "rows", explained)
    return found


@pytest.mark.parametrize("failed", [False, True])
def test_no_step_through_the_ends_sorts_all_of_them(
    store: SqliteStore, plans: list[str], failed: bool
) -> None:
    assert list(store.urls.ended("c", HOST, failed=failed)) == []
    [plan] = plans
    assert "((page_id,crawl_id)>(?,?))" in plan
    assert ("USING INDEX failures" in plan) == failed
    assert "TEMP B-TREE" not in plan


def test_pages_near_a_relevance_are_found_by_an_index(store: SqliteStore, plans: list[str]) -> None:
    assert store.topics.nearest("quake", 0.5, 20) == []
    for plan in plans:
        assert "topic_pages_by_relevance (topic=? AND relevance" in plan
        assert "TEMP B-TREE" not in plan


def test_missing_directory(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="make sure its directory exists"):
        SqliteStore(tmp_path / "nowhere" / "store.db").crawls.all()
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable):
        SqliteStore(tmp_path / "file" / "store.db").crawls.all()


def test_locked_by_another(store: SqliteStore) -> None:
    store.save([make_outcome()])
    other = SqliteStore(store.path, busy_timeout_s=0.05)
    with store._db.transaction(), pytest.raises(StoreUnavailable, match=r"locked .* 0\.05 s"):
        other.save([make_outcome("/2")])
    assert other.save([make_outcome("/2")]) == 1
    other.close()


def test_over_its_size(store: SqliteStore) -> None:
    store.save([make_outcome("/1", keep_raw=True)])
    before = everything(store)
    with store._db.use() as db:
        (pages,) = db.execute("PRAGMA page_count").fetchall()[0]
        db.execute(f"PRAGMA max_page_count = {pages + 2}").fetchall()
    big = [make_outcome(f"/big/{n}", links=300, keep_raw=True) for n in range(50)]
    with pytest.raises(StoreFull, match="no space left"):
        store.save(big)
    assert everything(store) == before
    store.close()
    assert store.save(big) == 50
    assert len(archived_bodies(store)) == 51


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
            assert store.records.get(page_id_of(f"https://{HOST}/{number}")) is not None
        assert store.records.get(page_id_of(f"https://{HOST}/{saved}")) is None
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
    with store._db.transaction() as db:
        db.execute("UPDATE record_blobs SET links = x'00'")
    with pytest.raises(StoreDamaged, match="cannot be read"):
        store.records.get(outcome.queued.page_id)
    with pytest.raises(StoreDamaged):
        list(store.records.scan())


def test_every_kind_has_its_column() -> None:
    db = sqlite3.connect(":memory:", isolation_level=None)
    sqlite_schema.prepare(db, Path(":memory:"))
    columns = {row[1] for row in db.execute("PRAGMA table_info(records)")}
    db.close()
    assert {f"links_{kind.value}" for kind in LinkKind} <= columns
    assert {f"images_{kind.value}" for kind in ImageKind} <= columns


def test_a_store_that_nobody_holds_is_closed(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "store.db")._db.use() as db:
        pass
    gc.collect()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        db.execute("SELECT 1")
