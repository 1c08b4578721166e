"""The store of the embedded mode: one SQLite file, and raw pages in WARC segments beside it.

**Fence.** Every outcome of a URL has a version, (fetched_at, model_version), and two tables keep
the newest: ``urls`` the newest outcome of any kind, ``records`` the newest record. So

- the order in which outcomes arrive does not matter;
- a late failure cannot hide a newer record, nor a late record a newer failure;
- a URL that has a record and fails later keeps the record; its row has the state failed;
- at the same version a record beats any other outcome;
- ``reason`` has a value exactly while the URL's newest outcome has a failure;
- saving an equal outcome again changes nothing.

**Transactions.** One ``BEGIN IMMEDIATE`` a ``save``. Raw pages are on disk before it begins; their
index and the segment's committed length are part of it (``storage/archive/segments.py``). No read
stays open between two calls: an open reader would let the write-ahead log grow without limit.

**Processes and threads.** Any number of processes; threads of one process take turns on one
connection, which is closed before a fork. A parent that forks often should not use the store
between forks.

**Durability.** ``synchronous=FULL``: a finished ``save`` survives a power cut, because the queue
deletes the page next. Measured on real pages (127 links, 38 KB), in jobs of 20: 2,180
records per CPU-second, 2,200 with NORMAL; in jobs of one 1,590 and 1,870.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path

from crawlclean.cleaning.errors import StoreFull
from crawlclean.cleaning.lexicon import some_of
from crawlclean.cleaning.topics.pictures import picture_keys
from crawlclean.storage.archive.segments import Archive, Place, Segment
from crawlclean.storage.crawl_types import Outcome
from crawlclean.storage.sqlite.connection import BUSY_TIMEOUT_S, SqliteConnection
from crawlclean.storage.sqlite.host_statistics import is_behind, refresh
from crawlclean.storage.sqlite.ports import SqliteBlobs, SqliteTables, conditions
from crawlclean.storage.sqlite.stories import SqliteStoryRows, delete_members, put_story
from crawlclean.storage.sqlite.writing import (
    archived_answer,
    delete_record,
    put_outcome,
    put_pages,
    put_raw,
)
from crawlclean.storage.store.overview import (
    COUNTED,
    SAMPLED,
    Space,
    SpaceKind,
)
from crawlclean.storage.store.pictures import save_picture
from crawlclean.storage.store.ports import PAGE_KEY, Ports, Scan, Where, of
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.rows import to_microseconds
from crawlclean.storage.store.topics import save_judgements
from crawlclean.storage.store.visits import Visits, Work

# Space of crawls in the SQLite store, and dropping archived responses.

MOVED_FROM_BYTES = 1 << 20
"""Shorter segments are left as they are: their files are hardly worth the copies."""

MOVED_AT_ONCE = 50  # in one transaction: other writers come in between

_RAW = "SELECT crawl_id, count(*), sum(length) FROM raw GROUP BY crawl_id ORDER BY crawl_id"
_RECORDS = "SELECT crawl_id, count(*) FROM records GROUP BY crawl_id ORDER BY crawl_id"
_MEAN = f"""SELECT avg(length(record) + length(links)) FROM record_blobs WHERE saved_seq IN
    (SELECT saved_seq FROM records WHERE crawl_id = ? LIMIT {SAMPLED})"""

# Along an index by page id, which is a hash: a sample at random.
_RESPONSES = f"""SELECT count(*) FROM
    (SELECT 1 FROM raw INDEXED BY raw_of_site WHERE host = ? LIMIT {COUNTED})"""
_RESPONSE = f"""SELECT avg(length) FROM
    (SELECT length FROM raw INDEXED BY raw_of_site WHERE host = ? LIMIT {SAMPLED})"""
_RECORD = f"""SELECT avg(length(record) + length(links)) FROM record_blobs
    WHERE saved_seq IN (SELECT saved_seq FROM records INDEXED BY records_of_site
        WHERE host = ? LIMIT {SAMPLED})"""


def _commit_length(db: sqlite3.Connection, segment: Segment) -> None:
    sql = "UPDATE segments SET committed = ? WHERE segment = ?"
    db.execute(sql, (segment.length, segment.number))


def _is_sparse(committed: int, left: int) -> bool:
    """Whether so little of a segment is left that it is moved."""
    return committed >= MOVED_FROM_BYTES and left * 2 < committed


def delete_pictures(db: sqlite3.Connection, pages: Sequence[tuple[str, str]]) -> None:
    """Deletes the pictures of images, (image, crawl), with their keys."""
    for key in pages:
        sql = "DELETE FROM pictures WHERE page_id = ? AND crawl_id = ? RETURNING seq, prints"
        for seq, prints in db.execute(sql, key).fetchall():
            keys = [(each, seq) for each in picture_keys(prints, key[1])]
            db.executemany("DELETE FROM picture_keys WHERE key = ? AND seq = ?", keys)


DELETE_ROWS = 500  # in one transaction: other writers come in between
MOST_NAMED = 3  # segments in one line
CHECK_S = 2.0
"""For the check before each run; it reads some 500 MB/s, and a larger file is not read whole."""
CHECK_AFTER_CRASH_S = 10.0
"""For the check when the last process was killed: damage is likelier than the wait is dear."""


class SqliteStore(Store):
    """The ``Store`` of the embedded mode; methods: see ``storage/store/protocol.py``."""

    def __init__(self, path: Path, *, busy_timeout_s: float = BUSY_TIMEOUT_S) -> None:
        """Opens nothing yet.

        Args:
            path: The SQLite file, created at first use; its folder must exist.
            busy_timeout_s: How long a write waits for another process's write.
        """
        self.path = path
        self._db = SqliteConnection(path, busy_timeout_s)
        self._tables = SqliteTables(self._db)
        ports = Ports(
            tables=self._tables,
            blobs=SqliteBlobs(self._db, path.parent / "raw"),
            story_rows=partial(SqliteStoryRows, self._db),
            refresh=lambda *asked: refresh(self._db, self.overview, *asked),
            is_behind=partial(is_behind, self._db),
            put_pages=partial(put_pages, self._db),
        )
        super().__init__(ports)

    @cached_property
    def _archive(self) -> Archive:
        return Archive(self.path.parent / "raw")

    def close(self) -> None:
        """Closes the file; the store is not used afterwards."""
        self._db.close()

    # --- saving ---

    def _save(self, work: Sequence[Work], visits: Visits) -> int:
        """Stores outcomes in one transaction."""
        wanted = [
            each
            for each, found in work
            if not (found and found.is_unchanged)
            and each.outcome.keep_raw
            and 100 <= each.outcome.queued.result.status <= 999
        ]
        known = self._tables.get("raw", [each.key for each in wanted], ("fetched_at",))
        raw = [
            each.outcome
            for each in wanted
            if each.key not in known
            or known[each.key][0] < to_microseconds(each.outcome.queued.fetched_at)
        ]
        if not raw:
            return self._commit(work, visits, [], None)
        members = [archived_answer(outcome) for outcome in raw]
        with self._archive.open_segment(self) as segment:
            places = segment.append(members)
            return self._commit(work, visits, list(zip(raw, places, strict=True)), segment)

    def _commit(
        self,
        work: Sequence[Work],
        visits: Visits,
        raw: Sequence[tuple[Outcome, Place]],
        segment: Segment | None,
    ) -> int:
        changed: set[int] = set()
        dirty: set[tuple[str, str]] = set()
        with self._db.transaction() as db:
            newest = db.execute("SELECT max(saved_at) FROM records").fetchall()[0][0] or 0
            saved_at = max(time.time_ns() // 1000, newest)
            for number, (each, compared) in enumerate(work):
                is_changed, saves = put_outcome(db, each, saved_at, visits, compared)
                if is_changed:
                    changed.add(number)
                    dirty.add((each.outcome.queued.crawl_id, each.host))
                if saves is not None:
                    put_story(self._db, each, *saves)
                save_picture(self._tables, each)
            save_judgements(self._ports, [each.outcome for each, _ in work])
            visits.add_sums()
            numbers = {id(each.outcome): number for number, (each, _) in enumerate(work)}
            for outcome, place in raw:
                if put_raw(db, outcome, place):
                    changed.add(numbers[id(outcome)])
            if segment is not None:
                _commit_length(db, segment)
            db.executemany(
                "INSERT INTO hosts (crawl_id, host, is_dirty) VALUES (?, ?, 1) "
                "ON CONFLICT DO UPDATE SET is_dirty = 1",
                sorted(dirty),
            )
        return len(changed)

    # --- the archive's index (the protocol Commits of segments.py) ---

    def open_segments(self, below_bytes: int) -> list[int]:
        """Numbers of the segments shorter than ``below_bytes``, in order."""
        sql = "SELECT segment FROM segments WHERE committed < ? ORDER BY segment"
        return [row[0] for row in self._db.rows(sql, below_bytes)]

    def committed(self, segment: int) -> int | None:
        """Committed length of a segment in bytes; None for an unknown segment."""
        rows = self._db.rows("SELECT committed FROM segments WHERE segment = ?", segment)
        return rows[0][0] if rows else None

    def add_segment(self, segment: int) -> None:
        """Adds a segment with length 0."""
        with self._db.transaction() as db:
            db.execute("INSERT OR IGNORE INTO segments VALUES (?, 0)", (segment,))

    def check(self) -> None:
        """Checks the file for damage, longer if its last process was killed.

        Must be called before any other process uses the file. A run that has little left to do
        reads few pages of the file: without the check it would end well on a damaged one. And a
        log that lies beside another file than its own is taken over without a word by SQLite,
        which mixes the pages of both.

        Raises:
            DatabaseDamaged: The file is damaged.
        """
        self._db.check(CHECK_AFTER_CRASH_S if self._db.log_bytes else CHECK_S)

    def repair_archive(self) -> int:
        """Truncates segments behind their committed length; returns how many were truncated.

        Killed writers leave partial records there. The store never reads them; other WARC tools
        stumble over them.
        """
        return self._archive.repair(self)

    def archive_fault(self, read_s: float = 0.0) -> str:
        """Which segments are gone, short or, read for so long, damaged, in a line; ``""``: none."""
        faults = self._archive.faults(self, read_s)
        if not faults:
            return ""
        return (
            f"the archive is damaged ({some_of(faults, MOST_NAMED)}): restore it from a backup; "
            "until then re-cleaning and `export --warc` leave out what is gone"
        )

    # --- deleting ---

    def space(self) -> list[Space]:
        """What each crawl takes; responses by their index, records by a sample."""
        found = [
            Space(crawl, SpaceKind.RAW, n, size, is_estimate=False)
            for crawl, n, size in self._db.rows(_RAW)
        ]
        for crawl, n in self._db.rows(_RECORDS):
            mean = self._db.rows(_MEAN, crawl)[0][0] or 0
            found.append(
                Space(crawl, SpaceKind.RECORDS, n, round(mean * n), is_estimate=n > SAMPLED)
            )
        return found

    def sample_host(self, host: str) -> tuple[int, float, float]:
        """Responses of a host, and the mean sizes of these and of its records."""
        ((responses,),) = self._db.rows(_RESPONSES, host)
        ((response_bytes,),) = self._db.rows(_RESPONSE, host)
        ((record_bytes,),) = self._db.rows(_RECORD, host)
        return responses, response_bytes or 0.0, record_bytes or 0.0

    def raw_space(self, crawl_id: str | None, host: str | None = None) -> tuple[int, int, int]:
        """What dropping the responses of a crawl, a host or both would free."""
        where, values = conditions(of(crawl_id, host))
        rows = self._db.rows(
            f"""SELECT segments.committed, sum(length), sum(CASE WHEN {where} THEN 1 ELSE 0 END),
            sum(CASE WHEN {where} THEN length ELSE 0 END) FROM raw JOIN segments USING (segment)
            WHERE segment IN (SELECT DISTINCT segment FROM raw WHERE {where}) GROUP BY segment""",
            *values * 3,
        )
        freed = 0
        for committed, live, _, dropped in rows:
            left = live - dropped
            freed += committed - left if not left or _is_sparse(committed, left) else 0
        items, stored = (sum(row[place] for row in rows) for place in (2, 3))
        return items, stored, freed

    def _drop_raw(self, where: Where, limit: int) -> int:
        """Deletes index rows of archived responses in one transaction."""
        text, values = conditions(where)
        with self._db.transaction() as db:
            sql = f"SELECT rowid FROM raw WHERE {text} LIMIT ?"
            rows = db.execute(sql, (*values, limit)).fetchall()
            db.executemany("DELETE FROM raw WHERE rowid = ?", rows)
        return len(rows)

    def _free_raw(self) -> None:
        """Deletes files that nothing is left of.

        The few responses left of mostly dropped segments are moved to others first. Where the disk
        has no room for the copies, they stay: the next call tries again.
        """
        sql = "SELECT segment, committed FROM segments WHERE committed >= ?"
        for number, committed in self._db.rows(sql, MOVED_FROM_BYTES):
            with self._archive.hold(number) as is_held, suppress(StoreFull):
                if is_held and self._archive.path(number).exists():
                    self._move_all(number, committed)
        self._remove_empty_segments()

    def _move_all(self, number: int, committed: int) -> None:
        """Moves all responses of a segment, if they are few."""
        live = "SELECT sum(length) FROM raw WHERE segment = ?"
        left = self._db.rows(live, number)[0][0] or 0
        if not left or not _is_sparse(committed, left):
            return
        sql = "SELECT rowid, offset, length FROM raw WHERE segment = ? ORDER BY offset LIMIT ?"
        while rows := self._db.rows(sql, number, MOVED_AT_ONCE):
            found = [Place(segment=number, offset=at, length=size) for _, at, size in rows]
            with self._archive.open_segment(self) as target:
                places = target.append([self._archive.member(each) for each in found])
                moved = [
                    (new.segment, new.offset, rowid, number, old.offset)
                    for (rowid, *_), old, new in zip(rows, found, places, strict=True)
                ]
                with self._db.transaction() as db:
                    db.executemany(
                        "UPDATE raw SET segment = ?, offset = ? "
                        "WHERE rowid = ? AND segment = ? AND offset = ?",
                        moved,
                    )
                    _commit_length(db, target)

    def _delete_pages(self, where: Where) -> int:
        """Deletes pages in small transactions, then files that nothing is left of."""
        deleted = 0
        wanted = Scan("urls", PAGE_KEY, where, limit=DELETE_ROWS)
        while pages := [(page_id, crawl) for page_id, crawl in self._tables.scan(wanted)]:
            with self._db.transaction() as db:
                delete_members(self._db, pages)
                delete_pictures(db, pages)
                for key in pages:
                    deleted += delete_record(db, *key)
                for table in ("urls", "raw", "versions"):
                    sql = f"DELETE FROM {table} WHERE page_id = ? AND crawl_id = ?"
                    db.executemany(sql, pages)
        # Of older files: verdicts reported as wrong, each with a copy of its page.
        if self._db.rows("SELECT 1 FROM sqlite_master WHERE name = 'cases'"):
            self._tables.delete("cases", where)
        self._remove_empty_segments()
        return deleted

    def _remove_empty_segments(self) -> None:
        unused = "NOT EXISTS (SELECT 1 FROM raw WHERE raw.segment = segments.segment)"
        for (number,) in self._db.rows(f"SELECT segment FROM segments WHERE {unused}"):
            with self._archive.hold(number) as held:
                if not held:  # another process writes to it; the next deletion tries again
                    continue
                with self._db.transaction() as db:
                    gone = db.execute(
                        f"DELETE FROM segments WHERE segment = ? AND {unused}",
                        (number,),
                    ).rowcount
                    if gone:  # before the commit: a file without its row would never be deleted
                        self._archive.remove(number)
