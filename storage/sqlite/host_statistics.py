"""Host statistics of the SQLite store, recomputed from rows.

Pages by state, bytes and times come from ``urls``; kinds, links and images from records that are
the newest outcome of their URL. A save marks its hosts as dirty in the same transaction;
recomputing a host and clearing its mark is one transaction, too.
"""

from __future__ import annotations

import sqlite3

from cleaning.records import HostStats, ImageKind, LinkKind, PageKind
from storage.crawl_types import FailureReason, UrlState
from storage.sqlite.connection import SqliteConnection
from storage.sqlite.ports import conditions
from storage.store.codec import from_microseconds, stats_to_json
from storage.store.encoded_outcomes import count_warnings
from storage.store.ports import of

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
_WARNINGS = f"""SELECT warnings, count(*) FROM records {_OF_HOST}
    AND is_current AND warnings <> '' GROUP BY warnings"""
_DUPLICATES = f"""SELECT coalesce(sum(n), 0) FROM (SELECT count(*) AS n FROM records {_OF_HOST}
    AND is_current AND signature <> '' GROUP BY signature HAVING count(*) > 1)"""
_REASONS = f"""SELECT reason, count(*) FROM urls {_OF_HOST}
    AND state = '{UrlState.FAILED.value}' GROUP BY reason"""
_CERTIFICATES = f"""SELECT certificate, count(*) FROM urls {_OF_HOST}
    AND certificate IS NOT NULL GROUP BY certificate"""

_STATUSES = f"""SELECT status, count(*) FROM urls {_OF_HOST} AND state = '{UrlState.FAILED.value}'
    AND reason = '{FailureReason.HTTP_STATUS.value}' GROUP BY status"""


def compute_stats(db: sqlite3.Connection, crawl_id: str, host: str) -> HostStats | None:
    """The statistics of a host of a crawl; None when no URL of it is stored.

    ``exact`` is True: a store does not know whether the queue is at rest.
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
        near_duplicates=db.execute(_DUPLICATES, key).fetchall()[0][0],
        wait_ms=sum(row[4] for row in states),
        first_seen=from_microseconds(min(row[5] for row in states)),
        last_seen=from_microseconds(max(row[6] for row in states)),
        model_version=model_version,
    )


def _refresh_host(db: sqlite3.Connection, crawl_id: str, host: str) -> int:
    """Recomputes a host inside a transaction; returns 1, or 0 when it was not dirty."""
    still = "FROM hosts WHERE crawl_id = ? AND host = ? AND is_dirty"
    if not db.execute(f"SELECT 1 {still}", (crawl_id, host)).fetchall():
        return 0  # another process was first
    stats = compute_stats(db, crawl_id, host)
    if stats is None:
        db.execute(f"DELETE {still}", (crawl_id, host))
    else:
        db.execute(
            "UPDATE hosts SET is_dirty = 0, stats = ? WHERE crawl_id = ? AND host = ?",
            (stats_to_json(stats).decode(), crawl_id, host),
        )
    return 1


def refresh(connection: SqliteConnection, crawl_id: str | None, host: str | None) -> int:
    """Recomputes the dirty hosts of a crawl and a host (None: any); returns how many.

    In a folder that cannot be written the statistics stay as they were when it was last read.
    """
    if connection.is_read_only:
        return 0
    where, values = conditions(of(crawl_id, host))
    sql = f"SELECT crawl_id, host FROM hosts WHERE is_dirty AND {where}"
    dirty = connection.rows(sql, *values)
    done = 0
    for start in range(0, len(dirty), REFRESH_HOSTS):
        with connection.transaction() as db:
            for key in dirty[start : start + REFRESH_HOSTS]:
                done += _refresh_host(db, *key)
    return done
