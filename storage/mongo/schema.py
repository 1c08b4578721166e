"""The indexes of the MongoDB store, made of ``store/tables.py``, and the check of a database.

The document ``schema`` in ``meta`` has the number of the schema, ``saved`` the counter that orders
records.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from pymongo import ASCENDING, IndexModel
from pymongo.errors import DuplicateKeyError

from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.storage.store.ports import PAGE_KEY, check_schema_number
from crawlclean.storage.store.tables import MONGO_TABLES, TABLES, Table

APPLICATION_ID = 0x63726C63  # "crlc" in ASCII, as in SQLite: the database is ours

SCHEMA = 18  # numbers below 14 were of checkouts before version 0.2.0
"""``version`` of the document ``schema`` in ``meta``."""


def _make_indexes(database: Any) -> None:
    """Makes the counter and every index; safe to repeat, because there are no transactions."""
    with suppress(DuplicateKeyError):  # done before, or by another process
        database.meta.insert_one({"_id": "saved", "n": 0, "at": 0})
    for table in (*TABLES, *MONGO_TABLES):
        wanted = list(_indexes(table))
        if wanted:
            database[table.name].create_indexes(wanted)


def _indexes(table: Table) -> Iterator[IndexModel]:
    """Yields the indexes of a collection: ``_id`` is a text, so its columns need one, too."""
    has_page_key = table.key == PAGE_KEY
    if table.key and not has_page_key:
        yield IndexModel([(name, ASCENDING) for name in table.key])
    for index in table.indexes:
        names = (index.columns if index.mongo is None else index.mongo).split(", ")
        if has_page_key:
            names = ["_id" if name == "page_id" else name for name in names]
        if names != [""]:
            only = index.only.partition(" ")[0]
            partial = {"partialFilterExpression": {only: {"$exists": True}}} if only else {}
            yield IndexModel([(name, ASCENDING) for name in names], **partial)


def prepare(database: Any, place: str) -> None:
    """Makes the indexes of an empty database, brings one of an older schema to ours.

    A migration is safe to repeat, because there are no transactions: a killed process leaves the
    older number, and the next one does it again.

    Args:
        database: A ``pymongo`` database whose writes are journaled.
        place: Its name in errors.

    Raises:
        SchemaMismatch: The database has a schema that this program does not know.
        StoreDamaged: It is another program's database.
    """
    found = _schema(database, place)
    if found == SCHEMA:
        return
    _make_indexes(database)  # those of an older schema, too, may lack one
    for schema in range(found or SCHEMA, SCHEMA):
        _MIGRATIONS[schema](database)
    database.meta.update_one({"_id": "schema", "version": found}, {"$set": {"version": SCHEMA}})


def _add_queues(database: Any) -> None:
    """Schema 15: crawls name the queue that runs them; ``""``: not known yet."""
    database.crawls.update_many({"queue": {"$exists": False}}, {"$set": {"queue": ""}})


def _date_judgements(database: Any) -> None:
    """Schema 17: a judged page has a time of publication; until it is judged anew its fetch's."""
    undated = database.topic_pages.find({"at": {"$exists": False}}, {"fetched_at": 1})
    for page in undated:
        dated = {"$set": {"at": page["fetched_at"]}, "$unset": {"day": ""}}
        database.topic_pages.update_one({"_id": page["_id"]}, dated)


def _name_receivers(database: Any) -> None:
    """Schema 18: a receiver has a name: of a topic's webhook ``webhook:TOPIC``."""
    order = {"signs": "", "ended": 0, "digest": "[]", "digest_at": "08:00", "zone": "UTC",
             "quiet": "", "red_passes": 0, "most_an_hour": 0, "lang": "en", "source": "",
             "is_off": 0, "former": "", "told_event": 0, "digest_day": ""}  # fmt: skip
    for old in database.receivers.find({"name": {"$exists": False}}):
        was, topic, private = old.pop("_id"), old.pop("topic"), old.pop("is_private")
        name = f"{old['kind']}:{topic}"
        new = {**old, **order, "name": name, "private": private, "stories": json.dumps([topic])}
        database.receivers.replace_one({"_id": name}, new, upsert=True)
        database.receivers.delete_one({"_id": was})
    for table, key in (("outbox", "{topic}:{page_id}"), ("told", "{topic}/{number}")):
        for old in database[table].find({"receiver": {"$exists": False}}):
            was, receiver = old.pop("_id"), f"{old.pop('kind')}:{old['topic']}"
            new = {**old, "receiver": receiver}
            if table == "outbox":
                new |= {"id": key.format(**old), "level": "story", "notice": ""}
            named = {"_id": f"{receiver}/{key.format(**old)}"}
            database[table].replace_one(named, new, upsert=True)
            database[table].delete_one({"_id": was})


_MIGRATIONS: Mapping[int, Callable[[Any], None]] = {
    14: _add_queues,
    15: lambda _: None,  # an index alone, for the confidence of new records
    16: _date_judgements,
    17: _name_receivers,
}
"""Schema -> the function that makes the next one of it."""


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
    check_schema_number(place, schema or SCHEMA, SCHEMA, min(_MIGRATIONS))
    return schema
