"""Queue and store of a data folder or of servers: how every operation comes to them."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, ClassVar, Self, TypeVar

from msgspec import Struct

from crawlclean import __dist__
from crawlclean.cleaning.errors import (
    NotFound,
    ServiceError,
    StoreUnavailable,
)
from crawlclean.storage.opening import (
    join_or_start_queue,
    join_queue,
    open_store,
    start_queue,
)
from crawlclean.storage.queue.embedded import EmbeddedServer, has_queue_file
from crawlclean.workers.config import Settings, variable
from crawlclean.workers.hooks.loading import Hooks, load_hooks

if TYPE_CHECKING:  # the queue's client is slow to import, and most operations only read
    from datetime import datetime

    from crawlclean.storage.queue.frontier import Frontier
    from crawlclean.storage.search import SearchFile
    from crawlclean.storage.store.overview import Overview
    from crawlclean.storage.store.protocol import Store

T = TypeVar("T")


class QueueSide(Struct, frozen=True):
    """The queue for an operation that can do without.

    Attributes:
        frontier: The queue; None when it cannot be read.
        is_running: Whether a crawl runs on it, or may run on it.
        why_not: Why it cannot be read, ``the queue is lost``; ``""`` otherwise.
    """

    frontier: Frontier | None = None
    is_running: bool = False
    why_not: str = ""


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


def _close(server: EmbeddedServer | None, frontier: Frontier) -> None:
    """Closes a queue, and stops its server when it was started here."""
    frontier.close()
    if server:
        server.stop()


class Backends:
    """Queue and store for the questions of one call of a command, which closes them at its end.

    A question is a function of these and of what is asked for; it serves the command, the API and
    the screen. The console keeps its own open (``watching/kept_backends.py``): those remember dear
    answers, start no server, and refresh no figure.
    """

    search_s: ClassVar[float] = 5.0
    """Time for the search of links to a URL that no crawl knows: about 50,000 records (0.07 ms of
    CPU each)."""

    names_near: ClassVar[bool] = True
    """Whether an error about an unknown name has those like it, which takes a moment to find, or
    the command that lists them."""

    may_start: ClassVar[bool] = True
    """Whether a server is started where no crawl runs, for those who ask for it."""

    examined_hosts: ClassVar[int] = 2_000
    """Hosts whose waits are read for lists, of all crawls: about 0.2 s."""

    def __init__(self, settings: Settings) -> None:
        """Opens nothing yet."""
        self.settings = settings
        self.was_moving = ""
        self._store: Store | None = None
        self._index: SearchFile | None = None

    def __enter__(self) -> Self:
        """Opens nothing yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes what was opened."""
        self.close()

    @contextmanager
    def store(self) -> Iterator[Store]:
        """The store.

        Raises:
            NotFound: The data folder holds no crawl.
            StoreUnavailable: The database is away or locked.
        """
        if self._store is None:
            self._store = open_store(self.settings.storage)
        yield self._store

    @contextmanager
    def queue(self, *, at_rest: bool = False) -> Iterator[Frontier]:
        """The queue of a running crawl.

        Args:
            at_rest: Whether a server is started, and stopped at the end, where no crawl runs. A run
                that is ending, or starting, is waited for: its folder is taken, and its queue
                cannot be joined.

        Raises:
            NotFound: No crawl runs on the data folder; with ``at_rest`` it holds no crawl.
            QueueUnavailable: The server does not answer.
            DataDirectoryInUse: Another process keeps the folder, and lets nobody join.
        """
        server: EmbeddedServer | None = None
        if at_rest:
            server, frontier = join_or_start_queue(self.settings.storage, create=False)
            if server:
                frontier.expire_sessions()  # of a run that was killed
        else:
            frontier = join_queue(self.settings.storage)
        try:
            yield frontier
        finally:
            _close(server, frontier)

    @contextmanager
    def queue_side(self, *, at_rest: bool = False) -> Iterator[QueueSide]:
        """The queue of a running crawl for a question that can do without.

        A folder that is read-only, or that has lost its queue, is left as it is.

        Args:
            at_rest: Whether a server may be started where no crawl runs: this costs 0.3 s.
        """
        with ExitStack() as opened:
            try:
                side = self._side(opened, at_rest=at_rest)
            except ServiceError as error:
                side = QueueSide(why_not=str(error))
            except ModuleNotFoundError:
                side = QueueSide(why_not=f"it needs `pip install '{__dist__}[crawl]'`")
            yield side

    def _side(self, opened: ExitStack, *, at_rest: bool) -> QueueSide:
        try:
            return QueueSide(frontier=opened.enter_context(self.queue()), is_running=True)
        except NotFound:
            if not (at_rest and self.may_start):
                return QueueSide(why_not="no crawl is running")
        import crawlclean.storage.queue.frontier  # noqa: F401 - its client may be absent: before a server starts

        data = self.settings.storage.data
        if not os.access(data, os.W_OK):
            raise StoreUnavailable(f"{data} is read-only")
        if not has_queue_file(data):
            raise NotFound("the queue is lost")
        server, frontier = start_queue(self.settings.storage)
        frontier.expire_sessions()
        opened.callback(_close, server, frontier)
        return QueueSide(frontier=frontier)

    def figures(self, store: Store) -> Overview:
        """The figures of lists."""
        return store.overview

    def settled(self, store: Store) -> datetime | None:
        """Brings kept figures up to date where nothing runs that does so.

        Returns when they were computed; None while nothing has changed since. ``was_moving`` is
        then why they are changing.
        """
        self.was_moving = self.why_moving()
        if not self.was_moving:
            store.statistics.refresh()
        return store.overview.as_of()

    def why_moving(self) -> str:
        """Why stored figures are changing, ``a crawl is running``; ``""`` when all is at rest."""
        try:
            with self.queue() as frontier:
                if any(frontier.counts(crawl).in_flight for crawl in frontier.crawl_ids()):
                    return "a crawl is running"
                if frontier.learning.count():
                    return "pages are being re-cleaned"
        except NotFound:  # an embedded queue runs as long as its crawl
            return ""
        except ServiceError as error:
            return f"not known whether a crawl is running ({error})"
        return ""

    # A command asks once: nothing is worth remembering.
    def remembered(self, key: Hashable, for_s: float, ask: Callable[[], T]) -> T:  # noqa: ARG002
        """The answer to a dear question; ``key`` and ``for_s`` are for who asks it again."""
        return ask()

    def hooks(self) -> Hooks:
        """The link filters in use.

        Raises:
            ConfigError: One cannot be loaded.
        """
        return load_hooks(self.settings)

    def index(self) -> SearchFile:
        """The search index of the data folder.

        Raises:
            NotFound: The setting ``search`` is off.
            StoreUnavailable: The folder cannot be written.
        """
        from crawlclean.storage.search import SearchFile

        if not self.settings.storage.search:
            raise NotFound(
                f"search by words is off: set {variable('search')}=true, or `search = true` in the "
                "crawl file, and records are indexed from then on"
            )
        if self._index is None:
            self._index = SearchFile(self.settings.storage.data)
        return self._index

    def close(self) -> None:
        """Closes what was opened."""
        for each in (self._store, self._index):
            if each is not None:
                each.close()
        self._store = self._index = None
