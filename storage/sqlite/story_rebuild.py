"""What SQLite does when the index of stories is built anew; each step is one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from crawlclean.cleaning.topics.stories import story_keys
from crawlclean.storage.sqlite.stories import SqliteStoryRows
from crawlclean.storage.store.ports import PackedRecord
from crawlclean.storage.store.stories import Member, after_deletion

KEYS_AT_ONCE, MEMBERS_AT_ONCE, POINTERS_AT_ONCE = 5_000, 1_000, 200


class SqliteRebuildRows(SqliteStoryRows):
    """``RebuildRows`` by SQL; the methods are documented in ``storage/store/story_rebuild.py``."""

    def clear(self, until: int) -> Iterator[None]:
        """Takes records out of the index: keys, members, pointers."""
        behind = (-1, 0)
        sql = "SELECT key, seq FROM story_keys WHERE (key, seq) > (?, ?) ORDER BY key, seq LIMIT ?"
        while keys := self._db.rows(sql, *behind, KEYS_AT_ONCE):
            behind = keys[-1]
            with self._db.transaction() as db:
                old = [each for each in keys if each[1] <= until]
                db.executemany("DELETE FROM story_keys WHERE key = ? AND seq = ?", old)
            yield
        after = 0
        sql = "SELECT seq FROM signatures WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?"
        while members := self._db.rows(sql, after, until, MEMBERS_AT_ONCE):
            self._delete_members(after, members[-1][0])
            after = members[-1][0]
            yield
        number = -1
        sql = "SELECT story FROM stories WHERE story > ? ORDER BY story LIMIT ?"
        while pointers := self._db.rows(sql, number, POINTERS_AT_ONCE):
            after_deletion(self, [row[0] for row in pointers])
            number = pointers[-1][0]
            yield

    def _delete_members(self, after: int, last: int) -> None:
        """Deletes members, and marks the statistics of the hosts of those that had a story."""
        told = "SELECT seq FROM signatures WHERE seq > ? AND seq <= ? AND story IS NOT NULL"
        hosts = f"SELECT crawl_id, host FROM records WHERE saved_seq IN ({told})"
        with self._db.transaction() as db:
            db.execute(
                f"UPDATE hosts SET is_dirty = 1 WHERE (crawl_id, host) IN ({hosts})", (after, last)
            )
            db.execute("DELETE FROM signatures WHERE seq > ? AND seq <= ?", (after, last))

    def ref_of(self, packed: PackedRecord) -> Any:
        """The number of its save."""
        return packed.saved_seq

    def insert(
        self,
        page: Member,
        signature: bytes,
        fence: Sequence[Any],  # noqa: ARG002 - the number of a save stands for its version
    ) -> Member | None:
        """Adds a record to the index."""
        with self._db.transaction() as db:
            row = (page.ref, signature, page.chars, page.at, page.story)
            added = db.execute("INSERT OR IGNORE INTO signatures VALUES (?, ?, ?, ?, ?)", row)
            if not added.rowcount:
                return next(iter(self.read([page.ref])), None)
            keys = [(key, page.ref) for key in story_keys(signature)]
            db.executemany("INSERT OR IGNORE INTO story_keys VALUES (?, ?)", keys)
        return page
