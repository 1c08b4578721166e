"""The sender: tells receivers of topics' new stories; no other process waits for a receiver.

Receivers take turns on a few threads, so that one that hangs holds up neither the others nor a
crawl. Any number of senders may run anywhere: a receiver is held by one at a time, and that of a
sender of this machine that died is free at once.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial

from crawlclean.cleaning.errors import ServiceError
from crawlclean.storage.live_state import ProcessRole
from crawlclean.storage.opening import has_ended
from crawlclean.storage.queue.entries import process_name
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.topic_types import Receiver
from crawlclean.workers.config import Settings
from crawlclean.workers.context import process_context
from crawlclean.workers.processes.outages import Outages, stopped_by_signal
from crawlclean.workers.sending.turns import Sender, deliver, take_turn
from crawlclean.workers.sending.webhook import Webhook

log = logging.getLogger(__name__)

ROUND_S = 1.0
THREADS = 16  # receivers that hang at the same time before others wait for them
LAST_ROUND_S = 10.0  # for what was found last, when a crawl ends


def send_until_stopped() -> None:
    """Sends until SIGTERM or SIGINT, or until an embedded queue has ended; then once more.

    Raises:
        ServiceError: Not retryable.
    """
    stop = stopped_by_signal()
    context = process_context()
    outages = Outages(context)
    end_by: list[float] = []
    turns = Turns(
        context.store, context.settings, lambda: bool(end_by) and time.monotonic() > end_by[0]
    )
    log.info("sender started")
    while not stop.wait(ROUND_S):
        if has_ended(context.settings.storage):
            log.info("the run has ended")
            break
        try:
            turns.begin()
            context.frontier.processes.beat(ProcessRole.SENDER)
            outages.store.end()
        except ServiceError as error:
            if outages.must_end(error):
                break
    end_by.append(time.monotonic() + LAST_ROUND_S)
    turns.finish()
    with suppress(ServiceError):
        context.frontier.processes.leave(ProcessRole.SENDER)


class Turns:
    """Turns of receivers on threads of this process."""

    def __init__(self, store: Store, settings: Settings, must_end: Callable[[], bool]) -> None:
        """Starts no thread yet.

        Args:
            store: The store.
            settings: Secret, certificates.
            must_end: Whether turns are to end.
        """
        self._store = store
        self._owner = process_name(os.getpid())
        webhook = Webhook(settings.workers.webhook_secret, settings.crawl.ca_file)
        send = partial(deliver, webhook)
        self._sender = Sender(store, send, lambda: datetime.now(UTC), must_end)
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="sender")
        self._busy: dict[tuple[str, str], Future[Receiver | None]] = {}

    def begin(self, *, topic: str = "", at_once: bool = False) -> None:
        """Begins the turns that are due.

        Args:
            topic: Only of its receivers; ``""``: of all topics.
            at_once: Whether receivers that failed lately have their turn, too.

        Raises:
            ServiceError: The store is away, or was in a turn.
        """
        for key, future in list(self._busy.items()):
            if future.done():
                del self._busy[key]
                future.result()
        now = datetime.now(UTC)
        found = self._store.receivers.of(topic) if topic else self._store.receivers.all()
        for receiver in sorted(found, key=lambda each: each.next_try):
            key = (receiver.topic, receiver.kind.value)
            is_due = at_once or receiver.next_try <= now
            # Its own, without a turn: that of a turn that failed, or of a process that died and had
            # the same number, as in a container that is started again.
            is_ours = receiver.owner == self._owner
            if key in self._busy or not is_due or not (is_ours or is_free(receiver, now)):
                continue
            if self._store.receivers.count_waiting(receiver):
                self._busy[key] = self._pool.submit(take_turn, self._sender, receiver, self._owner)

    def finish(self, *, again: bool = True) -> None:
        """Waits for the turns; ``again``: then begins once more those that are due, and waits."""
        try:
            for _ in range(1 + again):
                for future in list(self._busy.values()):
                    future.result()
                if again:
                    self.begin()
        except ServiceError as error:
            log.warning("the sender ends without a last round", extra={"error": str(error)})
        self._pool.shutdown(cancel_futures=True)


def is_free(receiver: Receiver, now: datetime) -> bool:
    """Whether no living sender has a receiver."""
    return not receiver.owner or receiver.owned_until <= now or is_dead(receiver.owner)


def is_dead(owner: str) -> bool:
    """Whether a process of this machine has ended; False for those of other machines."""
    machine, _, pid = owner.rpartition(".")
    if process_name(os.getpid()).rpartition(".")[0] != machine or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
