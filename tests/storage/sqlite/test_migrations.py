"""Files of older schemas are brought to ours when they are opened."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from crawlclean.cleaning.errors import SchemaMismatch, StorageError
from crawlclean.cleaning.topics.stories import story_signature
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState
from crawlclean.storage.sqlite import schema as sqlite_schema
from crawlclean.storage.sqlite.store import SqliteStore
from tests.kit.outcomes import HOST, make_outcome
from tests.storage.store.stories_contract import text
from tests.storage.store.topics_contract import judged


def columns(db: sqlite3.Connection) -> dict[str, list[Any]]:
    """The columns of every table, whatever their order."""
    tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    found = {name: db.execute(f"PRAGMA table_info({name})").fetchall() for (name,) in tables}
    return {name: sorted(map(str, (row[1:] for row in rows))) for name, rows in found.items()}


OLD_RECEIVERS = (
    """CREATE TABLE receivers (topic TEXT, kind TEXT, target TEXT, is_private INTEGER,
    since INTEGER, owner TEXT, owned_until INTEGER, next_try INTEGER, tries INTEGER,
    failing_since INTEGER, last_error TEXT, last_sent INTEGER, sent INTEGER, copies INTEGER,
    given_up INTEGER, PRIMARY KEY (topic, kind))""",
    "CREATE TABLE outbox (topic TEXT, kind TEXT, page_id TEXT, at INTEGER, "
    "PRIMARY KEY (topic, kind, page_id))",
    "CREATE INDEX outbox_by_time ON outbox (topic, kind, at, page_id)",
    "CREATE TABLE told (topic TEXT, kind TEXT, number INTEGER, page_id TEXT, "
    "PRIMARY KEY (topic, kind, number)) WITHOUT ROWID",
    "INSERT INTO receivers VALUES ('quake', 'webhook', 'http://a.example/', 1, 7, '', 8, 9, 2, 7, "
    "'status 500', NULL, 3, 4, 5)",
    "INSERT INTO outbox VALUES ('quake', 'webhook', '4f', 7)",
    "INSERT INTO told VALUES ('quake', 'webhook', 12, 'a page')",
)
"""The tables of schemas 14 to 17, with a webhook of topic ``quake`` for which a page waits."""


def make_schema_14(store: SqliteStore) -> None:
    """Turns a closed file into one of schema 14: without queues, confidence, publication."""
    with closing(sqlite3.connect(store.path)) as db:
        db.execute("DROP TABLE queues")
        db.execute("DROP TABLE slowdowns")
        db.execute("ALTER TABLE crawls DROP COLUMN queue")
        db.execute("DROP INDEX least_sure_of_host")
        db.execute("ALTER TABLE records DROP COLUMN confidence")
        for name in ("time", "publication", "host"):
            db.execute(f"DROP INDEX topic_pages_by_{name}")
        db.execute("ALTER TABLE topic_pages DROP COLUMN read_at")
        db.execute("ALTER TABLE topic_pages RENAME COLUMN at TO day")
        db.execute("UPDATE topic_pages SET day = day / 86400000000")
        for old in (
            "time ON topic_pages (topic, fetched_at, page_id, relevant, crawl_id)",
            "host ON topic_pages (topic, relevant, host, day)",
        ):
            db.execute(f"CREATE INDEX topic_pages_by_{old}")
        for name in ("receivers", "outbox", "told", "alerts", "messages"):
            db.execute(f"DROP TABLE {name}")
        for table in OLD_RECEIVERS:
            db.execute(table)
        db.execute("PRAGMA user_version = 14")
        db.commit()


def test_a_file_of_schema_14_is_brought_to_ours(store: SqliteStore) -> None:
    store.crawls.put(CrawlSpec(crawl_id="c1", seeds=()), CrawlState.STOPPED)
    published = replace(judged("/told", 0.9, 90), story=story_signature(text(1)))
    store.save([make_outcome(), published])
    (page,) = store.topics.newest("quake", 9)
    store.close()
    with closing(sqlite3.connect(store.path)) as db:
        ours = columns(db)
    make_schema_14(store)
    (crawl,) = store.crawls.all()
    assert (crawl.spec.crawl_id, crawl.state, crawl.queue) == ("c1", CrawlState.STOPPED, "")
    assert store.records.count() == 2
    assert store.topics.newest("quake", 9, relevant=True, host=HOST) == [page]
    (kept,) = store.receivers.of("quake")
    assert (kept.name, kept.private, kept.tries) == ("webhook:quake", True, 2)
    assert (kept.last_error, kept.sent, kept.given_up) == ("status 500", 3, 5)
    (row,) = store.receivers.waiting(kept, 9)
    assert (row.topic, row.page_id, row.level) == ("quake", "4f", "story")
    assert store.receivers.told(row, [12]) == {"a page"}
    store.crawls.give_to("c1", "q1")
    store.close()
    with closing(sqlite3.connect(store.path)) as db:
        assert columns(db) == ours
        assert db.execute("PRAGMA user_version").fetchone() == (sqlite_schema.SCHEMA,)
    assert store.crawls.all()[0].queue == "q1"


def test_a_migration_that_fails_half_way_changes_nothing(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.crawls.put(CrawlSpec(crawl_id="c1", seeds=()), CrawlState.STOPPED)
    store.close()
    make_schema_14(store)
    with monkeypatch.context() as patched:
        first, *_ = sqlite_schema._MIGRATIONS[14]
        patched.setitem(sqlite_schema._MIGRATIONS, 14, (first, "no SQL"))
        with pytest.raises(StorageError):
            store.crawls.all()
    with closing(sqlite3.connect(store.path)) as db:
        assert "queues" not in columns(db)
        assert db.execute("PRAGMA user_version").fetchone() == (14,)
    assert store.crawls.all()[0].queue == ""


def test_an_older_file_that_cannot_be_written_is_refused(store: SqliteStore) -> None:
    store.crawls.all()
    store.close()
    make_schema_14(store)
    with closing(sqlite3.connect(store.path)) as db:
        with pytest.raises(SchemaMismatch, match="schema 14 and is read-only"):
            sqlite_schema.prepare(db, store.path, is_read_only=True)
        assert "queues" not in columns(db)


def test_reported_verdicts_of_older_files_stay_until_their_crawl_goes(store: SqliteStore) -> None:
    for crawl_id in ("c1", "c2"):
        store.crawls.put(CrawlSpec(crawl_id=crawl_id, seeds=()), CrawlState.STOPPED)
    store.close()
    with closing(sqlite3.connect(store.path)) as db:
        db.execute("CREATE TABLE cases (crawl_id TEXT, host TEXT, body BLOB)")
        rows = [("c1", "a.example"), ("c1", HOST), ("c2", HOST), ("c3", HOST)]
        db.executemany("INSERT INTO cases VALUES (?, ?, x'00')", rows)
        db.commit()
    store.save([make_outcome()])
    store.delete_host("c2", HOST)
    store.delete_crawl("c1")
    store.close()
    with closing(sqlite3.connect(store.path)) as db:
        assert db.execute("SELECT crawl_id, host FROM cases").fetchall() == [("c3", HOST)]
