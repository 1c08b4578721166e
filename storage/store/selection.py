"""Which stored records are wanted: by crawl, host, kind, length of the body, each body once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass
from datetime import datetime

from cleaning.records import CleanRecord, PageKind
from storage.store.protocol import Store
from storage.store.records import Once


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A choice of records; without values all of them.

    Attributes:
        crawl: Only of this crawl; None: of all.
        host: Only of this host, ``example.com:8080``; None: of all.
        kinds: Only of these kinds; empty: of all.
        min_chars: At least this many characters of body.
        is_unique: Of records with equal bodies only the one that was saved first; records without
            a body are all taken.
        since: Only those saved at or after this time; None: all.
    """

    crawl: str | None = None
    host: str | None = None
    kinds: frozenset[PageKind] = frozenset()
    min_chars: int = 0
    is_unique: bool = False
    since: datetime | None = None

    def wants(self, record: CleanRecord) -> bool:
        """Whether a record has the kind and the length; crawl, host and time are the store's."""
        return (not self.kinds or record.kind in self.kinds) and len(record.body) >= self.min_chars


def select(store: Store, wanted: Selection, known: Once | None = None) -> Iterator[CleanRecord]:
    """Yields the records of a choice in the order in which they were saved.

    Args:
        store: Holds the records.
        wanted: The choice.
        known: Records and bodies that were met before, and are left out; None: none.
    """
    with nullcontext(known) if known else closing(Once()) as once:
        for record in store.records.scan(wanted.crawl, wanted.since, wanted.host, known):
            if wanted.wants(record) and (
                not wanted.is_unique
                or not record.signature
                or once.is_first(f"body:{record.signature}")
            ):
                yield record
