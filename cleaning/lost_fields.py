"""A defect of this program in one field of a record costs that field, not the record."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from crawlclean.cleaning.errors import ServiceError
from crawlclean.cleaning.page_warnings import PageWarning, WarningKind

# What wrong code raises on odd input. Not Exception: a job's time limit is one, and must pass.
DEFECTS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)

T = TypeVar("T")


class LostFields:
    """Reads the fields of one record that stand for themselves.

    Attributes:
        warnings: One for each field that was lost, such as ``published_at: OverflowError: ...``.
    """

    def __init__(self) -> None:
        """Starts with no field lost."""
        self.warnings: tuple[PageWarning, ...] = ()

    def read(self, field: str, read: Callable[[], T], instead: T) -> T:
        """Returns what ``read`` returns, or ``instead`` and a warning when it has a defect.

        Raises:
            ServiceError: One of this program's errors, which is no defect.
        """
        try:
            return read()
        except ServiceError:
            raise
        except DEFECTS as error:
            detail = f"{field}: {type(error).__name__}: {error}"[:200]
            self.warnings += (PageWarning(kind=WarningKind.LOST_FIELD, detail=detail),)
            return instead
