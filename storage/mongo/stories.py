"""Stories in MongoDB: the index of signatures, by compare and set and a search after the write.

A document of ``signatures`` has the signature of a record, its keys, and the number of its story;
its fence is that of ``records``. Of two pages that arrive at once each is written before it is
searched for, so at least the later search finds the other. The pointers of ``stories`` are inserted
once, and a repeated save joins what a killed process left apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pymongo import ASCENDING, DESCENDING, DeleteOne
from pymongo.errors import DuplicateKeyError

from crawlclean.cleaning.topics.stories import BINS, story_keys
from crawlclean.storage.mongo.connection import MongoConnection
from crawlclean.storage.mongo.ports import key_of
from crawlclean.storage.mongo.writing import FencedCollection, Numbered, Plan, stale_key
from crawlclean.storage.store.encoded_outcomes import EncodedOutcome
from crawlclean.storage.store.ports import PackedRecord
from crawlclean.storage.store.stories import (
    CANDIDATES,
    FENCE,
    KEY_ROWS,
    Candidate,
    Member,
    StoryCount,
    after_deletion,
    join,
    next_member,
)

SEARCHED = 512
"""Documents read for all keys of a page; when there are more, each key is read by itself."""

_FIELDS = dict.fromkeys(
    ("_id", "page_id", "crawl_id", "host", "signature", "chars", "at", "story", "keys"), 1
)
_COMPARED = dict.fromkeys(("_id", "signature", "chars", "story", "keys"), 1)


class Opened:
    """An open database, used as a connection is."""

    def __init__(self, database: Any) -> None:
        self._database = database

    @contextmanager
    def use(self) -> Iterator[Any]:
        """The database."""
        yield self._database


class MongoStoryRows:
    """``StoryRows`` by commands; the methods are documented in ``storage/store/stories.py``."""

    def __init__(self, db: MongoConnection | Opened) -> None:
        self._db = db

    def similar(self, keys: Sequence[int], own: Any) -> list[Candidate]:
        """Members with the most keys in common."""
        with self._db.use() as database:
            asked = {"keys": {"$in": list(keys)}}
            found = list(database.signatures.find(asked, _COMPARED).limit(SEARCHED))
            if len(found) == SEARCHED:
                each_key = (
                    database.signatures.find({"keys": key}, _COMPARED).limit(KEY_ROWS)
                    for key in keys
                )
                found = [doc for docs in each_key for doc in docs]
        docs = {doc["_id"]: doc for doc in found if doc["_id"] != own}
        wanted = set(keys)
        shared = {name: len(wanted.intersection(doc["keys"])) for name, doc in docs.items()}
        best = sorted(shared, key=lambda name: (-shared[name], name))[:CANDIDATES]
        return [
            Candidate(
                name, bytes(docs[name]["signature"]), docs[name]["chars"], docs[name].get("story")
            )
            for name in best
        ]

    def read(self, refs: Sequence[Any]) -> list[Member]:
        """The members of these keys."""
        asked = {"_id": {"$in": list(refs)}, "keys": {"$exists": True}}
        with self._db.use() as database:
            return list(map(member_of, database.signatures.find(asked, _FIELDS)))

    def ends(self, numbers: Sequence[int]) -> list[Member]:
        """The earliest and the longest member."""
        asked = {"story": {"$in": list(numbers)}}
        found = []
        with self._db.use() as database:
            for field, way in (("at", ASCENDING), ("chars", DESCENDING)):
                order = [(field, way), ("_id", ASCENDING)]
                found += list(database.signatures.find(asked, _FIELDS).sort(order).limit(1))
        return list(map(member_of, found))

    def targets(self, numbers: Iterable[int]) -> dict[int, int]:
        """Where pointers lead."""
        with self._db.use() as database:
            docs = list(database.stories.find({"_id": {"$in": list(numbers)}}))
        return {doc["_id"]: doc["target"] for doc in docs}

    def sources(self, numbers: Sequence[int]) -> list[int]:
        """Whose pointers lead to one of these."""
        with self._db.use() as database:
            docs = list(database.stories.find({"target": {"$in": list(numbers)}}))
        return [doc["_id"] for doc in docs]

    def link(self, number: int, target: int) -> bool:
        """Adds a pointer."""
        with self._db.use() as database:
            try:
                database.stories.insert_one({"_id": number, "target": target})
            except DuplicateKeyError:
                return False
        return True

    def shorten(self, number: int, target: int) -> None:
        """Lets a pointer lead to a smaller number."""
        with self._db.use() as database:
            asked = {"_id": number, "target": {"$gt": target}}
            database.stories.update_one(asked, {"$set": {"target": target}})

    def label(self, refs: Sequence[Any], number: int) -> None:
        """Sets the number of members."""
        with self._db.use() as database:
            asked = {"_id": {"$in": list(refs)}}
            database.signatures.update_many(asked, {"$min": {"story": number}})

    def mark(self, members: Sequence[Member]) -> None:
        """Marks the statistics of hosts as old."""
        self.mark_pages(
            [{"_id": each.ref, "crawl_id": each.crawl_id, "host": each.host} for each in members]
        )

    def mark_pages(self, docs: Sequence[Mapping[str, Any]]) -> None:
        """Marks the statistics of the hosts of pages as old."""
        with self._db.use() as database:
            for doc in docs:
                stale = {"stale": stale_key(doc["crawl_id"], doc["host"])}
                database.urls.update_one({"_id": doc["_id"]}, {"$set": stale})

    def drop(self, numbers: Sequence[int]) -> None:
        """Deletes pointers."""
        with self._db.use() as database:
            database.stories.delete_many({"_id": {"$in": list(numbers)}})

    def of_page(self, page_id: str) -> list[Member]:
        """The members of a page."""
        asked = {"_id": {"$gte": f"{page_id}:", "$lt": f"{page_id};"}, "keys": {"$exists": True}}
        with self._db.use() as database:
            docs = list(database.signatures.find(asked, _FIELDS))
        return sorted(map(member_of, docs), key=lambda each: each.at)

    def members(self, numbers: Sequence[int], limit: int) -> list[Member]:
        """Members with one of these numbers, the earliest first."""
        asked = {"story": {"$in": list(numbers)}}
        order = [("at", ASCENDING), ("_id", ASCENDING)]
        with self._db.use() as database:
            docs = list(database.signatures.find(asked, _FIELDS).sort(order).limit(limit))
        return list(map(member_of, docs))

    def counts(self) -> list[StoryCount]:
        """Every number that a member has."""
        by_page = {"story": "$story", "page": "$page_id"}
        stages: list[dict[str, Any]] = [
            {"$match": {"story": {"$exists": True}}},
            {"$group": {"_id": by_page, "at": {"$min": "$at"}}},
            {"$group": {"_id": "$_id.story", "pages": {"$sum": 1}, "at": {"$min": "$at"}}},
        ]
        with self._db.use() as database:
            rows = list(database.signatures.aggregate(stages, allowDiskUse=True))
        return [StoryCount(story=row["_id"], pages=row["pages"], at=row["at"]) for row in rows]

    def urls(self, members: Sequence[Member]) -> dict[tuple[str, str], str]:
        """The URL of each member."""
        asked = {"_id": {"$in": [each.ref for each in members]}}
        with self._db.use() as database:
            docs = list(database.urls.find(asked, {"page_id": 1, "crawl_id": 1, "url": 1}))
        return {(doc["page_id"], doc["crawl_id"]): doc["url"] for doc in docs}

    def labelled(self) -> list[tuple[str, str, int]]:
        """Page, host and number of the members that are not alone."""
        fields = {"_id": 0, "page_id": 1, "host": 1, "story": 1}
        with self._db.use() as database:
            docs = database.signatures.find({"story": {"$exists": True}}, fields)
            return [(doc["page_id"], doc["host"], doc["story"]) for doc in docs]

    def pointers(self) -> dict[int, int]:
        """Every pointer."""
        with self._db.use() as database:
            return {doc["_id"]: doc["target"] for doc in database.stories.find()}


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
        written = _Signatures(database)
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

    def __init__(self, database: Any) -> None:
        super().__init__(database)
        self.left: set[int] = set()

    def plan(self, key: str, known: dict[str, Any] | None, mine: Numbered) -> Plan:
        state = None if known is None else tuple(known[name] for name in self.fence)
        chosen: EncodedOutcome | None = None
        for _, each in mine:
            ours = (*each.version, each.record_digest)
            if state is None or (ours[:2] >= state[:2] and ours != state):
                state, chosen = ours, each
        record = None if chosen is None else chosen.outcome.record
        if chosen is None or record is None:
            return None, set()
        signature = chosen.outcome.story
        if known is None and not signature:
            return None, set()
        before = member_of(known) if known and "keys" in known else None
        place = (chosen.outcome.queued.crawl_id, chosen.url_row[0])
        doc: dict[str, Any] = {
            "_id": key,
            "page_id": record.page_id,
            "crawl_id": place[0],
            "host": place[1],
            **dict(zip(self.fence, (*chosen.version, chosen.record_digest), strict=True)),
        }
        story = None
        if signature:
            page = next_member(key, record, place, signature[:BINS], before)
            keys, story = list(story_keys(signature)), page.story
            doc |= {"signature": signature[:BINS], "chars": page.chars, "at": page.at, "keys": keys}
            doc |= {} if story is None else {"story": story}
        if before is not None and before.story not in (None, story):
            self.left.add(before.number)
        return doc, set()


def member_of(doc: Mapping[str, Any]) -> Member:
    """The member of a document of ``signatures``."""
    return Member(
        ref=doc["_id"],
        page_id=doc["page_id"],
        crawl_id=doc["crawl_id"],
        host=doc["host"],
        sketch=bytes(doc["signature"]),
        chars=doc["chars"],
        at=doc["at"],
        story=doc.get("story"),
    )


# What MongoDB does when the index of stories is built anew, by compare and set.
#
# A member that a save has replaced since it was read has another fence, and stays.

MEMBERS_AT_ONCE, POINTERS_AT_ONCE = 500, 200

_READ = dict.fromkeys(("_id", "story", "crawl_id", "host", *FENCE), 1)


class MongoRebuildRows(MongoStoryRows):
    """``RebuildRows`` by commands; documented in ``storage/store/stories.py``."""

    def clear(self, until: int) -> Iterator[None]:
        """Takes records out of the index: members with their keys, then pointers."""
        key = ""
        while key := self._clear_members(key, until):
            yield
        number = -1
        while True:
            with self._db.use() as database:
                found = database.stories.find({"_id": {"$gt": number}}, {"_id": 1})
                numbers = [doc["_id"] for doc in found.sort("_id", 1).limit(POINTERS_AT_ONCE)]
            if not numbers:
                return
            after_deletion(self, numbers)
            number = numbers[-1]
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
        self.mark_pages([doc for doc in old if "story" in doc])
        return names[-1] if names else ""

    def ref_of(self, packed: PackedRecord) -> Any:
        """Page and crawl."""
        return key_of(packed.page_id, packed.crawl_id)

    def insert(self, page: Member, signature: bytes, fence: Sequence[Any]) -> Member | None:
        """Adds a record; another member of the same version was added by a killed call."""
        version = dict(zip(FENCE, fence, strict=True))
        doc = {
            "_id": page.ref,
            "page_id": page.page_id,
            "crawl_id": page.crawl_id,
            "host": page.host,
            **version,
            "signature": page.sketch,
            "chars": page.chars,
            "at": page.at,
            "keys": list(story_keys(signature)),
            **({} if page.story is None else {"story": page.story}),
        }
        with self._db.use() as database:
            try:
                database.signatures.insert_one(doc)
            except DuplicateKeyError:
                asked = {"_id": page.ref, **version, "keys": {"$exists": True}}
                known = database.signatures.find_one(asked)
                return None if known is None else member_of(known)
        return page
