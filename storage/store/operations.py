"""Long actions of console and API, with progress: workers do them (``queue/operation_jobs.py``).

The job tells how far it is by ``advance``, whose answer says whether somebody has asked to stop.
The newest 1,000 are kept.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from crawlclean.storage.store.numbered import NumberedRows
from crawlclean.storage.store.ports import Scan, Tables
from crawlclean.storage.store.row_types import RowType

KEPT_OPERATIONS = 1_000
"""Operations kept, the newest."""


class OperationState(StrEnum):
    """How far an operation is."""

    WAITING = "waiting"  # no process has begun it
    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"  # somebody asked to stop
    FAILED = "failed"

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will happen."""
        return self in (OperationState.DONE, OperationState.STOPPED, OperationState.FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A long action.

    Attributes:
        kind: Its name: ``retry``.
        target: What it is for, ``news``.
        who: Who asked for it.
        asked: Its arguments as JSON text: ``{"crawl": "news", "reason": "timeout"}``.
        state: How far it is.
        done: Units of work that are done.
        total: All units; 0: not known.
        detail: What it has done so far, as numbers by key (``would_change 12; field.body 10``)
            and examples; or its error, in words.
        begun_at: When it was asked for; None while it is added: now.
        moved_at: When it advanced last; a running one that is silent for a minute is dead.
        is_stopping: Whether somebody has asked to stop.
        seq: Its number, from 1; 0 while it is added.
    """

    kind: str
    target: str
    who: str
    asked: str = "{}"
    state: OperationState = OperationState.WAITING
    done: int = 0
    total: int = 0
    detail: str = ""
    begun_at: datetime | None = None
    moved_at: datetime | None = None
    is_stopping: bool = False
    seq: int = 0


_OPERATION = RowType(Operation, "operation")


class Operations:
    """The member ``operations``."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._rows = NumberedRows(tables, "operations", _OPERATION, KEPT_OPERATIONS)

    def add(self, operation: Operation) -> int:
        """Stores an operation that waits; returns its number."""
        now = datetime.now(UTC)
        return self._rows.add(replace(operation, begun_at=now, moved_at=now))

    def advance(self, seq: int, done: int, total: int, detail: str = "") -> bool:
        """Stores progress; returns whether to go on: False after ``stop``, or when it has ended."""
        values = {"state": OperationState.RUNNING.value, "done": done, "total": total}
        goes_on = {"seq": seq, "is_stopping": 0, "state": _OPEN}
        return self._change(goes_on, {**values, "detail": detail})

    def stop(self, seq: int) -> bool:
        """Asks an operation to stop; False when it has ended. One that waits ends at once."""
        waiting = {"seq": seq, "state": OperationState.WAITING.value}
        stopped = {"state": OperationState.STOPPED.value, "is_stopping": 1}
        if self._change(waiting, stopped):
            return True
        return self._change({"seq": seq, "state": _OPEN}, {"is_stopping": 1})

    def end(self, seq: int, state: OperationState, detail: str) -> bool:
        """Ends an operation; False when it has ended before."""
        return self._change({"seq": seq, "state": _OPEN}, {"state": state.value, "detail": detail})

    def get(self, seq: int) -> Operation | None:
        """One operation; None when it is not kept."""
        return self._rows.get(seq)

    def read(self, before: int | None = None, limit: int = 50) -> list[Operation]:
        """Operations, newest first, at most ``limit``; ``before``: only with a smaller number."""
        return self._rows.read(before, limit)

    def unfinished(self) -> list[Operation]:
        """Every operation that has not ended, oldest first."""
        wanted = Scan("operations", _OPERATION.columns, {"state": _OPEN}, ("seq",))
        return [_OPERATION.read(row) for row in self._tables.scan(wanted)]

    def _change(self, where: dict[str, Any], values: dict[str, Any]) -> bool:
        moved = {**values, "moved_at": time.time_ns() // 1000}
        return bool(self._tables.change("operations", where, moved))


_OPEN = [OperationState.WAITING.value, OperationState.RUNNING.value]
