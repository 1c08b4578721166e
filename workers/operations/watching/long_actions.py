"""Long actions, newest first, and one of them."""

from __future__ import annotations

from collections.abc import Sequence

from cleaning.errors import NotFound
from storage.store.operations import Operation
from workers.operations.watching.kept_backends import KeptBackends


def list_operations(
    backends: KeptBackends, before: int | None = None, limit: int = 50
) -> tuple[Sequence[Operation], bool]:
    """Returns long actions, and whether there are more behind them.

    Args:
        backends: Queue and store.
        before: Only those with a smaller number; None: from the newest.
        limit: At most this many.
    """
    with backends.store() as store:
        found = store.operations.read(before, limit + 1)
    return found[:limit], len(found) > limit


def find_operation(backends: KeptBackends, seq: int) -> Operation:
    """One long action.

    Raises:
        NotFound: It is not kept.
    """
    with backends.store() as store:
        found = store.operations.get(seq)
    if found is None:
        raise NotFound(f"no operation has the number {seq}")
    return found
