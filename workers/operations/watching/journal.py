"""What happened and what was done: events, actions, long operations, newest first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from crawlclean.cleaning.errors import NotFound
from crawlclean.cleaning.messages import Message
from crawlclean.storage.store.journal import Action, Event, EventKind, Operation
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.parts import Part, Place, part_of

Row = TypeVar("Row", Event, Action, Operation)


def events(
    backends: Backends,
    kind: EventKind | None = None,
    crawl: str = "",
    host: str = "",
    after: Place | None = None,
    limit: int = 50,
) -> Part[Event]:
    """What happened to crawls, hosts and processes, newest first.

    Args:
        backends: Queue and store.
        kind: Only of this kind.
        crawl: Only of this crawl.
        host: Only of this host.
        after: Place of the last row of the part before.
        limit: At most this many.
    """
    asked = {"kind": kind.value if kind else "", "crawl_id": crawl, "host": host}
    of = {name: value for name, value in asked.items() if value}
    return _part(backends, lambda store: store.events.read(_before(after), limit + 1, **of), limit)


def audit(backends: Backends, after: Place | None = None, limit: int = 50) -> Part[Action]:
    """Who did what by console or API, newest first.

    Args:
        backends: Queue and store.
        after: Place of the last row of the part before.
        limit: At most this many.
    """
    return _part(backends, lambda store: store.audit.read(_before(after), limit + 1), limit)


def operations(backends: Backends, after: Place | None = None, limit: int = 50) -> Part[Operation]:
    """Long actions with their progress, newest first.

    Args:
        backends: Queue and store.
        after: Place of the last row of the part before.
        limit: At most this many.
    """
    return _part(backends, lambda store: store.operations.read(_before(after), limit + 1), limit)


def find_action(backends: Backends, seq: int) -> Action:
    """One action.

    Raises:
        NotFound: It is not kept.
    """
    with backends.store() as store:
        if found := store.audit.get(seq):
            return found
    raise NotFound(Message("no_action", seq))


def find_operation(backends: Backends, seq: int) -> Operation:
    """One long action.

    Raises:
        NotFound: It is not kept.
    """
    with backends.store() as store:
        if found := store.operations.get(seq):
            return found
    raise NotFound(Message("no_operation", str(seq)))


def _before(after: Place | None) -> int | None:
    return after[0] if after else None


def _part(backends: Backends, read: Callable[[Store], list[Row]], limit: int) -> Part[Row]:
    """A part of a list; there are no rows before the first crawl."""
    try:
        with backends.store() as store:
            rows = read(store)
    except NotFound:
        rows = []
    return part_of(rows, limit, lambda row: row.seq)
