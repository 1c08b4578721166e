"""What ends or holds up the loops of sweeper, keeper and sender: signals, outages of servers."""

from __future__ import annotations

import logging
import signal
import threading

from crawlclean.cleaning.errors import DatabaseDamaged, QueueUnavailable, ServiceError
from crawlclean.storage.opening import has_ended, patience_s
from crawlclean.storage.queue.clients import OutageLog
from crawlclean.workers.context import Context

log = logging.getLogger(__name__)


def stopped_by_signal() -> threading.Event:
    """Returns an event that SIGTERM and SIGINT set."""
    stop = threading.Event()
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, lambda *_: stop.set())
    return stop


class Outages:
    """Which of both servers is away, and whether a loop goes on without them.

    Attributes:
        queue: The outage of the queue.
        store: The outage of the store.
    """

    def __init__(self, context: Context) -> None:
        """Begins without an outage."""
        self._context = context
        self.queue, self.store = OutageLog("queue"), OutageLog("store")

    def must_end(self, error: ServiceError) -> bool:
        """Logs what a round met; returns whether the process ends, because its queue has ended.

        Raises:
            ServiceError: It is not retryable.
        """
        storage = self._context.settings.storage
        if isinstance(error, DatabaseDamaged):
            self._context.frontier.report_damage(str(error))
        if not error.retryable:
            raise error
        if has_ended(storage):
            log.info("the run has ended")
            return True
        (self.queue if isinstance(error, QueueUnavailable) else self.store).notice(error)
        patience = patience_s(storage)
        if patience is not None and self.queue.lasted_s > patience:
            log.info("queue gone, ending")
            return True
        return False
