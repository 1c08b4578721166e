"""The tables of the SQLite store, and how an older file becomes a newer one.

``PRAGMA user_version`` counts the migrations a file has had; ``application_id`` marks it as ours.
To change the schema, append a migration: a released one never changes. Times are whole
microseconds since 1970 UTC.

``records`` is narrow, its text lives in ``record_blobs``: the statistics of a host read thousands
of rows and no text.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from cleaning.errors import SchemaMismatch, StoreDamaged

APPLICATION_ID = 0x63726C63
OLDEST_SQLITE = (3, 35, 0)  # DELETE ... RETURNING

_FIRST = (
    """CREATE TABLE crawls (
        crawl_id TEXT PRIMARY KEY,
        spec TEXT NOT NULL,
        state TEXT NOT NULL,
        created_at INTEGER NOT NULL
    )""",
    # One row a URL of a crawl: its newest end. (fetched_at, model_version) is its fence, digest
    # tells the same outcome from another one of the same version.
    """CREATE TABLE urls (
        page_id TEXT NOT NULL,
        crawl_id TEXT NOT NULL,
        host TEXT NOT NULL,
        url TEXT NOT NULL,
        state TEXT NOT NULL,
        fetched_at INTEGER NOT NULL,
        model_version INTEGER NOT NULL,
        digest BLOB NOT NULL,
        depth INTEGER NOT NULL,
        via TEXT NOT NULL,
        referrer TEXT,
        link_text TEXT NOT NULL,
        discovered_at INTEGER,
        status INTEGER NOT NULL,
        etag TEXT,
        last_modified TEXT,
        next_visit INTEGER,
        fetched_bytes INTEGER NOT NULL,
        html_chars INTEGER NOT NULL,
        wait_ms INTEGER NOT NULL,
        log TEXT NOT NULL,
        PRIMARY KEY (page_id, crawl_id)
    )""",
    "CREATE INDEX urls_of_host ON urls (crawl_id, host, state)",
    # The newest record of a URL of a crawl. is_current: its URL's newest end is this record (not
    # a later failure); only those count in the statistics, so that their numbers add up.
    """CREATE TABLE records (
        saved_seq INTEGER PRIMARY KEY AUTOINCREMENT,
        page_id TEXT NOT NULL,
        crawl_id TEXT NOT NULL,
        host TEXT NOT NULL,
        fetched_at INTEGER NOT NULL,
        model_version INTEGER NOT NULL,
        digest BLOB NOT NULL,
        saved_at INTEGER NOT NULL,
        is_current INTEGER NOT NULL,
        kind TEXT NOT NULL,
        signature TEXT NOT NULL,
        body_chars INTEGER NOT NULL,
        links_body INTEGER NOT NULL,
        links_related INTEGER NOT NULL,
        links_navigation INTEGER NOT NULL,
        links_function INTEGER NOT NULL,
        links_ad INTEGER NOT NULL,
        links_hot INTEGER NOT NULL,
        links_tag INTEGER NOT NULL,
        links_legal INTEGER NOT NULL,
        links_other INTEGER NOT NULL,
        images_content INTEGER NOT NULL,
        images_ad INTEGER NOT NULL,
        images_chrome INTEGER NOT NULL,
        images_thumb INTEGER NOT NULL,
        images_other INTEGER NOT NULL,
        UNIQUE (page_id, crawl_id)
    )""",
    "CREATE INDEX records_of_crawl ON records (crawl_id)",
    "CREATE INDEX records_of_host ON records (crawl_id, host)",
    "CREATE INDEX records_by_time ON records (saved_at)",
    """CREATE TABLE record_blobs (
        saved_seq INTEGER PRIMARY KEY,
        record BLOB NOT NULL,
        links BLOB NOT NULL
    )""",
    """CREATE TABLE failures (
        page_id TEXT NOT NULL,
        crawl_id TEXT NOT NULL,
        host TEXT NOT NULL,
        url TEXT NOT NULL,
        reason TEXT NOT NULL,
        detail TEXT NOT NULL,
        status INTEGER NOT NULL,
        attempts INTEGER NOT NULL,
        failed_at INTEGER NOT NULL,
        PRIMARY KEY (page_id, crawl_id)
    )""",
    "CREATE INDEX failures_by_time ON failures (failed_at)",
    "CREATE INDEX failures_of_crawl ON failures (crawl_id, failed_at)",
    "CREATE INDEX failures_of_host ON failures (crawl_id, host, failed_at)",
    """CREATE TABLE segments (
        segment INTEGER PRIMARY KEY,
        committed INTEGER NOT NULL
    )""",
    """CREATE TABLE raw (
        page_id TEXT NOT NULL,
        crawl_id TEXT NOT NULL,
        host TEXT NOT NULL,
        url TEXT NOT NULL,
        fetched_at INTEGER NOT NULL,
        segment INTEGER NOT NULL,
        offset INTEGER NOT NULL,
        length INTEGER NOT NULL,
        PRIMARY KEY (page_id, crawl_id)
    )""",
    "CREATE INDEX raw_of_segment ON raw (segment)",
    """CREATE TABLE hosts (
        crawl_id TEXT NOT NULL,
        host TEXT NOT NULL,
        is_dirty INTEGER NOT NULL,
        stats TEXT,
        PRIMARY KEY (host, crawl_id)
    )""",
    "CREATE INDEX hosts_of_crawl ON hosts (crawl_id)",
    "CREATE INDEX dirty_hosts ON hosts (host, crawl_id) WHERE is_dirty",
    f"PRAGMA application_id = {APPLICATION_ID}",
)

_SECOND = (
    "ALTER TABLE urls ADD COLUMN role TEXT NOT NULL DEFAULT 'page'",
    # The tail of a frontier that outgrew its queue's memory (parcels.py).
    """CREATE TABLE parcels (
        parcel_id TEXT PRIMARY KEY,
        crawl_id TEXT NOT NULL,
        host TEXT NOT NULL,
        urls INTEGER NOT NULL,
        packed BLOB NOT NULL
    )""",
    "CREATE INDEX parcels_of_host ON parcels (crawl_id, host)",
)

_THIRD = (
    # What hosts taught (models.py), whichever crawl it came from; the newest version is in use.
    """CREATE TABLE models (
        host TEXT NOT NULL,
        version INTEGER NOT NULL,
        learned_at INTEGER NOT NULL,
        saved_at INTEGER NOT NULL,
        page_count INTEGER NOT NULL,
        size_bytes INTEGER NOT NULL,
        reason TEXT NOT NULL,
        detail TEXT NOT NULL,
        packed BLOB NOT NULL,
        PRIMARY KEY (host, version)
    )""",
    # A host is learned and cleaned again page by page, over all crawls.
    "CREATE INDEX raw_of_site ON raw (host, page_id, crawl_id)",
    "CREATE INDEX records_of_site ON records (host, page_id, crawl_id)",
)

_FOURTH = (
    # Of an image that is stored; NULL for every other URL.
    "ALTER TABLE urls ADD COLUMN media_type TEXT",
    "ALTER TABLE urls ADD COLUMN sha256 TEXT",
)

_FIFTH = (
    # Set while images of the record became content and wait to be offered (images.py).
    "ALTER TABLE records ADD COLUMN images_due INTEGER NOT NULL DEFAULT 0",
    "CREATE INDEX records_with_due_images ON records (crawl_id) WHERE images_due",
)

_SIXTH = (
    # When a host was seen to have changed (drifts.py), whichever crawl saw it.
    """CREATE TABLE drifts (
        host TEXT NOT NULL,
        model_version INTEGER NOT NULL,
        at INTEGER NOT NULL,
        since INTEGER NOT NULL,
        sign TEXT NOT NULL,
        outcome TEXT NOT NULL,
        new_version INTEGER NOT NULL,
        evidence TEXT NOT NULL,
        PRIMARY KEY (host, model_version, at)
    )""",
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    _FIRST,
    _SECOND,
    _THIRD,
    _FOURTH,
    _FIFTH,
    _SIXTH,
)
"""Number n takes a file from version n to n + 1."""


def _number(db: sqlite3.Connection, sql: str) -> int:
    return int(db.execute(sql).fetchall()[0][0])


def migrate(db: sqlite3.Connection, path: Path) -> None:
    """Brings an open file to our version, in one transaction.

    Raises:
        SchemaMismatch: A newer program wrote it.
        StoreDamaged: It is another program's database.
    """
    if _version(db, path) == len(MIGRATIONS):
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        for migration in MIGRATIONS[_version(db, path) :]:  # another process may have been first
            for statement in migration:
                db.execute(statement)
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _version(db: sqlite3.Connection, path: Path) -> int:
    version = _number(db, "PRAGMA user_version")
    ours = _number(db, "PRAGMA application_id") == APPLICATION_ID
    if not ours and (version or _number(db, "SELECT count(*) FROM sqlite_master")):
        raise StoreDamaged(f"{path} is the database of another program: choose another directory")
    if version > len(MIGRATIONS):
        raise SchemaMismatch(
            f"{path} has schema {version}, this program reads up to {len(MIGRATIONS)}: "
            "use the newer version that wrote it"
        )
    return version


def sqlite_version() -> str:
    """The version of the library.

    Raises:
        SchemaMismatch: It is too old for our statements.
    """
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        needed = ".".join(map(str, OLDEST_SQLITE))
        raise SchemaMismatch(f"SQLite {sqlite3.sqlite_version} is too old: {needed} is needed")
    return sqlite3.sqlite_version
