"""Queue and store, kept open for a process that asks them often: the console."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar, TypeVar

from crawlclean.cleaning.errors import NotFound, QueueUnavailable, ServiceError, StoreUnavailable
from crawlclean.storage.opening import has_ended, open_store, queue_url
from crawlclean.workers.config import Settings
from crawlclean.workers.hooks.loading import Hooks
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.watching.held_figures import HeldFigures
from crawlclean.workers.operations.watching.meter import Meter
from crawlclean.workers.operations.watching.remembering import Remembered

if TYPE_CHECKING:  # the queue's client is slow to import
    from datetime import datetime

    from crawlclean.storage.queue.frontier import Frontier
    from crawlclean.storage.search import SearchFile
    from crawlclean.storage.store.overview import Overview
    from crawlclean.storage.store.protocol import Store

T = TypeVar("T")

STALE = 2.0
"""An answer that is older than asked for, but not by this factor, is given while it is renewed."""

SHARE = 0.02
"""Most of the time that computing the figures of topics takes, one topic after the other."""

AWAY_S = 5.0
"""An absent server is not asked again for this long: a client looks for its server for one second
(queue) or five (store), and every thread that answers a browser would wait with it."""


class Outage:
    """Whether a server was away a moment ago, and why."""

    def __init__(self) -> None:
        """Was never away."""
        self._until = 0.0
        self._why = ""

    def begin(self, error: ServiceError) -> None:
        """Notes that the server did not answer."""
        self._why = str(error)
        self._until = time.monotonic() + AWAY_S

    def why(self) -> str:
        """Why the server need not be asked; ``""``: it has to be."""
        return self._why if time.monotonic() < self._until else ""


class KeptBackends(Backends):
    """Queue and store of a data folder or of servers, for the threads of one process.

    Both are opened at the first question. A question fails, and the next one may succeed: the queue
    of the embedded mode comes and goes with its crawls. ``meter`` has the rates of this moment,
    ``computing`` the answers that take longest.
    """

    search_s: ClassVar[float] = 0.05
    """A page of the console waits for it."""

    names_near: ClassVar[bool] = False

    may_start: ClassVar[bool] = False

    examined_hosts: ClassVar[int] = 200
    """20 ms."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        """Opens nothing yet; ``clock`` has the seconds of remembered answers."""
        super().__init__(settings)
        self._clock = clock
        self.meter = Meter()
        self.computing = Remembered(share=SHARE, at_once=1)
        self._lock = threading.Lock()
        self._frontier: Frontier | None = None
        self._held: HeldFigures | None = None
        self._hooks: Hooks | None = None
        self._queue_outage, self._store_outage = Outage(), Outage()
        self._remembered, self._first_seen = Remembered(clock), Remembered(clock)

    @contextmanager
    def store(self) -> Iterator[Store]:
        """The store.

        Raises:
            NotFound: The data folder holds no crawl.
            StoreUnavailable: The database is away or locked.
        """
        if why := self._store_outage.why():
            raise StoreUnavailable(why)
        try:
            with self._lock:
                if self._store is None:
                    self._store = open_store(self.settings.storage)
                store = self._store
            yield store
        except StoreUnavailable as error:
            self._store_outage.begin(error)
            raise

    @contextmanager
    def queue(self, *, at_rest: bool = False) -> Iterator[Frontier]:  # noqa: ARG002 - as the base
        """The queue of a running crawl; one at rest stays so.

        Raises:
            NotFound: No crawl runs on the data folder.
            QueueUnavailable: The server does not answer.
        """
        if has_ended(self.settings.storage):
            raise NotFound(f"no crawl is running on {self.settings.storage.data}")
        if why := self._queue_outage.why():
            raise QueueUnavailable(why)
        try:
            yield self._opened()
        except QueueUnavailable as error:
            self._queue_outage.begin(error)
            if self.settings.storage.is_embedded and has_ended(self.settings.storage):
                raise NotFound(f"no crawl is running on {self.settings.storage.data}") from error
            raise

    def figures(self, store: Store) -> Overview:
        """The figures of lists: on servers from memory, where that is faster."""
        if self.settings.storage.is_embedded:
            return store.overview
        with self._lock:
            if self._held is None:
                self._held = HeldFigures(store.overview)
            return self._held

    def settled(self, store: Store) -> datetime | None:
        """When the figures were computed; None while nothing has changed since."""
        return self.figures(store).as_of()

    def hooks(self) -> Hooks:
        """The link filters in use, as at the first question: finding them costs 20 ms.

        Raises:
            ConfigError: One cannot be loaded.
        """
        if self._hooks is None:
            self._hooks = super().hooks()
        return self._hooks

    def index(self) -> SearchFile:
        """The search index of the data folder, as ``Backends.index``."""
        with self._lock:
            return super().index()

    def remembered(self, key: Hashable, for_s: float, ask: Callable[[], T]) -> T:
        """Returns the answer to a dear question, asked anew when it is older than ``for_s``.

        Somebody who looks all the time waits for the first answer alone: what is less than
        ``STALE`` times as old is renewed in the background.

        Args:
            key: The question with its arguments: ``("crawls",)``.
            for_s: How old the answer may be, seconds.
            ask: Asks it; perhaps in another thread.
        """
        return self._remembered.ask(key, ask, for_s, STALE * for_s)

    def forget_all(self) -> None:
        """Has every question asked anew: an action has changed something."""
        self._remembered.forget_all()

    def known_for_s(self, key: Hashable) -> float:
        """How long ago it was noted first that something is so, seconds: 0 at the first call."""
        now = self._clock()
        return now - self._first_seen.ask(key, lambda: now, math.inf)

    def is_answering(self) -> bool:
        """Whether the store answers, and the queue where it is on a server of its own."""
        try:
            with self.store() as store:
                store.overview.as_of()
            with self.queue() as frontier:
                frontier.ping()
        except NotFound:  # no crawl yet, or none running
            return True
        except (QueueUnavailable, StoreUnavailable):
            return False
        return True

    def _opened(self) -> Frontier:
        """The queue; connects at the first question."""
        from crawlclean.storage.queue.frontier import Frontier

        with self._lock:
            if self._frontier is None:
                self._frontier = Frontier(queue_url(self.settings.storage))
            return self._frontier

    def close(self) -> None:
        """Closes both."""
        self.computing.close(0.0)
        self._remembered.close()
        with self._lock:
            if self._store is not None:
                self._store.close()
            if self._frontier is not None:
                self._frontier.close()
            if self._index is not None:
                self._index.close()
            self._store = self._frontier = self._index = None
