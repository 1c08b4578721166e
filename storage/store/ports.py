"""The two ports of a database: ``Tables`` reads and writes rows, ``Blobs`` reads large values.

``sqlite/ports.py`` and ``mongo/ports.py`` implement them; the members of a store (``crawls.py``,
``urls.py``, ``models.py``, ...) are written once, over the ports. Saving outcomes and deleting
pages need no port: each database has its own code for them (``writing.py``, ``store.py``).
The tables are in ``tables.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from crawlclean.cleaning.errors import SchemaMismatch

if TYPE_CHECKING:
    from crawlclean.storage.store.stories import StoryRows

PAGE_KEY = ("page_id", "crawl_id")
"""Key of the tables with one row for each URL of a crawl: ``("4f11...", "news")``.

Page ids are hashes, so the order of this key is no order of time or address.
"""

Row = Mapping[str, Any]
"""Column -> value; text, int, bytes or None."""

Values = Sequence[Any]
"""One row's values, in the order of the columns that were asked for."""

Where = Mapping[str, Any]
"""A condition: column -> a value, None (no value), a list of allowed values, or ``PRESENT``.

All must hold:

``{"crawl_id": "news", "version": [1, 2], "reason": PRESENT}``
"""

Key = tuple[Any, ...]
"""One row's key, as ``tables.py`` has it: ``("www.example.com", 3)`` of ``models``."""


Fold = Literal["sum", "min", "max", "count"]


class Present:
    """The type of ``PRESENT``, the condition that a column has a value."""


PRESENT: Final = Present()


class Scan(Struct, frozen=True):
    """A query of one table.

    Attributes:
        table: Its name (``tables.py``).
        columns: Columns to read; for ``steps`` they begin with the columns of ``order``.
        where: The condition, e.g. ``{"crawl_id": "news", "reason": PRESENT}``.
        order: Columns to sort by, smallest first; with ``backwards`` largest first.
        after: Only rows behind these values: a page and a crawl, e.g. ``("4f11...", "news")``, or
            the first column of ``order``, e.g. ``(1772366400123456,)``. When it is given, even as
            ``("", "")``, the table is read along the index of ``order`` and not along an index of
            ``where``: a scan in steps would else sort all matching rows at every step.
        limit: At most this many rows, >= 1; None is no limit.
    """

    table: str
    columns: tuple[str, ...]
    where: Where = {}
    order: tuple[str, ...] = ()
    backwards: bool = False
    after: Key = ()
    limit: int | None = None


class Tables(Protocol):
    """Reads and writes rows; no cursor stays open after a call.

    Raises:
        StorageError: Every method, by the subclasses that ``Store`` lists.
    """

    def together(self) -> AbstractContextManager[None]:
        """SQLite: one transaction. MongoDB: nothing, each write stands alone.

        The writes inside must therefore come in an order that may be interrupted after each.
        """

    def add(self, table: str, rows: Sequence[Row]) -> int:
        """Inserts the rows whose keys are new; returns how many were inserted."""

    def put(self, table: str, *rows: Row, keep: Collection[str] = ()) -> None:
        """Inserts or replaces rows, all with the same columns.

        Args:
            table: Its name.
            rows: The rows.
            keep: Columns whose values an existing row keeps.
        """

    def get(self, table: str, keys: Collection[Key], columns: Sequence[str]) -> dict[Key, Values]:
        """Rows by key, at most 10,000 keys; a key without a row is not in the result."""

    def scan(self, wanted: Scan) -> list[Values]:
        """The rows of a query; a column without a value is None."""

    def delete(self, table: str, where: Where) -> int:
        """Deletes the matching rows; returns how many."""

    def change(self, table: str, where: Where, values: Row) -> int:
        """Sets columns of the matching rows, None is no value; returns how many rows match."""

    def increase(self, table: str, key: Row, amounts: Mapping[str, float]) -> None:
        """Adds amounts to columns of the row of a key; a missing row is made, from 0."""

    def lower(self, table: str, where: Where, column: str, value: int) -> None:
        """Sets a column of the matching rows that have a larger value there, or none."""

    def add_keyed(self, table: str, row: Row, keys: Sequence[int]) -> bool:
        """Inserts a row that ``nearest`` finds by keys; False when its key is there already."""

    def nearest(
        self, table: str, keys: Sequence[int], columns: Sequence[str], read: int, most: int
    ) -> list[Values]:
        """The rows that have the most keys in common with these, most common keys first.

        Args:
            table: One whose rows were stored with keys.
            keys: At least one.
            columns: Columns to read.
            read: Rows that are looked at for a key; a key of a template has thousands.
            most: At most this many rows.
        """

    def count(self, table: str, where: Where) -> int:
        """Number of matching rows."""

    def now_us(self) -> int:
        """The database's time, microseconds since 1970 UTC: one clock for all machines."""

    def fold(
        self, table: str, by: Sequence[str], columns: Sequence[tuple[str, Fold]], where: Where
    ) -> list[Values]:
        """Matching rows as one row for each value of the columns ``by``.

        ``fold("causes", ("reason",), (("n", "sum"),), {})`` gives ``[["timeout", 31], ...]``.

        Args:
            table: Its name (``tables.py``).
            by: Columns; at least one.
            columns: Other columns, each with what becomes of its values; ``count`` counts rows.
            where: The condition.
        """


class PackedRecord(Struct, frozen=True):
    """A record as a store keeps it; ``unpack_record`` decodes it.

    Attributes:
        saved_seq: Number of its save, from 1; a record that is saved again with other content, or
            cleaned anew, gets a new number.
        page_id: 32 hex digits.
        crawl_id: Its crawl.
        head: The record without links, images and outlinks: JSON, zstd.
        links: Its links, images and outlinks: JSON, zstd.
    """

    saved_seq: int
    page_id: str
    crawl_id: str
    head: bytes
    links: bytes


class Answer(Struct, frozen=True):
    """An HTTP response, archived or to be archived.

    Attributes:
        url: Its URL.
        fetched_at: End of the response.
        status: 100..999.
        headers: (name, value) in their order.
        body: Bytes with every content and transfer coding undone.
    """

    url: str
    fetched_at: datetime
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Blobs(Protocol):
    """Reads records and archived responses, which are too large for rows."""

    def record(self, page_id: str, crawl_id: str) -> PackedRecord | None:
        """The newest record of a page of a crawl.

        Raises:
            StoreDamaged: The record's row exists without its bytes.
        """

    def records(self, where: Where, after: int, limit: int) -> tuple[list[PackedRecord], int]:
        """Records with ``saved_seq`` > ``after``, and the ``after`` of the next call (0: the end).

        At most ``limit`` records, fewer when they are large. A record that is replaced while it is
        read is left out: it follows later under its new number.
        """

    def answer(self, page_id: str, crawl_id: str) -> Answer | None:
        """The newest archived response of a URL of a crawl.

        Raises:
            StoreDamaged: The response's row exists without its bytes.
        """


class Ports(Struct, frozen=True, kw_only=True):
    """What a database does for the members of its store.

    Attributes:
        tables: Its rows.
        blobs: Records and responses.
        story_rows: Makes the index of near-duplicates.
        refresh: Recomputes the marked hosts of a crawl and a host (None: any); returns how many.
        is_behind: Whether a host has changed since its statistics were computed.
        put_pages: Writes rows of ``topic_pages`` behind their fence.
    """

    tables: Tables
    blobs: Blobs
    story_rows: Callable[[], StoryRows]
    refresh: Callable[[str | None, str | None], int]
    is_behind: Callable[[], bool]
    put_pages: Callable[[Sequence[Row]], None]

    @property
    def stories(self) -> StoryRows:
        """The index of near-duplicates."""
        return self.story_rows()


class Member:
    """A part of a store, written once for both databases."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._tables, self._blobs = ports.tables, ports.blobs


def steps(tables: Tables, wanted: Scan, rows: int) -> Iterator[list[Values]]:
    """Yields the rows of a query in lists of at most ``rows``; each list is one database read.

    No read stays open between two lists: an open reader lets SQLite's write-ahead log grow.
    """
    if not (wanted.after or wanted.backwards):
        wanted = replace(wanted, after=("",) * len(wanted.order))
    wanted = replace(wanted, limit=rows)
    while True:
        found = tables.scan(wanted)
        if found:
            yield found
        if len(found) < rows:
            return
        wanted = replace(wanted, after=tuple(found[-1][: len(wanted.order)]))


def count_by(tables: Tables, table: str, column: str, where: Where) -> dict[Any, int]:
    """Number of matching rows by the value of a column: ``{"record": 120, "failed": 3}``."""
    found: Any = tables.fold(table, (column,), ((column, "count"),), where)
    return dict(found)


def of(crawl_id: str | None = None, host: str | None = None) -> dict[str, str]:
    """The condition of a crawl, a host, or both: ``{"crawl_id": "news"}``; None is any."""
    wanted = {"crawl_id": crawl_id, "host": host}
    return {name: value for name, value in wanted.items() if value is not None}


def check_schema_number(place: str, found: int, ours: int, oldest: int) -> None:
    """Checks that a database has the schema of this program, or one that can be made it.

    Args:
        place: Where the database is, e.g. ``crawlclean-data/records.sqlite``.
        found: Its schema number, from 1.
        ours: The number this program writes.
        oldest: The lowest number that this program brings to its own.

    Raises:
        SchemaMismatch: The number is higher or too low; the message is one line with what to do.
    """
    if found > ours:
        raise SchemaMismatch(
            f"{place} has schema {found}, this program reads schema {ours}: "
            "use the newer version that wrote it"
        )
    if found < min(oldest, ours):
        raise SchemaMismatch(
            f"{place} has schema {found}, this program reads schema {ours}: "
            "use the older version that wrote it, or crawl into another place"
        )
