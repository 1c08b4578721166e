"""The index of stories built anew from the stored records, for `stories --rebuild`.

A rebuild is for another kind of signature, for records that were saved without one, and to split
stories whose joining page was deleted. The records that were saved before it began are

1. taken out of the index (``CLEAR``), with the stories that have no other page;
2. added again in the order of their saves (``ADD``), as if they came now.

Records that are saved meanwhile are in the index by their own save. The table ``rebuilds`` has the
place that was reached; each step may be repeated, so the next call completes what was killed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from crawlclean.cleaning.errors import StoreUnavailable
from crawlclean.cleaning.records import CleanRecord
from crawlclean.cleaning.topics.stories import BINS, record_signature, story_keys
from crawlclean.storage.store.ports import Blobs, PackedRecord, Scan, Tables
from crawlclean.storage.store.record_blobs import unpack_text
from crawlclean.storage.store.stories import Member, StoryRows, fresh_number, join, next_member

AT_ONCE = 100
"""Records added in one step: SQLite's lock is held for some 50 ms."""

WHAT = "stories"
CLEAR, ADD = "clear", "add"
FENCE = ("fetched_at", "model_version", "digest")


class RebuildRows(StoryRows, Protocol):
    """What a database does for a rebuild, beside ``StoryRows``."""

    def clear(self, until: int) -> Iterator[None]:
        """Takes records with ``saved_seq`` <= ``until`` out of the index, some in each step."""

    def ref_of(self, packed: PackedRecord) -> Any:
        """``Member.ref`` of a record."""

    def insert(self, page: Member, signature: bytes, fence: Sequence[Any]) -> Member | None:
        """Adds a record to the index; returns its member, or the one that a killed call added.

        None: the record was replaced or deleted meanwhile.
        """


@dataclass(frozen=True, slots=True)
class RebuildProgress:
    """What a rebuild has done since it was called.

    Attributes:
        records: Records that were read.
        texts: Those of them with a signature.
    """

    records: int = 0
    texts: int = 0


class StoryRebuild:
    """The rebuild of a store; one process at a time."""

    def __init__(self, tables: Tables, blobs: Blobs, rows: RebuildRows) -> None:
        self._tables = tables
        self._blobs = blobs
        self._rows = rows

    def is_unfinished(self) -> bool:
        """Whether a rebuild has begun and has not ended."""
        return self._state() is not None

    def steps(self, at_once: int = AT_ONCE) -> Iterator[RebuildProgress]:
        """Rebuilds the index, or completes the rebuild that has begun.

        Args:
            at_once: Records added in one step.

        Raises:
            StoreUnavailable: Another process rebuilds the same index.
        """
        phase, until, after = self._state() or self._begin()
        if phase == CLEAR:
            clearing = self._rows.clear(until)
            is_done = False
            while not is_done:
                with self._tables.together():
                    self._check(CLEAR, 0)
                    is_done = next(clearing, True) is True
                yield RebuildProgress()
            self._move(CLEAR, 0, {"phase": ADD})
            after = 0
        done = RebuildProgress()
        while after < until:
            found, more = self._blobs.records({}, after, at_once)
            texts = [_with_signature(each) for each in found if each.saved_seq <= until]
            with self._tables.together():
                self._add([each for each in texts if each[2]])
                self._move(ADD, after, {"after_seq": min(more or until, until)})
            after = more or until
            with_text = sum(bool(signature) for _, _, signature in texts)
            done = RebuildProgress(done.records + len(texts), done.texts + with_text)
            yield done
        self._tables.delete("rebuilds", {"what": WHAT})

    def _state(self) -> tuple[str, int, int] | None:
        rows = self._tables.get("rebuilds", [(WHAT,)], ("phase", "until_seq", "after_seq"))
        return next(((row[0], row[1], row[2]) for row in rows.values()), None)

    def _begin(self) -> tuple[str, int, int]:
        newest = Scan("records", ("saved_seq",), {}, ("saved_seq",), backwards=True, limit=1)
        found = self._tables.scan(newest)
        until = found[0][0] if found else 0
        row = {"what": WHAT, "phase": CLEAR, "until_seq": until, "after_seq": 0}
        self._tables.add("rebuilds", [row])
        return CLEAR, until, 0

    def _check(self, phase: str, after: int) -> None:
        state = self._state()
        if state is None or (state[0], state[2]) != (phase, after):
            raise StoreUnavailable("another process rebuilds the stories: wait for its end")

    def _move(self, phase: str, after: int, values: dict[str, Any]) -> None:
        still = {"what": WHAT, "phase": phase, "after_seq": after}
        if not self._tables.change("rebuilds", still, values):
            self._check(phase, after)

    def _add(self, texts: Sequence[tuple[PackedRecord, CleanRecord, bytes]]) -> None:
        keys = [(each.page_id, each.crawl_id) for each, _, _ in texts]
        rows = self._tables.get("records", keys, ("saved_seq", "host", *FENCE))
        for (packed, record, signature), key in zip(texts, keys, strict=True):
            saved_seq, host, *fence = rows.get(key, (0, ""))
            if saved_seq != packed.saved_seq:
                continue
            place = (packed.crawl_id, host)
            ref = self._rows.ref_of(packed)
            page = next_member(ref, record, place, signature[:BINS], None)
            if self._rows.targets([page.number]):  # of a story of pages that were saved meanwhile
                page = replace(page, story=fresh_number(page))
            added = self._rows.insert(page, signature, fence)
            if added is not None:
                join(self._rows, added, story_keys(signature))


def _with_signature(packed: PackedRecord) -> tuple[PackedRecord, CleanRecord, bytes]:
    record = unpack_text(packed.head, packed.links)
    return packed, record, record_signature(record)
