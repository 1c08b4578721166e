"""The ports of the SQLite store: ``Tables`` by SQL, ``Blobs`` in a table and in WARC segments.

A record's text is not in its row of ``records``: the statistics of a host read thousands of rows
and no text.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.storage.archive.segments import Archive, Place
from crawlclean.storage.sqlite.connection import SqliteConnection
from crawlclean.storage.store.ports import (
    PAGE_KEY,
    PRESENT,
    Answer,
    Fold,
    Key,
    PackedRecord,
    Row,
    Scan,
    Values,
    Where,
)
from crawlclean.storage.store.rows import from_microseconds
from crawlclean.storage.store.tables import KEYS

_RECORD = (
    "SELECT saved_seq, page_id, crawl_id, record, links "
    "FROM records JOIN record_blobs USING (saved_seq)"
)
_ANSWER = (
    "SELECT url, fetched_at, segment, offset, length FROM raw WHERE page_id = ? AND crawl_id = ?"
)


KEYED = {"signatures": "story_keys", "pictures": "picture_keys"}
"""Tables with numbered rows -> those with the keys that find them."""


class SqliteTables:
    """``Tables`` by SQL; the methods are documented in ``storage/store/ports.py``."""

    def __init__(self, db: SqliteConnection) -> None:
        self._db = db

    @contextmanager
    def together(self) -> Iterator[None]:
        """One transaction."""
        with self._db.transaction():
            yield

    def add(self, table: str, rows: Sequence[Row]) -> int:
        """Inserts the rows whose keys are new; returns how many were inserted."""
        if not rows:
            return 0
        sql = f"{_insert(table, rows[0])} ON CONFLICT DO NOTHING"
        with self._db.transaction() as db:
            return db.executemany(sql, [tuple(row.values()) for row in rows]).rowcount

    def put(self, table: str, *rows: Row, keep: Collection[str] = ()) -> None:
        """Inserts or replaces rows; existing rows keep their values of the columns ``keep``."""
        if not rows:
            return
        new = [name for name in rows[0] if name not in keep and name not in KEYS[table]]
        update = ", ".join(f"{name} = excluded.{name}" for name in new)
        sql = f"{_insert(table, rows[0])} ON CONFLICT DO UPDATE SET {update}"
        with self._db.transaction() as db:
            db.executemany(sql, [tuple(row.values()) for row in rows])

    def get(self, table: str, keys: Collection[Key], columns: Sequence[str]) -> dict[Key, Values]:
        """Rows by key, at most 10,000 keys; a key without a row is not in the result."""
        if not keys:
            return {}
        # SQL looks up the first column of the key, Python compares the others: a list of pairs
        # ("(a, b) IN (VALUES ...)") is 2 to 50 times slower in SQLite, measured with 25 to 1,000.
        # Behind a column with one value in all keys SQL looks up the next, too: a topic has a
        # million pages.
        key = KEYS[table]
        parts: list[str] = []
        asked: list[Any] = []
        for place, name in enumerate(key):
            values = list(dict.fromkeys(each[place] for each in keys))
            parts.append(f"{name} IN ({', '.join('?' * len(values))})")
            asked += values
            if len(values) > 1:
                break
        where = " AND ".join(parts)
        sql = f"SELECT {', '.join((*key, *columns))} FROM {table} WHERE {where}"
        wanted, width = set(keys), len(key)
        rows = self._db.rows(sql, *asked)
        return {found: row[width:] for row in rows if (found := row[:width]) in wanted}

    def scan(self, wanted: Scan) -> list[Values]:
        """The rows of a query."""
        # A plus before a column keeps SQLite from using its index. ``urls`` and ``raw`` have no
        # index by crawl and then page: with the index by crawl, each step would sort all rows of
        # the crawl. ``raw`` has one by host and then page.
        is_by_page = bool(wanted.after) and wanted.order == PAGE_KEY
        leads = is_by_page and (
            wanted.table == "urls" or (wanted.table == "raw" and "host" not in wanted.where)
        )
        where, values = conditions(wanted.where, "+" if leads else "")
        if wanted.after:
            behind = wanted.order[: len(wanted.after)]
            marks = ", ".join("?" * len(behind))
            sign = "<" if wanted.backwards else ">"
            where += f" AND ({', '.join(behind)}) {sign} ({marks})"
        sql = f"SELECT {', '.join(wanted.columns)} FROM {wanted.table} WHERE {where}"
        if wanted.order:
            down = " DESC" if wanted.backwards else ""
            sql += " ORDER BY " + ", ".join(f"{name}{down}" for name in wanted.order)
        if wanted.limit is not None:
            sql += f" LIMIT {wanted.limit:d}"
        return self._db.rows(sql, *values, *wanted.after)

    def delete(self, table: str, where: Where) -> int:
        """Deletes the matching rows; returns how many."""
        text, values = conditions(where)
        with self._db.transaction() as db:
            return db.execute(f"DELETE FROM {table} WHERE {text}", values).rowcount

    def change(self, table: str, where: Where, values: Row) -> int:
        """Sets columns of the matching rows; returns how many rows match."""
        text, asked = conditions(where)
        new = ", ".join(f"{name} = ?" for name in values)
        with self._db.transaction() as db:
            sql = f"UPDATE {table} SET {new} WHERE {text}"
            return db.execute(sql, (*values.values(), *asked)).rowcount

    def increase(self, table: str, key: Row, amounts: Mapping[str, float]) -> None:
        """Adds amounts to columns of the row of a key; a missing row is made, from 0."""
        row = {**key, **amounts}
        update = ", ".join(f"{name} = {name} + excluded.{name}" for name in amounts)
        sql = f"{_insert(table, row)} ON CONFLICT DO UPDATE SET {update}"
        with self._db.transaction() as db:
            db.execute(sql, tuple(row.values()))

    def lower(self, table: str, where: Where, column: str, value: int) -> None:
        """Sets a column of the matching rows that have a larger value there, or none."""
        text, asked = conditions(where)
        behind = f"({column} IS NULL OR {column} > ?)"
        with self._db.transaction() as db:
            sql = f"UPDATE {table} SET {column} = ? WHERE {text} AND {behind}"
            db.execute(sql, (value, *asked, value))

    def add_keyed(self, table: str, row: Row, keys: Sequence[int]) -> bool:
        """Inserts a row that ``nearest`` finds by keys; False when its key is there already."""
        sql = f"{_insert(table, row)} ON CONFLICT DO NOTHING"
        with self._db.transaction() as db:
            added = db.execute(sql, tuple(row.values()))
            if added.rowcount:
                sql = f"INSERT OR IGNORE INTO {KEYED[table]} VALUES (?, ?)"
                db.executemany(sql, [(key, added.lastrowid) for key in keys])
        return added.rowcount > 0

    def nearest(
        self, table: str, keys: Sequence[int], columns: Sequence[str], read: int, most: int
    ) -> list[Values]:
        """The rows that have the most keys in common with these, most common keys first."""
        sql = _nearest(table, ", ".join(columns), len(keys), read)
        return self._db.rows(sql, *keys, most)

    def count(self, table: str, where: Where) -> int:
        """Number of matching rows."""
        text, values = conditions(where)
        return int(self._db.rows(f"SELECT count(*) FROM {table} WHERE {text}", *values)[0][0])

    def now_us(self) -> int:
        """The machine's time: all processes of a file are on its machine."""
        return time.time_ns() // 1000

    def fold(
        self, table: str, by: Sequence[str], columns: Sequence[tuple[str, Fold]], where: Where
    ) -> list[Values]:
        """Matching rows as one row for each value of the columns ``by``."""
        text, values = conditions(where)
        group = ", ".join(by)
        folded = ", ".join(f"{how}({name})" for name, how in columns)
        sql = f"SELECT {group}, {folded} FROM {table} WHERE {text} GROUP BY {group}"
        return self._db.rows(sql, *values)


class SqliteBlobs:
    """``Blobs`` by a table and WARC segments; documented in ``storage/store/ports.py``."""

    def __init__(self, db: SqliteConnection, raw: Path) -> None:
        self._db = db
        self._raw = raw

    def record(self, page_id: str, crawl_id: str) -> PackedRecord | None:
        """The newest record of a page of a crawl."""
        rows = self._db.rows(f"{_RECORD} WHERE page_id = ? AND crawl_id = ?", page_id, crawl_id)
        return PackedRecord(*rows[0]) if rows else None

    def records(self, where: Where, after: int, limit: int) -> tuple[list[PackedRecord], int]:
        """Records with ``saved_seq`` > ``after``, and the next call's ``after`` (0: the end)."""
        # Without a test like "crawl = ? OR ? IS NULL", which would keep SQLite from using the index
        # that gives the order.
        text, values = conditions(where)
        sql = f"{_RECORD} WHERE {text} AND saved_seq > ? ORDER BY saved_seq LIMIT ?"
        rows = self._db.rows(sql, *values, after, limit)
        return [PackedRecord(*row) for row in rows], rows[-1][0] if len(rows) == limit else 0

    def answer(self, page_id: str, crawl_id: str) -> Answer | None:
        """The newest archived response of a URL of a crawl."""
        seen: Any = None
        while True:
            rows = self._db.rows(_ANSWER, page_id, crawl_id)
            if not rows:
                return None
            url, fetched_at, segment, offset, length = rows[0]
            try:
                found = Place(segment=segment, offset=offset, length=length)
                read = Archive(self._raw).read(found, url)
                return Answer(url, from_microseconds(fetched_at), *read)
            except StoreDamaged:
                if rows == seen:
                    raise
                seen = rows  # deleted or moved between the two reads: read the row again


def conditions(where: Where, before: str = "") -> tuple[str, tuple[Any, ...]]:
    """(condition, values), e.g. ``("crawl_id = ? AND host = ?", ("c1", "a.example"))``.

    Only columns of the condition occur, so that SQLite can use their index.

    Args:
        where: As in the port.
        before: Text before each compared column, ``"+"`` or ``""``.
    """
    parts: list[str] = []
    values: list[Any] = []
    for name, wanted in where.items():
        if wanted is PRESENT:
            parts.append(f"{name} IS NOT NULL")
        elif wanted is None:
            parts.append(f"{name} IS NULL")
        elif isinstance(wanted, (list, tuple)):
            parts.append(f"{before}{name} IN ({', '.join('?' * len(wanted))})")
            values += wanted
        else:
            parts.append(f"{before}{name} = ?")
            values.append(wanted)
    return " AND ".join(parts) or "TRUE", tuple(values)


@lru_cache(maxsize=16)
def _nearest(table: str, columns: str, keys: int, read: int) -> str:
    """The query of ``SqliteTables.nearest``, long and often asked."""
    of_key = f"SELECT seq FROM (SELECT seq FROM {KEYED[table]} WHERE key = ? LIMIT {read:d})"
    return f"""SELECT {columns} FROM (
        SELECT seq, count(*) AS shared FROM ({" UNION ALL ".join([of_key] * keys)})
        GROUP BY seq ORDER BY shared DESC, seq LIMIT ?)
        CROSS JOIN {table} USING (seq) ORDER BY shared DESC, seq"""


def _insert(table: str, row: Row) -> str:
    marks = ", ".join("?" * len(row))
    return f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})"
