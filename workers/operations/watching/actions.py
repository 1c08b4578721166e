"""What was done by console and API, and the long actions, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cleaning.errors import NotFound
from storage.store.audit import Action
from storage.store.operations import Operation
from workers.operations.watching.kept_backends import KeptBackends


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionPage:
    """A part of the audit; ``after`` is the number behind its last row, 0 at the end."""

    rows: Sequence[Action]
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationPage:
    """A part of the list of operations; ``after`` as in ``ActionPage``."""

    rows: Sequence[Operation]
    after: int


def list_actions(backends: KeptBackends, before: int | None, limit: int) -> ActionPage:
    """Returns actions with a smaller number than ``before`` (None: the newest)."""
    try:
        with backends.store() as store:
            rows = store.audit.read(before, limit)
    except NotFound:  # before the first crawl
        rows = []
    return ActionPage(rows=rows, after=_behind([row.seq for row in rows], limit))


def find_action(backends: KeptBackends, seq: int) -> Action:
    """Returns one action.

    Raises:
        NotFound: It is not kept.
    """
    with backends.store() as store:
        found = store.audit.get(seq)
    if found is None:
        raise NotFound(f"there is no action {seq} in the audit")
    return found


def list_operations(backends: KeptBackends, before: int | None, limit: int) -> OperationPage:
    """Returns operations with a smaller number than ``before`` (None: the newest)."""
    try:
        with backends.store() as store:
            rows = store.operations.read(before, limit)
    except NotFound:
        rows = []
    return OperationPage(rows=rows, after=_behind([row.seq for row in rows], limit))


def find_operation(backends: KeptBackends, seq: int) -> Operation:
    """Returns one operation.

    Raises:
        NotFound: It is not kept.
    """
    with backends.store() as store:
        found = store.operations.get(seq)
    if found is None:
        raise NotFound(f"there is no operation {seq}")
    return found


def _behind(numbers: Sequence[int], limit: int) -> int:
    return numbers[-1] if len(numbers) == limit and numbers[-1] > 1 else 0
