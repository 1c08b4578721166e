"""Outcomes encoded for a store, before it begins to write: row values, blobs and digests.

Both stores write these values: those of a ``urls`` row, the packed record, and the digests by which
outcomes of the same version are compared.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from hashlib import blake2b, sha256
from typing import Any

from msgspec import Struct

from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.cleaning.json_values import DAMAGE, dump, replace_surrogates
from crawlclean.cleaning.messages import stored
from crawlclean.cleaning.records import CleanRecord
from crawlclean.storage.crawl_types import Failure, FailureReason, Outcome, UrlState
from crawlclean.storage.store.rows import compress, encode_record, log_to_json, to_microseconds

OFFERED = ("due again", "offered again")  # steps of ``revisit.lua`` and ``reopen.lua``
LARGEST = (1 << 63) - 1  # SQLite's integers have 64 bits
# Errors of JSON and of SQLite for a value that they cannot take.
UNBINDABLE = (*DAMAGE, sqlite3.InterfaceError, sqlite3.ProgrammingError, sqlite3.DataError)


@contextmanager
def naming(outcome: Outcome) -> Iterator[None]:
    """Names the outcome in the error for a value that no row can hold.

    Raises:
        StoreDamaged: The outcome cannot be stored, now or later; other outcomes can.
    """
    try:
        yield
    except UNBINDABLE as error:
        url = replace_surrogates(outcome.queued.url)
        raise StoreDamaged(
            f"what came of {url} cannot be stored: {type(error).__name__}: {error}"
        ) from error


def number(value: int) -> int:
    """A number clipped to 64 bits."""
    return max(-LARGEST - 1, min(LARGEST, int(value)))


def counted_of(record: CleanRecord) -> dict[str, Any]:
    """What statistics need of a record, by column, but its links and images."""
    return {
        "kind": record.kind.value,
        "signature": replace_surrogates(record.signature),
        "body_chars": len(record.body),
        # their kinds, each once: capped_links,needs_javascript
        "warnings": ",".join(sorted({warning.kind.value for warning in record.warnings})),
    }


class EncodedOutcome(Struct, frozen=True):
    """An outcome with the values that a store writes.

    Attributes:
        outcome: The outcome.
        version: (``fetched_at`` in microseconds since 1970 UTC, ``model_version``).
        url_row: Its row of ``urls``, by column, without a schedule.
        record_digest: 16 bytes of the record; empty without a record.
        blobs: The record's two blobs (``rows.py``); empty without a record.
    """

    outcome: Outcome
    version: tuple[int, int]
    url_row: Mapping[str, Any]
    record_digest: bytes
    blobs: tuple[bytes, bytes]

    @property
    def host(self) -> str:
        """Its host, as a row has it."""
        return str(self.url_row["host"])

    @property
    def key(self) -> tuple[str, str]:
        """Page and crawl."""
        return self.outcome.queued.page_id, self.outcome.queued.crawl_id

    @property
    def is_recleaned(self) -> bool:
        """Whether its page was re-cleaned from the archive."""
        return not self.outcome.queued.result.body

    @property
    def record_fence(self) -> tuple[int, int, bytes]:
        """What tells its record from others: ``fetched_at``, ``model_version``, ``digest``."""
        return (*self.version, self.record_digest)

    def replaces(self, stored: Sequence[Any]) -> bool:
        """Whether its record replaces one with this ``record_fence``."""
        return self.version >= tuple(stored[:2]) and self.record_fence != tuple(stored)


def _header(headers: Sequence[tuple[str, str]], wanted: str) -> str | None:
    return next((replace_surrogates(v) for k, v in headers if k.lower() == wanted), None)


NOW_S = 10
"""A Last-Modified so near the time of the response is made for it; slow pages make it before."""


def _last_modified(headers: Sequence[tuple[str, str]]) -> str | None:
    """Last-Modified as received; None when it is the time of the response."""
    found, sent = _header(headers, "last-modified"), _header(headers, "date")
    try:
        made, at = parsedate_to_datetime(found or ""), parsedate_to_datetime(sent or "")
        is_now = abs(made.timestamp() - at.timestamp()) <= NOW_S
    except (ValueError, OverflowError):
        is_now = found == sent
    return None if is_now else found


def _digest(*parts: bytes) -> bytes:
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.digest()


def encode_outcome(outcome: Outcome) -> EncodedOutcome:
    """Encodes an outcome.

    Raises:
        StoreDamaged: No row can hold it; or it has a record without the state RECORD, or the
            state without a record.
    """
    with naming(outcome):
        return _encode(outcome)


def _encode(outcome: Outcome) -> EncodedOutcome:
    queued, record, failure = outcome.queued, outcome.record, outcome.failure
    queued.page_id.encode()  # a value that no database takes
    has_record = outcome.state is UrlState.RECORD and not outcome.unchanged
    if has_record != (record is not None):
        raise ValueError("an outcome has a record exactly when its state is RECORD")
    if outcome.state is UrlState.FAILED and failure is None:
        failure = Failure(reason=FailureReason.INTERNAL)
    fetched_at = to_microseconds(record.fetched_at if record else queued.fetched_at)
    found, result = queued.provenance, queued.result
    discovered_at = None if found.discovered_at is None else to_microseconds(found.discovered_at)
    log = outcome.log or queued.log
    offered_at = [to_microseconds(step.at) for step in log if step.step in OFFERED]
    # A page of January that is visited again in March did not wait for two months.
    wait_us = fetched_at - max(offered_at, default=discovered_at or fetched_at)
    row: dict[str, Any] = {
        "host": replace_surrogates(queued.host),
        "url": replace_surrogates(queued.url),
        "state": outcome.state.value,
        "fetched_at": fetched_at,
        "model_version": number(record.model_version) if record else 0,
        "depth": number(queued.depth),
        "via": found.via.value,
        "referrer": None if found.referrer is None else replace_surrogates(found.referrer),
        "link_text": replace_surrogates(found.link_text),
        "discovered_at": discovered_at,
        "status": number(result.status),
        "etag": _header(result.headers, "etag"),
        "last_modified": _last_modified(result.headers),
        "fetched_bytes": len(result.body),
        "html_chars": number(outcome.html_chars),
        "wait_ms": max(0, wait_us) // 1000,
        "log": log_to_json(log).decode(),
    }
    parts = encode_record(record) if record else None
    record_digest = _digest(*parts) if parts else b""
    detail = replace_surrogates(stored(failure.detail)) if failure else None
    ending = [failure.reason, detail, queued.attempt] if failure else []
    is_image = outcome.state is UrlState.IMAGE
    more = {
        "page_id": queued.page_id,
        "crawl_id": queued.crawl_id,
        "digest": _digest(dump([list(row.values()), ending]), record_digest),
        "role": queued.role.value,
        "media_type": replace_surrogates(outcome.media_type) if is_image else None,
        "sha256": sha256(result.body, usedforsecurity=False).hexdigest() if is_image else None,
        "certificate": result.certificate.value if result.certificate else None,
        "reason": failure.reason.value if failure else None,
        "detail": detail,
        "attempts": number(queued.attempt) if failure else None,
    }
    return EncodedOutcome(
        outcome=outcome,
        version=(fetched_at, row["model_version"]),
        url_row={**more, **row},
        record_digest=record_digest,
        blobs=(compress(parts[0]), compress(parts[1])) if parts else (b"", b""),
    )
