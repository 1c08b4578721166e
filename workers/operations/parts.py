"""Parts of lists: what a question for a list returns, to a command, the API and a screen alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Generic, TypeVar

from msgspec import Struct

T = TypeVar("T")

Place = tuple[int, str]
"""Where a part of a list begins: behind the row with this value of the column that the list is
sorted by, and this key: ``(480, "www.example.com")``."""


class Part(Struct, Generic[T], frozen=True, kw_only=True):
    """A part of a list.

    Attributes:
        items: Its rows.
        after: Place of the last one, as an address has it: ``480~www.example.com``, ``480`` where
            rows have numbers; ``""``: it is the last row of the list.
        as_of: When the figures were computed; None: they are of this moment.
        total: Rows of the whole list; None: they are not counted.
    """

    items: Sequence[T]
    after: str = ""
    as_of: datetime | None = None
    total: int | None = None


def part_of(
    rows: Sequence[T], limit: int, place: Callable[[T], Place | int], as_of: datetime | None = None
) -> Part[T]:
    """The first ``limit`` of some rows, of which one more was read than is wanted.

    Args:
        rows: At most ``limit`` + 1.
        limit: Rows of a part.
        place: The place of a row; its number where rows have numbers.
        as_of: When the figures were computed.
    """
    after = ""
    if len(rows) > limit:
        last = place(rows[limit - 1])
        after = str(last) if isinstance(last, int) else f"{last[0]}~{last[1]}"
    return Part(items=rows[:limit], after=after, as_of=as_of)
