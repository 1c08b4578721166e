"""Space of crawls in the SQLite store, and dropping archived responses."""

from __future__ import annotations

from storage.sqlite.connection import SqliteConnection
from storage.sqlite.ports import conditions
from storage.store.ports import of
from storage.store.space import COUNTED, SAMPLED, HostSample, Space, SpaceKind

DROP_ROWS = 500

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


def drop_rows(connection: SqliteConnection, crawl_id: str, host: str | None) -> int:
    """Deletes the index rows of archived responses, in small transactions; returns how many."""
    where, values = conditions(of(crawl_id, host))
    some = f"SELECT rowid FROM raw WHERE {where} AND rowid > ? ORDER BY rowid LIMIT {DROP_ROWS}"
    dropped, last = 0, 0
    while True:
        with connection.transaction() as db:
            rows = db.execute(some, (*values, last)).fetchall()
            db.executemany("DELETE FROM raw WHERE rowid = ?", rows)
        if not rows:
            return dropped
        dropped += len(rows)
        last = rows[-1][0]
