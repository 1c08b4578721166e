"""What MongoDB does when the index of stories is built anew, by compare and set.

A member that a save has replaced since it was read has another fence, and stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pymongo import ASCENDING, DeleteOne
from pymongo.errors import DuplicateKeyError

from crawlclean.cleaning.topics.stories import story_keys
from crawlclean.storage.mongo.ports import key_of
from crawlclean.storage.mongo.stories import MongoStoryRows, member_of
from crawlclean.storage.store.ports import PackedRecord
from crawlclean.storage.store.stories import Member, after_deletion
from crawlclean.storage.store.story_rebuild import FENCE

MEMBERS_AT_ONCE, POINTERS_AT_ONCE = 500, 200

_READ = dict.fromkeys(("_id", "story", "crawl_id", "host", *FENCE), 1)


class MongoRebuildRows(MongoStoryRows):
    """``RebuildRows`` by commands; documented in ``storage/store/story_rebuild.py``."""

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
