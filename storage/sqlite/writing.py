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
from crawlclean.storage.archive.warc import pack_member, response_record
from crawlclean.storage.crawl_types import Outcome, UrlState
from crawlclean.storage.sqlite.connection import SqliteConnection
from crawlclean.storage.store.encoded_outcomes import EncodedOutcome, counted_of, naming
from crawlclean.storage.store.fence import URL_STATE, next_row
from crawlclean.storage.store.ports import Answer, Row
from crawlclean.storage.store.rows import to_microseconds
from crawlclean.storage.store.stories import FENCE
from crawlclean.storage.store.tables import TABLES
from crawlclean.storage.store.visits import Comparison, Visits

# Writes judgements of topics as rows of the SQLite store, behind their fence.
#
# The fence is that of ``store/topics.py``. Every function but ``put_pages`` runs inside the
# transaction of one save.


def _marks(columns: Sequence[str]) -> str:
    return ", ".join("?" * len(columns))


_COLUMNS = (
    "topic", "page_id", "crawl_id", "url", "host", "title", "fetched_at", "at", "version", "fence",
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
    f"INSERT INTO topic_pages ({', '.join(_COLUMNS)}) VALUES ({_marks(_COLUMNS)}) "
    f"ON CONFLICT DO UPDATE SET {_UPDATES} WHERE excluded.fence >= topic_pages.fence"
)


def put_pages(db: SqliteConnection, rows: Sequence[Row]) -> None:
    """Writes judgements of pages, behind their fence, in one transaction."""
    with db.transaction() as connection:
        connection.executemany(_PUT, [tuple(row[name] for name in _COLUMNS) for row in rows])


_BY_NAME = {table.name: table for table in TABLES}
_RECORD = ("saved_seq", *_BY_NAME["records"].names)
_URL = _BY_NAME["urls"].names
_INSERT_RECORD = (
    f"INSERT INTO records ({', '.join(_RECORD)}) VALUES ({_marks(_RECORD)}) RETURNING saved_seq"
)
_PUT_URL = f"INSERT OR REPLACE INTO urls ({', '.join(_URL)}) VALUES ({_marks(_URL)})"
_URL_STATE = f"SELECT {', '.join(URL_STATE)} FROM urls WHERE page_id = ? AND crawl_id = ?"
_KINDS_OF_LINKS = [(kind, f"links_{kind.value}") for kind in LinkKind]
_KINDS_OF_IMAGES = [(kind, f"images_{kind.value}") for kind in ImageKind]

Saves = tuple[int | None, int]
"""Number of the save of a record that was replaced, None without one, and that of the new one."""


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
            headers=queued.result.headers,
            body=queued.result.body,
        )
        return pack_member(response_record(answer))


def put_outcome(
    db: sqlite3.Connection,
    each: EncodedOutcome,
    saved_at: int,
    visits: Visits,
    compared: Comparison | None,
) -> tuple[bool, Saves | None]:
    """Writes an outcome's record and URL row if they are newer.

    Args:
        db: In the transaction of the save.
        each: The outcome.
        saved_at: Time of the save, microseconds since 1970 UTC.
        visits: The save's part that belongs to revisits.
        compared: The outcome's record compared with the stored one before the transaction.

    Returns:
        Whether a row changed, and the saves of the page's records if one was written.

    Raises:
        StoreDamaged: No row can hold it.
    """
    with naming(each.outcome):
        if each.outcome.unchanged or (compared and compared.is_unchanged):
            return visits.touch(each), None
        known = db.execute(_URL_STATE, each.key).fetchall()
        stored = dict(zip(URL_STATE, known[0], strict=True)) if known else None
        row = next_row(stored, each, visits, compared)
        is_current = (row or stored or each.url_row)["state"] == UrlState.RECORD.value
        saves = _put_record(db, each, saved_at, visits, compared, is_current)
        if row is not None:
            db.execute(_PUT_URL, tuple(map(row.get, _URL)))
        if row is not None and saves is None:
            db.execute(
                "UPDATE records SET is_current = ? "
                "WHERE page_id = ? AND crawl_id = ? AND is_current <> ?",
                (is_current, *each.key, is_current),
            )
        return row is not None or saves is not None, saves


def _put_record(
    db: sqlite3.Connection,
    each: EncodedOutcome,
    saved_at: int,
    visits: Visits,
    compared: Comparison | None,
    is_current: bool,
) -> Saves | None:
    """Writes a record if it is newer; returns the saves of the stored one and of this."""
    record = each.outcome.record
    if record is None:
        return None
    page_id, crawl_id = each.key
    row: dict[str, Any] = {"saved_at": saved_at, "images_due": None}
    replaced = None
    known = db.execute(
        "SELECT fetched_at, model_version, digest, images_due, saved_seq, saved_at FROM records "
        "WHERE page_id = ? AND crawl_id = ?",
        each.key,
    ).fetchall()
    if known:
        *fence, row["images_due"], replaced, time_of_save = known[0]
        if not each.replaces(fence):
            return None
        if visits.keep_version(compared, each, replaced):
            row |= {"saved_seq": replaced, "saved_at": time_of_save}
        delete_record(db, page_id, crawl_id)
    links: Counter[LinkKind] = Counter(link.kind for link in record.links)
    images: Counter[ImageKind] = Counter(image.kind for image in record.images)
    row |= {
        "page_id": page_id,
        "crawl_id": crawl_id,
        "host": each.host,
        **dict(zip(FENCE, each.record_fence, strict=True)),
        "is_current": is_current,
        **counted_of(record),
        "confidence": record.confidence,
        **{column: links[kind] for kind, column in _KINDS_OF_LINKS},
        **{column: images[kind] for kind, column in _KINDS_OF_IMAGES},
    }
    if each.outcome.images_due:
        row["images_due"] = crawl_id
    ((saved_seq,),) = db.execute(_INSERT_RECORD, tuple(map(row.get, _RECORD))).fetchall()
    db.execute("INSERT INTO record_blobs VALUES (?, ?, ?)", (saved_seq, *each.blobs))
    return replaced, saved_seq


def delete_record(db: sqlite3.Connection, page_id: str, crawl_id: str) -> int:
    """Deletes the record of a page of a crawl; returns how many, 0 or 1."""
    key = (page_id, crawl_id)
    one = "FROM records WHERE page_id = ? AND crawl_id = ?"
    db.execute(f"DELETE FROM record_blobs WHERE saved_seq IN (SELECT saved_seq {one})", key)
    return db.execute(f"DELETE {one}", key).rowcount


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
