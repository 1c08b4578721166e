"""Writes judgements of topics as documents of the MongoDB store, behind the fence.

The fence is that of ``store/topic_rows.py``. A judgement is two writes, the second without effect
on a page that the user has marked or the learner has learned; repeating both changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pymongo import UpdateOne
from pymongo.errors import BulkWriteError

from crawlclean.storage.crawl_types import Outcome
from crawlclean.storage.mongo.connection import DUPLICATE_KEY, MongoConnection
from crawlclean.storage.store.encoded_outcomes import naming
from crawlclean.storage.store.ports import KEYS, Row
from crawlclean.storage.store.topic_rows import CHANGING, outbox_rows, rows_of

IF_KNOWN = ("features", "parent")
"""Columns without a value when a page is judged anew without the link that led to it."""


def put_judgements(database: Any, outcomes: Sequence[Outcome]) -> None:
    """Writes the judgements of outcomes, and their rows of the outbox.

    Raises:
        StoreDamaged: No document can hold them.
    """
    rows, reports = [], []
    for outcome in outcomes:
        if outcome.judgements:
            with naming(outcome):
                rows += rows_of(outcome)
                reports += outbox_rows(outcome)
    _put(database, rows)
    if reports:
        writes = [
            UpdateOne({"_id": _joined("outbox", row)}, {"$setOnInsert": row}, True)
            for row in reports
        ]
        database.outbox.bulk_write(writes, ordered=False)


def put_pages(db: MongoConnection, rows: Sequence[Row]) -> None:
    """Writes judgements of stored pages."""
    with db.use() as database:
        _put(database, rows)


def _joined(table: str, row: Row) -> str:
    return "/".join(str(row[name]) for name in KEYS[table])


def _put(database: Any, rows: Sequence[Row]) -> None:
    if not rows:
        return
    first, second = [], []
    for row in rows:
        key = _joined("topic_pages", row)
        first.append(UpdateOne({"_id": key, "fence": {"$lte": row["fence"]}}, _update(row), True))
        ours = {"_id": key, "fence": row["fence"]}
        unmarked = {name: row[name] for name in ("relevant", "label")}
        second.append(UpdateOne({**ours, "mark": {"$exists": False}}, {"$set": unmarked}))
        if row["to_learn"]:
            waits = {"$set": {"to_learn": row["to_learn"]}}
            second.append(UpdateOne({**ours, "learned_in": {"$exists": False}}, waits))
    try:
        database.topic_pages.bulk_write(first, ordered=False)
    except BulkWriteError as error:
        details: Any = error.details
        refused = details["writeErrors"]  # the stored judgement is newer
        if details["writeConcernErrors"] or any(e["code"] != DUPLICATE_KEY for e in refused):
            raise
    database.topic_pages.bulk_write(second, ordered=False)


def _update(row: Row) -> dict[str, Any]:
    on_insert = [*CHANGING, *(name for name in IF_KNOWN if not row[name])]
    return {
        "$set": {name: value for name, value in row.items() if name not in on_insert},
        "$setOnInsert": {name: row[name] for name in on_insert if row[name] is not None},
    }
