"""What happened and what was done: events, actions, long operations, newest first."""

from __future__ import annotations

from collections.abc import Mapping

from cleaning.errors import NotFound
from storage.store.audit import Action
from storage.store.events import Event
from storage.store.operations import Operation
from workers.operations.watching.kept_backends import KeptBackends


def list_events(
    backends: KeptBackends, before: int | None, limit: int, of: Mapping[str, str]
) -> list[Event]:
    """Events.

    Args:
        backends: Queue and store.
        before: Only events with a smaller number; None: all.
        limit: At most this many.
        of: Only events with these values of ``kind``, ``host`` or ``crawl_id``.
    """
    with backends.store() as store:
        return store.events.read(before, limit, **of)


def list_actions(backends: KeptBackends, before: int | None, limit: int) -> list[Action]:
    """Actions of console and API; arguments as in ``list_events``."""
    with backends.store() as store:
        return store.audit.read(before, limit)


def list_operations(backends: KeptBackends, before: int | None, limit: int) -> list[Operation]:
    """Long operations; arguments as in ``list_events``."""
    with backends.store() as store:
        return store.operations.read(before, limit)


def find_operation(backends: KeptBackends, seq: int) -> Operation:
    """One long operation.

    Raises:
        NotFound: It is not kept.
    """
    with backends.store() as store:
        found = store.operations.get(seq)
    if found is None:
        raise NotFound(f"no operation has the number {seq}")
    return found
