"""The housekeeper: what crawls need besides fetching and cleaning, in turns of one loop.

- **Sweeping** (``sweeping.py``), once a second: requeues the work of dead processes.
- **Revisiting** (``revisiting.py``), twice a second: queues the pages that are due again.
- **Looking** (``operations/alerting/alerts.py``), every 15 s where a receiver wants it: finds signs
  and ends of crawls that receivers are to be told of.
- **Sending** (``sending/turns.py``), once a second: tells receivers what waits for them.

The turn that is due longest is next, so sweeping waits for one round of each other turn at most,
and a round is short: it waits for no other machine than queue and store (receivers are asked on
threads), schedules for half a second, and rests for nine times as long as it took. A turn that
fails for good rests and is tried again; sweeping ends the process, and who started it starts it
again (ADR 60).

Any number of housekeepers may run anywhere: sweeping is made of scripts that act once, revisiting
has a lock, and so has each receiver.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Protocol

from crawlclean.cleaning.errors import DatabaseDamaged, QueueUnavailable, ServiceError
from crawlclean.storage.live_state import ProcessRole
from crawlclean.storage.opening import why_over
from crawlclean.storage.queue.clients import OutageLog
from crawlclean.workers.config import Settings
from crawlclean.workers.context import Context, process_context
from crawlclean.workers.processes.revisiting import Revisiting
from crawlclean.workers.processes.sweeping import Sweeping

if TYPE_CHECKING:
    from crawlclean.workers.sending.turns import Turns

log = logging.getLogger(__name__)

REVISITING_S = 0.5  # so late a page is visited at most
SENDING_S = 1.0  # so late a story is told at most
RETRY_S = 1.0  # after an error that may pass
REST_S = 10.0  # after any other: as long as a supervisor waits before it starts a process again
SHARE = 0.1  # of the time at most that a turn takes which may wait
LOOKING_S = 15.0  # a sign itself needs a minute or more to become one
LAST_ROUND_S = 10.0  # for what was found last, when a crawl ends


class Alerting(Protocol):
    """Finds what receivers are to be told (``operations/alerting/alerts.py``)."""

    def look(self) -> None:
        """Puts into the outbox what is new."""


def keep_house_until_stopped(alerting: Callable[[Settings], Alerting]) -> None:
    """Works until SIGTERM or SIGINT, or until an embedded queue has ended; then sends once more.

    Args:
        alerting: Makes what finds signs; called when a receiver wants it.

    Raises:
        ServiceError: Of sweeping, and not retryable.
    """
    stop = threading.Event()
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, lambda *_: stop.set())
    context = process_context()
    log.info("housekeeper started")
    Housekeeper(context, alerting).work(stop)
    with suppress(ServiceError):
        context.frontier.processes.leave(ProcessRole.HOUSEKEEPER)


@dataclass(slots=True)
class _Turn:
    """One thing that is done again and again; ``act`` returns the seconds until the next time."""

    act: Callable[[], float]
    share: float
    due: float = 0.0


_due = attrgetter("due")


class Housekeeper:
    """The loop over the turns."""

    def __init__(self, context: Context, alerting: Callable[[Settings], Alerting]) -> None:
        """Has done nothing yet."""
        self._context = context
        self._new_alerting = alerting
        self._alerting: Alerting | None = None
        self._queue_outage, self._store_outage = OutageLog("queue"), OutageLog("store")
        self._sweeping = Sweeping(context, self._queue_outage, self._store_outage)
        self._revisiting = Revisiting(context)
        self._sending: Turns | None = None

    def work(self, stop: threading.Event) -> None:
        """Takes turns until told to stop, or until an embedded queue has ended.

        Raises:
            ServiceError: Of sweeping, and not retryable.
        """
        sweeping = _Turn(self._sweeping.round, share=1.0)
        turns = (
            sweeping, _Turn(self._revisit, SHARE), _Turn(self._look, SHARE),
            _Turn(self._send, SHARE),
        )  # fmt: skip
        while not stop.wait((turn := min(turns, key=_due)).due - time.monotonic()):
            begun = time.monotonic()
            try:
                pause_s = turn.act()
            except ServiceError as error:
                if self._must_end(error, may_raise=turn is sweeping):
                    break
                pause_s = RETRY_S if error.retryable else REST_S
            took_s = time.monotonic() - begun
            turn.due = begun + max(took_s + pause_s, took_s / turn.share)
        with suppress(ServiceError):
            self._look()  # how crawls ended
            self._send()
        if self._sending:
            self._sending.finish(LAST_ROUND_S)
        with suppress(ServiceError):
            self._revisiting.release()

    def _revisit(self) -> float:
        self._revisiting.round()
        return REVISITING_S

    def _look(self) -> float:
        receivers = self._context.store.receivers.all()
        if any(each.signs or each.ended or each.digest for each in receivers):
            self._alerting = self._alerting or self._new_alerting(self._context.settings)
        if self._alerting:
            self._alerting.look()
        return LOOKING_S

    def _send(self) -> float:
        if not self._sending and self._context.store.receivers.all():
            from crawlclean.workers.sending.turns import Turns  # 0.1 s, and most crawls need none

            self._sending = Turns(self._context.store, self._context.settings)
        if self._sending:
            self._sending.begin()
        return SENDING_S

    def _must_end(self, error: ServiceError, *, may_raise: bool) -> bool:
        """Logs what a turn met; returns whether the process ends, because its queue has ended.

        Raises:
            ServiceError: It is not retryable, and ``may_raise``.
        """
        if isinstance(error, DatabaseDamaged):
            self._context.frontier.report_damage(str(error))
        if not error.retryable:
            if may_raise:
                if self._sending:
                    self._sending.hurry()
                raise error
            log.error("a turn failed and rests", extra={"error": str(error)})
            return False
        if why := why_over(self._context.settings.storage, self._queue_outage.lasted_s):
            log.info(why)
            return True
        is_queue = isinstance(error, QueueUnavailable)
        (self._queue_outage if is_queue else self._store_outage).notice(error)
        return False
