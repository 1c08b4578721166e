"""Space of crawls in the SQLite store, and dropping archived responses."""

from __future__ import annotations

from contextlib import suppress

from crawlclean.cleaning.errors import StoreFull
from crawlclean.storage.archive.segments import Archive, Commits, Place
from crawlclean.storage.sqlite.connection import SqliteConnection
from crawlclean.storage.sqlite.ports import conditions
from crawlclean.storage.store.ports import of
from crawlclean.storage.store.space import COUNTED, SAMPLED, HostSample, RawSpace, Space, SpaceKind

DROP_ROWS = 200
"""A transaction's part of the log stays below 2 MB: a full disk has little more."""

MOVED_FROM_BYTES = 1 << 20
"""Shorter segments are left as they are: their files are hardly worth the copies."""

MOVED_AT_ONCE = 50

_RAW = "SELECT crawl_id, count(*), sum(length) FROM raw GROUP BY crawl_id ORDER BY crawl_id"
_RECORDS = "SELECT crawl_id, count(*) FROM records GROUP BY crawl_id ORDER BY crawl_id"
_MEAN = f"""SELECT avg(length(record) + length(links)) FROM record_blobs WHERE saved_seq IN
    (SELECT saved_seq FROM records WHERE crawl_id = ? LIMIT {SAMPLED})"""

# Along an index by page id, which is a hash: a sample at random.
_RESPONSES = f"""SELECT count(*) FROM
    (SELECT 1 FROM raw INDEXED BY raw_of_site WHERE host = ? LIMIT {COUNTED})"""
_RESPONSE = f"""SELECT avg(length) FROM
    (SELECT length FROM raw INDEXED BY raw_of_site WHERE host = ? LIMIT {SAMPLED})"""
_RECORD = f"""SELECT count(*), avg(length(record) + length(links)) FROM record_blobs
    WHERE saved_seq IN (SELECT saved_seq FROM records INDEXED BY records_of_site
        WHERE host = ? LIMIT {SAMPLED})"""


def space(connection: SqliteConnection) -> list[Space]:
    """What each crawl takes; responses by their index, records by a sample."""
    found = [
        Space(crawl_id=crawl, kind=SpaceKind.RAW, items=n, stored_bytes=size, is_estimate=False)
        for crawl, n, size in connection.rows(_RAW)
    ]
    for crawl, n in connection.rows(_RECORDS):
        mean = connection.rows(_MEAN, crawl)[0][0] or 0
        found.append(
            Space(
                crawl_id=crawl,
                kind=SpaceKind.RECORDS,
                items=n,
                stored_bytes=round(mean * n),
                is_estimate=n > SAMPLED,
            )
        )
    return found


def sample_host(connection: SqliteConnection, host: str) -> HostSample:
    """Sizes of what is stored of a host."""
    ((responses,),) = connection.rows(_RESPONSES, host)
    ((response_bytes,),) = connection.rows(_RESPONSE, host)
    ((records, record_bytes),) = connection.rows(_RECORD, host)
    return HostSample(
        responses=responses,
        response_bytes=response_bytes or 0.0,
        records=records,
        record_bytes=record_bytes or 0.0,
    )


def raw_space(connection: SqliteConnection, crawl_id: str | None, host: str | None) -> RawSpace:
    """What dropping the responses of a crawl, a host or both would free."""
    where, values = conditions(of(crawl_id, host))
    mine = (
        f"sum(CASE WHEN {where} THEN 1 ELSE 0 END), sum(CASE WHEN {where} THEN length ELSE 0 END)"
    )
    rows = connection.rows(
        f"SELECT segments.committed, sum(length), {mine} FROM raw JOIN segments USING (segment) "
        f"WHERE segment IN (SELECT DISTINCT segment FROM raw WHERE {where}) GROUP BY segment",
        *values * 3,
    )
    freed = 0
    for committed, live, _, dropped in rows:
        left = live - dropped
        freed += committed - left if not left or _is_sparse(committed, left) else 0
    return RawSpace(
        responses=sum(row[2] for row in rows),
        stored_bytes=sum(row[3] for row in rows),
        freed_bytes=freed,
    )


def drop_rows(
    connection: SqliteConnection, crawl_id: str | None, host: str | None, limit: int | None = None
) -> int:
    """Deletes index rows of archived responses, in small transactions; returns how many."""
    where, values = conditions(of(crawl_id, host))
    dropped = 0
    while limit is None or dropped < limit:
        some = DROP_ROWS if limit is None else min(DROP_ROWS, limit - dropped)
        with connection.transaction() as db:
            sql = f"SELECT rowid FROM raw WHERE {where} LIMIT ?"
            rows = db.execute(sql, (*values, some)).fetchall()
            db.executemany("DELETE FROM raw WHERE rowid = ?", rows)
        dropped += len(rows)
        if len(rows) < some:
            break
    return dropped


def free_segments(connection: SqliteConnection, archive: Archive, commits: Commits) -> None:
    """Moves the few responses left of mostly dropped segments to others, so that files can go.

    Where the disk has no room for the copies, they stay: the next call tries again.
    """
    sql = "SELECT segment, committed FROM segments WHERE committed >= ?"
    for number, committed in connection.rows(sql, MOVED_FROM_BYTES):
        with archive.hold(number) as is_held, suppress(StoreFull):
            if is_held and archive.path(number).exists():
                _move_all(connection, archive, commits, (number, committed))


def _move_all(
    connection: SqliteConnection, archive: Archive, commits: Commits, segment: tuple[int, int]
) -> None:
    """Moves all responses of a segment (number, committed length), if they are few."""
    number, committed = segment
    left = connection.rows("SELECT sum(length) FROM raw WHERE segment = ?", number)[0][0] or 0
    if not left or not _is_sparse(committed, left):
        return
    sql = "SELECT rowid, offset, length FROM raw WHERE segment = ? ORDER BY offset LIMIT ?"
    while rows := connection.rows(sql, number, MOVED_AT_ONCE):
        found = [Place(segment=number, offset=at, length=size) for _, at, size in rows]
        with archive.open_segment(commits) as target:
            places = target.append([archive.member(each) for each in found])
            moved = [
                (new.segment, new.offset, rowid, number, old.offset)
                for (rowid, *_), old, new in zip(rows, found, places, strict=True)
            ]
            with connection.transaction() as db:
                db.executemany(
                    "UPDATE raw SET segment = ?, offset = ? "
                    "WHERE rowid = ? AND segment = ? AND offset = ?",
                    moved,
                )
                db.execute(
                    "UPDATE segments SET committed = ? WHERE segment = ?",
                    (target.length, target.number),
                )


def _is_sparse(committed: int, left: int) -> bool:
    """Whether so little of a segment is left that it is moved."""
    return committed >= MOVED_FROM_BYTES and left * 2 < committed
