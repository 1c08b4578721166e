"""Outcomes as rows of the SQLite store, and the fence that decides which of them stay.

Encoding needs no database and happens before the transaction begins; the rest are parts of one.
``storage/sqlite.py`` says what the fence holds.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from cleaning.errors import StoreDamaged
from cleaning.records import ImageKind, LinkKind
from storage.archive import Place
from storage.base import Failure, FailureReason, Outcome, UrlState
from storage.codec import DAMAGE, clean_text, dump, log_to_json, to_microseconds
from storage.record_blobs import compress, encode_record
from storage.warc import Answer, archived_headers, pack_member, response_record

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
LARGEST = (1 << 63) - 1  # SQLite's integers have 64 bits
UNBINDABLE = (*DAMAGE, sqlite3.InterfaceError, sqlite3.ProgrammingError, sqlite3.DataError)


@contextmanager
def naming(outcome: Outcome) -> Iterator[None]:
    """Says whose values no row can hold.

    Raises:
        StoreDamaged: It is this outcome; trying again will not help, its companions may be saved.
    """
    try:
        yield
    except UNBINDABLE as error:
        url = clean_text(outcome.queued.url)
        raise StoreDamaged(
            f"what came of {url} cannot be stored: {type(error).__name__}: {error}"
        ) from error


def number(value: int) -> int:
    """A number from outside, as near as 64 bits come to it."""
    return max(-LARGEST - 1, min(LARGEST, int(value)))


@dataclass(frozen=True, slots=True)
class EncodedOutcome:
    """An outcome as it will be written, encoded before the transaction begins."""

    outcome: Outcome
    version: tuple[int, int]
    url_row: tuple[Any, ...]
    url_digest: bytes
    failure: Failure | None
    record_digest: bytes
    blobs: tuple[bytes, bytes]


def _header(headers: Sequence[tuple[str, str]], wanted: str) -> str | None:
    return next((clean_text(v) for k, v in headers if k.lower() == wanted), None)


def _digest(*parts: bytes) -> bytes:
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.digest()


def encode_outcome(outcome: Outcome) -> EncodedOutcome:
    """The rows and blobs of an outcome.

    Raises:
        StoreDamaged: No row can hold it, or it has a record and another state, or the state and
            no record.
    """
    with naming(outcome):
        return _encode(outcome)


def _encode(outcome: Outcome) -> EncodedOutcome:
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
        number(record.model_version) if record else 0,
        number(queued.depth),
        found.via.value,
        None if found.referrer is None else clean_text(found.referrer),
        clean_text(found.link_text),
        discovered_at,
        number(result.status),
        _header(result.headers, "etag"),
        _header(result.headers, "last-modified"),
        len(result.body),
        number(outcome.html_chars),
        wait_ms,
        dump(log_to_json(outcome.log or queued.log)).decode(),
    )
    parts = encode_record(record) if record else None
    record_digest = _digest(*parts) if parts else b""
    ending = [failure.reason, failure.detail, queued.attempt] if failure else []
    return EncodedOutcome(
        outcome=outcome,
        version=(row[3], row[4]),
        url_row=row,
        url_digest=_digest(dump([row, ending]), record_digest),
        failure=failure,
        record_digest=record_digest,
        blobs=(compress(parts[0]), compress(parts[1])) if parts else (b"", b""),
    )


def archived_answer(outcome: Outcome) -> bytes:
    """The outcome's HTTP answer as the archive keeps it, packed.

    Raises:
        StoreDamaged: It cannot be written.
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


def put_outcome(db: sqlite3.Connection, each: EncodedOutcome, saved_at: int) -> bool:
    """Whether the outcome, written inside a transaction, changed a row.

    Raises:
        StoreDamaged: No row can hold it.
    """
    with naming(each.outcome):
        changed = _put_record(db, each, saved_at) if each.outcome.record else False
        return _put_url(db, each) or changed


def _put_record(db: sqlite3.Connection, each: EncodedOutcome, saved_at: int) -> bool:
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
        delete_record(db, queued.page_id, queued.crawl_id)
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


def delete_record(db: sqlite3.Connection, page_id: str, crawl_id: str) -> int:
    """How many records went, 0 or 1."""
    key = (page_id, crawl_id)
    one = "FROM records WHERE page_id = ? AND crawl_id = ?"
    db.execute(f"DELETE FROM record_blobs WHERE saved_seq IN (SELECT saved_seq {one})", key)  # noqa: S608
    return db.execute(f"DELETE {one}", key).rowcount


def _put_url(db: sqlite3.Connection, each: EncodedOutcome) -> bool:
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
                number(queued.result.status),
                number(queued.attempt),
                fetched_at,
            ),
        )
    return True


def put_raw(db: sqlite3.Connection, outcome: Outcome, place: Place) -> bool:
    """Whether the place of the answer is now the newest of its URL."""
    queued = outcome.queued
    values = (
        queued.page_id,
        queued.crawl_id,
        clean_text(queued.host),
        clean_text(queued.url),
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
