"""Dataclasses as rows of tables: a field is a column, and its type says what the column holds.

A time is whole microseconds since 1970 UTC, an enum its value, a bool 0 or 1, a tuple a JSON array.
A text has U+FFFD for a lone surrogate. A column without a value is None where the field may be
None, else the default of the field.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import MISSING, fields
from datetime import datetime
from enum import Enum
from functools import cached_property
from types import UnionType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.cleaning.json_values import DAMAGE, replace_surrogates
from crawlclean.storage.crawl_types import Step
from crawlclean.storage.store.codec import from_microseconds, log_from_json, to_microseconds
from crawlclean.storage.store.record_blobs import compress, decompress

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_T = TypeVar("_T", bound="DataclassInstance")


class RowType(Generic[_T]):
    """How the values of one frozen dataclass stand in a table."""

    def __init__(
        self, of: type[_T], what: str, packed: Collection[str] = (), **columns: str
    ) -> None:
        """Reads no types yet.

        Args:
            of: The dataclass.
            what: Its name in errors: ``event``.
            packed: Fields of bytes whose columns are compressed.
            columns: Columns that are not named as their field: ``group="grp"``.
        """
        self._of = of
        self._what = what
        self._packed = frozenset(packed)
        self._names = tuple(field.name for field in fields(of))
        self.columns = tuple(columns.get(name, name) for name in self._names)

    def read(self, values: Sequence[Any]) -> _T:
        """Makes the dataclass of the values of ``columns``.

        Raises:
            StoreDamaged: This program never wrote these values.
        """
        try:
            found = dict(zip(self._names, values, strict=True))
            for name in self._defaulted:
                if found[name] is None:
                    del found[name]
            for name, convert in self._readers:
                if name in found:
                    found[name] = convert(found[name])
            return self._of(**found)
        except DAMAGE as error:
            raise StoreDamaged(f"a stored {self._what} cannot be read: {error}") from error

    def row(self, value: _T) -> dict[str, Any]:
        """Makes the row of a dataclass."""
        return {
            column: compress(held) if name in self._packed else _plain(held)
            for name, column in zip(self._names, self.columns, strict=True)
            for held in (getattr(value, name),)
        }

    @cached_property
    def _defaulted(self) -> tuple[str, ...]:
        hints = get_type_hints(self._of)
        return tuple(
            field.name
            for field in fields(self._of)
            if field.default is not MISSING and not _may_be_none(hints[field.name])
        )

    @cached_property
    def _readers(self) -> tuple[tuple[str, Callable[[Any], Any]], ...]:
        found = []
        for name, hint in get_type_hints(self._of).items():
            convert = _unpacked if name in self._packed else _reader(hint)
            if convert is not None:
                found.append((name, convert))
        return tuple(found)


def _may_be_none(hint: Any) -> bool:
    return get_origin(hint) is UnionType and type(None) in get_args(hint)


def _reader(hint: Any) -> Callable[[Any], Any] | None:
    """What makes a field's value of a column's; None: the two are equal."""
    if _may_be_none(hint):
        (one,) = (each for each in get_args(hint) if each is not type(None))
        convert = _reader(one)
        return convert and (lambda value: None if value is None else convert(value))
    if hint is datetime:
        return from_microseconds
    if hint == tuple[Step, ...]:
        return log_from_json
    if get_origin(hint) is tuple:
        return lambda value: tuple(json.loads(value))
    is_class = isinstance(hint, type) and (hint in (bool, bytes) or issubclass(hint, Enum))
    return hint if is_class else None


def _unpacked(value: Any) -> bytes:
    return decompress(bytes(value))


def _plain(value: Any) -> Any:
    """The value of a column."""
    if isinstance(value, datetime):
        return to_microseconds(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, bool):
        return int(value)
    return json.dumps(value) if isinstance(value, tuple) else value
