"""One slice of an operation: what it works with, how far it is, whether it goes on."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from storage.store.operations import Operation
from workers.context import Context

SLICE_S = 3.0
"""A slice ends after its step behind this time: pages wait for a worker no longer."""


class Turn:
    """One slice.

    Attributes:
        context: Settings, queue and store.
        asked: The arguments of the operation.
        cursor: Where it begins; later: where the next slice begins.
        done: Units of work that are done.
        total: All units; 0: not known.
        detail: A line for a person.
        is_stopped: Whether somebody has asked to stop.
    """

    def __init__(
        self,
        context: Context,
        operation: Operation,
        asked: Mapping[str, Any],
        cursor: Mapping[str, Any],
    ) -> None:
        """Begins now."""
        self.context = context
        self.asked = asked
        self.cursor = dict(cursor)
        self.done, self.total, self.detail = operation.done, operation.total, operation.detail
        if not cursor:
            self.done = 0
        self.is_stopped = False
        self._seq = operation.seq
        self._until = time.monotonic() + SLICE_S

    def tell(self, done: int, total: int, detail: str, cursor: Mapping[str, Any]) -> bool:
        """Stores progress; returns whether to go on now."""
        self.done, self.total, self.detail = done, max(done, total), detail
        self.cursor = dict(cursor)
        operations = self.context.store.operations
        self.is_stopped = not operations.advance(self._seq, done, self.total, detail)
        return not self.is_stopped and time.monotonic() < self._until
