"""Writes encoded outcomes as rows of the SQLite store, behind the fence of ``store.py``.

Every function runs inside the transaction of one save.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from typing import Any

from crawlclean.cleaning.json_values import replace_surrogates
from crawlclean.cleaning.records import ImageKind, LinkKind
from crawlclean.storage.archive.segments import Place
from crawlclean.storage.archive.warc import Answer, archived_headers, pack_member, response_record
from crawlclean.storage.crawl_types import Outcome, UrlState
from crawlclean.storage.sqlite.connection import SqliteConnection
from crawlclean.storage.store.encoded_outcomes import EncodedOutcome, naming, number, warnings_text
from crawlclean.storage.store.ports import Row
from crawlclean.storage.store.rows import to_microseconds
from crawlclean.storage.store.topics import outbox_rows, rows_of
from crawlclean.storage.store.visits import (
    NO_SCHEDULE,
    SCHEDULE_COLUMNS,
    Comparison,
    Schedule,
    Visits,
)

# Writes judgements of topics as rows of the SQLite store, behind their fence.
#
# The fence is that of ``store/topic_rows.py``. Every function but ``put_pages`` runs inside the
# transaction of one save.

_COLUMNS = (
    "topic", "page_id", "crawl_id", "url", "host", "title", "fetched_at", "day", "version", "fence",
    "relevance", "label", "relevant", "parts", "features", "parent", "to_learn",
)  # fmt: skip
_KEPT = {
    "relevant": "CASE WHEN mark IS NULL THEN excluded.relevant ELSE relevant END",
    "label": "CASE WHEN mark IS NULL THEN excluded.label ELSE label END",
    # A page is judged anew without the link that led to it.
    "features": "CASE WHEN length(excluded.features) THEN excluded.features ELSE features END",
    "parent": "CASE WHEN excluded.parent <> '' THEN excluded.parent ELSE parent END",
    "to_learn": "CASE WHEN learned_in IS NULL THEN coalesce(excluded.to_learn, to_learn) "
    "ELSE to_learn END",
}
_UPDATES = ", ".join(f"{name} = {_KEPT.get(name, f'excluded.{name}')}" for name in _COLUMNS[2:])
_PUT = (
    f"INSERT INTO topic_pages ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))}) "
    f"ON CONFLICT DO UPDATE SET {_UPDATES} WHERE excluded.fence >= topic_pages.fence"
)


def put_judgements(db: sqlite3.Connection, outcome: Outcome) -> None:
    """Writes the judgements of an outcome, and its rows of the outbox.

    Raises:
        StoreDamaged: No row can hold them.
    """
    with naming(outcome):
        _put(db, rows_of(outcome))
        for row in outbox_rows(outcome):
            sql = "INSERT OR IGNORE INTO outbox (topic, kind, page_id, at) VALUES (?, ?, ?, ?)"
            db.execute(sql, tuple(row.values()))


def put_pages(db: SqliteConnection, rows: Sequence[Row]) -> None:
    """Writes judgements of stored pages in one transaction."""
    with db.transaction() as connection:
        _put(connection, rows)


def _put(db: sqlite3.Connection, rows: Sequence[Row]) -> None:
    db.executemany(_PUT, [tuple(row[name] for name in _COLUMNS) for row in rows])


_RECORD_COLUMNS = (
    "saved_seq, page_id, crawl_id, host, fetched_at, model_version, digest, saved_at, "
    "is_current, images_due, kind, signature, body_chars, warnings, "
    + ", ".join([f"links_{k.value}" for k in LinkKind] + [f"images_{k.value}" for k in ImageKind])
)
_INSERT_RECORD = (
    f"INSERT INTO records ({_RECORD_COLUMNS}) "
    f"VALUES ({', '.join('?' * len(_RECORD_COLUMNS.split(',')))})"
)
_URL_COLUMNS = (
    "page_id, crawl_id, host, url, state, fetched_at, model_version, digest, depth, via, "
    "referrer, link_text, discovered_at, status, etag, last_modified, fetched_bytes, html_chars, "
    "wait_ms, log, role, media_type, sha256, certificate, reason, detail, attempts, "
    + ", ".join(SCHEDULE_COLUMNS)
)
_PUT_URL = (
    f"INSERT OR REPLACE INTO urls ({_URL_COLUMNS}) "
    f"VALUES ({', '.join('?' * len(_URL_COLUMNS.split(',')))})"
)


def archived_answer(outcome: Outcome) -> bytes:
    """The outcome's HTTP response as one gzip member of a WARC segment.

    Raises:
        StoreDamaged: It cannot be stored.
    """
    queued = outcome.queued
    with naming(outcome):
        answer = Answer(
            url=queued.url,
            fetched_at=queued.fetched_at,
            status=queued.result.status,
            headers=archived_headers(queued.result.headers),
            body=queued.result.body,
        )
        return pack_member(response_record(answer))


def put_outcome(
    db: sqlite3.Connection,
    each: EncodedOutcome,
    saved_at: int,
    visits: Visits,
    compared: Comparison | None,
) -> bool:
    """Writes an outcome's record and URL row if they are newer; returns whether a row changed.

    Args:
        db: In the transaction of the save.
        each: The outcome.
        saved_at: Time of the save, microseconds since 1970 UTC.
        visits: The save's part that belongs to revisits.
        compared: The outcome's record compared with the stored one before the transaction.

    Raises:
        StoreDamaged: No row can hold it.
    """
    with naming(each.outcome):
        if each.outcome.unchanged or (compared and compared.is_unchanged):
            return visits.touch(each)
        changed = bool(each.outcome.record) and _put_record(db, each, saved_at, visits, compared)
        is_new = compared is not None and compared.change.is_changed
        return _put_url(db, each, visits, is_new=is_new) or changed


def _put_record(
    db: sqlite3.Connection,
    each: EncodedOutcome,
    saved_at: int,
    visits: Visits,
    compared: Comparison | None,
) -> bool:
    queued, record = each.outcome.queued, each.outcome.record
    if record is None:
        return False
    known = db.execute(
        "SELECT fetched_at, model_version, digest, images_due, saved_seq, saved_at FROM records "
        "WHERE page_id = ? AND crawl_id = ?",
        (queued.page_id, queued.crawl_id),
    ).fetchall()
    was_due, number_of_save = None, None
    if known:
        version, was_due = (known[0][0], known[0][1]), known[0][3]
        if each.version < version or (each.version, each.record_digest) == (version, known[0][2]):
            return False
        if compared is not None and compared.stored.saved_seq != known[0][4]:
            compared = visits.compare(each)  # saved by another process since
        visits.keep_version(compared, each)
        if compared is not None and not compared.change.is_changed:
            number_of_save, saved_at = known[0][4:6]
        delete_record(db, queued.page_id, queued.crawl_id)
    newest_other = db.execute(
        "SELECT fetched_at, model_version FROM urls "
        "WHERE page_id = ? AND crawl_id = ? AND state <> ?",
        (queued.page_id, queued.crawl_id, UrlState.RECORD.value),
    ).fetchall()
    links: Counter[LinkKind] = Counter(link.kind for link in record.links)
    images: Counter[ImageKind] = Counter(image.kind for image in record.images)
    row = (
        number_of_save,
        queued.page_id,
        queued.crawl_id,
        replace_surrogates(queued.host),
        *each.version,
        each.record_digest,
        saved_at,
        not newest_other or each.version >= newest_other[0],
        queued.crawl_id if each.outcome.images_due else was_due,
        record.kind.value,
        replace_surrogates(record.signature),
        len(record.body),
        warnings_text(record),
        *(links[kind] for kind in LinkKind),
        *(images[kind] for kind in ImageKind),
    )
    saved_seq = db.execute(_INSERT_RECORD, row).lastrowid
    db.execute("INSERT INTO record_blobs VALUES (?, ?, ?)", (saved_seq, *each.blobs))
    return True


def delete_record(db: sqlite3.Connection, page_id: str, crawl_id: str) -> int:
    """Deletes the record of a page of a crawl; returns how many, 0 or 1."""
    key = (page_id, crawl_id)
    one = "FROM records WHERE page_id = ? AND crawl_id = ?"
    db.execute(f"DELETE FROM record_blobs WHERE saved_seq IN (SELECT saved_seq {one})", key)
    return db.execute(f"DELETE {one}", key).rowcount


def _put_url(db: sqlite3.Connection, each: EncodedOutcome, visits: Visits, *, is_new: bool) -> bool:
    queued, failure = each.outcome.queued, each.failure
    key = (queued.page_id, queued.crawl_id)
    host, url, state, fetched_at, model_version, *rest = each.url_row
    known = db.execute(
        "SELECT fetched_at, model_version, state, digest, fetched_bytes, certificate, "
        f"{', '.join(SCHEDULE_COLUMNS)} FROM urls WHERE page_id = ? AND crawl_id = ?",
        key,
    ).fetchall()
    schedule = NO_SCHEDULE
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
            rest[8], rest[-1] = known[0][4:6]  # re-cleaned: only the fetch knows these
        schedule = Schedule.of(known[0][6:])
    if each.outcome.visit is not None:
        schedule = visits.next_schedule(each, schedule, is_new=is_new)
    why: tuple[Any, ...] = (None, None, None)
    if failure is not None:
        why = (failure.reason.value, replace_surrogates(failure.detail), number(queued.attempt))
    row = (*key, host, url, state, fetched_at, model_version, each.url_digest, *rest, *why)
    row += schedule.values
    db.execute(_PUT_URL, row)
    db.execute(
        "UPDATE records SET is_current = ? WHERE page_id = ? AND crawl_id = ? AND is_current <> ?",
        (state == UrlState.RECORD.value, *key, state == UrlState.RECORD.value),
    )
    return True


def put_raw(db: sqlite3.Connection, outcome: Outcome, place: Place) -> bool:
    """Indexes an archived response if it is the newest of its URL; returns whether it is."""
    queued = outcome.queued
    values = (
        queued.page_id,
        queued.crawl_id,
        replace_surrogates(queued.host),
        replace_surrogates(queued.url),
        to_microseconds(queued.fetched_at),
        place.segment,
        place.offset,
        place.length,
    )
    put = db.execute(
        "INSERT INTO raw VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
        "host = excluded.host, url = excluded.url, fetched_at = excluded.fetched_at, "
        "segment = excluded.segment, offset = excluded.offset, length = excluded.length "
        "WHERE excluded.fetched_at > raw.fetched_at",
        values,
    )
    return put.rowcount > 0
