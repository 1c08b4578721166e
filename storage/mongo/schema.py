"""The collections of the MongoDB store, their indexes, and the check that a database has them.

| collection | ``_id`` | holds |
|---|---|---|
| ``meta`` | ``schema``, ``saved`` | version of the schema; the counter that orders records |
| ``crawls`` | crawl | order, state, time of creation, the queue that runs it |
| ``queues`` | queue | where a queue is, when its housekeeper was heard |
| ``urls`` | page:crawl | the newest outcome of a URL, its failure, its record's counts; narrow |
| ``records`` | page:crawl | the newest record, packed |
| ``raw`` | page:crawl | the newest archived response, body packed |
| ``versions`` | page/crawl/time | an older version of a record, as a difference |
| ``visit_classes`` | host/crawl/URL class | what the visits of a URL class have found |
| ``signatures`` | page:crawl | what finds near-duplicates of a record, and its story |
| ``rebuilds`` | what | how far an index was built anew |
| ``stories`` | story | a pointer between stories that turned out to be one |
| ``visit_trust`` | host/crawl | how far a host's dates and ETags are true, packed |
| ``chunks`` | blob:number | parts of blobs over 12 MB of ``records`` and ``raw`` |
| ``hosts`` | host/crawl | statistics |
| ``host_rows`` | host | a host over all crawls, in the figures of a list |
| ``host_states`` | host/crawl/state | number of URLs in a final state |
| ``failure_groups`` | host/crawl/reason/status | failures of one cause |
| ``crawl_counts`` | crawl/state | ``host_states`` of all hosts together |
| ``causes`` | crawl/reason/status | ``failure_groups`` of all hosts together |
| ``rules`` | host/crawl | robots.txt and URL classes of a host, packed |
| ``pauses`` | host | a host that an operator paused |
| ``numbers`` | collection | number of its newest document, of the three collections below |
| ``events`` | number | what happened to a crawl, a host or a process |
| ``audit`` | number | what somebody did by console or API |
| ``operations`` | number | a long action with its progress |
| ``samples`` | step/samples/time | figures of the whole program, one sample or a block |
| ``spills`` | spill | pending URLs that outgrew the queue's memory |
| ``models`` | host/version | a version of a site model, packed; the newest is in use |
| ``drifts`` | host/version/time | a detected change of a host |
| ``topics`` | topic | what the user asked, and what judging its pages needs |
| ``topic_models`` | topic/version | a version of a topic's link model, with its last batch |
| ``topic_pages`` | topic/page | what a topic holds of a page |
| ``receivers`` | topic/kind | who is told of a topic's new stories, and how far it succeeds |
| ``outbox`` | topic/kind/page | a relevant page that a receiver is to be told of |
| ``told`` | topic/kind/story | a story that a receiver was told of |
| ``pictures`` | image:crawl | an image of a topic's crawl, and the group of its copies |

Times are whole microseconds since 1970 UTC, e.g. 1772366400123456.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from pymongo import ASCENDING, DESCENDING, IndexModel
from pymongo.errors import DuplicateKeyError

from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.storage.store.overview import HOST_COLUMNS
from crawlclean.storage.store.ports import check_schema_number

APPLICATION_ID = 0x63726C63

SCHEMA = 15  # numbers below 14 were of checkouts before version 0.2.0
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
            IndexModel([("host", _UP), *_NEWEST_FAILURE], partialFilterExpression=_IF_FAILED),
            IndexModel([("stale", _UP)], sparse=True),
            # next_visit exists only in a crawl that keeps fresh
            IndexModel(
                [("crawl_id", _UP), ("next_visit", _UP), ("_id", _UP)],
                partialFilterExpression={"next_visit": {"$exists": True}},
            ),
        ]
    )
    database.versions.create_indexes(
        [
            IndexModel([("page_id", _UP), ("crawl_id", _UP), ("fetched_at", _DOWN)]),
            IndexModel([("crawl_id", _UP), ("host", _UP)]),
        ]
    )
    database.visit_classes.create_indexes([IndexModel([("crawl_id", _UP), ("host", _UP)])])
    database.visit_trust.create_indexes([IndexModel([("crawl_id", _UP), ("host", _UP)])])
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
    in_story = {"story": {"$exists": True}}  # of a page that is not alone
    database.signatures.create_indexes(
        [
            IndexModel([("keys", _UP)]),
            IndexModel([("crawl_id", _UP), ("host", _UP)]),
            IndexModel([("story", _UP), ("at", _UP)], partialFilterExpression=in_story),
            IndexModel([("story", _UP), ("chars", _DOWN)], partialFilterExpression=in_story),
        ]
    )
    database.stories.create_indexes([IndexModel([("target", _UP)])])
    database.chunks.create_indexes(
        [IndexModel([("owner", _UP)]), IndexModel([("crawl_id", _UP), ("host", _UP)])]
    )
    by_host = IndexModel([("host", _UP), ("crawl_id", _UP)])
    database.hosts.create_indexes([IndexModel([("crawl_id", _UP)]), by_host])
    _make_overview_indexes(database)
    database.rules.create_indexes([IndexModel([("crawl_id", _UP), ("host", _UP)])])
    of_events = ([(name, _UP), ("seq", _UP)] for name in ("host", "crawl_id", "kind"))
    database.events.create_indexes([IndexModel(keys) for keys in of_events])
    for name in ("audit", "operations"):
        database[name].create_indexes([IndexModel([("seq", _UP)])])
    database.samples.create_indexes([IndexModel([("step", _UP), ("slots", _UP), ("at", _UP)])])
    database.spills.create_indexes([IndexModel([("crawl_id", _UP), ("host", _UP)])])
    database.models.create_indexes([IndexModel([("host", _UP), ("version", _DOWN)])])
    order = [("host", _UP), ("at", _DOWN), ("model_version", _DOWN)]
    database.drifts.create_indexes([IndexModel(order)])
    _make_topic_indexes(database)


def _make_overview_indexes(database: Any) -> None:
    by_column = [IndexModel([(name, _UP), ("host", _UP)]) for name in HOST_COLUMNS]
    database.host_rows.create_indexes([*by_column, IndexModel([("updated_at", _UP)])])
    of_host = IndexModel([("crawl_id", _UP), ("host", _UP)])
    database.host_states.create_indexes([of_host])
    sizes = [("n", _UP), ("sample", _UP), ("crawl_id", _UP)]
    of_crawl, of_reason = [("crawl_id", _UP), *sizes[:2]], [("reason", _UP), *sizes]
    by_size = map(IndexModel, (sizes, of_crawl, of_reason, [("host", _UP)]))
    database.failure_groups.create_indexes([of_host, *by_size])
    database.crawl_counts.create_indexes([IndexModel([("crawl_id", _UP)])])
    database.causes.create_indexes([IndexModel([("crawl_id", _UP)])])


def _make_topic_indexes(database: Any) -> None:
    database.topic_models.create_indexes([IndexModel([("topic", _UP), ("version", _DOWN)])])
    topic = ("topic", _UP)
    names = (
        [("page_id", _UP)],
        [("crawl_id", _UP), ("host", _UP)],
        [topic, ("page_id", _UP)],
        [topic, ("fetched_at", _UP), ("page_id", _UP), ("relevant", _UP), ("crawl_id", _UP)],
        [topic, ("relevant", _UP), ("host", _UP), ("day", _UP)],
        [topic, ("relevance", _UP), ("page_id", _UP)],
        [topic, ("version", _UP)],
        [topic, ("parent", _UP), ("fetched_at", _UP)],
    )
    # to_learn exists only while the learner is to learn from the page, mark after the user's word
    rare = (
        IndexModel(
            [("to_learn", _UP), ("page_id", _UP)],
            partialFilterExpression={"to_learn": {"$exists": True}},
        ),
        IndexModel([topic, ("mark", _UP)], partialFilterExpression={"mark": {"$exists": True}}),
    )
    for_receiver = [topic, ("kind", _UP), ("at", _UP), ("page_id", _UP)]
    database.outbox.create_indexes([IndexModel(for_receiver)])
    for name in ("receivers", "told"):
        database[name].create_indexes([IndexModel([topic, ("kind", _UP)])])
    database.topic_pages.create_indexes([*map(IndexModel, names), *rare])
    crawl = ("crawl_id", _UP)
    of_pictures = ([("keys", _UP)], [crawl, ("grp", _UP)], [crawl, ("sha256", _UP)])
    database.pictures.create_indexes(
        [*map(IndexModel, of_pictures), IndexModel([crawl, ("host", _UP)])]
    )


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


_MIGRATIONS: Mapping[int, Callable[[Any], None]] = {14: _add_queues}
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
