"""The collections of the MongoDB store, their indexes, and how an older database becomes newer.

| collection | ``_id`` | holds |
|---|---|---|
| ``meta`` | ``schema``, ``saved`` | version of the schema; the counter that orders records |
| ``crawls`` | crawl | order, state, time of creation |
| ``urls`` | page:crawl | the newest end of a URL, its failure, its record's counts; narrow |
| ``records`` | page:crawl | the newest record, packed |
| ``raw`` | page:crawl | the newest archived answer, body packed |
| ``chunks`` | blob:number | what does not fit into its document of ``records`` or ``raw`` |
| ``hosts`` | host/crawl | statistics |
| ``parcels`` | parcel | the tail of a frontier that outgrew its queue's memory |
| ``models`` | host/version | what a host taught, packed; the newest version is in use |
| ``drifts`` | host/version/time | when a host was seen to have changed |

Times are whole microseconds since 1970 UTC. To change the schema, append a migration: a released
one never changes. There are no transactions, so each must be safe to repeat.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from pymongo import ASCENDING, DESCENDING, IndexModel
from pymongo.errors import DuplicateKeyError

from cleaning.errors import SchemaMismatch, StoreDamaged

APPLICATION_ID = 0x63726C63

_UP, _DOWN = ASCENDING, DESCENDING
_NEWEST_FAILURE = [("failed_at", _DOWN), ("_id", _DOWN)]
_IF_FAILED = {"failed_at": {"$exists": True}}


def _first(database: Any) -> None:
    with suppress(DuplicateKeyError):  # done before, or by another process
        database.meta.insert_one({"_id": "saved", "n": 0, "at": 0})
    database.urls.create_indexes(
        [
            IndexModel([("crawl_id", _UP), ("host", _UP), ("state", _UP)]),
            # a field is there only while its row is: a failure, an end not yet counted
            IndexModel(_NEWEST_FAILURE, partialFilterExpression=_IF_FAILED),
            IndexModel([("crawl_id", _UP), *_NEWEST_FAILURE], partialFilterExpression=_IF_FAILED),
            IndexModel(
                [("crawl_id", _UP), ("host", _UP), *_NEWEST_FAILURE],
                partialFilterExpression=_IF_FAILED,
            ),
            IndexModel([("stale", _UP)], sparse=True),
        ]
    )
    database.records.create_indexes(
        [
            IndexModel([("saved_seq", _UP)]),
            IndexModel([("crawl_id", _UP), ("saved_seq", _UP)]),
            IndexModel([("crawl_id", _UP), ("host", _UP)]),
            IndexModel([("saved_at", _UP), ("saved_seq", _UP)]),
        ]
    )
    database.raw.create_indexes([IndexModel([("crawl_id", _UP), ("host", _UP)])])
    database.chunks.create_indexes(
        [IndexModel([("owner", _UP)]), IndexModel([("crawl_id", _UP), ("host", _UP)])]
    )
    database.hosts.create_indexes([IndexModel([("crawl_id", _UP)])])


def _second(database: Any) -> None:
    # An end without a role is a page's: only those of sitemaps are read for it.
    database.parcels.create_indexes([IndexModel([("crawl_id", _UP), ("host", _UP)])])


def _third(database: Any) -> None:
    database.models.create_indexes([IndexModel([("host", _UP), ("version", _DOWN)])])
    # A host is read page by page over all crawls, and its documents are large: keys must do.
    database.raw.create_indexes([IndexModel([("host", _UP), ("_id", _UP), ("fetched_at", _UP)])])
    versions = [("host", _UP), ("_id", _UP), ("fetched_at", _UP), ("model_version", _UP)]
    database.records.create_indexes([IndexModel(versions)])


def _fourth(database: Any) -> None:
    # the crawl of a record whose images became content and wait to be offered; else not there
    # and the row of ``urls`` that a record still owes (mongo_writing.py); else not there, too
    due = [IndexModel([(name, _UP)], sparse=True) for name in ("images_due", "owed.stale")]
    database.records.create_indexes(due)


def _fifth(database: Any) -> None:
    order = [("host", _UP), ("at", _DOWN), ("model_version", _DOWN)]
    database.drifts.create_indexes([IndexModel(order)])


MIGRATIONS: tuple[Callable[[Any], None], ...] = (_first, _second, _third, _fourth, _fifth)
"""Number n takes a database from version n to n + 1."""


def migrate(database: Any, place: str) -> None:
    """Brings an open database to our version.

    Args:
        database: A ``pymongo`` database whose writes are journaled.
        place: Its name in errors.

    Raises:
        SchemaMismatch: A newer program wrote it.
        StoreDamaged: It is another program's database.
    """
    version = _version(database, place)
    for number, migration in enumerate(MIGRATIONS):
        if number >= version:
            migration(database)
            database.meta.update_one(
                {"_id": "schema", "version": number}, {"$set": {"version": number + 1}}
            )


def _version(database: Any, place: str) -> int:
    marker = database.meta.find_one({"_id": "schema"})
    if marker is None and not database.list_collection_names():
        with suppress(DuplicateKeyError):  # another process was first
            database.meta.insert_one({"_id": "schema", "application": APPLICATION_ID, "version": 0})
    if marker is None:  # made now, by us or by another process
        marker = database.meta.find_one({"_id": "schema"}) or {}
    version = marker.get("version")
    if marker.get("application") != APPLICATION_ID or not isinstance(version, int):
        raise StoreDamaged(f"{place} belongs to another program: name another in the URL's path")
    if version > len(MIGRATIONS):
        raise SchemaMismatch(
            f"{place} has schema {version}, this program reads up to {len(MIGRATIONS)}: "
            "use the newer version that wrote it"
        )
    return version
