"""Receivers' turns: each sends what waits for it, in order, until something fails.

- **Order.** Rows are sent oldest first. While the first fails the others wait: a receiver that is
  away would refuse them, too. After ``STUCK_TRIES`` failures the second row is tried; if it goes
  through, the first one is the problem, and is given up.
- **At least once.** A row ends after the receiver has taken it. What is killed in between sends it
  again with the same id.
- **A story once.** A row whose story was told is a copy and is not sent.
- **Never for ever.** A row older than ``GIVE_UP_S`` is given up, and so are the oldest when more
  than ``MOST_WAITING`` wait. Both are counted.
"""

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial

from crawlclean.cleaning.errors import ServiceError
from crawlclean.storage.queue.entries import process_name
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.topic_types import OutboxRow, Receiver, ReceiverKind
from crawlclean.workers.answers.found_stories import found_story
from crawlclean.workers.answers.schema import encode
from crawlclean.workers.answers.topics import StoryMessage
from crawlclean.workers.config import Settings
from crawlclean.workers.sending.webhook import Result, Webhook

# Makes the message about a page of the outbox, and delivers it to the receiver it is for.

TYPE = "topic.story"
COMMAND_IS_GONE = "not run any more: set a webhook (--edit --webhook URL --no-command)"


def message_of(store: Store, row: OutboxRow) -> StoryMessage | None:
    """Returns the message; None when the page is purged, or is not relevant any more."""
    page = store.topics.page(row.topic, row.page_id)
    if page is None or not page.judgement.is_relevant:
        return None
    told = store.stories.of_page(page.page_id)
    story = found_story(store, page, store.topics.get(row.topic), told)
    return StoryMessage(type=TYPE, timestamp=row.at, data=story) if story else None


def deliver(webhook: Webhook, receiver: Receiver, message: StoryMessage) -> Result:
    """Sends one message; returns how it ended. A command of an older version always fails."""
    if receiver.kind is ReceiverKind.COMMAND:
        return Result(COMMAND_IS_GONE)
    return webhook.send(
        receiver.target,
        message.data.id,
        encode(message),
        int(time.time()),
        is_private=receiver.is_private,
    )


log = logging.getLogger(__name__)

FIRST_PAUSE_S = 10.0  # a receiver that restarts is back by then
LONGEST_PAUSE_S = 3600.0  # a receiver that was away for days hears of stories within the hour
GIVE_UP_S = 7 * 86_400.0
"""A receiver that is down over a long weekend loses nothing."""

STUCK_TRIES = 5  # in a row, two and a half minutes: a restart is over by then
MOST_WAITING = 10_000
"""Rows of a receiver: 2 MB, and more than anyone reads."""

BATCH = 50  # rows that are read at once, for a turn of at most a minute
TURN_S = 60.0
"""Of one turn at most; then others get the thread."""

HOLD_S = 150.0
"""How long a sender has a receiver without a sign of life; half of it is left when a delivery
begins, which takes 10 s at most, and one more when the first row is stuck."""


THREADS = 16
"""Receivers that hang at the same time before others wait for them."""


Deliver = Callable[[Receiver, StoryMessage], Result]
"""Sends one message to a receiver, and returns how it ended; raises nothing for a receiver."""


class Sender:
    """Takes the turns of receivers."""

    def __init__(
        self,
        store: Store,
        deliver: Deliver,
        now: Callable[[], datetime],
        must_end: Callable[[], bool] = lambda: False,
    ) -> None:
        """Sends nothing yet.

        Args:
            store: The store.
            deliver: Sends one message.
            now: The clock.
            must_end: Whether the process is to end.
        """
        self._store = store
        self._deliver = deliver
        self._now = now
        self._must_end = must_end

    def take_turn(self, receiver: Receiver, owner: str) -> Receiver | None:
        """Sends what waits for a receiver; returns it as it is then, None when another sends.

        Args:
            receiver: As it was read.
            owner: Name of this sender; no two that run at once have the same.
        """
        store, begun = self._store, self._now()
        taken = store.receivers.take(receiver, owner, begun + timedelta(seconds=HOLD_S))
        if taken is None:
            return None
        taken = self._trimmed(taken)
        while not self._must_end() and self._now() - begun < timedelta(seconds=TURN_S):
            rows = store.receivers.waiting(taken, BATCH)
            if not rows:
                break
            tries = taken.tries
            after = self._send_rows(taken, rows)
            if after is None:
                return None  # another has it: this process slept too long
            taken = after
            if taken.tries > tries:
                break
        store.receivers.give_back(taken, self._now())
        return taken

    def _send_rows(self, receiver: Receiver, rows: Sequence[OutboxRow]) -> Receiver | None:
        """Sends some rows until one fails."""
        failing = receiver.tries
        for place, row in enumerate(rows):
            held = self._held(receiver)
            if held is None or self._must_end():
                return held
            receiver, result = self._send(held, row)
            if not result.error:
                continue
            if failing + 1 >= STUCK_TRIES and place == 0 and len(rows) > 1:
                return self._try_next(receiver, rows, result)
            return self._failed(receiver, result)
        return receiver

    def _held(self, receiver: Receiver) -> Receiver | None:
        """Holds a receiver for longer, when half of the time is over; None: another has it."""
        now = self._now()
        if receiver.owned_until - now > timedelta(seconds=HOLD_S / 2):
            return receiver
        until = now + timedelta(seconds=HOLD_S)
        return self._store.receivers.take(receiver, receiver.owner, until)

    def _try_next(self, receiver: Receiver, rows: Sequence[OutboxRow], result: Result) -> Receiver:
        """Sends the second row; if it goes through, the first is given up."""
        before = receiver.sent
        receiver, second = self._send(receiver, rows[1])
        if second.error or receiver.sent == before:
            return self._failed(receiver, result)
        log.warning(
            "a story is given up: the receiver takes others",
            extra={**_names(receiver), "page": rows[0].page_id, "error": result.error},
        )
        return self._store.receivers.end(receiver, rows[0], lost=1)

    def _send(self, receiver: Receiver, row: OutboxRow) -> tuple[Receiver, Result]:
        """Sends one row, or ends it without; an error leaves the row where it is."""
        receivers, now = self._store.receivers, self._now()
        if (now - row.at).total_seconds() > GIVE_UP_S:
            log.warning("a story is given up: too old", extra=_names(receiver))
            return receivers.end(receiver, row, lost=1), Result()
        stories = self._store.stories
        numbers = stories.numbers(row.page_id)
        told = receivers.told(row, numbers)
        if row.page_id in told:  # by a sender that was killed, or before the page was fetched again
            return receivers.end(receiver, row), Result()
        if any(stories.is_copy(row.page_id, each) for each in told):
            return receivers.end(receiver, row, copies=1), Result()
        message = message_of(self._store, row)
        if message is None:
            return receivers.end(receiver, row), Result()
        result = self._deliver(receiver, message)
        if result.error:
            return receiver, result
        receiver = receivers.end_sent(receiver, row, numbers[:2])
        return receivers.worked(receiver, self._now()), result

    def _failed(self, receiver: Receiver, result: Result) -> Receiver:
        pause_s = max(pause_after(receiver.tries + 1), result.wait_s)
        now = self._now()
        extra = {**_names(receiver), "error": result.error, "retry_in_s": round(pause_s)}
        log.warning("a receiver was not reached", extra=extra)
        return self._store.receivers.failed(
            receiver, result.error, now, now + timedelta(seconds=pause_s)
        )

    def _trimmed(self, receiver: Receiver) -> Receiver:
        """Gives up the oldest rows when too many wait."""
        too_many = self._store.receivers.count_waiting(receiver) - MOST_WAITING
        if too_many <= 0:
            return receiver
        log.warning(
            "stories are given up: too many wait", extra={**_names(receiver), "n": too_many}
        )
        for row in self._store.receivers.waiting(receiver, too_many):
            receiver = self._store.receivers.end(receiver, row, lost=1)
        return receiver


def pause_after(tries: int) -> float:
    """Seconds between a failure and the next try: 10, 20, 40 ... 3,600."""
    return float(min(FIRST_PAUSE_S * 2 ** min(tries - 1, 20), LONGEST_PAUSE_S))


def _names(receiver: Receiver) -> dict[str, str]:
    return {"topic": receiver.topic, "receiver": receiver.kind.value}


class Turns:
    """Turns of receivers on threads, so that one that hangs holds up neither others nor the caller.

    Any number of processes may send: a receiver is held by one at a time, and that of a process of
    this machine that died is free at once.
    """

    def __init__(self, store: Store, settings: Settings) -> None:
        """Starts no thread yet; the settings have secret and certificates."""
        self._store = store
        self._end_by = math.inf
        self._owner = process_name(os.getpid())
        webhook = Webhook(settings.workers.webhook_secret, settings.crawl.ca_file)
        send = partial(deliver, webhook)
        self._sender = Sender(
            store, send, lambda: datetime.now(UTC), lambda: time.monotonic() > self._end_by
        )
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
                self._busy[key] = self._pool.submit(self._sender.take_turn, receiver, self._owner)

    def hurry(self) -> None:
        """Lets each turn end after what it sends: the process is about to end."""
        self._end_by = 0.0

    def finish(self, last_round_s: float = 0.0) -> None:
        """Waits for the turns; then for those that are due once more, and no longer than a time.

        Args:
            last_round_s: Turns end then, after what they are sending; 0: they end by themselves,
                and there is no last round.
        """
        if last_round_s:
            self._end_by = time.monotonic() + last_round_s
        try:
            for _ in range(2 if last_round_s else 1):
                for future in list(self._busy.values()):
                    future.result()
                if last_round_s:
                    self.begin()
        except ServiceError as error:
            log.warning("sending ends without a last round", extra={"error": str(error)})
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
