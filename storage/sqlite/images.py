"""What the SQLite store tells of images, and of archived answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from cleaning.errors import StoreDamaged
from storage.archive.segments import Archive
from storage.sqlite.connection import SqliteConnection
from storage.sqlite.reading import RAW_ROW, condition, place_of
from storage.store.images import DUE_AT_ONCE, PageImages
from storage.store.record_blobs import unpack_images

READ_PAGES = 200

RawAnswer = tuple[Any, int, tuple[tuple[str, str], ...], bytes]
"""A row of ``RAW_ROW``, status, headers, body."""


class SqliteImages:
    """Part of ``SqliteStore``; see ``ImageStore`` for the methods."""

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
            for after, url, depth, links in rows:
                yield _page_images(after, url, depth, links)
            if len(rows) < READ_PAGES:
                return

    def due_images(self, crawl_id: str, limit: int = DUE_AT_ONCE) -> list[PageImages]:
        """Pages with images that became content and are not offered yet, in any order."""
        rows = self._db.rows(
            "SELECT saved_seq, url, depth, links FROM records JOIN record_blobs USING (saved_seq) "
            "JOIN urls USING (page_id, crawl_id) WHERE crawl_id = ? AND images_due LIMIT ?",
            crawl_id,
            limit,
        )
        return [_page_images(*row) for row in rows]

    def end_due_images(self, crawl_id: str, pages: Sequence[PageImages]) -> None:
        """Says that the images of pages are offered; what was saved since then stays due."""
        with self._db.transaction() as db:
            db.executemany(
                "UPDATE records SET images_due = 0 WHERE saved_seq = ? AND crawl_id = ?",
                [(page.saved_seq, crawl_id) for page in pages],
            )

    def forget_due_images(self, crawl_id: str, host: str | None = None) -> None:
        """Says that nothing of a crawl (of one host) is to be offered."""
        where, values = condition(crawl_id, host)
        with self._db.transaction() as db:
            sql = f"UPDATE records SET images_due = 0 WHERE {where} AND images_due"  # noqa: S608
            db.execute(sql, values)

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


def _page_images(saved_seq: int, url: str, depth: int, links: bytes) -> PageImages:
    return PageImages(saved_seq=saved_seq, url=url, depth=depth, images=unpack_images(links))
