"""A host's statistics: from the SQLite store's per-record counts, and summed over crawls.

Every number is recomputed from rows, never counted up, so it cannot drift: pages by state and the
volume come from ``urls``, kinds and links from the records that are their URL's newest end.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence

from cleaning.records import HostStats, ImageKind, LinkKind, PageKind
from storage.crawl_types import UrlState
from storage.store.codec import from_microseconds, stats_to_json

_SUMS = ", ".join(
    [
        "coalesce(max(model_version), 0)",
        "coalesce(sum(body_chars), 0)",
        *(f"coalesce(sum(links_{kind.value}), 0)" for kind in LinkKind),
        *(f"coalesce(sum(images_{kind.value}), 0)" for kind in ImageKind),
    ]
)
_OF_HOST = "WHERE crawl_id = ? AND host = ?"
_STATES = f"""SELECT state, count(*), sum(fetched_bytes), sum(html_chars), sum(wait_ms),
    min(fetched_at), max(fetched_at) FROM urls {_OF_HOST} GROUP BY state"""  # noqa: S608 (constants)
_KINDS = f"SELECT kind, count(*) FROM records {_OF_HOST} AND is_current GROUP BY kind"  # noqa: S608
_TOTALS = f"SELECT {_SUMS} FROM records {_OF_HOST} AND is_current"  # noqa: S608 (constants)
_DUPLICATES = f"""SELECT coalesce(sum(n), 0) FROM (SELECT count(*) AS n FROM records {_OF_HOST}
    AND is_current AND signature <> '' GROUP BY signature HAVING count(*) > 1)"""  # noqa: S608
_REASONS = f"""SELECT reason, count(*) FROM failures JOIN urls USING (page_id, crawl_id)
    WHERE failures.crawl_id = ? AND failures.host = ? AND urls.state = '{UrlState.FAILED.value}'
    GROUP BY reason"""  # noqa: S608 (constants)


def compute_stats(db: sqlite3.Connection, crawl_id: str, host: str) -> HostStats | None:
    """The statistics of a host of a crawl; None when no URL of it is stored.

    ``exact`` is True: whether the queue is at rest is not the store's to know.
    """
    key = (crawl_id, host)
    states = db.execute(_STATES, key).fetchall()
    if not states:
        return None
    model_version, body_chars, *counts = db.execute(_TOTALS, key).fetchall()[0]
    links = dict(zip(LinkKind, counts[: len(LinkKind)], strict=True))
    images = dict(zip(ImageKind, counts[len(LinkKind) :], strict=True))
    return HostStats(
        host=host,
        pages_by_state={row[0]: row[1] for row in states},
        pages_by_kind={PageKind(kind): n for kind, n in db.execute(_KINDS, key).fetchall()},
        links_by_kind={kind: n for kind, n in links.items() if n},
        images_by_kind={kind: n for kind, n in images.items() if n},
        errors_by_reason=dict(db.execute(_REASONS, key).fetchall()),
        fetched_bytes=sum(row[2] for row in states),
        html_chars=sum(row[3] for row in states),
        body_chars=body_chars,
        near_duplicates=db.execute(_DUPLICATES, key).fetchall()[0][0],
        wait_ms=sum(row[4] for row in states),
        first_seen=from_microseconds(min(row[5] for row in states)),
        last_seen=from_microseconds(max(row[6] for row in states)),
        model_version=model_version,
    )


def refresh_host(db: sqlite3.Connection, crawl_id: str, host: str) -> int:
    """1 when a dirty host was recomputed, 0 when it was not dirty; part of a transaction."""
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


def merge_stats(parts: Sequence[HostStats]) -> HostStats:
    """One host's statistics over several crawls; a page of two crawls counts twice.

    Args:
        parts: At least one, all of the same host.
    """
    if len(parts) == 1:
        return parts[0]
    states: Counter[str] = Counter()
    kinds: Counter[PageKind] = Counter()
    links: Counter[LinkKind] = Counter()
    images: Counter[ImageKind] = Counter()
    reasons: Counter[str] = Counter()
    for part in parts:
        states.update(part.pages_by_state)
        kinds.update(part.pages_by_kind)
        links.update(part.links_by_kind)
        images.update(part.images_by_kind)
        reasons.update(part.errors_by_reason)
    return HostStats(
        host=parts[0].host,
        pages_by_state=dict(states),
        pages_by_kind=dict(kinds),
        links_by_kind=dict(links),
        images_by_kind=dict(images),
        errors_by_reason=dict(reasons),
        fetched_bytes=sum(part.fetched_bytes for part in parts),
        html_chars=sum(part.html_chars for part in parts),
        body_chars=sum(part.body_chars for part in parts),
        near_duplicates=sum(part.near_duplicates for part in parts),
        wait_ms=sum(part.wait_ms for part in parts),
        first_seen=min((p.first_seen for p in parts if p.first_seen), default=None),
        last_seen=max((p.last_seen for p in parts if p.last_seen), default=None),
        model_version=max(part.model_version for part in parts),
        exact=all(part.exact for part in parts),
    )
