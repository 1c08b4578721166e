"""The tables of the SQLite store, and the check that a file has them.

``PRAGMA user_version`` is the number of the schema, ``PRAGMA application_id`` marks a file as ours.
Times are whole microseconds since 1970 UTC, e.g. 1772366400123456.

``records`` is narrow, its text lives in ``record_blobs``: the statistics of a host read thousands
of rows and no text.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from cleaning.errors import SchemaMismatch, StoreDamaged
from storage.store.ports import check_schema_number

APPLICATION_ID = 0x63726C63
OLDEST_SQLITE = (3, 35, 0)  # DELETE ... RETURNING

SCHEMA = 12
"""``PRAGMA user_version`` of our files. Lower numbers were of checkouts before version 0.2.0."""

_TABLES = (
    """CREATE TABLE crawls (
        crawl_id TEXT PRIMARY KEY,
        spec TEXT NOT NULL,
        state TEXT NOT NULL,
        created_at INTEGER NOT NULL
    )""",
    # One row a URL of a crawl: its newest outcome. (fetched_at, model_version) is its fence, digest
    # differs between two outcomes of the same version. media_type and sha256 are NULL
    # except for a stored image; certificate except for a host whose certificate is wrong; reason,
    # detail and attempts except for a failure.
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
        fetched_bytes INTEGER NOT NULL,
        html_chars INTEGER NOT NULL,
        wait_ms INTEGER NOT NULL,
        log TEXT NOT NULL,
        role TEXT NOT NULL,
        media_type TEXT,
        sha256 TEXT,
        certificate TEXT,
        reason TEXT,
        detail TEXT,
        attempts INTEGER,
        PRIMARY KEY (page_id, crawl_id)
    )""",
    "CREATE INDEX urls_of_host ON urls (crawl_id, host, state)",
    "CREATE INDEX failures ON urls (page_id, crawl_id) WHERE reason IS NOT NULL",
    "CREATE INDEX failures_by_time ON urls (fetched_at) WHERE reason IS NOT NULL",
    "CREATE INDEX failures_of_crawl ON urls (crawl_id, fetched_at) WHERE reason IS NOT NULL",
    "CREATE INDEX failures_of_host ON urls (crawl_id, host, fetched_at) WHERE reason IS NOT NULL",
    """CREATE INDEX certificates ON urls (crawl_id, host, certificate)
        WHERE certificate IS NOT NULL""",
    # The newest record of a URL of a crawl. is_current: the URL's newest outcome is this record and
    # no later failure; only current records count in the statistics, so that their numbers add up.
    # images_due: the crawl, while images of the record became content and wait to be offered.
    # warnings: their kinds, each once, sorted: capped_links,needs_javascript.
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
        images_due TEXT,
        kind TEXT NOT NULL,
        signature TEXT NOT NULL,
        body_chars INTEGER NOT NULL,
        warnings TEXT NOT NULL,
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
    # Learning and re-cleaning read a host page by page, over all crawls.
    "CREATE INDEX records_of_site ON records (host, page_id, crawl_id)",
    "CREATE INDEX records_by_time ON records (saved_at)",
    "CREATE INDEX records_with_due_images ON records (images_due) WHERE images_due IS NOT NULL",
    """CREATE TABLE record_blobs (
        saved_seq INTEGER PRIMARY KEY,
        record BLOB NOT NULL,
        links BLOB NOT NULL
    )""",
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
    "CREATE INDEX raw_of_site ON raw (host, page_id, crawl_id)",
    """CREATE TABLE hosts (
        crawl_id TEXT NOT NULL,
        host TEXT NOT NULL,
        is_dirty INTEGER NOT NULL,
        stats TEXT,
        PRIMARY KEY (host, crawl_id)
    )""",
    "CREATE INDEX hosts_of_crawl ON hosts (crawl_id)",
    "CREATE INDEX dirty_hosts ON hosts (host, crawl_id) WHERE is_dirty",
    # Robots.txt and URL classes of a host, as the queue held them.
    """CREATE TABLE rules (
        host TEXT NOT NULL,
        crawl_id TEXT NOT NULL,
        packed BLOB NOT NULL,
        PRIMARY KEY (host, crawl_id)
    )""",
    "CREATE INDEX rules_of_crawl ON rules (crawl_id)",
    # Hosts that an operator paused.
    """CREATE TABLE pauses (
        host TEXT PRIMARY KEY,
        since INTEGER NOT NULL,
        crawls TEXT NOT NULL
    )""",
    # Pending URLs that outgrew the queue's memory.
    """CREATE TABLE spills (
        spill_id TEXT PRIMARY KEY,
        crawl_id TEXT NOT NULL,
        host TEXT NOT NULL,
        urls INTEGER NOT NULL,
        packed BLOB NOT NULL
    )""",
    "CREATE INDEX spills_of_host ON spills (crawl_id, host)",
    # Site models of hosts, for all crawls; the newest version is in use.
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
    # Detected changes of hosts, for all crawls.
    """CREATE TABLE drifts (
        host TEXT NOT NULL,
        model_version INTEGER NOT NULL,
        at INTEGER NOT NULL,
        outcome TEXT NOT NULL,
        new_version INTEGER NOT NULL,
        evidence TEXT NOT NULL,
        PRIMARY KEY (host, model_version, at)
    )""",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA}",
)


def prepare(db: sqlite3.Connection, path: Path) -> None:
    """Makes the tables of an empty file, in one transaction; checks the schema of any other.

    After version 0.2.0 a file of an older schema is brought to ours here, by statements that
    stand beside ``_TABLES``. Until then no released program has written one.

    Raises:
        SchemaMismatch: The file has another schema than this program's.
        StoreDamaged: The file is another program's database.
    """
    if _schema(db, path):
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        if not _schema(db, path):  # another process may have been first
            for statement in _TABLES:
                db.execute(statement)
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _number(db: sqlite3.Connection, sql: str) -> int:
    return int(db.execute(sql).fetchall()[0][0])


def _schema(db: sqlite3.Connection, path: Path) -> int:
    """The schema of a file, 0 when it is empty."""
    schema = _number(db, "PRAGMA user_version")
    ours = _number(db, "PRAGMA application_id") == APPLICATION_ID
    if not ours and (schema or _number(db, "SELECT count(*) FROM sqlite_master")):
        raise StoreDamaged(
            f"{path} is the database of another program, or {path.name}-wal is another's log: "
            "choose another data folder, or put a backup back"
        )
    check_schema_number(str(path), schema or SCHEMA, SCHEMA)
    return schema


def sqlite_version() -> str:
    """The version of the library.

    Raises:
        SchemaMismatch: It is too old for our statements.
    """
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        needed = ".".join(map(str, OLDEST_SQLITE))
        raise SchemaMismatch(f"SQLite {sqlite3.sqlite_version} is too old: {needed} is needed")
    return sqlite3.sqlite_version
