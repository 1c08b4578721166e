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
connection, which is closed before a fork. A parent that forks often should not use the store
between forks.

**Durability.** ``synchronous=FULL``: what ``save`` returned from survives a power cut, because the
queue forgets the page next. Measured on real pages (127 links, 38 KB), in jobs of 20: 2,180
records per CPU-second, 2,200 with NORMAL; in jobs of one 1,590 and 1,870. The file has 400 lines.

**Files.** ``sqlite_schema.py`` the tables, ``sqlite_connection.py`` one connection,
``sqlite_writing.py`` the fence, ``sqlite_reading.py`` queries, ``sqlite_sites.py`` models and
pages of a host, ``sqlite_drifts.py`` its changes; here is the protocol. Shared with
the MongoDB store: ``encoded_outcomes.py`` outcomes as values, ``stored_rows.py`` values as answers.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path

from cleaning.document.raw_page import RawPage
from cleaning.records import CleanRecord, HostStats
from storage.archive.segments import Archive, Place, Segment
from storage.crawl_types import (
    CrawlRow,
    CrawlSpec,
    CrawlState,
    FailureRow,
    Outcome,
    UrlRow,
    UrlState,
)
from storage.sqlite.connection import BUSY_TIMEOUT_S, SqliteConnection
from storage.sqlite.drifts import SqliteDrifts
from storage.sqlite.frontier import SqliteFrontierTables
from storage.sqlite.hosts import SqliteSiteTables
from storage.sqlite.images import SqliteImages
from storage.sqlite.reading import SAMPLED_URL_ROWS, URL_ROWS, condition
from storage.sqlite.writing import archived_answer, delete_record, put_outcome, put_raw
from storage.store.codec import (
    spec_from_json,
    spec_to_json,
    stats_from_json,
    to_microseconds,
)
from storage.store.deduplication import Once
from storage.store.encoded_outcomes import EncodedOutcome, encode_outcome, naming
from storage.store.host_statistics import merge_stats, refresh_host
from storage.store.record_blobs import unpack_record
from storage.store.rows import FAILURE_COLUMNS, crawl_row, failure_row, raw_page, url_row

READ_ROWS = 200
DELETE_ROWS = 500
REFRESH_HOSTS = 50


class SqliteStore(SqliteFrontierTables, SqliteSiteTables, SqliteDrifts, SqliteImages):
    """The ``Store`` of the embedded mode; see ``storage.store.protocol.Store`` for its methods."""

    def __init__(self, path: Path, *, busy_timeout_s: float = BUSY_TIMEOUT_S) -> None:
        """Touches nothing yet.

        Args:
            path: The SQLite file; made at first use, its directory is not.
            busy_timeout_s: How long a write waits for another process's.
        """
        self.path = path
        self._archive = Archive(path.parent / "raw")
        self._db = SqliteConnection(path, busy_timeout_s)

    def close(self) -> None:
        """Closes the file; the store is not used afterwards."""
        self._db.close()

    # --- saving ---

    def save(self, outcomes: Sequence[Outcome]) -> int:
        """Stores all outcomes in one transaction; returns how many changed something."""
        if not outcomes:
            return 0
        encoded = [encode_outcome(outcome) for outcome in outcomes]
        raw = [outcome for outcome in outcomes if self._wants_raw(outcome)]
        if not raw:
            return self._commit(encoded, [], None)
        members = [archived_answer(outcome) for outcome in raw]
        with self._archive.open_segment(self) as segment:
            places = segment.append(members)
            return self._commit(encoded, list(zip(raw, places, strict=True)), segment)

    def _wants_raw(self, outcome: Outcome) -> bool:
        queued = outcome.queued
        if not outcome.keep_raw or not 100 <= queued.result.status <= 999:
            return False
        sql = "SELECT fetched_at FROM raw WHERE page_id = ? AND crawl_id = ?"
        with self._db.use() as db, naming(outcome):
            known = db.execute(sql, (queued.page_id, queued.crawl_id)).fetchall()
        return not known or known[0][0] < to_microseconds(queued.fetched_at)

    def _commit(
        self,
        encoded: Sequence[EncodedOutcome],
        raw: Sequence[tuple[Outcome, Place]],
        segment: Segment | None,
    ) -> int:
        changed: set[int] = set()
        dirty: set[tuple[str, str]] = set()
        with self._db.transaction() as db:
            newest = db.execute("SELECT max(saved_at) FROM records").fetchall()[0][0] or 0
            saved_at = max(time.time_ns() // 1000, newest)
            for number, each in enumerate(encoded):
                if put_outcome(db, each, saved_at):
                    changed.add(number)
                    dirty.add((each.outcome.queued.crawl_id, each.url_row[0]))
            numbers = {id(each.outcome): number for number, each in enumerate(encoded)}
            for outcome, place in raw:
                if put_raw(db, outcome, place):
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
        return [row[0] for row in self._db.rows(sql, below_bytes)]

    def committed(self, segment: int) -> int | None:
        """Committed length of a segment, or None when the database does not know it."""
        rows = self._db.rows("SELECT committed FROM segments WHERE segment = ?", segment)
        return rows[0][0] if rows else None

    def add_segment(self, segment: int) -> None:
        """Commits a new segment with length 0."""
        with self._db.transaction() as db:
            db.execute("INSERT OR IGNORE INTO segments VALUES (?, 0)", (segment,))

    def repair_archive(self) -> int:
        """Cuts what killed writers left in the segments; returns how many were cut.

        Needed by nobody who reads through the store; other WARC tools are glad of it.
        """
        return self._archive.repair(self)

    # --- crawls ---

    def put_crawl(self, spec: CrawlSpec, state: CrawlState) -> None:
        """Creates or updates a crawl's row; ``created_at`` stays."""
        with self._db.transaction() as db:
            db.execute(
                "INSERT INTO crawls VALUES (?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET spec = excluded.spec, state = excluded.state",
                (
                    spec.crawl_id,
                    spec_to_json(spec).decode(),
                    state.value,
                    time.time_ns() // 1000,
                ),
            )

    def crawls(self) -> list[CrawlRow]:
        """All crawls, oldest first."""
        rows = self._db.rows(
            "SELECT spec, state, created_at FROM crawls ORDER BY created_at, rowid"
        )
        found = []
        for spec_text, state, created_at in rows:
            spec = spec_from_json(spec_text)
            counts = self._db.rows(
                "SELECT state, count(*) FROM urls WHERE crawl_id = ? GROUP BY state", spec.crawl_id
            )
            found.append(crawl_row(spec, state, created_at, counts))
        return found

    def delete_crawl(self, crawl_id: str) -> int:
        """Forgets a crawl's row and all that is stored of it; returns records deleted.

        Deletes in small transactions, the crawl's row last: an interrupted call is repeated.
        """
        deleted = self._delete_pages(crawl_id, None)
        with self._db.transaction() as db:
            db.execute("DELETE FROM hosts WHERE crawl_id = ?", (crawl_id,))
            db.execute("DELETE FROM crawls WHERE crawl_id = ?", (crawl_id,))
        self._remove_empty_segments()
        return deleted

    def delete_host(self, crawl_id: str, host: str) -> int:
        """The same for one host of a crawl; the crawl's row stays."""
        deleted = self._delete_pages(crawl_id, host)
        with self._db.transaction() as db:
            db.execute("DELETE FROM hosts WHERE crawl_id = ? AND host = ?", (crawl_id, host))
        self._remove_empty_segments()
        return deleted

    def _delete_pages(self, crawl_id: str, host: str | None) -> int:
        deleted = 0
        self.forget_tail(crawl_id, host)
        where, values = condition(crawl_id, host)
        while True:
            with self._db.transaction() as db:
                pages = db.execute(
                    f"SELECT page_id, crawl_id FROM urls WHERE {where} LIMIT {DELETE_ROWS}",  # noqa: S608
                    values,
                ).fetchall()
                for key in pages:
                    deleted += delete_record(db, *key)
                for table in ("urls", "failures", "raw"):
                    db.executemany(
                        f"DELETE FROM {table} WHERE page_id = ? AND crawl_id = ?",  # noqa: S608
                        pages,
                    )
            if not pages:
                return deleted

    def _remove_empty_segments(self) -> None:
        unused = "NOT EXISTS (SELECT 1 FROM raw WHERE raw.segment = segments.segment)"
        for (number,) in self._db.rows(f"SELECT segment FROM segments WHERE {unused}"):  # noqa: S608
            with self._archive.hold(number) as held:
                if not held:  # somebody writes to it now; the next deletion comes back to it
                    continue
                with self._db.transaction() as db:
                    gone = db.execute(
                        f"DELETE FROM segments WHERE segment = ? AND {unused}",  # noqa: S608
                        (number,),
                    ).rowcount
                    if gone:  # a file without its row would stay for ever, so the file goes first
                        self._archive.remove(number)

    # --- reading ---

    def record(self, page_id: str, crawl_id: str | None = None) -> CleanRecord | None:
        """The newest record of a page, in one crawl or in all."""
        rows = self._db.rows(
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
        rows = self._db.rows(
            "SELECT DISTINCT page_id FROM urls WHERE page_id >= ? AND page_id < ? "
            "ORDER BY page_id LIMIT ?",
            prefix,
            prefix + "g",  # the first letter after the hex digits
            limit,
        )
        return [row[0] for row in rows]

    def url_rows(self, page_id: str) -> list[UrlRow]:
        """What every crawl knows about a URL, newest first; ``finished_at`` is the fetch's end."""
        return [url_row(row) for row in self._db.rows(URL_ROWS, page_id)]

    def records(
        self, crawl_id: str | None = None, since: datetime | None = None
    ) -> Iterator[CleanRecord]:
        """Records in the order they were saved, read in pages of bounded size.

        ``since`` keeps those saved at or after it. A record that is saved anew while this runs
        comes once all the same.
        """
        after = 0
        if since is not None:
            rows = self._db.rows(
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
            "SELECT saved_seq, page_id, crawl_id, record, links "  # noqa: S608
            "FROM records JOIN record_blobs USING (saved_seq) "
            f"WHERE {wanted} saved_seq > ? ORDER BY saved_seq LIMIT {READ_ROWS}"
        )
        with closing(Once()) as once:
            while True:
                page = self._db.rows(sql, *values, after)
                for after, page_id, of_crawl, record, links in page:  # noqa: B007 (to go on there)
                    if once.is_first(f"{page_id}:{of_crawl}"):
                        yield unpack_record(record, links)
                if len(page) < READ_ROWS:
                    return

    def sample_records(self, crawl_id: str, host: str, limit: int) -> list[CleanRecord]:
        """Records of a host of a crawl, those with the smallest page ids, at most ``limit``."""
        rows = self._db.rows(
            "SELECT record, links FROM record_blobs WHERE saved_seq IN (SELECT saved_seq "
            "FROM records WHERE crawl_id = ? AND host = ? ORDER BY page_id LIMIT ?)",
            crawl_id,
            host,
            limit,
        )
        return sorted((unpack_record(*row) for row in rows), key=lambda record: record.page_id)

    def sample_url_rows(
        self, crawl_id: str, host: str, state: UrlState, limit: int
    ) -> list[UrlRow]:
        """The same of URLs that reached a state."""
        rows = self._db.rows(SAMPLED_URL_ROWS, crawl_id, host, str(state), limit)
        return [url_row(row) for row in rows]

    def count_records(self, crawl_id: str | None = None) -> int:
        """How many records are stored."""
        if crawl_id is None:
            return int(self._db.rows("SELECT count(*) FROM records")[0][0])
        sql = "SELECT count(*) FROM records WHERE crawl_id = ?"
        return int(self._db.rows(sql, crawl_id)[0][0])

    def failures(
        self, crawl_id: str | None = None, host: str | None = None, limit: int = 1000
    ) -> list[FailureRow]:
        """Newest first."""
        where, values = condition(crawl_id, host)
        rows = self._db.rows(
            f"SELECT {FAILURE_COLUMNS} "  # noqa: S608 (constants)
            f"FROM failures WHERE {where} ORDER BY failed_at DESC, rowid DESC LIMIT ?",
            *values,
            limit,
        )
        return [failure_row(row) for row in rows]

    def raw_page(self, page_id: str, crawl_id: str | None = None) -> RawPage | None:
        """The archived page, decoded, or None when the archive does not hold it."""
        found = self._raw_answer(page_id, crawl_id)
        return raw_page(*found) if found else None

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
        where, values = condition(crawl_id, host)
        sql = f"SELECT host, stats FROM hosts WHERE {where} AND stats IS NOT NULL"  # noqa: S608
        for name, stats in self._db.rows(f"{sql} ORDER BY crawl_id", *values):
            by_host.setdefault(name, []).append(stats_from_json(stats))
        merged = [merge_stats(parts) for parts in by_host.values()]
        return sorted(merged, key=lambda s: (-sum(s.pages_by_state.values()), s.host))

    def _refresh(self, crawl_id: str | None, host: str | None) -> int:
        where, values = condition(crawl_id, host)
        sql = f"SELECT crawl_id, host FROM hosts WHERE is_dirty AND {where}"  # noqa: S608
        dirty = self._db.rows(sql, *values)
        done = 0
        for start in range(0, len(dirty), REFRESH_HOSTS):
            with self._db.transaction() as db:
                for key in dirty[start : start + REFRESH_HOSTS]:
                    done += refresh_host(db, *key)
        return done
