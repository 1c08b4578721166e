"""Pictures of topics in SQLite: a row for each image, and the keys by which copies are found.

Every writing function runs inside the transaction of one save or deletion.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from crawlclean.cleaning.topics.pictures import picture_keys
from crawlclean.storage.sqlite.connection import SqliteConnection
from crawlclean.storage.store.pictures import CANDIDATES, KEY_ROWS, PICTURE, PictureRow

_PUT = (
    f"INSERT INTO pictures ({', '.join(PICTURE.columns)}) "
    f"VALUES ({', '.join('?' * len(PICTURE.columns))}) ON CONFLICT DO NOTHING RETURNING seq"
)
_OF_KEY = f"SELECT seq FROM (SELECT seq FROM picture_keys WHERE key = ? LIMIT {KEY_ROWS})"


class SqlitePictureRows:
    """``PictureRows`` by SQL; the methods are documented in ``storage/store/pictures.py``."""

    def __init__(self, db: SqliteConnection) -> None:
        self._db = db

    def put(self, row: PictureRow, keys: Sequence[int]) -> None:
        """Writes a picture; a known one stays as it is."""
        with self._db.transaction() as db:
            for (seq,) in db.execute(_PUT, tuple(PICTURE.row(row).values())).fetchall():
                sql = "INSERT OR IGNORE INTO picture_keys VALUES (?, ?)"
                db.executemany(sql, [(key, seq) for key in keys])

    def similar(self, keys: Sequence[int]) -> list[PictureRow]:
        """Pictures with the most keys in common."""
        if not keys:
            return []
        sql = (
            f"SELECT {', '.join(PICTURE.columns)} FROM pictures WHERE seq IN ("
            f"SELECT seq FROM ({' UNION ALL '.join([_OF_KEY] * len(keys))}) "
            f"GROUP BY seq ORDER BY count(*) DESC, seq LIMIT {CANDIDATES})"
        )
        return list(map(PICTURE.read, self._db.rows(sql, *keys)))


def delete_pictures(db: sqlite3.Connection, pages: Sequence[tuple[str, str]]) -> None:
    """Deletes the pictures of images, (image, crawl), with their keys."""
    for key in pages:
        sql = "DELETE FROM pictures WHERE page_id = ? AND crawl_id = ? RETURNING seq, prints"
        for seq, prints in db.execute(sql, key).fetchall():
            keys = [(each, seq) for each in picture_keys(prints, key[1])]
            db.executemany("DELETE FROM picture_keys WHERE key = ? AND seq = ?", keys)
