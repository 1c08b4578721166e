"""The tables of the SQLite store, made of ``store/tables.py``, and the check that a file has them.

``PRAGMA user_version`` is the number of the schema, ``PRAGMA application_id`` marks a file as ours.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from crawlclean.cleaning.errors import SchemaMismatch, StoreDamaged
from crawlclean.storage.store.ports import check_schema_number
from crawlclean.storage.store.tables import SQLITE_TABLES, TABLES, Table

APPLICATION_ID = 0x63726C63  # "crlc" in ASCII: the database is ours
OLDEST_SQLITE = (3, 35, 0)  # DELETE ... RETURNING

SCHEMA = 18
"""``PRAGMA user_version`` of our files. Numbers below 14 were of checkouts before version 0.2.0."""


def _table(table: Table) -> Iterator[str]:
    """Yields the statements that make a table with its indexes."""
    columns = [
        each if each.endswith("NULL") else f"{each} NOT NULL"
        for each in " ".join(table.columns.replace(" KEY", "").split()).split(", ")
    ]
    key = ", ".join(table.key)
    columns += [table.number, f"UNIQUE ({key})"] if table.number else [f"PRIMARY KEY ({key})"]
    yield (
        f"CREATE TABLE {table.name} ({', '.join(columns)})"
        + (" WITHOUT ROWID" if table.is_clustered else "")
    )
    number = table.number.partition(" ")[0]  # SQLite ends every index with it
    for index in table.indexes:
        if index.name:
            names = index.columns.removesuffix(f", {number}")
            where = f" WHERE {index.only}" if index.only else ""
            yield f"CREATE INDEX {index.name} ON {table.name} ({names}){where}"


def _statements() -> Iterator[str]:
    """Yields the statements that make an empty file ours."""
    for table in (*TABLES, *SQLITE_TABLES):
        yield from _table(table)
    yield f"PRAGMA application_id = {APPLICATION_ID}"
    yield f"PRAGMA user_version = {SCHEMA}"


def _made(name: str) -> tuple[str, ...]:
    """The statements that make one table."""
    return tuple(each for table in TABLES if table.name == name for each in _table(table))


_OF_RECEIVERS = ("receivers", "outbox", "told", "alerts", "messages")

_MIGRATIONS: dict[int, tuple[str, ...]] = {
    14: (
        *_made("queues"),
        "ALTER TABLE crawls ADD COLUMN queue TEXT NOT NULL DEFAULT ''",
    ),
    15: (
        "ALTER TABLE records ADD COLUMN confidence REAL",
        "CREATE INDEX least_sure_of_host ON records (host, confidence) "
        "WHERE confidence IS NOT NULL",
    ),
    16: (
        "DROP INDEX topic_pages_by_time",
        "DROP INDEX topic_pages_by_host",
        "ALTER TABLE topic_pages RENAME COLUMN day TO at",
        "ALTER TABLE topic_pages ADD COLUMN read_at INTEGER",
        # A page published over 30 days before its fetch has its date when it is judged anew.
        "UPDATE topic_pages SET at = coalesce((SELECT signatures.at FROM records "
        "JOIN signatures ON seq = saved_seq WHERE records.page_id = topic_pages.page_id "
        "AND records.crawl_id = topic_pages.crawl_id), fetched_at)",
        *(
            statement
            for statement in _made("topic_pages")
            if re.search("by_(time|publication|host) ON", statement)
        ),
    ),
    # A receiver has a name: of a topic's webhook "webhook:TOPIC".
    17: (
        *_made("slowdowns"),
        *(f"ALTER TABLE {name} RENAME TO old_{name}" for name in _OF_RECEIVERS[:3]),
        "DROP INDEX outbox_by_time",
        *(statement for name in _OF_RECEIVERS for statement in _made(name)),
        "INSERT INTO receivers SELECT kind || ':' || topic, kind, target, is_private, '', 0, "
        """'["' || topic || '"]', '[]', '08:00', 'UTC', '', 0, 0, 'en', since, next_try, """
        "owned_until, owner, '', 0, '', 0, '', tries, failing_since, last_error, last_sent, sent, "
        "copies, given_up FROM old_receivers",
        "INSERT INTO outbox SELECT kind || ':' || topic, topic || ':' || page_id, at, 'story', "
        "topic, page_id, '' FROM old_outbox",
        "INSERT INTO told SELECT kind || ':' || topic, topic, number, page_id FROM old_told",
        *(f"DROP TABLE old_{name}" for name in _OF_RECEIVERS[:3]),
    ),
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
            for statement in _statements():
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
