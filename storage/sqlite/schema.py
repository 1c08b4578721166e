"""The tables of the SQLite store, and the check that a file has them.

``PRAGMA user_version`` is the number of the schema, ``PRAGMA application_id`` marks a file as ours.
Times are whole microseconds since 1970 UTC, e.g. 1772366400123456.

``records`` is narrow, its text lives in ``record_blobs``: the statistics of a host read thousands
of rows and no text.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from crawlclean.cleaning.errors import SchemaMismatch, StoreDamaged
from crawlclean.storage.store.overview import HOST_COLUMNS
from crawlclean.storage.store.ports import check_schema_number

APPLICATION_ID = 0x63726C63
OLDEST_SQLITE = (3, 35, 0)  # DELETE ... RETURNING

SCHEMA = 15
"""``PRAGMA user_version`` of our files. Numbers below 14 were of checkouts before version 0.2.0."""

_QUEUES = """CREATE TABLE queues (
        queue_id TEXT PRIMARY KEY,
        place TEXT NOT NULL,
        server TEXT NOT NULL,
        heard_at INTEGER NOT NULL
    )"""

_TABLES = (
    """CREATE TABLE crawls (
        crawl_id TEXT PRIMARY KEY,
        spec TEXT NOT NULL,
        state TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        queue TEXT NOT NULL DEFAULT ''
    )""",
    # The queues that run crawls of this store (``storage/store/crawls.py``).
    _QUEUES,
    # One row a URL of a crawl: its newest outcome. (fetched_at, model_version) is its fence, digest
    # differs between two outcomes of the same version. media_type and sha256 are NULL
    # except for a stored image; certificate except for a host whose certificate is wrong; reason,
    # detail and attempts except for a failure; the last four except in a crawl that keeps fresh.
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
        next_visit INTEGER,
        interval_s INTEGER,
        checked_at INTEGER,
        visits BLOB,
        PRIMARY KEY (page_id, crawl_id)
    )""",
    # Covers the search for due URLs, which reads all that are due.
    """CREATE INDEX due_urls ON urls (crawl_id, next_visit, page_id, interval_s, host)
        WHERE next_visit IS NOT NULL""",
    "CREATE INDEX urls_of_host ON urls (crawl_id, host, state)",
    "CREATE INDEX failures ON urls (page_id, crawl_id) WHERE reason IS NOT NULL",
    "CREATE INDEX failures_by_time ON urls (fetched_at) WHERE reason IS NOT NULL",
    "CREATE INDEX failures_of_crawl ON urls (crawl_id, fetched_at) WHERE reason IS NOT NULL",
    "CREATE INDEX failures_of_host ON urls (crawl_id, host, fetched_at) WHERE reason IS NOT NULL",
    "CREATE INDEX failures_of_site ON urls (host, fetched_at) WHERE reason IS NOT NULL",
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
    # Older versions of records, each as its difference to the next newer one.
    """CREATE TABLE versions (
        page_id TEXT NOT NULL,
        crawl_id TEXT NOT NULL,
        fetched_at INTEGER NOT NULL,
        host TEXT NOT NULL,
        added INTEGER NOT NULL,
        removed INTEGER NOT NULL,
        packed BLOB NOT NULL,
        PRIMARY KEY (page_id, crawl_id, fetched_at)
    )""",
    # What the visits of a host's URL class have found.
    """CREATE TABLE visit_classes (
        host TEXT NOT NULL,
        crawl_id TEXT NOT NULL,
        url_class TEXT NOT NULL,
        changes REAL NOT NULL,
        time_s REAL NOT NULL,
        visits INTEGER NOT NULL,
        changed INTEGER NOT NULL,
        not_modified INTEGER NOT NULL,
        PRIMARY KEY (host, crawl_id, url_class)
    )""",
    # Near-duplicates: a record with a signature, under its saved_seq (``sqlite/stories.py``).
    """CREATE TABLE signatures (
        seq INTEGER PRIMARY KEY,
        sig BLOB NOT NULL,
        chars INTEGER NOT NULL,
        at INTEGER NOT NULL,
        story INTEGER
    )""",
    "CREATE INDEX signatures_by_time ON signatures (story, at) WHERE story IS NOT NULL",
    "CREATE INDEX signatures_by_chars ON signatures (story, chars) WHERE story IS NOT NULL",
    """CREATE TABLE story_keys (
        key INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        PRIMARY KEY (key, seq)
    ) WITHOUT ROWID""",
    # Pointers between stories that turned out to be one.
    """CREATE TABLE stories (
        story INTEGER PRIMARY KEY,
        target INTEGER NOT NULL
    )""",
    "CREATE INDEX stories_by_target ON stories (target)",
    # An index that is being built anew: records up to until_seq are taken out (clear), and added
    # again up to after_seq (add).
    """CREATE TABLE rebuilds (
        what TEXT PRIMARY KEY,
        phase TEXT NOT NULL,
        until_seq INTEGER NOT NULL,
        after_seq INTEGER NOT NULL
    )""",
    # How far a host's dates and ETags are true (JSON, zstd).
    """CREATE TABLE visit_trust (
        host TEXT NOT NULL,
        crawl_id TEXT NOT NULL,
        packed BLOB NOT NULL,
        PRIMARY KEY (host, crawl_id)
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
    # Sums of what crawls take read this index alone.
    "CREATE INDEX raw_of_crawl ON raw (crawl_id, host, length)",
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
    # What lists read (``storage/store/overview.py``); the last two are sums over hosts.
    """CREATE TABLE host_rows (
        host TEXT PRIMARY KEY,
        crawls INTEGER NOT NULL,
        records INTEGER NOT NULL,
        failed INTEGER NOT NULL,
        excluded INTEGER NOT NULL,
        other INTEGER NOT NULL,
        body_chars INTEGER NOT NULL,
        fetched_bytes INTEGER NOT NULL,
        noise_ppm INTEGER NOT NULL,
        near_duplicates INTEGER NOT NULL,
        model_version INTEGER NOT NULL,
        first_seen INTEGER,
        last_seen INTEGER NOT NULL,
        updated_at INTEGER NOT NULL
    )""",
    *(f"CREATE INDEX hosts_by_{name} ON host_rows ({name}, host)" for name in HOST_COLUMNS),
    "CREATE INDEX hosts_by_update ON host_rows (updated_at)",
    """CREATE TABLE host_states (
        host TEXT NOT NULL,
        crawl_id TEXT NOT NULL,
        state TEXT NOT NULL,
        n INTEGER NOT NULL,
        PRIMARY KEY (host, crawl_id, state)
    ) WITHOUT ROWID""",
    "CREATE INDEX states_of_crawl ON host_states (crawl_id, state, n)",
    """CREATE TABLE failure_groups (
        host TEXT NOT NULL,
        crawl_id TEXT NOT NULL,
        reason TEXT NOT NULL,
        status INTEGER NOT NULL,
        n INTEGER NOT NULL,
        first_at INTEGER NOT NULL,
        newest_at INTEGER NOT NULL,
        sample TEXT NOT NULL,
        PRIMARY KEY (host, crawl_id, reason, status)
    ) WITHOUT ROWID""",
    """CREATE INDEX groups_of_crawl ON failure_groups
        (crawl_id, reason, status, n, host, first_at, newest_at)""",
    "CREATE INDEX largest_groups ON failure_groups (n, sample)",
    "CREATE INDEX largest_groups_of_reason ON failure_groups (reason, n, sample)",
    "CREATE INDEX largest_groups_of_crawl ON failure_groups (crawl_id, n, sample)",
    """CREATE TABLE crawl_counts (
        crawl_id TEXT NOT NULL,
        state TEXT NOT NULL,
        n INTEGER NOT NULL,
        PRIMARY KEY (crawl_id, state)
    )""",
    """CREATE TABLE causes (
        crawl_id TEXT NOT NULL,
        reason TEXT NOT NULL,
        status INTEGER NOT NULL,
        n INTEGER NOT NULL,
        hosts INTEGER NOT NULL,
        first_at INTEGER NOT NULL,
        newest_at INTEGER NOT NULL,
        PRIMARY KEY (crawl_id, reason, status)
    )""",
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
        crawls TEXT NOT NULL,
        who TEXT NOT NULL,
        why TEXT NOT NULL
    )""",
    # What the console shows over time. Numbers of the newest rows of the next three tables.
    """CREATE TABLE numbers (
        what TEXT PRIMARY KEY,
        n INTEGER NOT NULL
    )""",
    """CREATE TABLE events (
        seq INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        kind TEXT NOT NULL,
        host TEXT NOT NULL,
        crawl_id TEXT NOT NULL,
        text TEXT NOT NULL,
        link TEXT NOT NULL
    )""",
    "CREATE INDEX events_of_host ON events (host, seq)",
    "CREATE INDEX events_of_crawl ON events (crawl_id, seq)",
    "CREATE INDEX events_of_kind ON events (kind, seq)",
    """CREATE TABLE audit (
        seq INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        who TEXT NOT NULL,
        place TEXT NOT NULL,
        action TEXT NOT NULL,
        target TEXT NOT NULL,
        asked TEXT NOT NULL,
        did TEXT,
        undo TEXT NOT NULL
    )""",
    """CREATE TABLE operations (
        seq INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        target TEXT NOT NULL,
        who TEXT NOT NULL,
        asked TEXT NOT NULL,
        state TEXT NOT NULL,
        done INTEGER NOT NULL,
        total INTEGER NOT NULL,
        detail TEXT NOT NULL,
        begun_at INTEGER NOT NULL,
        moved_at INTEGER NOT NULL,
        is_stopping INTEGER NOT NULL
    )""",
    # slots: 1, or the samples of a block. at: seconds since 1970 UTC.
    """CREATE TABLE samples (
        step INTEGER NOT NULL,
        slots INTEGER NOT NULL,
        at INTEGER NOT NULL,
        vals BLOB NOT NULL,
        PRIMARY KEY (step, slots, at)
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
    # Topics, the link models they learned, and their judgements of pages.
    """CREATE TABLE topics (
        name TEXT PRIMARY KEY,
        version INTEGER NOT NULL,
        spec TEXT NOT NULL,
        state TEXT NOT NULL,
        crawl_id TEXT NOT NULL,
        examples BLOB NOT NULL,
        packed BLOB NOT NULL,
        created_at INTEGER NOT NULL,
        note TEXT NOT NULL,
        read_words TEXT,
        read_after INTEGER,
        read_end INTEGER
    )""",
    """CREATE TABLE topic_models (
        topic TEXT NOT NULL,
        version INTEGER NOT NULL,
        learned_at INTEGER NOT NULL,
        page_ids TEXT NOT NULL,
        hub_ids TEXT NOT NULL,
        is_marked INTEGER NOT NULL,
        packed BLOB NOT NULL,
        PRIMARY KEY (topic, version)
    )""",
    # fence: version of the topic and time of the response, the older judgement never wins. day:
    # days since 1970. to_learn: the topic, while the learner is to learn from the page.
    """CREATE TABLE topic_pages (
        topic TEXT NOT NULL,
        page_id TEXT NOT NULL,
        crawl_id TEXT NOT NULL,
        url TEXT NOT NULL,
        host TEXT NOT NULL,
        title TEXT NOT NULL,
        fetched_at INTEGER NOT NULL,
        day INTEGER NOT NULL,
        version INTEGER NOT NULL,
        fence INTEGER NOT NULL,
        relevance REAL NOT NULL,
        label REAL NOT NULL,
        relevant INTEGER NOT NULL,
        parts TEXT NOT NULL,
        features BLOB NOT NULL,
        parent TEXT NOT NULL,
        mark INTEGER,
        to_learn TEXT,
        learned_in INTEGER,
        hub_in INTEGER,
        PRIMARY KEY (topic, page_id)
    )""",
    "CREATE INDEX topic_pages_of_page ON topic_pages (page_id)",
    "CREATE INDEX topic_pages_of_crawl ON topic_pages (crawl_id, host)",
    """CREATE INDEX topic_pages_by_time
        ON topic_pages (topic, fetched_at, page_id, relevant, crawl_id)""",
    "CREATE INDEX topic_pages_by_host ON topic_pages (topic, relevant, host, day)",
    "CREATE INDEX topic_pages_by_relevance ON topic_pages (topic, relevance, page_id)",
    "CREATE INDEX topic_pages_by_version ON topic_pages (topic, version)",
    "CREATE INDEX topic_pages_by_parent ON topic_pages (topic, parent, fetched_at)",
    """CREATE INDEX topic_pages_to_learn ON topic_pages (to_learn, page_id)
        WHERE to_learn IS NOT NULL""",
    "CREATE INDEX topic_pages_marked ON topic_pages (topic, mark) WHERE mark IS NOT NULL",
    # Images of topics' crawls by their looks. grp: least number of the copies' ids.
    """CREATE TABLE pictures (
        seq INTEGER PRIMARY KEY,
        page_id TEXT NOT NULL,
        crawl_id TEXT NOT NULL,
        host TEXT NOT NULL,
        fetched_at INTEGER NOT NULL,
        sha256 TEXT NOT NULL,
        width INTEGER NOT NULL,
        height INTEGER NOT NULL,
        file_bytes INTEGER NOT NULL,
        prints BLOB NOT NULL,
        grp INTEGER NOT NULL,
        UNIQUE (page_id, crawl_id)
    )""",
    "CREATE INDEX pictures_by_group ON pictures (crawl_id, grp)",
    "CREATE INDEX pictures_by_bytes ON pictures (crawl_id, sha256)",
    # A key holds its crawl (cleaning/topics/pictures.py).
    """CREATE TABLE picture_keys (
        key INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        PRIMARY KEY (key, seq)
    ) WITHOUT ROWID""",
    # Who is told of a topic's new stories; what waits for them; the stories they were told of.
    """CREATE TABLE receivers (
        topic TEXT NOT NULL,
        kind TEXT NOT NULL,
        target TEXT NOT NULL,
        is_private INTEGER NOT NULL,
        since INTEGER NOT NULL,
        owner TEXT NOT NULL,
        owned_until INTEGER NOT NULL,
        next_try INTEGER NOT NULL,
        tries INTEGER NOT NULL,
        failing_since INTEGER,
        last_error TEXT NOT NULL,
        last_sent INTEGER,
        sent INTEGER NOT NULL,
        copies INTEGER NOT NULL,
        given_up INTEGER NOT NULL,
        PRIMARY KEY (topic, kind)
    )""",
    """CREATE TABLE outbox (
        topic TEXT NOT NULL,
        kind TEXT NOT NULL,
        page_id TEXT NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (topic, kind, page_id)
    )""",
    "CREATE INDEX outbox_by_time ON outbox (topic, kind, at, page_id)",
    """CREATE TABLE told (
        topic TEXT NOT NULL,
        kind TEXT NOT NULL,
        number INTEGER NOT NULL,
        page_id TEXT NOT NULL,
        PRIMARY KEY (topic, kind, number)
    ) WITHOUT ROWID""",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA}",
)

_MIGRATIONS = {
    14: (_QUEUES, "ALTER TABLE crawls ADD COLUMN queue TEXT NOT NULL DEFAULT ''"),
}
"""Schema -> the statements that make the next one of it."""


def prepare(db: sqlite3.Connection, path: Path, *, is_read_only: bool = False) -> None:
    """Makes the tables of an empty file, brings a file of an older schema to ours.

    Both in one transaction: a killed process leaves the file as it was.

    Args:
        db: A connection to the file.
        path: The file, for errors.
        is_read_only: Whether the file cannot be changed.

    Raises:
        SchemaMismatch: The file has a schema that this program does not know, or an older one and
            is read-only.
        StoreDamaged: The file is another program's database.
    """
    if (found := _schema(db, path)) == SCHEMA:
        return
    if is_read_only and found:
        raise SchemaMismatch(
            f"{path} has schema {found} and is read-only, this program reads schema {SCHEMA}: "
            "copy the folder to a place where it can be written"
        )
    db.execute("BEGIN IMMEDIATE")
    try:
        found = _schema(db, path)  # another process may have been first
        if not found:
            for statement in _TABLES:
                db.execute(statement)
        for schema in range(found or SCHEMA, SCHEMA):
            for statement in _MIGRATIONS[schema]:
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {schema + 1}")
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
    check_schema_number(str(path), schema or SCHEMA, SCHEMA, min(_MIGRATIONS))
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
