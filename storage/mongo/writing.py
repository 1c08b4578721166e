"""Writes encoded outcomes as documents of the MongoDB store, behind the fence.

A save is many documents and no transaction. Each document replaces only the version that was read
(compare and set: a document that was replaced meanwhile no longer matches, so the upsert meets its
``_id`` and is refused); the loser reads and decides again. The order is

    chunks -> raw -> versions -> records -> topic_pages -> urls -> visit_classes

and each collection has its fence, so a save that died anywhere is completed by saving the same
outcomes again, and two concurrent saves end like one after the other. ``urls`` comes last and holds
everything the statistics need, with the mark ``stale`` in the same document: an outcome that is not
counted yet cannot lose its mark (``host_statistics.py``).

A page of the queue is saved again when its job is redone. A page that was re-cleaned from the
archive may have no such job: its record carries the row of ``urls`` as ``owed`` until that row is
written, and recomputing the host's statistics writes owed rows.
"""

from __future__ import annotations

import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pymongo import InsertOne, ReplaceOne, ReturnDocument, UpdateOne
from pymongo.errors import BulkWriteError

from crawlclean.cleaning.errors import StoreDamaged, StoreUnavailable
from crawlclean.cleaning.json_values import replace_surrogates
from crawlclean.storage.archive.warc import archived_headers
from crawlclean.storage.mongo.connection import DUPLICATE_KEY, MongoConnection
from crawlclean.storage.mongo.ports import drop_old_chunks, key_of, owner_of, put_blob
from crawlclean.storage.store.encoded_outcomes import EncodedOutcome, counted_of, naming, number
from crawlclean.storage.store.fence import URL_STATE, newer_row, next_row
from crawlclean.storage.store.ports import Ports, Row
from crawlclean.storage.store.rows import compress, to_microseconds
from crawlclean.storage.store.tables import KEYS
from crawlclean.storage.store.topics import CHANGING, save_judgements
from crawlclean.storage.store.visits import Comparison, Visits, Work

# Writes judgements of topics as documents of the MongoDB store, behind the fence.
#
# The fence is that of ``store/topics.py``. A judgement is two writes, the second without effect
# on a page that the user has marked or the learner has learned; repeating both changes nothing.

IF_KNOWN = ("features", "parent")
"""Columns without a value when a page is judged anew without the link that led to it."""


def put_pages(db: MongoConnection, rows: Sequence[Row]) -> None:
    """Writes judgements of pages, behind their fence."""
    if not rows:
        return
    first, second = [], []
    for row in rows:
        key = "/".join(row[name] for name in KEYS["topic_pages"])
        first.append(UpdateOne({"_id": key, "fence": {"$lte": row["fence"]}}, _update(row), True))
        ours = {"_id": key, "fence": row["fence"]}
        unmarked = {name: row[name] for name in ("relevant", "label")}
        second.append(UpdateOne({**ours, "mark": {"$exists": False}}, {"$set": unmarked}))
        if row["to_learn"]:
            waits = {"$set": {"to_learn": row["to_learn"]}}
            second.append(UpdateOne({**ours, "learned_in": {"$exists": False}}, waits))
    with db.use() as database:
        try:
            database.topic_pages.bulk_write(first, ordered=False)
        except BulkWriteError as error:
            refused_keys(error)  # their stored judgements are newer
        database.topic_pages.bulk_write(second, ordered=False)


def _update(row: Row) -> dict[str, Any]:
    on_insert = [*CHANGING, *(name for name in IF_KNOWN if not row[name])]
    return {
        "$set": {name: value for name, value in row.items() if name not in on_insert},
        "$setOnInsert": {name: row[name] for name in on_insert if row[name] is not None},
    }


ATTEMPTS = 50
"""Attempts to write one document that other processes keep replacing."""

Document = dict[str, Any]
Numbered = Sequence[tuple[int, EncodedOutcome]]
Plan = tuple[Document | None, set[int]]
"""The document to write for one key (None: no change), and the outcomes that changed it."""


def save_outcomes(database: Any, ports: Ports, work: Sequence[Work], visits: Visits) -> int:
    """Saves outcomes, journaled; returns how many changed a document.

    Args:
        database: A ``pymongo`` database.
        ports: The store's.
        work: The outcomes, each with its record compared with the stored one.
        visits: The save's part that belongs to revisits.
    """
    encoded, compared = [each for each, _ in work], [found for _, found in work]
    by_key: dict[str, list[tuple[int, EncodedOutcome]]] = defaultdict(list)
    changed: set[int] = set()
    for place, (each, found) in enumerate(work):
        with naming(each.outcome):  # before anything is written
            key = key_of(*each.key)
        if each.outcome.unchanged or (found and found.is_unchanged):
            if visits.touch(each):
                changed.add(place)
        else:
            by_key[key].append((place, each))
    changed |= _Raw(database).put(_having(by_key, _wants_raw))
    records = _Records(database, visits, compared)
    with_record = records.put(_having(by_key, lambda each: each.outcome.record is not None))
    save_judgements(ports, [each.outcome for each in encoded])
    newest = _Urls(database, visits, compared).put(by_key)
    for place in with_record - newest:  # an older visit's record: its host has one more
        each = encoded[place]
        uncounted = {"$set": {"stale": stale_key(each.key[1], each.host)}}
        key = key_of(*each.key)
        database.urls.update_one({"_id": key}, uncounted | {"$unset": {"round": ""}})
    changed |= with_record | newest
    visits.add_sums()
    _forget_owed(database, _having(by_key, _owes_row))
    if not changed:
        # Another process may have written all of it and not yet have waited for the journal: a
        # journaled write waits for those before it.
        database.meta.update_one({"_id": "saved"}, {"$max": {"at": 0}})
    return len(changed)


def _having(
    by_key: Mapping[str, Numbered], wanted: Callable[[EncodedOutcome], bool]
) -> dict[str, Numbered]:
    chosen = {
        key: [(place, each) for place, each in mine if wanted(each)] for key, mine in by_key.items()
    }
    return {key: mine for key, mine in chosen.items() if mine}


def _wants_raw(each: EncodedOutcome) -> bool:
    return each.outcome.keep_raw and 100 <= each.outcome.queued.result.status <= 999


def _owes_row(each: EncodedOutcome) -> bool:
    return each.outcome.record is not None and each.is_recleaned


def _forget_owed(database: Any, by_key: Mapping[str, Numbered]) -> None:
    if by_key:
        digests = [each.url_row["digest"] for mine in by_key.values() for _, each in mine]
        paid = {"_id": {"$in": list(by_key)}, "owed.digest": {"$in": digests}}
        database.records.update_many(paid, {"$unset": {"owed": ""}})


def write_owed(database: Any, asked: Mapping[str, Any]) -> None:
    """Writes the owed rows of ``urls`` of records whose save died.

    Args:
        database: A ``pymongo`` database.
        asked: Filter of the records, ``{"owed.stale": "www.example.com/news"}``.
    """
    urls = _Urls(database)
    projection = dict.fromkeys((*urls.fence, *urls.also), 1)  # with the schedule, which stays
    for doc in list(database.records.find(asked, {"saved_seq": 1, "owed": 1})):
        key, owed = doc["_id"], doc["owed"]
        for _ in range(ATTEMPTS):
            current = database.urls.find_one({"_id": key}, projection)
            end = current and newer_row(current, owed, is_recleaned=True)
            if not end or not urls.write({key: (_filled(end), set())}, {key: current}):
                break
        still = {"_id": key, "saved_seq": doc["saved_seq"]}
        database.records.update_one(still, {"$unset": {"owed": ""}})


def refused_keys(error: BulkWriteError) -> list[int]:
    """Which writes were refused because a newer document has their key.

    Raises:
        BulkWriteError: The error has another cause.
    """
    details: Any = error.details
    refused = details["writeErrors"]
    if details["writeConcernErrors"] or any(each["code"] != DUPLICATE_KEY for each in refused):
        raise error
    return [each["index"] for each in refused]


class FencedCollection:
    """The fence of one collection: ``plan`` decides, ``put`` writes."""

    name: str
    fence: tuple[str, ...]
    """Fields that identify a version of a document."""
    also: tuple[str, ...] = ()
    """Further fields that ``plan`` reads."""

    def __init__(self, database: Any) -> None:
        self.database = database

    def plan(self, key: str, known: Document | None, mine: Numbered) -> Plan:
        """The new version of a document, from the stored one and our outcomes in their order."""
        raise NotImplementedError

    def newest_record(
        self, known: Document | None, mine: Numbered
    ) -> tuple[EncodedOutcome | None, set[int]]:
        """The outcome whose record replaces the stored one, and the numbers of all that did."""
        state = None if known is None else tuple(known[name] for name in self.fence)
        chosen: EncodedOutcome | None = None
        numbers = set()
        for place, each in mine:
            if state is None or each.replaces(state):
                state, chosen = each.record_fence, each
                numbers.add(place)
        return chosen, numbers

    def finish(self, planned: Mapping[str, Plan]) -> None:
        """Adds fields to the documents that will be written."""

    def put(self, by_key: Mapping[str, Numbered]) -> set[int]:
        """Writes the documents; returns the numbers of the outcomes that changed one."""
        changed: set[int] = set()
        open_keys = list(by_key)
        large: set[str] = set()
        projection = dict.fromkeys((*self.fence, *self.also, "chunks", "had_chunks"), 1)
        for attempt in range(ATTEMPTS):
            if not open_keys:
                break
            if attempt:
                time.sleep(random.uniform(0, 0.01 * attempt))  # noqa: S311 (no secret)
            found = self.database[self.name].find({"_id": {"$in": open_keys}}, projection)
            known = {doc["_id"]: doc for doc in found}
            plans = {key: self.plan(key, known.get(key), by_key[key]) for key in open_keys}
            planned = {key: plan for key, plan in plans.items() if plan[0] is not None}
            for key in open_keys:
                old, new = known.get(key, {}), planned.get(key, ({}, set()))[0] or {}
                if old.get("chunks") or old.get("had_chunks"):
                    new["had_chunks"] = (
                        True  # until no chunks are left, each save of the page deletes old ones
                    )
                    large.add(key)
                elif new.get("chunks"):
                    large.add(key)
            self.finish(planned)
            lost = self.write(planned, known)
            for key, (_, numbers) in planned.items():
                if key not in lost:
                    changed |= numbers
            open_keys = lost
        else:
            if open_keys:
                raise StoreUnavailable("others write the same pages all the time: try again")
        for key in large:
            drop_old_chunks(self.database, self.name, key)
        return changed

    def write(self, planned: Mapping[str, Plan], known: Mapping[str, Document]) -> list[str]:
        """Writes documents; returns the keys of those that were replaced since they were read."""
        keys = list(planned)
        operations: list[Any] = []
        for key in keys:
            doc: Any = planned[key][0]
            if key in known:
                state = {name: known[key].get(name) for name in ("_id", *self.fence)}
                operations.append(ReplaceOne(state, doc, upsert=True))
            else:
                operations.append(InsertOne(doc))
        if not operations:
            return []
        try:
            self.database[self.name].bulk_write(operations, ordered=False)
        except BulkWriteError as error:
            return [keys[place] for place in refused_keys(error)]
        return []


class _Raw(FencedCollection):
    name = "raw"
    fence = ("fetched_at",)

    def plan(self, key: str, known: Document | None, mine: Numbered) -> Plan:
        newest = None if known is None else known["fetched_at"]
        chosen: EncodedOutcome | None = None
        numbers = set()
        for place, each in mine:
            fetched_at = to_microseconds(each.outcome.queued.fetched_at)
            if newest is None or fetched_at > newest:
                newest, chosen = fetched_at, each
                numbers.add(place)
        if chosen is None:
            return None, numbers
        queued = chosen.outcome.queued
        doc = {
            "_id": key,
            "crawl_id": queued.crawl_id,
            "host": replace_surrogates(queued.host),
            "url": replace_surrogates(queued.url),
            "fetched_at": newest,
            "digest": chosen.url_row["digest"],
            "status": number(queued.result.status),
            "headers": [list(each) for each in archived_headers(queued.result.headers)],
        }
        owner = owner_of(self.name, key)
        return doc | put_blob(self.database, owner, doc, compress(queued.result.body)), numbers


class _Records(FencedCollection):
    name = "records"
    fence = ("fetched_at", "model_version", "digest")
    also = ("images_due", "saved_seq", "saved_at")

    def __init__(
        self, database: Any, visits: Visits, compared: Sequence[Comparison | None]
    ) -> None:
        super().__init__(database)
        self._visits = visits
        self._compared = compared

    def plan(self, key: str, known: Document | None, mine: Numbered) -> Plan:
        chosen, numbers = self.newest_record(known, mine)
        if chosen is None:
            return None, numbers
        queued = chosen.outcome.queued
        save: Document = {}
        if known is not None:
            found = self._compared[max(numbers)]
            if self._visits.keep_version(found, chosen, known["saved_seq"]):
                save = {name: known[name] for name in ("saved_seq", "saved_at")}
        head, links = chosen.blobs
        doc = {
            "_id": key,
            "crawl_id": queued.crawl_id,
            "host": chosen.host,
            **dict(zip(self.fence, chosen.record_fence, strict=True)),
            "head_bytes": len(head),
            **save,
        }
        if chosen.outcome.record and chosen.outcome.record.confidence is not None:
            doc["confidence"] = chosen.outcome.record.confidence
        if chosen.outcome.images_due or (known or {}).get("images_due"):
            doc["images_due"] = queued.crawl_id
        if _owes_row(chosen):
            doc["owed"] = _url_document(key, chosen, chosen.url_row)
        return doc | put_blob(self.database, owner_of(self.name, key), doc, head + links), numbers

    def finish(self, planned: Mapping[str, Plan]) -> None:
        """Numbers the records in the order of their outcomes; the clock never runs back.

        A page that was fetched again and has not changed keeps the number and time of its save.
        """
        plans = [plan for plan in planned.values() if plan[0] and "saved_seq" not in plan[0]]
        if not plans:
            return
        counter = self.database.meta.find_one_and_update(
            {"_id": "saved"},
            {"$inc": {"n": len(plans)}, "$max": {"at": time.time_ns() // 1000}},
            return_document=ReturnDocument.AFTER,
        )
        if counter is None:
            raise StoreDamaged("the counter of the records is gone: restore it from a backup")
        in_order = sorted(plans, key=lambda plan: max(plan[1]))
        for saved_seq, (doc, _) in enumerate(in_order, counter["n"] - len(plans) + 1):
            if doc is not None:
                doc |= {"saved_seq": saved_seq, "saved_at": counter["at"]}


class _Urls(FencedCollection):
    name = "urls"
    fence = ("fetched_at", "model_version", "digest")
    also = URL_STATE

    def __init__(
        self,
        database: Any,
        visits: Visits | None = None,
        compared: Sequence[Comparison | None] = (),
    ) -> None:
        super().__init__(database)
        self._visits = visits
        self._compared = compared

    def plan(self, key: str, known: Document | None, mine: Numbered) -> Plan:
        current = known
        numbers = set()
        for place, each in mine:
            row = next_row(current, each, self._visits, self._compared[place])
            if row is not None:
                current = _url_document(key, each, row)
                numbers.add(place)
        return current if numbers else None, numbers


def _filled(row: Row) -> Document:
    """A row as a document: a column without a value is an absent field."""
    return {name: value for name, value in row.items() if value is not None}


def _url_document(key: str, each: EncodedOutcome, row: Row) -> Document:
    record = each.outcome.record
    doc = {**_filled(row), "_id": key, "stale": stale_key(each.key[1], each.host)}
    if record is not None:
        doc |= counted_of(record) | {
            "links": Counter(link.kind.value for link in record.links),
            "images": Counter(image.kind.value for image in record.images),
        }
    if each.outcome.story:
        doc["has_story"] = True
    return doc


def stale_key(crawl_id: str, host: str) -> str:
    """The mark of an outcome that is not counted yet, and the ``_id`` of its host's statistics.

    ``www.example.com/news``
    """
    return f"{host}/{crawl_id}"
