"""Opens the queue and the store of a data folder for one operation."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawlclean import __dist__
from crawlclean.cleaning.errors import (
    DataDirectoryInUse,
    NotFound,
    ServiceError,
    StoreUnavailable,
)
from crawlclean.storage.opening import join_queue, open_store, start_queue
from crawlclean.storage.queue.embedded import LOOK_S, EmbeddedServer, has_queue_file
from crawlclean.workers.config import Settings
from crawlclean.workers.hooks.loading import Hooks

if TYPE_CHECKING:  # the queue's client is slow to import, and most operations only read
    from crawlclean.storage.queue.frontier import Frontier
    from crawlclean.storage.store.protocol import Store

TURN_S = 10.0
"""How long a command waits for a run that ends: it takes the folder until its queue is saved."""


@contextmanager
def any_queue(settings: Settings) -> Iterator[Frontier]:
    """Opens the queue of a running crawl; with no crawl running, of an embedded server.

    The server is started here, and stopped at the end. A run that is ending, or starting, is
    waited for: its folder is taken, and its queue cannot be joined.

    Raises:
        NotFound: The data folder holds no crawl.
        DataDirectoryInUse: Another process keeps the folder, and lets nobody join.
    """
    server, frontier = _joined_or_started(settings)
    try:
        yield frontier
    finally:
        frontier.close()
        if server:
            server.stop()


def _joined_or_started(settings: Settings) -> tuple[EmbeddedServer | None, Frontier]:
    until = time.monotonic() + TURN_S
    while True:
        try:
            return None, join_queue(settings.storage)
        except NotFound:
            open_store(
                settings.storage
            ).close()  # raises NotFound before a server is started in a folder without a crawl
        try:
            server, frontier = start_queue(settings.storage)
        except DataDirectoryInUse:
            if time.monotonic() > until:
                raise
            time.sleep(LOOK_S)  # nothing tells when another process frees its folder
        else:
            frontier.expire_sessions()  # of a run that was killed
            return server, frontier


@dataclass(frozen=True, slots=True)
class QueueSide:
    """The queue for an operation that can do without.

    Attributes:
        frontier: The queue; None when it cannot be read.
        is_running: Whether a crawl runs on it, or may run on it.
        why_not: Why it cannot be read, ``the queue is lost``; ``""`` otherwise.
    """

    frontier: Frontier | None = None
    is_running: bool = False
    why_not: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What explains a URL: a command opens each source for itself, the console keeps them open.

    Attributes:
        settings: Settings of the process.
        store: The store.
        queue: Opens the queue; ``at_rest=True``: also one on which no crawl runs, where it can.
        hooks: Loads the link filters in use.
        search_s: Time for the search of links to a URL that no crawl knows.
    """

    settings: Settings
    store: Store
    queue: Callable[[bool], AbstractContextManager[QueueSide]]
    hooks: Callable[[], Hooks]
    search_s: float


@contextmanager
def queue_side(settings: Settings, *, at_rest: bool) -> Iterator[QueueSide]:
    """Opens the queue of a running crawl or, where nothing is lost by this, of one at rest.

    A folder that is read-only, or that has lost its queue, is left as it is.

    Args:
        settings: Where the queue is.
        at_rest: Whether an embedded server may be started when no crawl runs: this costs 0.3 s.
    """
    server: EmbeddedServer | None = None
    try:
        server, side = _open_queue(settings, at_rest=at_rest)
    except ServiceError as error:
        side = QueueSide(why_not=str(error))
    except ModuleNotFoundError:
        side = QueueSide(why_not=f"it needs `pip install '{__dist__}[crawl]'`")
    try:
        yield side
    finally:
        if side.frontier:
            side.frontier.close()
        if server:
            server.stop()


def _open_queue(settings: Settings, *, at_rest: bool) -> tuple[EmbeddedServer | None, QueueSide]:
    """Returns the queue, and its server when it was started here."""
    try:
        return None, QueueSide(frontier=join_queue(settings.storage), is_running=True)
    except NotFound:
        if not at_rest:
            return None, QueueSide(why_not="no crawl is running")
    import crawlclean.storage.queue.frontier  # noqa: F401 - its client may be absent: before a server starts

    data = settings.storage.data
    if not os.access(data, os.W_OK):
        raise StoreUnavailable(f"{data} is read-only")
    if not has_queue_file(data):
        raise NotFound("the queue is lost")
    server, frontier = start_queue(settings.storage)
    frontier.expire_sessions()  # of a run that was killed
    return server, QueueSide(frontier=frontier)


@contextmanager
def existing_store(settings: Settings, patience_s: float | None = None) -> Iterator[Store]:
    """Opens the store of a data folder that has one.

    Args:
        settings: Where it is.
        patience_s: How long a write waits for another process's; None: as usual.

    Raises:
        NotFound: The data folder holds no crawl.
    """
    store = open_store(settings.storage, patience_s=patience_s)
    try:
        yield store
    finally:
        store.close()
