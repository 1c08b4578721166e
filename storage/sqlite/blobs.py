"""The large things of the SQLite store: records in a table of blobs, answers in WARC segments.

A record's text is not in its row of ``records``: the statistics of a host read thousands of rows
and no text.
"""

from __future__ import annotations

from typing import Any

from cleaning.errors import StoreDamaged
from storage.archive.segments import Archive, Place
from storage.sqlite.connection import SqliteConnection
from storage.sqlite.tables import conditions
from storage.store.records import ArchivedAnswer, PackedRecord
from storage.store.tables import Where

_RECORD = (
    "SELECT saved_seq, page_id, crawl_id, record, links "
    "FROM records JOIN record_blobs USING (saved_seq)"
)
_ANSWER = (
    "SELECT url, fetched_at, segment, offset, length FROM raw WHERE page_id = ? AND crawl_id = ?"
)


class SqliteBlobs:
    """``storage.store.records.Blobs``; see there for the methods."""

    def __init__(self, db: SqliteConnection, archive: Archive) -> None:
        self._db = db
        self._archive = archive

    def record(self, page_id: str, crawl_id: str) -> PackedRecord | None:
        """The newest record of a page of a crawl."""
        rows = self._db.rows(f"{_RECORD} WHERE page_id = ? AND crawl_id = ?", page_id, crawl_id)
        return PackedRecord(*rows[0]) if rows else None

    def records(self, where: Where, after: int, limit: int) -> tuple[list[PackedRecord], int]:
        """Records with a number greater than ``after``, and the number to go on behind."""
        # Only what was asked is named: a test "crawl or all" would hide the index that gives the
        # order.
        text, values = conditions(where)
        sql = f"{_RECORD} WHERE {text} AND saved_seq > ? ORDER BY saved_seq LIMIT ?"
        rows = self._db.rows(sql, *values, after, limit)
        return [PackedRecord(*row) for row in rows], rows[-1][0] if len(rows) == limit else 0

    def answer(self, page_id: str, crawl_id: str) -> ArchivedAnswer | None:
        """The newest archived answer of a URL of a crawl."""
        seen: Any = None
        while True:
            rows = self._db.rows(_ANSWER, page_id, crawl_id)
            if not rows:
                return None
            url, fetched_at, segment, offset, length = rows[0]
            try:
                found = Place(segment=segment, offset=offset, length=length)
                return ArchivedAnswer(url, fetched_at, *self._archive.read(found, url))
            except StoreDamaged:
                if rows == seen:
                    raise
                seen = rows  # deleted or moved between the two reads? then the row says so now
