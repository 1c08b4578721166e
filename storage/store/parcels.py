"""Pending URLs that outgrew the queue's memory, at rest: parcels, kept by id.

A parcel is a part of one host's queue; ``storage/queue/parcel_format.py`` packs it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from cleaning.errors import StoreDamaged
from storage.store.codec import DAMAGE
from storage.store.ports import Scan, Tables, of

DELETED_AT_ONCE = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """One parcel as a store keeps it; ``urls`` is how many are in ``packed``."""

    parcel_id: str
    crawl_id: str
    host: str
    urls: int
    packed: bytes


class Parcels:
    """The table ``parcels``."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def save(self, parcels: Sequence[Parcel]) -> None:
        """Keeps parcels; one whose id is kept already changes nothing."""
        rows = [
            {
                "parcel_id": each.parcel_id,
                "crawl_id": each.crawl_id,
                "host": each.host,
                "urls": each.urls,
                "packed": each.packed,
            }
            for each in parcels
        ]
        self._tables.add("parcels", rows)

    def get(self, parcel_id: str) -> Parcel | None:
        """A parcel that is kept."""
        columns = ("crawl_id", "host", "urls", "packed")
        for row in self._tables.get("parcels", [(parcel_id,)], columns).values():
            crawl_id, host, urls, packed = row
            try:
                data = bytes(packed)
            except DAMAGE as error:
                raise StoreDamaged(f"a stored parcel cannot be read: {error}") from error
            return Parcel(parcel_id=parcel_id, crawl_id=crawl_id, host=host, urls=urls, packed=data)
        return None

    def ids(self, crawl_id: str) -> list[str]:
        """The ids of a crawl's parcels, in any order."""
        found = self._tables.scan(Scan("parcels", ("parcel_id",), {"crawl_id": crawl_id}))
        return [row[0] for row in found]

    def delete(self, parcel_ids: Collection[str]) -> int:
        """Forgets parcels; returns how many were there."""
        ids = list(parcel_ids)
        parts = [ids[at : at + DELETED_AT_ONCE] for at in range(0, len(ids), DELETED_AT_ONCE)]
        return sum(self._tables.delete("parcels", {"parcel_id": part}) for part in parts)

    def forget(self, crawl_id: str, host: str | None = None) -> int:
        """Forgets all parcels of a crawl (of one host); returns how many."""
        return self._tables.delete("parcels", of(crawl_id, host))
