"""Pages of lists: a cursor is the place behind the last row, opaque to clients."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Generic, TypeVar

import msgspec

from crawlclean.workers.console.api.problems import refuse
from crawlclean.workers.console.routes import LARGEST, MOST_ROWS, USUAL_ROWS

T = TypeVar("T")
MOST_CURSOR_CHARS = 1024
Limit = Annotated[int, msgspec.Meta(ge=1, le=MOST_ROWS)]
Cursor = Annotated[
    str, msgspec.Meta(max_length=MOST_CURSOR_CHARS, extra_json_schema={"format": "cursor"})
]
Name = Annotated[str, msgspec.Meta(max_length=4096)]
"""A name or an address in a query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOf(Generic[T]):
    """A part of a list.

    Attributes:
        items: Its rows.
        next: Cursor of the next part, for ``after``; null at the end.
        as_of: When the figures were computed; null: they are of this moment.
    """

    items: Sequence[T]
    next: str | None = None
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What the query of every list has.

    Attributes:
        limit: At most this many rows.
        after: The ``next`` of the part before; without it the list begins.
    """

    limit: Limit = USUAL_ROWS
    after: Cursor = ""


def cursor(of: str, value: int, key: str = "") -> str:
    """Returns a cursor.

    Args:
        of: The list and its order: ``hosts failed``.
        value: The last row's value of the column that the list is sorted by.
        key: The last row's name, where values repeat.
    """
    text = msgspec.json.encode((of, value, key))
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def following(of: str, after: str) -> str | None:
    """The cursor of a place as the pages of the console write it: ``480~www.example.com``."""
    value, _, key = after.partition("~")
    return cursor(of, int(value), key) if after else None


def place(text: str, of: str) -> tuple[int, str] | None:
    """Returns value and key of a cursor; None of ``""``.

    Raises:
        HTTPException: 400, the text is no cursor of this list.
    """
    if not text:
        return None
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True)
        which, value, key = msgspec.json.decode(raw, type=tuple[str, int, str])
    except (binascii.Error, ValueError):
        refuse(400, "after: not a cursor of this API")
    if which != of:
        refuse(400, f"after: a cursor of another list or order ({which[:40]})")
    if not -LARGEST <= value <= LARGEST:
        refuse(400, "after: not a cursor of this API")
    return value, key


def number(text: str, of: str) -> int | None:
    """Returns the number in a cursor of rows that are numbered; None of ``""``."""
    found = place(text, of)
    return found[0] if found else None
