"""The collections of the MongoDB store, their indexes, and the check that a database has them.

| collection | ``_id`` | holds |
|---|---|---|
| ``meta`` | ``schema``, ``saved`` | version of the schema; the counter that orders records |
| ``crawls`` | crawl | order, state, time of creation |
| ``urls`` | page:crawl | the newest outcome of a URL, its failure, its record's counts; narrow |
| ``records`` | page:crawl | the newest record, packed |
| ``raw`` | page:crawl | the newest archived response, body packed |
| ``chunks`` | blob:number | parts of blobs over 12 MB of ``records`` and ``raw`` |
| ``hosts`` | host/crawl | statistics |
| ``rules`` | host/crawl | robots.txt and URL classes of a host, packed |
| ``pauses`` | host | a host that an operator paused |
| ``spills`` | spill | pending URLs that outgrew the queue's memory |
| ``models`` | host/version | a version of a site model, packed; the newest is in use |
| ``drifts`` | host/version/time | a detected change of a host |

Times are whole microseconds since 1970 UTC, e.g. 1772366400123456.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from pymongo import ASCENDING, DESCENDING, IndexModel
from pymongo.errors import DuplicateKeyError

from cleaning.errors import StoreDamaged
from storage.store.ports import check_schema_number

APPLICATION_ID = 0x63726C63

SCHEMA = 12  # lower numbers were of checkouts before version 0.2.0
"""``version`` of the document ``schema`` in ``meta``."""

_UP, _DOWN = ASCENDING, DESCENDING
_NEWEST_FAILURE = [("fetched_at", _DOWN), ("_id", _DOWN)]
_IF_FAILED = {"reason": {"$exists": True}}


def _make_indexes(database: Any) -> None:
    """Makes the counter and every index; safe to repeat, because there are no transactions."""
    with suppress(DuplicateKeyError):  # done before, or by another process
        database.meta.insert_one({"_id": "saved", "n": 0, "at": 0})
    database.urls.create_indexes(
        [
            IndexModel([("crawl_id", _UP), ("host", _UP), ("state", _UP)]),
            # reason exists only of a failure, stale only of an outcome not yet counted
            IndexModel(_NEWEST_FAILURE, partialFilterExpression=_IF_FAILED),
            IndexModel([("crawl_id", _UP), *_NEWEST_FAILURE], partialFilterExpression=_IF_FAILED),
            IndexModel(
                [("crawl_id", _UP), ("host", _UP), *_NEWEST_FAILURE],
                partialFilterExpression=_IF_FAILED,
            ),
            IndexModel([("stale", _UP)], sparse=True),
        ]
    )
    # A host is read page by page over all crawls; its documents are large, so the index covers it.
    versions = [("host", _UP), ("_id", _UP), ("fetched_at", _UP), ("model_version", _UP)]
    # Sparse: the crawl of a record whose images became content and wait to be offered, and the
    # row of ``urls`` that a record still owes (writing.py); most records have neither.
    due = [IndexModel([(name, _UP)], sparse=True) for name in ("images_due", "owed.stale")]
    database.records.create_indexes(
        [
            IndexModel([("saved_seq", _UP)]),
            IndexModel([("crawl_id", _UP), ("saved_seq", _UP)]),
            IndexModel([("crawl_id", _UP), ("host", _UP)]),
            IndexModel([("saved_at", _UP), ("saved_seq", _UP)]),
            IndexModel(versions),
            *due,
        ]
    )
    database.raw.create_indexes(
        [
            IndexModel([("crawl_id", _UP), ("host", _UP)]),
            IndexModel([("host", _UP), ("_id", _UP), ("fetched_at", _UP)]),
        ]
    )
    database.chunks.create_indexes(
        [IndexModel([("owner", _UP)]), IndexModel([("crawl_id", _UP), ("host", _UP)])]
    )
    by_host = IndexModel([("host", _UP), ("crawl_id", _UP)])
    database.hosts.create_indexes([IndexModel([("crawl_id", _UP)]), by_host])
    database.rules.create_indexes([IndexModel([("crawl_id", _UP), ("host", _UP)])])
    database.spills.create_indexes([IndexModel([("crawl_id", _UP), ("host", _UP)])])
    database.models.create_indexes([IndexModel([("host", _UP), ("version", _DOWN)])])
    order = [("host", _UP), ("at", _DOWN), ("model_version", _DOWN)]
    database.drifts.create_indexes([IndexModel(order)])


def prepare(database: Any, place: str) -> None:
    """Makes the indexes of an empty database; checks the schema of any other.

    After version 0.2.0 a database of an older schema is brought to ours here, by a function
    beside ``_make_indexes``. Until then no released program has written one.

    Args:
        database: A ``pymongo`` database whose writes are journaled.
        place: Its name in errors.

    Raises:
        SchemaMismatch: The database has another schema than this program's.
        StoreDamaged: It is another program's database.
    """
    if _schema(database, place):
        return
    _make_indexes(database)
    database.meta.update_one({"_id": "schema", "version": 0}, {"$set": {"version": SCHEMA}})


def _schema(database: Any, place: str) -> int:
    """The schema of a database, 0 while its indexes are not made."""
    marker = database.meta.find_one({"_id": "schema"})
    if marker is None and not database.list_collection_names():
        with suppress(DuplicateKeyError):  # another process was first
            database.meta.insert_one({"_id": "schema", "application": APPLICATION_ID, "version": 0})
    if marker is None:  # made now, by us or by another process
        marker = database.meta.find_one({"_id": "schema"}) or {}
    schema = marker.get("version")
    if marker.get("application") != APPLICATION_ID or not isinstance(schema, int):
        raise StoreDamaged(f"{place} belongs to another program: name another in the URL's path")
    check_schema_number(place, schema or SCHEMA, SCHEMA)
    return schema
