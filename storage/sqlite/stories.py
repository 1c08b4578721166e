"""Stories in SQLite: the index of signatures, and members by number.

``signatures`` has a row for each record with a signature, under the record's ``saved_seq``: a
record that is saved again takes its row along. ``story_keys`` finds members by key. The column
``story`` and its indexes hold only members that are not alone.

Every writing function runs inside the transaction of one save or deletion.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from crawlclean.cleaning.topics.stories import BINS, story_keys
from crawlclean.storage.sqlite.connection import SqliteConnection
from crawlclean.storage.sqlite.ports import SqliteTables, conditions
from crawlclean.storage.store.encoded_outcomes import EncodedOutcome
from crawlclean.storage.store.ports import PackedRecord, Row, Where
from crawlclean.storage.store.stories import (
    StoryMember,
    StoryRows,
    after_deletion,
    join,
    next_member,
)

_COLUMNS = "seq, page_id, crawl_id, host, substr(sig, 1, 64), chars, at, story"
_MEMBERS = f"SELECT {_COLUMNS} FROM signatures JOIN records ON saved_seq = seq"

KEYS_AT_ONCE, MEMBERS_AT_ONCE = 5_000, 1_000
"""Rows that a rebuild takes out in one transaction."""


class SqliteStoryRows(StoryRows):
    """``StoryRows`` by SQL; the methods are documented in ``storage/store/stories.py``."""

    candidate = ("seq", "sig", "chars", "story")
    version = ("seq",)

    def __init__(self, db: SqliteConnection) -> None:
        super().__init__(SqliteTables(db))
        self._db = db

    def read(self, where: Where) -> list[StoryMember]:
        """The members of a condition, the earliest first."""
        text, values = conditions(where)
        rows = self._db.rows(f"{_MEMBERS} WHERE {text} ORDER BY at, seq", *values)
        return [StoryMember(*row) for row in rows]

    def first(
        self, numbers: Sequence[int], by: Literal["at", "chars"], limit: int, *, backwards: bool
    ) -> list[StoryMember]:
        """The first members with one of these numbers, each number's as the index has them."""
        way = "DESC" if backwards else "ASC"
        sql = f"{_MEMBERS} WHERE story = ? ORDER BY {by} {way}, seq {way} LIMIT ?"
        found = [
            StoryMember(*row) for number in numbers for row in self._db.rows(sql, number, limit)
        ]
        found.sort(key=lambda each: (getattr(each, by), each.page_id), reverse=backwards)
        return found[:limit]

    def labelled(self) -> list[tuple[str, str, int, int]]:
        """Page, host, time and number of the members that are not alone."""
        return self._db.rows(
            "SELECT page_id, host, at, story FROM signatures JOIN records ON saved_seq = seq "
            "WHERE story IS NOT NULL"
        )

    def mark(self, members: Sequence[StoryMember]) -> None:
        """Marks the statistics of hosts as old."""
        with self._db.transaction() as db:
            sql = "UPDATE hosts SET is_dirty = 1 WHERE crawl_id = ? AND host = ?"
            db.executemany(sql, [(each.crawl_id, each.host) for each in members])

    def row_of(
        self,
        page: StoryMember,
        signature: bytes,
        fence: Sequence[Any] = (),  # noqa: ARG002 - the number of a save stands for its version
    ) -> Row:
        """The row of a member."""
        return {
            "seq": page.ref,
            "sig": signature,
            "chars": page.chars,
            "at": page.at,
            "story": page.story,
        }

    def ref_of(self, packed: PackedRecord) -> Any:
        """The number of its save."""
        return packed.saved_seq

    def clear_members(self, until: int) -> Iterator[None]:
        """Takes records out of the index: keys, then members."""
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

    def _delete_members(self, after: int, last: int) -> None:
        """Deletes members, and marks the statistics of the hosts of those that had a story."""
        told = "SELECT seq FROM signatures WHERE seq > ? AND seq <= ? AND story IS NOT NULL"
        hosts = f"SELECT crawl_id, host FROM records WHERE saved_seq IN ({told})"
        with self._db.transaction() as db:
            db.execute(
                f"UPDATE hosts SET is_dirty = 1 WHERE (crawl_id, host) IN ({hosts})", (after, last)
            )
            db.execute("DELETE FROM signatures WHERE seq > ? AND seq <= ?", (after, last))


def put_story(db: SqliteConnection, each: EncodedOutcome, old: int | None, new: int) -> None:
    """Indexes a record that was saved, and joins it with the stories that it matches.

    Args:
        db: In the transaction of the save.
        each: Its outcome.
        old: Number of the record that it replaced; None: there was none. Its own: nothing changes.
        new: Its own number.
    """
    record, signature = each.outcome.record, each.outcome.story
    queued = each.outcome.queued
    place = (queued.crawl_id, each.host)
    rows = SqliteStoryRows(db)
    known = None
    if old == new:
        return
    if old is not None:
        with db.use() as connection:
            for story, sketch, chars, at in _delete(connection, old):
                known = StoryMember(old, queued.page_id, *place, sketch, chars, at, story)
    if record is not None and signature:
        page = next_member(new, record, place, signature[:BINS], known)
        rows.insert(page, signature, ())
        join(rows, page, story_keys(signature), is_unseen=old is None)
    if known is not None and known.story is not None:
        after_deletion(rows, [known.story])


def delete_members(db: SqliteConnection, pages: Sequence[tuple[str, str]]) -> None:
    """Deletes pages from the index, (page, crawl), before their records are deleted."""
    stories: set[int | None] = set()
    with db.use() as connection:
        for key in pages:
            sql = "SELECT saved_seq FROM records WHERE page_id = ? AND crawl_id = ?"
            for (seq,) in connection.execute(sql, key).fetchall():
                stories.update(row[0] for row in _delete(connection, seq))
    after_deletion(SqliteStoryRows(db), {each for each in stories if each is not None})


def _delete(db: sqlite3.Connection, seq: int) -> list[Any]:
    """Deletes a row of the index with its keys; returns [(story, 64 bytes, chars, at)] or []."""
    sql = "DELETE FROM signatures WHERE seq = ? RETURNING story, sig, chars, at"
    rows = db.execute(sql, (seq,)).fetchall()
    for _, signature, _, _ in rows:
        keys = [(key, seq) for key in story_keys(signature)]
        db.executemany("DELETE FROM story_keys WHERE key = ? AND seq = ?", keys)
    return [(story, signature[:BINS], chars, at) for story, signature, chars, at in rows]
