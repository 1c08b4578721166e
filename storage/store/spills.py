"""Spills at rest: pending URLs that outgrew the queue's memory, stored by id.

A spill is a block of up to 1,000 entries of one host's queue (``storage/queue/overflow.py``).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from crawlclean.storage.store.ports import Scan, Tables, of
from crawlclean.storage.store.row_types import RowType

DELETED_AT_ONCE = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Spill:
    """One spill as a store keeps it.

    Attributes:
        spill_id: 32 hex digits, random.
        crawl_id: Its crawl.
        host: Lower-case authority.
        urls: Number of URLs in ``packed``.
        packed: The entries, packed by ``storage/queue/spill_format.py``.
    """

    spill_id: str
    crawl_id: str
    host: str
    urls: int
    packed: bytes


_SPILL = RowType(Spill, "spill")


class Spills:
    """The member ``spills``."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def save(self, spills: Sequence[Spill]) -> None:
        """Stores the spills whose ids are new."""
        self._tables.add("spills", list(map(_SPILL.row, spills)))

    def get(self, spill_id: str) -> Spill | None:
        """A spill by its id; None when it is not stored."""
        found = self._tables.get("spills", [(spill_id,)], _SPILL.columns)
        return next(map(_SPILL.read, found.values()), None)

    def ids(self, crawl_id: str) -> list[str]:
        """Ids of a crawl's spills, in any order."""
        found = self._tables.scan(Scan("spills", ("spill_id",), {"crawl_id": crawl_id}))
        return [row[0] for row in found]

    def delete(self, spill_ids: Collection[str]) -> int:
        """Deletes spills by id; returns how many were stored."""
        ids = list(spill_ids)
        parts = [ids[at : at + DELETED_AT_ONCE] for at in range(0, len(ids), DELETED_AT_ONCE)]
        return sum(self._tables.delete("spills", {"spill_id": part}) for part in parts)

    def forget(self, crawl_id: str, host: str | None = None) -> int:
        """Deletes all spills of a crawl, or of one host of it; returns how many."""
        return self._tables.delete("spills", of(crawl_id, host))
