"""Stories in SQLite: the index of signatures, and members by number.

``signatures`` has a row for each record with a signature, under the record's ``saved_seq``: a
record that is saved again takes its row along. ``story_keys`` finds members by key. The column
``story`` and its indexes hold only members that are not alone.

Every writing function runs inside the transaction of one save or deletion.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from crawlclean.cleaning.topics.stories import BINS, KEYS, story_keys
from crawlclean.storage.sqlite.connection import SqliteConnection
from crawlclean.storage.store.encoded_outcomes import EncodedOutcome
from crawlclean.storage.store.ports import PackedRecord
from crawlclean.storage.store.stories import (
    CANDIDATES,
    KEY_ROWS,
    Candidate,
    Member,
    StoryCount,
    after_deletion,
    join,
    next_member,
)

_COLUMNS = "seq, page_id, crawl_id, host, substr(sig, 1, 64), chars, at, story"
_MEMBERS = f"SELECT {_COLUMNS} FROM signatures JOIN records ON saved_seq = seq"
_OF_KEY = f"SELECT seq FROM (SELECT seq FROM story_keys WHERE key = ? LIMIT {KEY_ROWS})"
_SIMILAR = f"""SELECT seq, substr(sig, 1, 64), chars, story FROM (
    SELECT seq, count(*) AS shared FROM ({" UNION ALL ".join([_OF_KEY] * KEYS)}) WHERE seq <> ?
    GROUP BY seq ORDER BY shared DESC, seq LIMIT {CANDIDATES}) CROSS JOIN signatures USING (seq)
    ORDER BY shared DESC, seq"""


class SqliteStoryRows:
    """``StoryRows`` by SQL; the methods are documented in ``storage/store/stories.py``."""

    def __init__(self, db: SqliteConnection) -> None:
        self._db = db

    def similar(self, keys: Sequence[int], own: Any) -> list[Candidate]:
        """Members with the most keys in common."""
        return [Candidate(*row) for row in self._db.rows(_SIMILAR, *keys, own)]

    def read(self, refs: Sequence[Any]) -> list[Member]:
        """The members of these keys."""
        return list(map(_member, _in_parts(self._db, f"{_MEMBERS} WHERE seq IN", list(refs))))

    def ends(self, numbers: Sequence[int]) -> list[Member]:
        """The earliest and the longest member."""
        found: list[Member] = []
        for order in ("at, seq", "chars DESC, seq DESC"):  # both as an index has them
            heads = [
                row
                for number in numbers
                for row in self._db.rows(
                    f"{_MEMBERS} WHERE story = ? ORDER BY {order} LIMIT 1", number
                )
            ]
            members = list(map(_member, heads))
            if members and order.startswith("at"):
                found.append(min(members, key=lambda each: (each.at, each.page_id)))
            elif members:
                found.append(max(members, key=lambda each: each.chars))
        return found

    def targets(self, numbers: Iterable[int]) -> dict[int, int]:
        """Where pointers lead."""
        sql = "SELECT story, target FROM stories WHERE story IN"
        return dict(_in_parts(self._db, sql, list(numbers)))

    def sources(self, numbers: Sequence[int]) -> list[int]:
        """Whose pointers lead to one of these."""
        sql = "SELECT story FROM stories WHERE target IN"
        return [row[0] for row in _in_parts(self._db, sql, list(numbers))]

    def link(self, number: int, target: int) -> bool:
        """Adds a pointer."""
        with self._db.transaction() as db:
            sql = "INSERT OR IGNORE INTO stories VALUES (?, ?)"
            return db.execute(sql, (number, target)).rowcount > 0

    def shorten(self, number: int, target: int) -> None:
        """Lets a pointer lead to a smaller number."""
        with self._db.transaction() as db:
            sql = "UPDATE stories SET target = ? WHERE story = ? AND target > ?"
            db.execute(sql, (target, number, target))

    def label(self, refs: Sequence[Any], number: int) -> None:
        """Sets the number of members."""
        with self._db.transaction() as db:
            sql = "UPDATE signatures SET story = ? WHERE seq = ? AND (story IS NULL OR story > ?)"
            db.executemany(sql, [(number, ref, number) for ref in refs])

    def mark(self, members: Sequence[Member]) -> None:
        """Marks the statistics of hosts as old."""
        with self._db.transaction() as db:
            sql = "UPDATE hosts SET is_dirty = 1 WHERE crawl_id = ? AND host = ?"
            db.executemany(sql, [(each.crawl_id, each.host) for each in members])

    def drop(self, numbers: Sequence[int]) -> None:
        """Deletes pointers."""
        with self._db.transaction() as db:
            db.executemany("DELETE FROM stories WHERE story = ?", [(each,) for each in numbers])

    def of_page(self, page_id: str) -> list[Member]:
        """The members of a page."""
        rows = self._db.rows(f"{_MEMBERS} WHERE page_id = ? ORDER BY at, seq", page_id)
        return list(map(_member, rows))

    def members(self, numbers: Sequence[int], limit: int) -> list[Member]:
        """Members with one of these numbers, the earliest first."""
        found: list[Member] = []
        for number in numbers:
            sql = f"{_MEMBERS} WHERE story = ? ORDER BY at, seq LIMIT ?"
            found += map(_member, self._db.rows(sql, number, limit))
        return sorted(found, key=lambda each: (each.at, each.page_id))[:limit]

    def counts(self) -> list[StoryCount]:
        """Every number that a member has."""
        sql = (
            "SELECT story, count(DISTINCT page_id), min(at) FROM signatures "
            "JOIN records ON saved_seq = seq WHERE story IS NOT NULL GROUP BY story"
        )
        return [StoryCount(story=s, pages=n, at=at) for s, n, at in self._db.rows(sql)]

    def urls(self, members: Sequence[Member]) -> dict[tuple[str, str], str]:
        """The URL of each member."""
        sql = "SELECT url FROM urls WHERE page_id = ? AND crawl_id = ?"
        found = {}
        for each in members:
            for (url,) in self._db.rows(sql, each.page_id, each.crawl_id):
                found[each.page_id, each.crawl_id] = url
        return found

    def labelled(self) -> list[tuple[str, str, int]]:
        """Page, host and number of the members that are not alone."""
        return self._db.rows(
            "SELECT page_id, host, story FROM signatures JOIN records ON saved_seq = seq "
            "WHERE story IS NOT NULL"
        )

    def pointers(self) -> dict[int, int]:
        """Every pointer."""
        return dict(self._db.rows("SELECT story, target FROM stories"))


def saved_seq(db: sqlite3.Connection, each: EncodedOutcome) -> int | None:
    """The number of the stored record of a page, None without one."""
    sql = "SELECT saved_seq FROM records WHERE page_id = ? AND crawl_id = ?"
    key = (each.outcome.queued.page_id, each.outcome.queued.crawl_id)
    rows = db.execute(sql, key).fetchall()
    return rows[0][0] if rows else None


def put_story(db: SqliteConnection, each: EncodedOutcome, old: int | None, new: int) -> None:
    """Indexes a record that was saved, and joins it with the stories that it matches.

    Args:
        db: In the transaction of the save.
        each: Its outcome.
        old: Number of the record that it replaced; None: there was none.
        new: Its own number.
    """
    record, signature = each.outcome.record, each.outcome.story
    queued = each.outcome.queued
    with db.use() as connection:
        known = None
        for story, *held in [] if old is None else _delete(connection, old):
            held = [queued.page_id, queued.crawl_id, each.url_row[0], *held]
            known = _member((old, *held, story))
        if record is not None and signature:
            place = (queued.crawl_id, each.url_row[0])
            page = next_member(new, record, place, signature[:BINS], known)
            keys = story_keys(signature)
            connection.execute(
                "INSERT INTO signatures VALUES (?, ?, ?, ?, ?)",
                (new, signature, page.chars, page.at, page.story),
            )
            connection.executemany(
                "INSERT INTO story_keys VALUES (?, ?)", [(key, new) for key in keys]
            )
            join(SqliteStoryRows(db), page, keys, is_unseen=old is None)
    if known is not None and known.story is not None:
        after_deletion(SqliteStoryRows(db), [known.story])


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


def _in_parts(db: SqliteConnection, sql: str, values: Sequence[int]) -> list[Any]:
    """The rows of a query that ends with IN, in steps of 500 values."""
    found = []
    for start in range(0, len(values), 500):
        part = values[start : start + 500]
        found += db.rows(f"{sql} ({', '.join('?' * len(part))})", *part)
    return found


def _member(row: Sequence[Any]) -> Member:
    seq, page_id, crawl_id, host, sketch, chars, at, story = row
    return Member(
        ref=seq,
        page_id=page_id,
        crawl_id=crawl_id,
        host=host,
        sketch=sketch,
        chars=chars,
        at=at,
        story=story,
    )


# What SQLite does when the index of stories is built anew; each step is one transaction.

KEYS_AT_ONCE, MEMBERS_AT_ONCE, POINTERS_AT_ONCE = 5_000, 1_000, 200


class SqliteRebuildRows(SqliteStoryRows):
    """``RebuildRows`` by SQL; the methods are documented in ``storage/store/stories.py``."""

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
