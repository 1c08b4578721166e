"""What the SQLite store tells of images, and of archived answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cleaning.errors import StoreDamaged
from storage.archive import Archive
from storage.images import PageImages
from storage.record_blobs import unpack_images
from storage.sqlite_connection import SqliteConnection
from storage.sqlite_reading import RAW_ROW, place_of

READ_PAGES = 200

RawAnswer = tuple[Any, int, tuple[tuple[str, str], ...], bytes]
"""A row of ``RAW_ROW``, status, headers, body."""


class SqliteImages:
    """Part of ``SqliteStore``; see ``ImageReader`` for the methods."""

    _db: SqliteConnection
    _archive: Archive

    def page_images(self, crawl_id: str, host: str | None = None) -> Iterator[PageImages]:
        """The images of every page with a record (of one host), in the order they were saved."""
        after = 0
        where, values = ("", ()) if host is None else ("records.host = ? AND", (host,))
        sql = (
            "SELECT saved_seq, url, depth, links FROM records JOIN record_blobs USING (saved_seq) "  # noqa: S608
            f"JOIN urls USING (page_id, crawl_id) WHERE crawl_id = ? AND {where} saved_seq > ? "
            f"ORDER BY saved_seq LIMIT {READ_PAGES}"
        )
        while True:
            rows = self._db.rows(sql, crawl_id, *values, after)
            for after, url, depth, links in rows:  # noqa: B007 (the last one is where to go on)
                yield PageImages(url=url, depth=depth, images=unpack_images(links))
            if len(rows) < READ_PAGES:
                return

    def archived_bytes(self, page_id: str, crawl_id: str | None = None) -> bytes | None:
        """The newest archived answer of a page or an image; None when the archive has none."""
        found = self._raw_answer(page_id, crawl_id)
        return found[3] if found else None

    def _raw_answer(self, page_id: str, crawl_id: str | None) -> RawAnswer | None:
        seen: Any = None
        while True:
            rows = self._db.rows(RAW_ROW, page_id, crawl_id, crawl_id)
            if not rows:
                return None
            url = rows[0][3]
            try:
                return rows[0], *self._archive.read(place_of(rows[0]), url)
            except StoreDamaged:
                if rows == seen:
                    raise
                seen = rows  # deleted or moved between the two reads? then the row says so now
