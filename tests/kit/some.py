"""A value that may be missing, and must not be missing here."""

from __future__ import annotations

from typing import TypeVar

Value = TypeVar("Value")


def some(value: Value | None) -> Value:
    """The value; a test that finds none fails."""
    assert value is not None
    return value
