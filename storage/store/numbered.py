"""Tables whose rows are numbered from 1 in the order of their saves, and of which the newest stay.

The number of the newest row stands in the table ``numbers``. So the newest rows are found by key,
which every database does at once, and the row that is too old is deleted by its key. A number is
taken by inserting its row: of two processes the second takes the next one. On MongoDB a process
that dies may leave the stored number too low by a few; readers look behind it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from crawlclean.storage.store.ports import Scan, Tables, Where
from crawlclean.storage.store.row_types import RowType

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

LOOK_BEHIND = 16
"""Numbers looked up behind the stored one, until none of them has a row."""
DROP_AT_ONCE = 4
"""Rows deleted with each new one: what a killed process left goes with the next rows."""


_T = TypeVar("_T", bound="DataclassInstance")


class NumberedRows(Generic[_T]):
    """The rows of one table with the key ``seq``."""

    def __init__(self, tables: Tables, table: str, rows: RowType[_T], kept: int) -> None:
        """Reads nothing yet.

        Args:
            tables: The database's rows.
            table: A table whose key is ``seq``.
            rows: The type of its rows; its field ``seq`` is the number.
            kept: Rows that stay.
        """
        self._tables = tables
        self._table = table
        self._type = rows
        self._kept = kept

    def add(self, value: _T) -> int:
        """Stores a row under the next number, which it returns."""
        # A column without a value is an absent field in MongoDB.
        row = {name: each for name, each in self._type.row(value).items() if each is not None}
        with self._tables.together():
            number = self.newest() + 1
            while not self._tables.add(self._table, [{**row, "seq": number}]):
                number += 1
            self._tables.put("numbers", {"what": self._table, "n": number})
            last = number - self._kept
            if last > 0:
                gone = range(max(1, last - DROP_AT_ONCE + 1), last + 1)
                self._tables.delete(self._table, {"seq": list(gone)})
        return number

    def newest(self) -> int:
        """The number of the newest row; 0 before the first."""
        found = self._tables.get("numbers", [(self._table,)], ("n",))
        number: int = found[(self._table,)][0] if found else 0
        while True:
            behind = [(number + n,) for n in range(1, LOOK_BEHIND + 1)]
            later = self._tables.get(self._table, behind, ("seq",))
            if not later:
                return number
            number = max(key[0] for key in later)

    def get(self, number: int) -> _T | None:
        """One row; None when it is gone."""
        found = self._tables.get(self._table, [(number,)], self._type.columns)
        return next(map(self._type.read, found.values()), None)

    def read(self, before: int | None, limit: int, where: Where | None = None) -> list[_T]:
        """Rows, newest first, at most ``limit``.

        Args:
            before: Only rows with a smaller number; None is all.
            limit: At most this many, >= 1.
            where: Only rows of this condition; it is read along an index, not by key.
        """
        if where:
            after = () if before is None else (before,)
            wanted = Scan(
                self._table, self._type.columns, where, ("seq",), backwards=True, after=after,
                limit=limit,
            )  # fmt: skip
            return [self._type.read(values) for values in self._tables.scan(wanted)]
        top = self.newest() if before is None else before - 1
        keys = [(number,) for number in range(max(1, top - limit + 1), top + 1)]
        found = self._tables.get(self._table, keys, self._type.columns)
        return [self._type.read(found[key]) for key in reversed(keys) if key in found]
