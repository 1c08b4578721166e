"""What happened and what was done: events, actions, long operations, newest first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from crawlclean.cleaning.errors import NotFound
from crawlclean.storage.store.journal import Action, Event, Operation
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.operations.watching.kept_backends import KeptBackends

Row = TypeVar("Row", Event, Action, Operation)


@dataclass(frozen=True, slots=True)
class JournalPage(Generic[Row]):
    """A part of a list.

    Attributes:
        rows: Newest first.
        after: Number of the last row, behind which the next part begins; 0 at the end.
    """

    rows: Sequence[Row]
    after: int


def list_events(
    backends: KeptBackends, before: int | None, limit: int, of: Mapping[str, str]
) -> JournalPage[Event]:
    """Returns events; there are none before the first crawl.

    Args:
        backends: Queue and store.
        before: Only events with a smaller number; None: from the newest.
        limit: At most this many, >= 1.
        of: Only events with these values of ``kind``, ``host`` or ``crawl_id``.
    """
    return _page(backends, lambda store: store.events.read(before, limit + 1, **of), limit)


def list_actions(backends: KeptBackends, before: int | None, limit: int) -> JournalPage[Action]:
    """Returns actions of console and API; arguments as in ``list_events``."""
    return _page(backends, lambda store: store.audit.read(before, limit + 1), limit)


def list_operations(
    backends: KeptBackends, before: int | None, limit: int
) -> JournalPage[Operation]:
    """Returns long operations; arguments as in ``list_events``."""
    return _page(backends, lambda store: store.operations.read(before, limit + 1), limit)


def find_action(backends: KeptBackends, seq: int) -> Action:
    """Returns one action.

    Raises:
        NotFound: It is not kept.
    """
    with backends.store() as store:
        if found := store.audit.get(seq):
            return found
    raise NotFound(f"there is no action {seq} in the audit")


def find_operation(backends: KeptBackends, seq: int) -> Operation:
    """Returns one long operation.

    Raises:
        NotFound: It is not kept.
    """
    with backends.store() as store:
        if found := store.operations.get(seq):
            return found
    raise NotFound(f"there is no operation {seq}")


def _page(
    backends: KeptBackends, read: Callable[[Store], list[Row]], limit: int
) -> JournalPage[Row]:
    try:
        with backends.store() as store:
            rows = read(store)
    except NotFound:  # before the first crawl
        rows = []
    return JournalPage(rows[:limit], rows[limit - 1].seq if len(rows) > limit else 0)
