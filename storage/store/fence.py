"""The fence: which outcome of a URL replaces which, for both databases.

Every outcome has a version, (``fetched_at``, ``model_version``); an older one never replaces a
newer one. Of two outcomes of one version a record wins over any other, and an equal one changes
nothing. A row keeps its schedule until an outcome has another.
"""

from __future__ import annotations

from typing import Any

from crawlclean.storage.crawl_types import UrlState
from crawlclean.storage.store.encoded_outcomes import EncodedOutcome
from crawlclean.storage.store.ports import Row
from crawlclean.storage.store.visits import Comparison, Schedule, Visits

FETCHED = ("fetched_bytes", "certificate")
"""Columns of ``urls`` that only the fetch knows, and re-cleaning keeps."""

URL_STATE = ("state", "fetched_at", "model_version", "digest", *FETCHED, *Schedule._fields)
"""Columns of a stored row of ``urls`` that decide what replaces it, or stay."""


def next_row(
    stored: Row | None, each: EncodedOutcome, visits: Visits | None, compared: Comparison | None
) -> dict[str, Any] | None:
    """The row of ``urls`` after an outcome; None when the stored row stays as it is.

    Args:
        stored: Columns of ``URL_STATE``; None: the URL has no row.
        each: The outcome.
        visits: The save's part that belongs to revisits; None: the schedule stays.
        compared: The outcome's record compared with the stored one.
    """
    row: dict[str, Any] | None = dict(each.url_row)
    if stored is not None:
        row = newer_row(stored, each.url_row, is_recleaned=each.is_recleaned)
    if row is not None and visits is not None and each.outcome.visit is not None:
        known = Schedule(*map(row.get, Schedule._fields))
        is_new = compared is not None and compared.change.is_changed
        row |= visits.next_schedule(each, known, is_new=is_new)._asdict()
    return row


def newer_row(stored: Row, row: Row, *, is_recleaned: bool) -> dict[str, Any] | None:
    """A row of ``urls`` with what it keeps of the stored one; None when it is not newer.

    Args:
        stored: Columns of ``URL_STATE``.
        row: The row of an outcome.
        is_recleaned: Whether its page was re-cleaned: its bytes were counted at the fetch.
    """
    version = (row["fetched_at"], row["model_version"])
    known = (stored["fetched_at"], stored["model_version"])
    if version < known:
        return None
    is_record = stored["state"] == UrlState.RECORD.value
    is_equal = row["digest"] == stored["digest"]
    if version == known and (is_equal or (is_record and row["state"] != stored["state"])):
        return None
    is_same_fetch = is_recleaned and version[0] == known[0]
    kept = (*Schedule._fields, *FETCHED) if is_same_fetch else Schedule._fields
    return {**row, **{name: stored.get(name) for name in kept}}
