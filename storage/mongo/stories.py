"""Stories in MongoDB: the index of signatures, by compare and set and a search after the write.

A document of ``signatures`` has the signature of a record, its keys, and the number of its story;
its fence is that of ``records``. Of two pages that arrive at once each is written before it is
searched for, so at least the later search finds the other. The pointers of ``stories`` are inserted
once, and a repeated save joins what a killed process left apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from pymongo import ASCENDING, DESCENDING, DeleteOne

from crawlclean.cleaning.topics.stories import BINS, story_keys
from crawlclean.storage.mongo.connection import MongoConnection
from crawlclean.storage.mongo.ports import MongoTables, asked_for, key_of
from crawlclean.storage.mongo.writing import FencedCollection, Numbered, Plan, stale_key
from crawlclean.storage.store.encoded_outcomes import EncodedOutcome
from crawlclean.storage.store.ports import PAGE_KEY, PackedRecord, Row, Where
from crawlclean.storage.store.stories import (
    CANDIDATES,
    FENCE,
    KEY_ROWS,
    StoryMember,
    StoryRows,
    after_deletion,
    join,
    next_member,
)

_MEMBER = ("_id", "page_id", "crawl_id", "host", "signature", "chars", "at", "story")
_FIELDS = dict.fromkeys((*_MEMBER, "keys"), 1)
_READ = dict.fromkeys(("_id", "story", "crawl_id", "host", *FENCE), 1)

MEMBERS_AT_ONCE = 500
"""Members that a rebuild takes out in one step."""


class MongoStoryRows(StoryRows):
    """``StoryRows`` by commands; the methods are documented in ``storage/store/stories.py``."""

    candidate = ("_id", "signature", "chars", "story")
    version = (*PAGE_KEY, *FENCE)

    def __init__(self, db: MongoConnection) -> None:
        super().__init__(MongoTables(db))
        self._db = db

    def read(self, where: Where) -> list[StoryMember]:
        """The members of a condition, the earliest first."""
        asked = {**asked_for("signatures", where), "keys": {"$exists": True}}
        with self._db.use() as database:
            docs = list(database.signatures.find(asked, _FIELDS))
        return sorted(map(member_of, docs), key=lambda each: each.at)

    def first(
        self, numbers: Sequence[int], by: Literal["at", "chars"], limit: int, *, backwards: bool
    ) -> list[StoryMember]:
        """The first members with one of these numbers, by a column."""
        order = [(by, DESCENDING if backwards else ASCENDING), ("_id", ASCENDING)]
        with self._db.use() as database:
            found = database.signatures.find({"story": {"$in": list(numbers)}}, _FIELDS)
            return list(map(member_of, found.sort(order).limit(limit)))

    def labelled(self) -> list[tuple[str, str, int, int]]:
        """Page, host, time and number of the members that are not alone."""
        fields = {"_id": 0, "page_id": 1, "host": 1, "at": 1, "story": 1}
        with self._db.use() as database:
            docs = database.signatures.find({"story": {"$exists": True}}, fields)
            return [(doc["page_id"], doc["host"], doc["at"], doc["story"]) for doc in docs]

    def mark(self, members: Sequence[StoryMember]) -> None:
        """Marks the statistics of hosts as old."""
        self._mark([(each.ref, each.crawl_id, each.host) for each in members])

    def _mark(self, pages: Sequence[tuple[str, str, str]]) -> None:
        """Marks the statistics of the hosts of (key, crawl, host) as old."""
        with self._db.use() as database:
            for key, crawl_id, host in pages:
                stale = {"stale": stale_key(crawl_id, host)}
                database.urls.update_one({"_id": key}, {"$set": stale})

    def row_of(self, page: StoryMember, signature: bytes, fence: Sequence[Any]) -> Row:
        """The document of a member without its keys."""
        return {
            "page_id": page.page_id,
            "crawl_id": page.crawl_id,
            "host": page.host,
            **dict(zip(FENCE, fence, strict=True)),
            "signature": signature[:BINS],
            "chars": page.chars,
            "at": page.at,
            **({} if page.story is None else {"story": page.story}),
        }

    def ref_of(self, packed: PackedRecord) -> Any:
        """Page and crawl."""
        return key_of(packed.page_id, packed.crawl_id)

    def clear_members(self, until: int) -> Iterator[None]:
        """Takes records out of the index, by compare and set.

        A member that a save has replaced since it was read has another fence, and stays.
        """
        key = ""
        while key := self._clear_members(key, until):
            yield

    def _clear_members(self, after: str, until: int) -> str:
        """Deletes members behind a key; returns the last key that was read, ``""`` at the end."""
        with self._db.use() as database:
            found = database.signatures.find({"_id": {"$gt": after}}, _READ)
            docs = list(found.sort("_id", ASCENDING).limit(MEMBERS_AT_ONCE))
            names = [doc["_id"] for doc in docs]
            records = database.records.find({"_id": {"$in": names}}, {"saved_seq": 1})
            newer = {doc["_id"] for doc in records if doc["saved_seq"] > until}
            old = [doc for doc in docs if doc["_id"] not in newer]
            deletions = [
                DeleteOne({name: doc.get(name) for name in ("_id", *FENCE)}) for doc in old
            ]
            if deletions:
                database.signatures.bulk_write(deletions, ordered=False)
        self._mark([(doc["_id"], doc["crawl_id"], doc["host"]) for doc in old if "story" in doc])
        return names[-1] if names else ""


def put_stories(db: MongoConnection, encoded: Sequence[EncodedOutcome]) -> None:
    """Indexes the records of a save, and joins each with the stories that it matches.

    Args:
        db: The database; the records are written.
        encoded: The outcomes whose records were saved, in their order.
    """
    by_key: dict[str, list[tuple[int, EncodedOutcome]]] = {}
    for place, each in enumerate(encoded):
        queued = each.outcome.queued
        if each.outcome.record is not None:
            by_key.setdefault(key_of(queued.page_id, queued.crawl_id), []).append((place, each))
    rows = MongoStoryRows(db)
    with db.use() as database:
        written = _Signatures(database, rows)
        written.put(by_key)
        asked = {"_id": {"$in": list(by_key)}, "keys": {"$exists": True}}
        docs = list(database.signatures.find(asked, _FIELDS))
    for doc in docs:
        join(rows, member_of(doc), doc["keys"])
    after_deletion(rows, written.left)


def delete_stories(db: MongoConnection, asked: Mapping[str, str]) -> None:
    """Deletes the pages of a crawl, a host or both from the index."""
    rows = MongoStoryRows(db)
    while True:
        with db.use() as database:
            found = database.signatures.find(asked, {"story": 1}).limit(CANDIDATES * KEY_ROWS)
            docs = list(found)
            database.signatures.delete_many({"_id": {"$in": [doc["_id"] for doc in docs]}})
        after_deletion(rows, {doc["story"] for doc in docs if "story" in doc})
        if not docs:
            return


class _Signatures(FencedCollection):
    name = "signatures"
    fence = ("fetched_at", "model_version", "digest")
    also = tuple(_FIELDS)

    def __init__(self, database: Any, rows: MongoStoryRows) -> None:
        super().__init__(database)
        self._rows = rows
        self.left: set[int] = set()

    def plan(self, key: str, known: dict[str, Any] | None, mine: Numbered) -> Plan:
        chosen, _ = self.newest_record(known, mine)
        record = None if chosen is None else chosen.outcome.record
        if chosen is None or record is None:
            return None, set()
        signature = chosen.outcome.story
        if known is None and not signature:
            return None, set()
        before = member_of(known) if known and "keys" in known else None
        place = (chosen.outcome.queued.crawl_id, chosen.host)
        page = next_member(key, record, place, signature[:BINS], before)
        doc = {"_id": key, **self._rows.row_of(page, signature, chosen.record_fence)}
        if signature:
            doc["keys"] = list(story_keys(signature))
        else:  # only the fence is kept
            doc = {name: doc[name] for name in ("_id", *self._rows.version, "host")}
            page = replace(page, story=None)
        if before is not None and before.story not in (None, page.story):
            self.left.add(before.number)
        return doc, set()


def member_of(doc: Mapping[str, Any]) -> StoryMember:
    """The member of a document of ``signatures``."""
    values: list[Any] = [doc.get(name) for name in _MEMBER]
    return StoryMember(*values)
