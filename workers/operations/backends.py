"""Opens the queue and the store of a data folder for one operation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cleaning.errors import NotFound
from storage.opening import join_queue, open_store, start_queue
from workers.config import Settings

if TYPE_CHECKING:  # the queue's client is slow to import, and most operations only read
    from storage.queue.frontier import Frontier
    from storage.store.protocol import Store


@contextmanager
def any_queue(settings: Settings) -> Iterator[Frontier]:
    """Opens the queue of a running crawl; with no crawl running, of an embedded server.

    The server is started here, and stopped at the end.

    Raises:
        NotFound: The data folder holds no crawl.
    """
    try:
        frontier = join_queue(settings.storage)
        server = None
    except NotFound:
        open_store(
            settings.storage
        ).close()  # raises NotFound before a server is started in a folder without a crawl
        server, frontier = start_queue(settings.storage)
        frontier.expire_sessions()  # of a run that was killed
    try:
        yield frontier
    finally:
        frontier.close()
        if server:
            server.stop()


@contextmanager
def existing_store(settings: Settings) -> Iterator[Store]:
    """Opens the store of a data folder that has one.

    Raises:
        NotFound: The data folder holds no crawl.
    """
    store = open_store(settings.storage)
    try:
        yield store
    finally:
        store.close()
