"""All results of the embedded mode in one SQLite file; raw pages in WARC segments beside it.

**Fence.** Every end of a URL has a version, (fetched_at, model_version), and two tables keep the
newest each: ``urls`` the newest end of any kind, ``records`` the newest record. So the order in
which outcomes arrive does not matter, a late failure cannot hide a newer record nor the reverse,
and a URL that has a record and fails later keeps it while its row says failed. At the same
version a record beats any other end. A failure row exists exactly while the URL's newest end has
a failure. Saving an equal outcome again changes nothing.

**Transactions.** One ``BEGIN IMMEDIATE`` a ``save``. Raw pages are on disk before it begins, and
their index and the segment's committed length are part of it (see ``archive.py``). No read stays
open between two calls: an open reader would let the write-ahead log grow without end.

**Processes and threads.** Any number of processes; threads of one process take turns on one
connection. It is opened at first use and closed before a fork: SQLite's locks belong to the
process, and a child that inherits them can destroy the file. A parent that forks often should
not use the store between forks.

**Durability.** ``synchronous=FULL``: what ``save`` returned from survives a power cut, because the
queue forgets the page next. Measured on real pages (127 links, 38 KB), in
jobs of 20: 2,180 records per CPU-second, 2,200 with NORMAL; in jobs of one 1,590 and 1,870.

This file is long because it is the whole of one protocol.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

from cleaning.errors import (
    StorageError,
    StoreDamaged,
    StoreFull,
    StoreUnavailable,
)
from cleaning.records import CleanRecord, HostStats, ImageKind, LinkKind, Provenance, RawPage, Via
from storage.archive import (
    Answer,
    Archive,
    Place,
    Segment,
    archived_headers,
    pack_member,
    response_record,
)
from storage.base import (
    CrawlRow,
    CrawlSpec,
    CrawlState,
    Failure,
    FailureReason,
    FailureRow,
    Outcome,
    UrlRow,
    UrlState,
)
from storage.codec import (
    clean_text,
    compress,
    dump,
    encode_record,
    from_microseconds,
    load,
    log_from_json,
    log_to_json,
    spec_from_json,
    spec_to_json,
    stats_from_json,
    stats_to_json,
    to_microseconds,
    unpack_record,
)
from storage.sqlite_schema import migrate
from storage.statistics import compute_stats, merge_stats

BUSY_TIMEOUT_S = 30.0
WAL_LIMIT_BYTES = 16 * 1024 * 1024
"""The write-ahead log is cut to this size when it is reused."""

READ_ROWS = 200
DELETE_ROWS = 500
REFRESH_HOSTS = 50

_RECORD_COLUMNS = (
    "page_id, crawl_id, host, fetched_at, model_version, digest, saved_at, is_current, kind, "
    "signature, body_chars, "
    + ", ".join([f"links_{k.value}" for k in LinkKind] + [f"images_{k.value}" for k in ImageKind])
)
_INSERT_RECORD = (
    f"INSERT INTO records ({_RECORD_COLUMNS}) "  # noqa: S608 (constants)
    f"VALUES ({', '.join('?' * len(_RECORD_COLUMNS.split(',')))})"
)
_URL_COLUMNS = (
    "page_id, crawl_id, host, url, state, fetched_at, model_version, digest, depth, via, "
    "referrer, link_text, discovered_at, status, etag, last_modified, fetched_bytes, html_chars, "
    "wait_ms, log"
)
_PUT_URL = (
    f"INSERT OR REPLACE INTO urls ({_URL_COLUMNS}) "  # noqa: S608 (constants)
    f"VALUES ({', '.join('?' * len(_URL_COLUMNS.split(',')))})"
)
_URL_ROW = (
    "SELECT crawl_id, page_id, url, host, state, depth, via, referrer, link_text, discovered_at, "
    "fetched_at, status, etag, last_modified, next_visit, log FROM urls WHERE page_id = ? "
    "ORDER BY fetched_at DESC, crawl_id"
)


@dataclass(frozen=True, slots=True)
class _Encoded:
    """An outcome as it will be written, encoded before the transaction begins."""

    outcome: Outcome
    version: tuple[int, int]
    url_row: tuple[Any, ...]
    url_digest: bytes
    failure: Failure | None
    record_digest: bytes
    blobs: tuple[bytes, bytes]


class SqliteStore:
    """The ``Store`` of the embedded mode; see ``storage.base.Store`` for its methods."""

    def __init__(self, path: Path, *, busy_timeout_s: float = BUSY_TIMEOUT_S) -> None:
        """Touches nothing yet.

        Args:
            path: The SQLite file; made at first use, its directory is not.
            busy_timeout_s: How long a write waits for another process's.
        """
        self.path = path
        self._busy_timeout_s = busy_timeout_s
        self._archive = Archive(path.parent / "raw")
        self._db: sqlite3.Connection | None = None
        self._lock = threading.RLock()
        _close_before_forks(self)

    # --- connection and errors ---

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(
            self.path,
            timeout=self._busy_timeout_s,
            isolation_level=None,
            check_same_thread=False,  # threads take turns, see _connection
        )
        try:
            self._use_wal(db)
            db.execute("PRAGMA synchronous = FULL")
            db.execute(f"PRAGMA journal_size_limit = {WAL_LIMIT_BYTES}")
            migrate(db, self.path)
        except BaseException:
            db.close()
            raise
        return db

    def _use_wal(self, db: sqlite3.Connection) -> None:
        """SQLite's own busy timeout does not cover this switch, so two first users may meet."""
        deadline = time.monotonic() + self._busy_timeout_s
        while db.execute("PRAGMA journal_mode").fetchall() != [("wal",)]:
            try:
                db.execute("PRAGMA journal_mode = WAL").fetchall()
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    raise
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.005)

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                if self._db is None:
                    self._db = self._open()
                yield self._db
            except sqlite3.Error as error:
                raise self._translate(error) from error

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._connection() as db:
            try:
                db.execute("BEGIN IMMEDIATE")
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    def _rows(self, sql: str, *values: Any) -> list[Any]:
        with self._connection() as db:
            return db.execute(sql, values).fetchall()

    def _translate(self, error: sqlite3.Error) -> StorageError:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        path = self.path
        if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and self._is_disk_full()):
            return StoreFull(f"no space left for {path}: free some, then run the command again")
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return StoreUnavailable(
                f"{path} was locked by another process for {self._busy_timeout_s:g} s: "
                "try again when it is done"
            )
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN):
            return StoreUnavailable(
                f"{path} cannot be opened for writing ({error}): make sure its directory exists "
                "and this user can write to it, or choose another data directory"
            )
        if code == sqlite3.SQLITE_NOTADB:
            return StoreDamaged(f"{path} is no SQLite database: move it away or choose another")
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT):
            return StoreDamaged(f"{path} is damaged ({error}): restore it from a backup")
        return StoreUnavailable(f"{path} cannot be used ({error}): check its disk, then try again")

    def _is_disk_full(self) -> bool:
        try:
            disk = os.statvfs(self.path.parent)
        except OSError:
            return False
        return disk.f_bavail * disk.f_frsize < 1 << 20

    def close(self) -> None:
        """Closes the file; the store is not used afterwards."""
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    # --- saving ---

    def save(self, outcomes: Sequence[Outcome]) -> int:
        """Stores all outcomes in one transaction; returns how many changed something."""
        if not outcomes:
            return 0
        encoded = [_encode(outcome) for outcome in outcomes]
        raw = [outcome for outcome in outcomes if self._wants_raw(outcome)]
        if not raw:
            return self._commit(encoded, [], None)
        members = [pack_member(response_record(_answer(outcome))) for outcome in raw]
        with self._archive.open_segment(self) as segment:
            places = segment.append(members)
            return self._commit(encoded, list(zip(raw, places, strict=True)), segment)

    def _wants_raw(self, outcome: Outcome) -> bool:
        queued = outcome.queued
        if not outcome.keep_raw or not 100 <= queued.result.status <= 999:
            return False
        known = self._rows(
            "SELECT fetched_at FROM raw WHERE page_id = ? AND crawl_id = ?",
            queued.page_id,
            queued.crawl_id,
        )
        return not known or known[0][0] < to_microseconds(queued.fetched_at)

    def _commit(
        self,
        encoded: Sequence[_Encoded],
        raw: Sequence[tuple[Outcome, Place]],
        segment: Segment | None,
    ) -> int:
        changed: set[int] = set()
        dirty: set[tuple[str, str]] = set()
        with self._transaction() as db:
            newest = db.execute("SELECT max(saved_at) FROM records").fetchall()[0][0] or 0
            saved_at = max(time.time_ns() // 1000, newest)
            for number, each in enumerate(encoded):
                if _put(db, each, saved_at):
                    changed.add(number)
                    queued = each.outcome.queued
                    dirty.add((queued.crawl_id, queued.host))
            numbers = {id(each.outcome): number for number, each in enumerate(encoded)}
            for outcome, place in raw:
                if _put_raw(db, outcome, place):
                    changed.add(numbers[id(outcome)])
            if segment is not None:
                db.execute(
                    "UPDATE segments SET committed = ? WHERE segment = ?",
                    (segment.length, segment.number),
                )
            db.executemany(
                "INSERT INTO hosts (crawl_id, host, is_dirty) VALUES (?, ?, 1) "
                "ON CONFLICT DO UPDATE SET is_dirty = 1",
                sorted(dirty),
            )
        return len(changed)

    # --- what the archive asks ---

    def open_segments(self, below_bytes: int) -> list[int]:
        """Numbers of the segments whose committed length is under a limit, in order."""
        sql = "SELECT segment FROM segments WHERE committed < ? ORDER BY segment"
        return [row[0] for row in self._rows(sql, below_bytes)]

    def committed(self, segment: int) -> int | None:
        """Committed length of a segment, or None when the database does not know it."""
        rows = self._rows("SELECT committed FROM segments WHERE segment = ?", segment)
        return rows[0][0] if rows else None

    def add_segment(self, segment: int) -> None:
        """Commits a new segment with length 0."""
        with self._transaction() as db:
            db.execute("INSERT OR IGNORE INTO segments VALUES (?, 0)", (segment,))

    def repair_archive(self) -> int:
        """Cuts what killed writers left in the segments; returns how many were cut.

        Needed by nobody who reads through the store; other WARC tools are glad of it. Call it
        where a service starts.
        """
        return self._archive.repair(self)

    # --- crawls ---

    def put_crawl(self, spec: CrawlSpec, state: CrawlState) -> None:
        """Creates or updates a crawl's row; ``created_at`` stays."""
        with self._transaction() as db:
            db.execute(
                "INSERT INTO crawls VALUES (?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET spec = excluded.spec, state = excluded.state",
                (
                    spec.crawl_id,
                    dump(spec_to_json(spec)).decode(),
                    state.value,
                    time.time_ns() // 1000,
                ),
            )

    def crawls(self) -> list[CrawlRow]:
        """All crawls, oldest first."""
        rows = self._rows("SELECT spec, state, created_at FROM crawls ORDER BY created_at, rowid")
        found = []
        for spec_text, state, created_at in rows:
            spec = spec_from_json(load(spec_text))
            counts = self._rows(
                "SELECT state, count(*) FROM urls WHERE crawl_id = ? GROUP BY state", spec.crawl_id
            )
            pages = {UrlState(each): n for each, n in counts}
            found.append(
                CrawlRow(
                    spec=spec,
                    created_at=from_microseconds(created_at),
                    state=CrawlState(state),
                    pages=pages,
                )
            )
        return found

    def delete_crawl(self, crawl_id: str) -> int:
        """Forgets a crawl's row, records, urls, failures and raw index; returns records deleted.

        Deletes in small transactions, the crawl's row last: an interrupted call is repeated.
        """
        deleted = self._delete_pages(crawl_id, None)
        with self._transaction() as db:
            db.execute("DELETE FROM hosts WHERE crawl_id = ?", (crawl_id,))
            db.execute("DELETE FROM crawls WHERE crawl_id = ?", (crawl_id,))
        self._remove_empty_segments()
        return deleted

    def delete_host(self, crawl_id: str, host: str) -> int:
        """The same for one host of a crawl; the crawl's row stays."""
        deleted = self._delete_pages(crawl_id, host)
        with self._transaction() as db:
            db.execute("DELETE FROM hosts WHERE crawl_id = ? AND host = ?", (crawl_id, host))
        self._remove_empty_segments()
        return deleted

    def _delete_pages(self, crawl_id: str, host: str | None) -> int:
        deleted = 0
        where, values = _where(crawl_id, host)
        while True:
            with self._transaction() as db:
                pages = db.execute(
                    f"SELECT page_id, crawl_id FROM urls WHERE {where} LIMIT {DELETE_ROWS}",  # noqa: S608
                    values,
                ).fetchall()
                for key in pages:
                    deleted += _delete_record(db, *key)
                for table in ("urls", "failures", "raw"):
                    db.executemany(
                        f"DELETE FROM {table} WHERE page_id = ? AND crawl_id = ?",  # noqa: S608
                        pages,
                    )
            if not pages:
                return deleted

    def _remove_empty_segments(self) -> None:
        unused = "NOT EXISTS (SELECT 1 FROM raw WHERE raw.segment = segments.segment)"
        for (number,) in self._rows(f"SELECT segment FROM segments WHERE {unused}"):  # noqa: S608
            with self._archive.hold(number) as held:
                if not held:  # somebody writes to it now; the next deletion comes back to it
                    continue
                with self._transaction() as db:
                    gone = db.execute(
                        f"DELETE FROM segments WHERE segment = ? AND {unused}",  # noqa: S608
                        (number,),
                    ).rowcount
                    if gone:  # a file without its row would stay for ever, so the file goes first
                        self._archive.remove(number)

    # --- reading ---

    def record(self, page_id: str, crawl_id: str | None = None) -> CleanRecord | None:
        """The newest record of a page, in one crawl or in all."""
        rows = self._rows(
            "SELECT record, links FROM records JOIN record_blobs USING (saved_seq) "
            "WHERE page_id = ? AND (? IS NULL OR crawl_id = ?) "
            "ORDER BY fetched_at DESC, model_version DESC, saved_seq DESC LIMIT 1",
            page_id,
            crawl_id,
            crawl_id,
        )
        return unpack_record(*rows[0]) if rows else None

    def find_page_ids(self, prefix: str, limit: int = 10) -> list[str]:
        """Page ids of records or urls that begin with a hex prefix, at most ``limit``."""
        prefix = prefix.lower()
        if not set(prefix) <= set("0123456789abcdef"):
            return []
        rows = self._rows(
            "SELECT DISTINCT page_id FROM urls WHERE page_id >= ? AND page_id < ? "
            "ORDER BY page_id LIMIT ?",
            prefix,
            prefix + "g",  # the first letter after the hex digits
            limit,
        )
        return [row[0] for row in rows]

    def url_rows(self, page_id: str) -> list[UrlRow]:
        """What every crawl knows about a URL, newest first; ``finished_at`` is the fetch's end."""
        return [_url_row(row) for row in self._rows(_URL_ROW, page_id)]

    def records(
        self, crawl_id: str | None = None, since: datetime | None = None
    ) -> Iterator[CleanRecord]:
        """Records in the order they were saved, read in pages of bounded size.

        ``since`` keeps those saved at or after it. A record that is saved anew while this runs
        comes again, at its new place.
        """
        after = 0
        if since is not None:
            rows = self._rows(
                "SELECT saved_seq FROM records WHERE saved_at >= ? "
                "ORDER BY saved_at, saved_seq LIMIT 1",
                to_microseconds(since),
            )
            if not rows:
                return
            after = rows[0][0] - 1
        # two texts, because a test "crawl or all" would hide the index that gives the order
        wanted, values = ("", ()) if crawl_id is None else ("crawl_id = ? AND", (crawl_id,))
        sql = (
            "SELECT saved_seq, record, links FROM records JOIN record_blobs USING (saved_seq) "  # noqa: S608
            f"WHERE {wanted} saved_seq > ? ORDER BY saved_seq LIMIT {READ_ROWS}"
        )
        while True:
            page = self._rows(sql, *values, after)
            for after, record, links in page:  # noqa: B007 (the last one is where to go on)
                yield unpack_record(record, links)
            if len(page) < READ_ROWS:
                return

    def count_records(self, crawl_id: str | None = None) -> int:
        """How many records are stored."""
        if crawl_id is None:
            return int(self._rows("SELECT count(*) FROM records")[0][0])
        sql = "SELECT count(*) FROM records WHERE crawl_id = ?"
        return int(self._rows(sql, crawl_id)[0][0])

    def failures(
        self, crawl_id: str | None = None, host: str | None = None, limit: int = 1000
    ) -> list[FailureRow]:
        """Newest first."""
        where, values = _where(crawl_id, host)
        rows = self._rows(
            "SELECT crawl_id, url, host, reason, detail, status, attempts, failed_at "  # noqa: S608
            f"FROM failures WHERE {where} ORDER BY failed_at DESC, rowid DESC LIMIT ?",
            *values,
            limit,
        )
        return [
            FailureRow(
                crawl_id=row[0],
                url=row[1],
                host=row[2],
                reason=FailureReason(row[3]),
                detail=row[4],
                status=row[5],
                attempts=row[6],
                failed_at=from_microseconds(row[7]),
            )
            for row in rows
        ]

    def raw_page(self, page_id: str, crawl_id: str | None = None) -> RawPage | None:
        """The archived page, decoded, or None when the archive does not hold it."""
        seen: Any = None
        while True:
            rows = self._rows(
                "SELECT segment, offset, length, raw.url, raw.fetched_at, raw.crawl_id, depth, "
                "referrer, via, link_text, discovered_at "
                "FROM raw JOIN urls USING (page_id, crawl_id) "
                "WHERE page_id = ? AND (? IS NULL OR crawl_id = ?) "
                "ORDER BY raw.fetched_at DESC LIMIT 1",
                page_id,
                crawl_id,
                crawl_id,
            )
            if not rows:
                return None
            segment, offset, length, url, fetched_at, found_crawl, depth, *found_by = rows[0]
            place = Place(segment=segment, offset=offset, length=length)
            try:
                status, headers, body = self._archive.read(place, url)
            except StoreDamaged:
                if rows == seen:
                    raise
                seen = rows  # deleted or moved between the two reads? then the row says so now
                continue
            referrer, via, link_text, discovered_at = found_by
            provenance = Provenance(
                crawl_id=found_crawl,
                referrer=referrer,
                via=Via(via),
                link_text=link_text,
                discovered_at=_maybe_time(discovered_at),
            )
            return RawPage.from_bytes(
                url,
                body,
                fetched_at=from_microseconds(fetched_at),
                status=status,
                headers=headers,
                referrer=referrer,
                depth=depth,
                provenance=provenance,
            )

    # --- statistics ---

    def hosts(self, crawl_id: str | None = None) -> list[HostStats]:
        """Statistics of all hosts, most pages first; dirty ones are recomputed first."""
        return self._stats(crawl_id, None)

    def host_stats(self, host: str, crawl_id: str | None = None) -> HostStats | None:
        """Statistics of one host, recomputed when dirty; None for an unknown host.

        ``exact`` is True: whether the queue is at rest is not the store's to know.
        """
        found = self._stats(crawl_id, host)
        return found[0] if found else None

    def refresh_statistics(self) -> int:
        """Recomputes the statistics of all dirty hosts; returns how many."""
        return self._refresh(None, None)

    def _stats(self, crawl_id: str | None, host: str | None) -> list[HostStats]:
        self._refresh(crawl_id, host)
        by_host: dict[str, list[HostStats]] = {}
        where, values = _where(crawl_id, host)
        sql = f"SELECT host, stats FROM hosts WHERE {where} AND stats IS NOT NULL"  # noqa: S608
        for name, stats in self._rows(f"{sql} ORDER BY crawl_id", *values):
            by_host.setdefault(name, []).append(stats_from_json(load(stats)))
        merged = [merge_stats(parts) for parts in by_host.values()]
        return sorted(merged, key=lambda s: (-sum(s.pages_by_state.values()), s.host))

    def _refresh(self, crawl_id: str | None, host: str | None) -> int:
        where, values = _where(crawl_id, host)
        sql = f"SELECT crawl_id, host FROM hosts WHERE is_dirty AND {where}"  # noqa: S608
        dirty = self._rows(sql, *values)
        done = 0
        for start in range(0, len(dirty), REFRESH_HOSTS):
            with self._transaction() as db:
                for key in dirty[start : start + REFRESH_HOSTS]:
                    done += _refresh_host(db, *key)
        return done


# --- parts of the transactions ------------------------------------------------------------------


def _header(headers: Sequence[tuple[str, str]], wanted: str) -> str | None:
    return next((clean_text(v) for k, v in headers if k.lower() == wanted), None)


def _maybe_time(microseconds: int | None) -> datetime | None:
    return None if microseconds is None else from_microseconds(microseconds)


def _digest(*parts: bytes) -> bytes:
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.digest()


def _encode(outcome: Outcome) -> _Encoded:
    queued, record, failure = outcome.queued, outcome.record, outcome.failure
    if (outcome.state is UrlState.RECORD) != (record is not None):
        raise ValueError("an outcome has a record exactly when its state is RECORD")
    if outcome.state is UrlState.FAILED and failure is None:
        failure = Failure(reason=FailureReason.INTERNAL)
    fetched_at = to_microseconds(record.fetched_at if record else queued.fetched_at)
    found, result = queued.provenance, queued.result
    discovered_at = None if found.discovered_at is None else to_microseconds(found.discovered_at)
    wait_ms = 0 if discovered_at is None else max(0, fetched_at - discovered_at) // 1000
    row = (
        clean_text(queued.host),
        clean_text(queued.url),
        outcome.state.value,
        fetched_at,
        record.model_version if record else 0,
        queued.depth,
        found.via.value,
        None if found.referrer is None else clean_text(found.referrer),
        clean_text(found.link_text),
        discovered_at,
        result.status,
        _header(result.headers, "etag"),
        _header(result.headers, "last-modified"),
        len(result.body),
        outcome.html_chars,
        wait_ms,
        dump(log_to_json(outcome.log or queued.log)).decode(),
    )
    parts = encode_record(record) if record else None
    record_digest = _digest(*parts) if parts else b""
    ending = [failure.reason, failure.detail, queued.attempt] if failure else []
    return _Encoded(
        outcome=outcome,
        version=(row[3], row[4]),
        url_row=row,
        url_digest=_digest(dump([row, ending]), record_digest),
        failure=failure,
        record_digest=record_digest,
        blobs=(compress(parts[0]), compress(parts[1])) if parts else (b"", b""),
    )


def _answer(outcome: Outcome) -> Answer:
    queued = outcome.queued
    return Answer(
        url=queued.url,
        fetched_at=queued.fetched_at,
        status=queued.result.status,
        headers=archived_headers(queued.result.headers),
        body=queued.result.body,
    )


def _put(db: sqlite3.Connection, each: _Encoded, saved_at: int) -> bool:
    """Whether the outcome changed a row."""
    changed = _put_record(db, each, saved_at) if each.outcome.record else False
    return _put_url(db, each) or changed


def _put_record(db: sqlite3.Connection, each: _Encoded, saved_at: int) -> bool:
    queued, record = each.outcome.queued, each.outcome.record
    if record is None:
        return False
    known = db.execute(
        "SELECT fetched_at, model_version, digest FROM records WHERE page_id = ? AND crawl_id = ?",
        (queued.page_id, queued.crawl_id),
    ).fetchall()
    if known:
        version = (known[0][0], known[0][1])
        if each.version < version or (each.version, each.record_digest) == (version, known[0][2]):
            return False
        _delete_record(db, queued.page_id, queued.crawl_id)
    newest_end = db.execute(
        "SELECT fetched_at, model_version FROM urls "
        "WHERE page_id = ? AND crawl_id = ? AND state <> ?",
        (queued.page_id, queued.crawl_id, UrlState.RECORD.value),
    ).fetchall()
    links: Counter[LinkKind] = Counter(link.kind for link in record.links)
    images: Counter[ImageKind] = Counter(image.kind for image in record.images)
    row = (
        queued.page_id,
        queued.crawl_id,
        clean_text(queued.host),
        *each.version,
        each.record_digest,
        saved_at,
        not newest_end or each.version >= newest_end[0],
        record.kind.value,
        clean_text(record.signature),
        len(record.body),
        *(links[kind] for kind in LinkKind),
        *(images[kind] for kind in ImageKind),
    )
    saved_seq = db.execute(_INSERT_RECORD, row).lastrowid
    db.execute("INSERT INTO record_blobs VALUES (?, ?, ?)", (saved_seq, *each.blobs))
    return True


def _delete_record(db: sqlite3.Connection, page_id: str, crawl_id: str) -> int:
    key = (page_id, crawl_id)
    one = "FROM records WHERE page_id = ? AND crawl_id = ?"
    db.execute(f"DELETE FROM record_blobs WHERE saved_seq IN (SELECT saved_seq {one})", key)  # noqa: S608
    return db.execute(f"DELETE {one}", key).rowcount


def _put_url(db: sqlite3.Connection, each: _Encoded) -> bool:
    queued, failure = each.outcome.queued, each.failure
    key = (queued.page_id, queued.crawl_id)
    host, url, state, fetched_at, model_version, *rest = each.url_row
    known = db.execute(
        "SELECT fetched_at, model_version, state, digest, fetched_bytes FROM urls "
        "WHERE page_id = ? AND crawl_id = ?",
        key,
    ).fetchall()
    if known:
        version = (known[0][0], known[0][1])
        known_state, known_digest = known[0][2], known[0][3]
        if each.version < version:
            return False
        if each.version == version and (
            each.url_digest == known_digest
            or (known_state == UrlState.RECORD.value and state != known_state)
        ):
            return False
        if not queued.result.body and known[0][0] == fetched_at:
            rest[8] = known[0][4]  # cleaned again from the archive: the answer was counted then
    row = (*key, host, url, state, fetched_at, model_version, each.url_digest, *rest)
    db.execute(_PUT_URL, row)
    db.execute(
        "UPDATE records SET is_current = ? WHERE page_id = ? AND crawl_id = ? AND is_current <> ?",
        (state == UrlState.RECORD.value, *key, state == UrlState.RECORD.value),
    )
    if failure is None:
        db.execute("DELETE FROM failures WHERE page_id = ? AND crawl_id = ?", key)
    else:
        db.execute(
            "INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *key,
                host,
                url,
                failure.reason.value,
                clean_text(failure.detail),
                queued.result.status,
                queued.attempt,
                fetched_at,
            ),
        )
    return True


def _put_raw(db: sqlite3.Connection, outcome: Outcome, place: Place) -> bool:
    queued = outcome.queued
    put = db.execute(
        "INSERT INTO raw VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
        "host = excluded.host, url = excluded.url, fetched_at = excluded.fetched_at, "
        "segment = excluded.segment, offset = excluded.offset, length = excluded.length "
        "WHERE excluded.fetched_at > raw.fetched_at",
        (
            queued.page_id,
            queued.crawl_id,
            clean_text(queued.host),
            clean_text(queued.url),
            to_microseconds(queued.fetched_at),
            place.segment,
            place.offset,
            place.length,
        ),
    )
    return put.rowcount > 0


def _where(crawl_id: str | None, host: str | None) -> tuple[str, tuple[str, ...]]:
    """(condition, values); only what was asked is named, so that its index can be used."""
    asked = {"crawl_id": crawl_id, "host": host}
    used = {name: value for name, value in asked.items() if value is not None}
    return " AND ".join(f"{name} = ?" for name in used) or "TRUE", tuple(used.values())


def _refresh_host(db: sqlite3.Connection, crawl_id: str, host: str) -> int:
    still = "FROM hosts WHERE crawl_id = ? AND host = ? AND is_dirty"
    if not db.execute(f"SELECT 1 {still}", (crawl_id, host)).fetchall():
        return 0  # another process was first
    stats = compute_stats(db, crawl_id, host)
    if stats is None:
        db.execute(f"DELETE {still}", (crawl_id, host))
    else:
        db.execute(
            "UPDATE hosts SET is_dirty = 0, stats = ? WHERE crawl_id = ? AND host = ?",
            (dump(stats_to_json(stats)).decode(), crawl_id, host),
        )
    return 1


def _url_row(row: Sequence[Any]) -> UrlRow:
    return UrlRow(
        crawl_id=row[0],
        page_id=row[1],
        url=row[2],
        host=row[3],
        state=UrlState(row[4]),
        depth=row[5],
        via=Via(row[6]),
        referrer=row[7],
        link_text=row[8],
        discovered_at=_maybe_time(row[9]),
        finished_at=from_microseconds(row[10]),
        status=row[11],
        etag=row[12],
        last_modified=row[13],
        next_visit=_maybe_time(row[14]),
        log=log_from_json(load(row[15])),
    )


def _close_before_forks(store: SqliteStore) -> None:
    """Closes the store's connection before every fork of this process, while no thread uses it."""
    weak = weakref.ref(store)

    def with_store(act: Callable[[SqliteStore], object]) -> Callable[[], None]:
        def hook() -> None:
            found = weak()
            if found is not None:
                act(found)

        return hook

    def before(found: SqliteStore) -> None:
        found._lock.acquire()
        found.close()

    def after(found: SqliteStore) -> None:
        found._lock.release()

    os.register_at_fork(
        before=with_store(before),
        after_in_parent=with_store(after),
        after_in_child=with_store(after),
    )
