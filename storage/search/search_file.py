"""The index of the texts of records, a file of its own: ``search.sqlite`` in the data folder.

| table | one row | holds |
|---|---|---|
| ``words`` | save | FTS5 without content: terms of a record's text, digests of its host and crawl |
| ``pages`` | page:crawl | the save that is indexed, and when the page was fetched |
| ``facts`` | name | how far the store was read, how many rows are dead |

Rows of ``words`` cannot be deleted without their text, and SQLite before 3.43 has no table that
forgets. So a row that lost its ``pages`` is *dead*: a join leaves it out, and when 30 % are dead
the index is begun anew. Nothing is lost with the file: a damaged one is made anew, too.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from crawlclean.cleaning.errors import StoreUnavailable
from crawlclean.storage.queue.embedded import make_data_folder
from crawlclean.storage.search.terms import Phrase, terms_of
from crawlclean.storage.store.records import SearchText

log = logging.getLogger(__name__)

FILE = "search.sqlite"
VERSION = 1
"""Of tables and terms; a file of another version is made anew."""

DEAD_SHARE, FEWEST_DEAD = 0.3, 1_000
"""From these on the index is begun anew."""

BUSY_S = 5.0
LOOK_STEPS = 10_000
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_SCHEMA = f"""
CREATE VIRTUAL TABLE words USING fts5(
    text, host, crawl, content='', columnsize=0, tokenize='ascii'
);
CREATE TABLE pages (
    seq INTEGER PRIMARY KEY, page_id BLOB NOT NULL, crawl_id TEXT NOT NULL,
    fetched_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX page_of_crawl ON pages (page_id, crawl_id);
CREATE TABLE facts (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
PRAGMA user_version = {VERSION};
"""
# The ascii tokenizer takes every other character as a letter, of whatever version of Unicode.


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is searched for.

    Attributes:
        phrases: All of them, at least one.
        host: Only of this host; ``""``: of all.
        crawl_id: Only of this crawl; ``""``: of all.
        since: Only pages fetched then or later, microseconds since 1970 UTC; None: all.
        until: Only pages fetched before; None: all.
    """

    phrases: Sequence[Phrase]
    host: str = ""
    crawl_id: str = ""
    since: int | None = None
    until: int | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A record that may have the phrases: of a save, perhaps of an older one."""

    seq: int
    page_id: str
    crawl_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexState:
    """How far the index is.

    Attributes:
        seq: Number of the newest save that was read; 0: none.
        rows: Rows of ``words``.
        dead: Those of them that no page has any more.
    """

    seq: int
    rows: int
    dead: int


class SearchFile:
    """The index of one data folder; threads take turns, processes wait for each other's writes."""

    def __init__(self, data: Path) -> None:
        """Opens the file, and creates what is absent.

        Raises:
            StoreUnavailable: The folder cannot be made, or not be written.
        """
        self.path = data / FILE
        self._lock = threading.RLock()
        try:
            make_data_folder(data)
        except OSError as error:
            raise StoreUnavailable(f"{data} cannot be made ({error})") from error
        self._db: sqlite3.Connection | None = None
        self._inode = 0
        self.state()

    def state(self) -> IndexState:
        """How far the index is."""
        with self._turn() as db:
            facts = dict(db.execute("SELECT name, value FROM facts").fetchall())
        return IndexState(
            seq=facts.get("seq", 0), rows=facts.get("rows", 0), dead=facts.get("dead", 0)
        )

    def add(self, texts: Sequence[SearchText], seq: int) -> int:
        """Indexes records in one transaction; returns how many were new.

        A record whose page is indexed by the same or a later save is left out.

        Args:
            texts: Records, in the order of their saves.
            seq: Number of the newest save that was read.
        """
        added = 0
        with self._turn() as db, _transaction(db):
            for each in texts:
                key = (bytes.fromhex(each.page_id), each.crawl_id)
                known = db.execute(
                    "SELECT seq FROM pages WHERE page_id = ? AND crawl_id = ?", key
                ).fetchone()
                if known and known[0] >= each.seq:
                    continue
                if known:
                    db.execute("DELETE FROM pages WHERE seq = ?", known)
                    _count(db, "dead", 1)
                db.execute(
                    "INSERT INTO words (rowid, text, host, crawl) VALUES (?, ?, ?, ?)",
                    (each.seq, terms_of(each.text), _digest(each.host), _digest(each.crawl_id)),
                )
                db.execute("INSERT INTO pages VALUES (?, ?, ?, ?)",
                           (each.seq, *key, each.fetched_at))  # fmt: skip
                added += 1
            _count(db, "rows", added)
            db.execute(
                "INSERT INTO facts VALUES ('seq', ?) ON CONFLICT (name) DO UPDATE "
                "SET value = max(value, excluded.value)",
                (seq,),
            )
        return added

    def find(
        self, asked: Asked, before: int | None, limit: int, within_s: float = 1.0
    ) -> tuple[list[Hit], bool]:
        """Returns records that may have the phrases, those saved last first.

        Args:
            asked: What is searched for.
            before: Only saves with a smaller number; None: from the newest.
            limit: At most so many, >= 1.
            within_s: Searching ends after this long.

        Returns:
            The records, and whether time ran out before the limit was reached.
        """
        terms = " AND ".join(f"text : {phrase.query}" for phrase in asked.phrases)
        for column, name in (("host", asked.host), ("crawl", asked.crawl_id)):
            terms += f' AND {column} : "{_digest(name)}"' if name else ""
        where, values = ["words MATCH ?"], [terms]  # type: tuple[list[str], list[str | int]]
        for condition, value in (
            ("words.rowid < ?", before),
            ("fetched_at >= ?", asked.since),
            ("fetched_at < ?", asked.until),
        ):
            if value is not None:
                where.append(condition)
                values.append(value)
        sql = (
            "SELECT seq, page_id, crawl_id FROM words CROSS JOIN pages ON seq = words.rowid "
            f"WHERE {' AND '.join(where)} ORDER BY words.rowid DESC LIMIT ?"
        )
        found: list[Hit] = []
        with self._turn() as db, _deadline(db, within_s) as is_late:
            try:
                for seq, page_id, crawl in db.execute(sql, (*values, limit)):
                    found.append(Hit(seq, page_id.hex(), crawl))
            except sqlite3.OperationalError:
                if not is_late():
                    raise
                return found, True
        return found, False

    def some(self, after: int, limit: int) -> list[Hit]:
        """Indexed pages behind a save, in the order of their saves."""
        sql = "SELECT seq, page_id, crawl_id FROM pages WHERE seq > ? ORDER BY seq LIMIT ?"
        with self._turn() as db:
            rows = db.execute(sql, (after, limit)).fetchall()
        return [Hit(seq, page_id.hex(), crawl) for seq, page_id, crawl in rows]

    def forget(self, seqs: Collection[int]) -> None:
        """Leaves out pages whose records are gone."""
        with self._turn() as db, _transaction(db):
            gone = sum(
                db.execute("DELETE FROM pages WHERE seq = ?", (seq,)).rowcount for seq in seqs
            )
            _count(db, "dead", gone)

    def begin_anew_if_dead(self) -> bool:
        """Empties an index of which 30 % are dead; returns whether it did."""
        state = self.state()
        if state.dead < max(FEWEST_DEAD, DEAD_SHARE * state.rows):
            return False
        with self._lock:
            self._remake("too many of its rows are dead", logging.INFO)
        return True

    def close(self) -> None:
        """Closes the file; the next use opens it again."""
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    @contextmanager
    def _turn(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one thread at a time; a damaged file is made anew first."""
        with self._lock:
            try:
                if self._db is None or self._inode != self._inode_now():  # it was deleted
                    self._open()
                assert self._db is not None  # noqa: S101 - for mypy
                yield self._db
            except sqlite3.DatabaseError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE:
                    self._remake(str(error), logging.WARNING)
                    raise StoreUnavailable(f"{FILE} was damaged, and is made anew") from error
                raise StoreUnavailable(f"{self.path} cannot be used ({error})") from error

    def _inode_now(self) -> int:
        try:
            return self.path.stat().st_ino
        except OSError:
            return -1

    def _open(self) -> None:
        self.close()
        for _ in range(2):
            db = None
            try:
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
                db = sqlite3.connect(
                    self.path, timeout=BUSY_S, check_same_thread=False, isolation_level=None
                )
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("PRAGMA synchronous = NORMAL")  # an index that loses its end reads on
                (version,) = db.execute("PRAGMA user_version").fetchone()
                if not version:
                    with _transaction(db):
                        if not db.execute("PRAGMA user_version").fetchone()[0]:
                            for statement in _SCHEMA.split(";\n"):
                                db.execute(statement)
                elif version != VERSION:
                    raise _OtherVersionError
                self._db, self._inode = db, self._inode_now()
                return
            except OSError as error:
                raise StoreUnavailable(f"{self.path} cannot be written ({error})") from error
            except (_OtherVersionError, sqlite3.DatabaseError) as error:
                if db:
                    db.close()
                if not isinstance(error, _OtherVersionError) and not _is_damage(error):
                    raise
                self._remove(str(error) or "another version wrote it", logging.WARNING)
        raise StoreUnavailable(f"{self.path} cannot be made")

    def _remake(self, why: str, level: int) -> None:
        self.close()
        self._remove(why, level)

    def _remove(self, why: str, level: int) -> None:
        log.log(level, "the search index is made anew", extra={"path": str(self.path), "why": why})
        for suffix in ("", "-wal", "-shm"):
            self.path.with_name(FILE + suffix).unlink(missing_ok=True)


class _OtherVersionError(Exception):
    pass


def _is_damage(error: Exception) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE


def _digest(name: str) -> str:
    """A term for a name, which may hold any character: 12 hex digits."""
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _count(db: sqlite3.Connection, name: str, n: int) -> None:
    if n:
        db.execute(
            "INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO UPDATE "
            "SET value = value + excluded.value",
            (name, n),
        )


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


@contextmanager
def _deadline(db: sqlite3.Connection, within_s: float) -> Iterator[Callable[[], bool]]:
    """Interrupts what runs on the connection after this long; gives whether it did."""
    end = time.monotonic() + within_s

    def is_late() -> bool:
        return time.monotonic() > end

    db.set_progress_handler(is_late, LOOK_STEPS)
    try:
        yield is_late
    finally:
        db.set_progress_handler(None, 0)
