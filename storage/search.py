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
import re
import sqlite3
import threading
import time
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from hashlib import blake2b
from pathlib import Path

from msgspec import Struct

from crawlclean.cleaning.errors import StoreUnavailable
from crawlclean.storage.queue.embedded import make_data_folder
from crawlclean.storage.store.records import SearchText, SnippetPart
from crawlclean.storage.store.rows import to_microseconds

# What a phrase is, and where it stands in a text.
#
# A text is folded (width, case), then cut into *runs*: letters of scripts without spaces between
# words (Han, kana, hangul, Thai, ...), or a word of other letters and digits. What is between runs
# does not count. The first kind is indexed as pairs of neighbours, and the last letter alone; the
# second as words::
#
#     使用Python 清洗数据   ->   使用 用 python 清洗 洗数 数据 据
#
# So a phrase is a row of neighbours in the index, wherever it begins among letters of the first
# kind, at the beginning of a word of the second; its last word may be cut short.

DENSE = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u318f"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
"""Letters that stand without spaces between words."""

_RUN = re.compile(f"[{DENSE}]+|[^\\W_{DENSE}]+")
_DENSE = re.compile(f"[{DENSE}]")

MOST_CHARS, MOST_PHRASES = 200, 8
"""Of what is searched for at once."""

FEWEST_LETTERS = 2
"""A single letter is in most texts."""

SNIPPET_BEFORE, SNIPPET_AFTER = 40, 120
"""Characters around a hit."""


class _Folds(dict[int, str]):
    """Folded characters by their code, computed when first met: 0.1 MB for a Chinese site."""

    def __missing__(self, code: int) -> str:
        folded = unicodedata.normalize("NFKC", chr(code)).casefold()
        self[code] = folded
        return folded


def fold(text: str) -> str:
    """A text without differences of width and case: ``ＡＢＣ`` and ``abc`` are equal."""
    return unicodedata.normalize("NFC", text).translate(_FOLDS)


_FOLDS = _Folds()


def _runs(folded: str) -> list[str]:
    return _RUN.findall(folded)


def _is_dense(run: str) -> bool:
    return _DENSE.match(run) is not None


def terms_of(text: str) -> str:
    """The terms of a text for the index, a space between two."""
    return " ".join(term for run in _runs(fold(text)) for term in _terms(run))


def _terms(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run))] if _is_dense(run) else [run]


class Phrase(Struct, frozen=True):
    """A phrase that is searched for.

    Attributes:
        runs: Its runs, folded, at least one: ``("用", "python", "清洗")``.
    """

    runs: tuple[str, ...]

    @property
    def query(self) -> str:
        """The phrase in the language of FTS5: ``"用 python 清洗"``.

        A single letter at its end is left to the comparison with the text: a third of all terms may
        begin with it, and joining them takes 70 ms in an index of 4,000 texts.
        """
        *before, last = self.runs
        found = [term for run in before for term in _terms(run)]
        if before and len(last) == 1:
            return f'"{" ".join(found)}"'
        if _is_dense(last) and len(last) > 1:
            found += _terms(last)[:-1]
            return f'"{" ".join(found)}"'
        return f'"{" ".join([*found, last])}" *'

    @property
    def needle(self) -> str:
        """What ``joined`` of a text contains when the text has the phrase."""
        return ("" if _is_dense(self.runs[0]) else " ") + " ".join(self.runs)


def joined(text: str) -> str:
    """The runs of a text, folded, with a space before, between and behind them."""
    return f" {' '.join(_runs(fold(text)))} "


def phrases_of(asked: str) -> tuple[Phrase, ...]:
    """The phrases of what somebody typed: a word each, or what stands between quotation marks.

    ``数据清洗 "topic crawl"`` are two phrases. What has less than two letters is left out, as are
    the ninth phrase and those behind it.
    """
    text = re.sub("[“”„‟＂]", '"', asked[:MOST_CHARS])
    found: list[Phrase] = []
    for place, part in enumerate(text.split('"')):
        for each in [part] if place % 2 else part.split():
            runs = _runs(fold(each))
            if runs and sum(map(len, runs)) >= FEWEST_LETTERS:
                found.append(Phrase(tuple(runs)))
    return tuple(dict.fromkeys(found))[:MOST_PHRASES]


def has_all(text: str, phrases: Sequence[Phrase]) -> bool:
    """Whether a text has every phrase."""
    whole = joined(text)
    return all(phrase.needle in whole for phrase in phrases)


def snippet(text: str, phrases: Sequence[Phrase]) -> tuple[SnippetPart, ...]:
    """The part of a text around the first hit, hits apart from the rest; empty without a hit.

    Args:
        text: A text as it was indexed.
        phrases: What was searched for.
    """
    text = unicodedata.normalize("NFC", text)
    whole, origins = _placed(text)
    spans = sorted(
        (origins[at], origins[at + len(needle) - 1] + 1)
        for needle in (phrase.needle.lstrip() for phrase in phrases)
        for at in _starts(whole, needle)
    )
    if not spans:
        return ()
    begin = max(0, spans[0][0] - SNIPPET_BEFORE)
    end = min(len(text), spans[0][0] + SNIPPET_AFTER)
    parts: list[SnippetPart] = []
    at = begin
    for first, last in spans:
        first, last = max(first, at), min(last, end)
        if last <= first:
            continue
        if first > at:
            parts.append(SnippetPart(text=text[at:first], is_hit=False))
        parts.append(SnippetPart(text=text[first:last], is_hit=True))
        at = last
    if at < end:
        parts.append(SnippetPart(text=text[at:end], is_hit=False))
    return tuple(parts)


def _placed(text: str) -> tuple[str, list[int]]:
    """``joined`` of a text in NFC without its first space, and the place of each character."""
    folded: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for each in _FOLDS[ord(character)]:
            folded.append(each)
            places.append(place)
    whole: list[str] = []
    origins: list[int] = []
    for run in _RUN.finditer("".join(folded)):
        whole += [*run[0], " "]
        origins += [*places[run.start() : run.end()], places[run.end() - 1]]
    return "".join(whole), origins


def _starts(whole: str, needle: str) -> Iterator[int]:
    """Where a phrase stands, a word of it not inside another word."""
    is_word = not _is_dense(needle)
    at = whole.find(needle)
    while at >= 0:
        if not is_word or at == 0 or whole[at - 1] == " ":
            yield at
        at = whole.find(needle, at + 1)


log = logging.getLogger(__name__)

FILE = "search.sqlite"
VERSION = 1
"""Of tables and terms; a file of another version is made anew."""

DEAD_SHARE, FEWEST_DEAD = 0.3, 1_000
"""From these on the index is begun anew."""

BUSY_S = 5.0  # how long a statement waits for another process that writes the index
LOOK_STEPS = 10_000  # of SQLite's machine between two looks at the clock, which cost little
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


class Asked(Struct, frozen=True, kw_only=True):
    """What is searched for.

    Attributes:
        text: Words, or phrases in quotation marks; all have to be in a record.
        host: Only of this host; ``""``: of all.
        crawl_id: Only of this crawl; ``""``: of all.
        since: Only pages fetched then or later; None: all.
        until: Only pages fetched before; None: all.
    """

    text: str
    host: str = ""
    crawl_id: str = ""
    since: datetime | None = None
    until: datetime | None = None

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        """What the text names, one phrase or more."""
        return phrases_of(self.text)


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
        self.newest()

    def newest(self) -> int:
        """Number of the newest save that was read; 0: none."""
        return self._facts()[0]

    def _facts(self) -> tuple[int, int, int]:
        """(newest save that was read, rows of ``words``, those that no page has any more)."""
        with self._turn() as db:
            facts = dict(db.execute("SELECT name, value FROM facts").fetchall())
        return facts.get("seq", 0), facts.get("rows", 0), facts.get("dead", 0)

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
    ) -> tuple[list[tuple[int, str, str]], bool]:
        """Returns records that may have the phrases, those saved last first.

        Args:
            asked: What is searched for.
            before: Only saves with a smaller number; None: from the newest.
            limit: At most so many, >= 1.
            within_s: Searching ends after this long.

        Returns:
            (number of the save, page, crawl) of the records: of a save, perhaps of an older one;
            and whether time ran out before the limit was reached.
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
                values.append(value if isinstance(value, int) else to_microseconds(value))
        sql = (
            "SELECT seq, page_id, crawl_id FROM words CROSS JOIN pages ON seq = words.rowid "
            f"WHERE {' AND '.join(where)} ORDER BY words.rowid DESC LIMIT ?"
        )
        found: list[tuple[int, str, str]] = []
        with self._turn() as db, _deadline(db, within_s) as is_late:
            try:
                for seq, page_id, crawl in db.execute(sql, (*values, limit)):
                    found.append((seq, page_id.hex(), crawl))
            except sqlite3.OperationalError:
                if not is_late():
                    raise
                return found, True
        return found, False

    def some(self, after: int, limit: int) -> list[tuple[int, str, str]]:
        """(number of the save, page, crawl) of indexed pages behind a save, in this order."""
        sql = "SELECT seq, page_id, crawl_id FROM pages WHERE seq > ? ORDER BY seq LIMIT ?"
        with self._turn() as db:
            rows = db.execute(sql, (after, limit)).fetchall()
        return [(seq, page_id.hex(), crawl) for seq, page_id, crawl in rows]

    def forget(self, seqs: Collection[int]) -> None:
        """Leaves out pages whose records are gone."""
        with self._turn() as db, _transaction(db):
            gone = sum(
                db.execute("DELETE FROM pages WHERE seq = ?", (seq,)).rowcount for seq in seqs
            )
            _count(db, "dead", gone)

    def begin_anew_if_dead(self) -> bool:
        """Empties an index of which 30 % are dead; returns whether it did."""
        _, rows, dead = self._facts()
        if dead < max(FEWEST_DEAD, DEAD_SHARE * rows):
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
