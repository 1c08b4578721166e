"""Host statistics of the SQLite store, recomputed from rows.

Pages by state, bytes and times come from ``urls``; kinds, links and images from records that are
the newest outcome of their URL. A save marks its hosts as dirty in the same transaction;
recomputing a host and clearing its mark is one transaction, too.
"""

from __future__ import annotations

from crawlclean.storage.sqlite.connection import SqliteConnection
from crawlclean.storage.sqlite.ports import conditions
from crawlclean.storage.sqlite.stories import SqliteStoryRows
from crawlclean.storage.store.host_statistics import (
    IMAGE_SUMS,
    LINK_SUMS,
    Group,
    failures_of,
    stats_of,
)
from crawlclean.storage.store.overview import HostFigures, Overview
from crawlclean.storage.store.ports import of
from crawlclean.storage.store.rows import stats_to_json
from crawlclean.storage.store.stories import count_copies

REFRESH_HOSTS = 50
"""Hosts recomputed in one transaction: other writers wait for it."""

_OF_HOST = "WHERE crawl_id = ? AND host = ?"
_BY = "state, reason, status, certificate"
_URLS = f"""SELECT {_BY}, count(*) AS n, sum(fetched_bytes) AS fetched_bytes,
    sum(html_chars) AS html_chars, sum(wait_ms) AS wait_ms, min(fetched_at) AS first_at,
    max(fetched_at) AS newest_at, min(page_id) AS sample FROM urls {_OF_HOST} GROUP BY {_BY}"""
_RECORDS = f"""SELECT is_current, kind, warnings, body_chars = 0 AS is_empty, count(*) AS n,
    sum(body_chars) AS body_chars, max(model_version) AS model_version,
    {", ".join(f"sum({name}) AS {name}" for name in LINK_SUMS + IMAGE_SUMS)}
    FROM records {_OF_HOST} GROUP BY 1, 2, 3, 4"""
_STORIES = f"""SELECT page_id, story FROM records JOIN signatures ON seq = saved_seq {_OF_HOST}
    AND is_current AND story IS NOT NULL"""
_SHORT = f"""SELECT coalesce(sum(n - 1), 0) FROM (SELECT count(*) AS n FROM records
    LEFT JOIN signatures ON seq = saved_seq {_OF_HOST}
    AND is_current AND signature <> '' AND seq IS NULL GROUP BY signature)"""


def _groups(connection: SqliteConnection, sql: str, key: tuple[str, str]) -> list[Group]:
    """The rows of a query by the names of its columns."""
    with connection.use() as db:
        found = db.execute(sql, key)
        names = [each[0] for each in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def _near_duplicates(connection: SqliteConnection, key: tuple[str, str]) -> int:
    pages = connection.rows(_STORIES, *key)
    short = connection.rows(_SHORT, *key)
    return count_copies(SqliteStoryRows(connection), pages) + int(short[0][0])


def _refresh_host(connection: SqliteConnection, crawl_id: str, host: str) -> HostFigures | None:
    """Recomputes a host inside a transaction; None when it was not dirty."""
    still = "FROM hosts WHERE crawl_id = ? AND host = ? AND is_dirty"
    key = (crawl_id, host)
    if not connection.rows(f"SELECT 1 {still}", *key):
        return None  # another process was first
    urls = _groups(connection, _URLS, key)
    with connection.use() as db:
        if not urls:
            db.execute(f"DELETE {still}", key)
            return HostFigures(crawl_id=crawl_id, host=host, states={}, groups=[])
        records = _groups(connection, _RECORDS, key)
        stats = stats_of(
            host,
            urls,
            [each for each in records if each["is_current"]],
            near_duplicates=_near_duplicates(connection, key),
            kept_records=sum(each["n"] for each in records if not each["is_current"]),
        )
        sql = "UPDATE hosts SET is_dirty = 0, stats = ? WHERE crawl_id = ? AND host = ?"
        db.execute(sql, (stats_to_json(stats).decode(), *key))
    return HostFigures(
        crawl_id=crawl_id, host=host, states=stats.pages_by_state, groups=failures_of(urls)
    )


def refresh(
    connection: SqliteConnection, overview: Overview, crawl_id: str | None, host: str | None
) -> int:
    """Recomputes the dirty hosts of a crawl and a host (None: any); returns how many.

    In a folder that cannot be written the statistics stay as they are.
    """
    if connection.is_read_only:
        return 0
    where, values = conditions(of(crawl_id, host))
    sql = f"SELECT crawl_id, host FROM hosts WHERE is_dirty AND {where}"
    dirty = connection.rows(sql, *values)
    done = 0
    for start in range(0, len(dirty), REFRESH_HOSTS):
        with connection.transaction():
            some = [_refresh_host(connection, *key) for key in dirty[start : start + REFRESH_HOSTS]]
            figures = [each for each in some if each]
            overview.keep(figures)
            done += len(figures)
    return done


def is_behind(connection: SqliteConnection) -> bool:
    """Whether a host is dirty."""
    return bool(connection.rows("SELECT 1 FROM hosts WHERE is_dirty LIMIT 1"))
