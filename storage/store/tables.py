"""The port of a database: what ``SqliteTables`` and ``MongoTables`` do for the members of a store.

Every member of a store (``crawls.py``, ``urls.py``, ``models.py``, ...) is written once, over this
port. A database's tables are plain: rows of columns under a key. Whatever is not plain has a port
of its own (``Blobs`` in ``records.py``) or stays in the twins (saving and deleting whole pages).

| table | key | one row |
|---|---|---|
| ``crawls`` | crawl | order, state, time of creation |
| ``urls`` | page, crawl | the newest outcome of a URL, with its failure if it has one |
| ``records`` | page, crawl | the newest record's version; the record itself is read by ``Blobs`` |
| ``raw`` | page, crawl | the newest archived answer's time; the answer is read by ``Blobs`` |
| ``hosts`` | host, crawl | statistics as JSON text |
| ``parcels`` | parcel | pending URLs that outgrew the queue's memory |
| ``models`` | host, version | what a host taught |
| ``drifts`` | host, model version, time | when a host was seen to have changed |
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

PAGE_KEY = ("page_id", "crawl_id")
"""The key of every table with one row a URL of a crawl; pages come in the order of their hash."""

KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "crawls": ("crawl_id",),
    "urls": PAGE_KEY,
    "records": PAGE_KEY,
    "raw": PAGE_KEY,
    "hosts": ("host", "crawl_id"),
    "parcels": ("parcel_id",),
    "models": ("host", "version"),
    "drifts": ("host", "model_version", "at"),
}

Row = Mapping[str, Any]
Values = Sequence[Any]
Where = Mapping[str, Any]
"""Column -> the value it has, a list of values it has one of, or ``PRESENT``."""

Key = tuple[Any, ...]


class Present:
    """A condition: the column has a value."""


PRESENT: Final = Present()


@dataclass(frozen=True, slots=True)
class Scan:
    """Rows of one table in an order.

    Attributes:
        table: A key of ``KEYS``.
        columns: What is read; a scan in steps begins with the columns of its order.
        where: All of it holds, e.g. ``{"crawl_id": "c1", "reason": PRESENT}``.
        order: Columns, smallest first; with ``backwards`` largest first.
        after: Only rows behind these values: of page and crawl, e.g. ``("4f11...", "c1")``, or
            of the first column of the order, e.g. ``(1772366400123456,)``. A scan in steps has it
            from its first step on, then ``("", "")``: the order then leads through the table,
            whatever indexes of ``where`` there are.
        limit: At most this many rows, from 1; None is no limit.
    """

    table: str
    columns: tuple[str, ...]
    where: Where = field(default_factory=dict)
    order: tuple[str, ...] = ()
    backwards: bool = False
    after: Key = ()
    limit: int | None = None


class Tables(Protocol):
    """Reads and writes rows; every call is one step, no cursor stays open behind it."""

    def together(self) -> AbstractContextManager[None]:
        """SQLite: one transaction, done or undone as a whole. MongoDB: each write for itself.

        What is written together is therefore in an order that can be broken off anywhere.
        """

    def add(self, table: str, rows: Sequence[Row]) -> int:
        """Inserts rows; one whose key is there already changes nothing. Returns how many came."""

    def put(self, table: str, row: Row, keep: Collection[str] = ()) -> None:
        """Inserts or replaces a row; columns of ``keep`` of a row that is there stay."""

    def get(self, table: str, keys: Collection[Key], columns: Sequence[str]) -> dict[Key, Values]:
        """The rows of keys; a key without a row is not in the answer. At most 10,000 keys."""

    def scan(self, wanted: Scan) -> list[Values]:
        """The values of the columns, row by row; what a row has no value for is None."""

    def delete(self, table: str, where: Where) -> int:
        """Deletes rows; returns how many."""

    def clear(self, table: str, column: str, where: Where) -> None:
        """Takes the value of one column from rows."""

    def count(self, table: str, where: Where) -> int:
        """How many rows there are."""

    def count_by(self, table: str, column: str, where: Where) -> dict[Any, int]:
        """How many rows have each value of a column."""


def steps(tables: Tables, wanted: Scan, rows: int) -> Iterator[list[Values]]:
    """The rows of a scan in lists of at most ``rows``, as many database reads as lists.

    No read stays open between two lists: a reader that waits lets SQLite's write-ahead log grow.
    """
    if not wanted.after:
        wanted = replace(wanted, after=("",) * len(wanted.order))
    wanted = replace(wanted, limit=rows)
    while True:
        found = tables.scan(wanted)
        if found:
            yield found
        if len(found) < rows:
            return
        wanted = replace(wanted, after=tuple(found[-1][: len(wanted.order)]))


def of(crawl_id: str | None = None, host: str | None = None) -> dict[str, str]:
    """The condition "of a crawl and a host"; what is None is not asked for."""
    asked = {"crawl_id": crawl_id, "host": host}
    return {name: value for name, value in asked.items() if value is not None}
