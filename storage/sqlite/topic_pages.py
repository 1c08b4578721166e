"""Writes judgements of topics as rows of the SQLite store, behind their fence.

The fence is that of ``store/topic_rows.py``. Every function but ``put_pages`` runs inside the
transaction of one save.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from crawlclean.storage.crawl_types import Outcome
from crawlclean.storage.sqlite.connection import SqliteConnection
from crawlclean.storage.store.encoded_outcomes import naming
from crawlclean.storage.store.ports import Row
from crawlclean.storage.store.topic_rows import outbox_rows, rows_of

_COLUMNS = (
    "topic", "page_id", "crawl_id", "url", "host", "title", "fetched_at", "day", "version", "fence",
    "relevance", "label", "relevant", "parts", "features", "parent", "to_learn",
)  # fmt: skip
_KEPT = {
    "relevant": "CASE WHEN mark IS NULL THEN excluded.relevant ELSE relevant END",
    "label": "CASE WHEN mark IS NULL THEN excluded.label ELSE label END",
    # A page is judged anew without the link that led to it.
    "features": "CASE WHEN length(excluded.features) THEN excluded.features ELSE features END",
    "parent": "CASE WHEN excluded.parent <> '' THEN excluded.parent ELSE parent END",
    "to_learn": "CASE WHEN learned_in IS NULL THEN coalesce(excluded.to_learn, to_learn) "
    "ELSE to_learn END",
}
_UPDATES = ", ".join(f"{name} = {_KEPT.get(name, f'excluded.{name}')}" for name in _COLUMNS[2:])
_PUT = (
    f"INSERT INTO topic_pages ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))}) "
    f"ON CONFLICT DO UPDATE SET {_UPDATES} WHERE excluded.fence >= topic_pages.fence"
)


def put_judgements(db: sqlite3.Connection, outcome: Outcome) -> None:
    """Writes the judgements of an outcome, and its rows of the outbox.

    Raises:
        StoreDamaged: No row can hold them.
    """
    with naming(outcome):
        _put(db, rows_of(outcome))
        for row in outbox_rows(outcome):
            sql = "INSERT OR IGNORE INTO outbox (topic, kind, page_id, at) VALUES (?, ?, ?, ?)"
            db.execute(sql, tuple(row.values()))


def put_pages(db: SqliteConnection, rows: Sequence[Row]) -> None:
    """Writes judgements of stored pages in one transaction."""
    with db.transaction() as connection:
        _put(connection, rows)


def _put(db: sqlite3.Connection, rows: Sequence[Row]) -> None:
    db.executemany(_PUT, [tuple(row[name] for name in _COLUMNS) for row in rows])
