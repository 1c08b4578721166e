"""Host statistics of the SQLite store, recomputed from rows.

Pages by state, bytes and times come from ``urls``; kinds, links and images from records that are
the newest outcome of their URL. A save marks its hosts as dirty in the same transaction;
recomputing a host and clearing its mark is one transaction, too.
"""

from __future__ import annotations

import sqlite3

from crawlclean.cleaning.records import HostStats, ImageKind, LinkKind, PageKind
from crawlclean.storage.crawl_types import FailureReason, UrlState
from crawlclean.storage.sqlite.connection import SqliteConnection
from crawlclean.storage.sqlite.ports import conditions
from crawlclean.storage.sqlite.stories import SqliteStoryRows
from crawlclean.storage.store.encoded_outcomes import count_warnings
from crawlclean.storage.store.overview import HostFigures, Overview
from crawlclean.storage.store.ports import of
from crawlclean.storage.store.rows import from_microseconds, stats_to_json
from crawlclean.storage.store.stories import count_copies

REFRESH_HOSTS = 50
"""Hosts recomputed in one transaction: other writers wait for it."""

_SUMS = ", ".join(
    [
        "coalesce(max(model_version), 0)",
        "coalesce(sum(body_chars), 0)",
        f"coalesce(sum(body_chars = 0 AND kind <> '{PageKind.INDEX.value}'), 0)",
        *(f"coalesce(sum(links_{kind.value}), 0)" for kind in LinkKind),
        *(f"coalesce(sum(images_{kind.value}), 0)" for kind in ImageKind),
    ]
)
_OF_HOST = "WHERE crawl_id = ? AND host = ?"
_STATES = f"""SELECT state, count(*), sum(fetched_bytes), sum(html_chars), sum(wait_ms),
    min(fetched_at), max(fetched_at) FROM urls {_OF_HOST} GROUP BY state"""
_KINDS = f"SELECT kind, count(*) FROM records {_OF_HOST} AND is_current GROUP BY kind"
_TOTALS = f"SELECT {_SUMS} FROM records {_OF_HOST} AND is_current"
_KEPT = f"SELECT count(*) FROM records {_OF_HOST} AND NOT is_current"
_WARNINGS = f"""SELECT warnings, count(*) FROM records {_OF_HOST}
    AND is_current AND warnings <> '' GROUP BY warnings"""
_STORIES = f"""SELECT page_id, story FROM records JOIN signatures ON seq = saved_seq {_OF_HOST}
    AND is_current AND story IS NOT NULL"""
_SHORT = f"""SELECT coalesce(sum(n - 1), 0) FROM (SELECT count(*) AS n FROM records
    LEFT JOIN signatures ON seq = saved_seq {_OF_HOST}
    AND is_current AND signature <> '' AND seq IS NULL GROUP BY signature)"""
_REASONS = f"""SELECT reason, count(*) FROM urls {_OF_HOST}
    AND state = '{UrlState.FAILED.value}' GROUP BY reason"""
_GROUPS = f"""SELECT reason, status, count(*), min(fetched_at), max(fetched_at), min(page_id)
    FROM urls {_OF_HOST} AND state = '{UrlState.FAILED.value}' GROUP BY reason, status"""
_CERTIFICATES = f"""SELECT certificate, count(*) FROM urls {_OF_HOST}
    AND certificate IS NOT NULL GROUP BY certificate"""

_STATUSES = f"""SELECT status, count(*) FROM urls {_OF_HOST} AND state = '{UrlState.FAILED.value}'
    AND reason = '{FailureReason.HTTP_STATUS.value}' GROUP BY status"""


def compute_stats(
    db: sqlite3.Connection, crawl_id: str, host: str, near_duplicates: int
) -> HostStats | None:
    """The statistics of a host of a crawl; None when no URL of it is stored.

    ``exact`` is True: a store does not know whether the queue is at rest.

    Args:
        db: The open file.
        crawl_id: The crawl.
        host: The host.
        near_duplicates: Its pages whose story has an earlier page.
    """
    key = (crawl_id, host)
    states = db.execute(_STATES, key).fetchall()
    if not states:
        return None
    model_version, body_chars, empty, *counts = db.execute(_TOTALS, key).fetchall()[0]
    links = dict(zip(LinkKind, counts[: len(LinkKind)], strict=True))
    images = dict(zip(ImageKind, counts[len(LinkKind) :], strict=True))
    return HostStats(
        host=host,
        pages_by_state={row[0]: row[1] for row in states},
        pages_by_kind={PageKind(kind): n for kind, n in db.execute(_KINDS, key).fetchall()},
        links_by_kind={kind: n for kind, n in links.items() if n},
        images_by_kind={kind: n for kind, n in images.items() if n},
        errors_by_reason=dict(db.execute(_REASONS, key).fetchall()),
        certificate_faults=dict(db.execute(_CERTIFICATES, key).fetchall()),
        errors_by_status={str(status): n for status, n in db.execute(_STATUSES, key).fetchall()},
        pages_by_warning=count_warnings(db.execute(_WARNINGS, key).fetchall()),
        empty_bodies=empty,
        fetched_bytes=sum(row[2] for row in states),
        html_chars=sum(row[3] for row in states),
        body_chars=body_chars,
        near_duplicates=near_duplicates,
        kept_records=db.execute(_KEPT, key).fetchall()[0][0],
        wait_ms=sum(row[4] for row in states),
        first_seen=from_microseconds(min(row[5] for row in states)),
        last_seen=from_microseconds(max(row[6] for row in states)),
        model_version=model_version,
    )


def _near_duplicates(connection: SqliteConnection, crawl_id: str, host: str) -> int:
    pages = connection.rows(_STORIES, crawl_id, host)
    short = connection.rows(_SHORT, crawl_id, host)
    return count_copies(SqliteStoryRows(connection), pages) + int(short[0][0])


def _refresh_host(connection: SqliteConnection, crawl_id: str, host: str) -> HostFigures | None:
    """Recomputes a host inside a transaction; None when it was not dirty."""
    still = "FROM hosts WHERE crawl_id = ? AND host = ? AND is_dirty"
    key = (crawl_id, host)
    if not connection.rows(f"SELECT 1 {still}", *key):
        return None  # another process was first
    copies = _near_duplicates(connection, *key)
    with connection.use() as db:
        stats = compute_stats(db, *key, copies)
        if stats is None:
            db.execute(f"DELETE {still}", key)
        else:
            db.execute(
                "UPDATE hosts SET is_dirty = 0, stats = ? WHERE crawl_id = ? AND host = ?",
                (stats_to_json(stats).decode(), *key),
            )
        states = stats.pages_by_state if stats else {}
        groups = db.execute(_GROUPS, key).fetchall() if UrlState.FAILED in states else []
    return HostFigures(crawl_id=crawl_id, host=host, states=states, groups=groups)


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
