"""Receivers' turns: each sends what waits for it, in order, until something fails.

- **Order.** Rows are sent oldest first. While the first fails the others wait: a receiver that is
  away would refuse them, too. After ``STUCK_TRIES`` failures the second row is tried; if it goes
  through, the first one is the problem, and is given up.
- **At least once.** A row ends after the receiver has taken it. What is killed in between sends it
  again with the same id.
- **A story once.** A row whose story was told is a copy and is not sent.
- **Together.** What waits goes as one message, but for the stories of a webhook. People's messages
  wait for some seconds, so that what comes at once is one, and for the end of quiet hours, and for
  the hour in which so many were sent as may be.
- **Never for ever.** A row older than ``GIVE_UP_S`` is given up, and so are the oldest when more
  than ``MOST_WAITING`` wait. Both are counted.
"""

from __future__ import annotations

import hashlib
import logging
import math
import os
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import msgspec

from crawlclean.cleaning.errors import ServiceError, StoreDamaged
from crawlclean.cleaning.json_values import DAMAGE
from crawlclean.storage.queue.entries import process_name
from crawlclean.storage.receiver_types import OutboxRow, Receiver, ReceiverKind, SentMessage
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.answers.found_stories import found_story
from crawlclean.workers.answers.notices import Notice
from crawlclean.workers.answers.schema import encode
from crawlclean.workers.answers.topics import StoryMessage
from crawlclean.workers.config import Settings
from crawlclean.workers.receiver_orders import QUIET
from crawlclean.workers.sending.delivering import Courier, Item, text_of
from crawlclean.workers.sending.webhook import Result
from crawlclean.workers.words import Language

# Makes what is told of a row of the outbox.

TYPE = "topic.story"
STORY, TEST = "story", "test"
"""Levels of rows that are no signs; a test waits for nothing."""

_NOTICE = msgspec.json.Decoder(Notice)


def story_message(store: Store, row: OutboxRow) -> StoryMessage | None:
    """Returns a story; None when its page is purged, or is not relevant any more."""
    page = store.topics.page(row.topic, row.page_id)
    if page is None or not page.judgement.is_relevant:
        return None
    told = store.stories.of_page(page.page_id)
    story = found_story(store, page, store.topics.get(row.topic), told)
    return StoryMessage(type=TYPE, timestamp=row.at, data=story) if story else None


def notice_row(receiver: str, notice: Notice) -> OutboxRow:
    """Returns a notice as a row of the outbox."""
    level = TEST if notice.type == "test" else notice.level
    text = encode(notice).decode()
    return OutboxRow(receiver=receiver, id=notice.id, at=notice.at, level=level, notice=text)


def read_notice(row: OutboxRow) -> Notice:
    """Returns the notice of a row.

    Raises:
        StoreDamaged: This program never wrote it.
    """
    try:
        return _NOTICE.decode(row.notice)
    except DAMAGE as error:
        raise StoreDamaged(f"a stored notice cannot be read: {error}") from error


# When a receiver may be sent something.


def is_quiet(receiver: Receiver, now: datetime) -> bool:
    """Whether it is a quiet hour of a receiver."""
    hours = QUIET.fullmatch(receiver.quiet)
    if not hours:
        return False
    local = now.astimezone(ZoneInfo(receiver.zone))
    minute = local.hour * 60 + local.minute
    begin, end = (int(hours[n]) * 60 + int(hours[n + 1]) for n in (1, 3))
    return begin <= minute < end if begin <= end else not end <= minute < begin


def open_levels(store: Store, receiver: Receiver, now: datetime) -> Collection[str]:
    """Levels of what may be sent to a receiver now; (): all."""
    if store.messages.free_at(receiver, now) > now:
        return (TEST,)
    if is_quiet(receiver, now):
        return (TEST, "bad") if receiver.red_passes else (TEST,)
    return ()


log = logging.getLogger(__name__)

FIRST_PAUSE_S = 10.0  # a receiver that restarts is back by then
LONGEST_PAUSE_S = 3600.0  # a receiver that was away for days hears of stories within the hour
GIVE_UP_S = 7 * 86_400.0
"""A receiver that is down over a long weekend loses nothing."""

STUCK_TRIES = 5  # in a row, two and a half minutes: a restart is over by then
MOST_WAITING = 10_000
"""Rows of a receiver: 2 MB, and more than anyone reads."""

BATCH = 50  # rows that are read at once, for a turn of at most a minute
MOST_IN_ONE = 20  # things that one message tells: more are no news, but a list
GATHER_S = 10.0
"""How long a message for people waits for what comes with it: signs of one outage come in looks of
some seconds, stories of a busy crawl one a second."""

TURN_S = 60.0
"""Of one turn at most; then others get the thread."""

HOLD_S = 150.0
"""How long a sender has a receiver without a sign of life; half of it is left when a delivery
begins, which takes 10 s at most, and one more when the first row is stuck."""


THREADS = 16
"""Receivers that hang at the same time before others wait for them."""


Deliver = Callable[[Receiver, Sequence[Item], str], Result]
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
            levels = open_levels(store, taken, self._now())
            rows = store.receivers.waiting(taken, BATCH, levels)
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
        """Sends some rows until one fails, or the receiver may be sent no more for a while."""
        failing = receiver.tries
        is_stuck = failing + 1 >= STUCK_TRIES  # one of them may be what is refused
        parts = [[row] for row in rows] if is_stuck else parts_of(receiver, rows)
        for place, part in enumerate(parts):
            held = self._held(receiver)
            if held is None or self._must_end():
                return held
            if place and receiver.most_an_hour and open_levels(self._store, held, self._now()):
                return held
            receiver, result = self._send(held, part)
            if not result.error:
                continue
            if is_stuck and place == 0 and len(parts) > 1:
                return self._try_next(receiver, parts, result)
            return self._failed(receiver, result)
        return receiver

    def _held(self, receiver: Receiver) -> Receiver | None:
        """Holds a receiver for longer, when half of the time is over; None: another has it."""
        now = self._now()
        if receiver.owned_until - now > timedelta(seconds=HOLD_S / 2):
            return receiver
        until = now + timedelta(seconds=HOLD_S)
        return self._store.receivers.take(receiver, receiver.owner, until)

    def _try_next(
        self, receiver: Receiver, parts: Sequence[Sequence[OutboxRow]], result: Result
    ) -> Receiver:
        """Sends the second part; if it goes through, the first is given up."""
        before = receiver.sent
        receiver, second = self._send(receiver, parts[1])
        if second.error or receiver.sent == before:
            return self._failed(receiver, result)
        for row in parts[0]:
            extra = {"receiver": receiver.name, "id": row.id, "error": result.error}
            log.warning("a message is given up: the receiver takes others", extra=extra)
            receiver = self._store.receivers.end(receiver, row, lost=1)
        return receiver

    def _send(self, receiver: Receiver, rows: Sequence[OutboxRow]) -> tuple[Receiver, Result]:
        """Sends some rows as one message, ends those that need none; an error leaves the others."""
        left: list[tuple[OutboxRow, Sequence[int], Item]] = []
        for row in rows:
            receiver, numbers, item = self._prepared(receiver, row)
            # Two pages that may tell one story do not go together: the second waits for the first.
            beside = {number for _, others, _ in left for number in others}
            if item is not None and not beside.intersection(numbers):
                left.append((row, numbers, item))
        if not left:
            return receiver, Result()
        items = [item for _, _, item in left]
        message_id = _message_id(items)
        result = self._deliver(receiver, items, message_id)
        text, _ = text_of(items, Language(receiver.lang))
        self._store.messages.add(
            SentMessage(
                receiver=receiver.name, message_id=message_id, text=text, n=len(items),
                error=result.error,
            )
        )  # fmt: skip
        if result.error:
            return receiver, result
        for row, numbers, _ in left:
            receiver = self._store.receivers.end_sent(receiver, row, numbers[:2])
        return self._store.receivers.worked(receiver, self._now()), result

    def _prepared(
        self, receiver: Receiver, row: OutboxRow
    ) -> tuple[Receiver, Sequence[int], Item | None]:
        """What is told of a row, with the numbers of its story; ends a row that tells nothing."""
        receivers, now = self._store.receivers, self._now()
        if (now - row.at).total_seconds() > GIVE_UP_S:
            log.warning("a message is given up: too old", extra={"receiver": receiver.name})
            return receivers.end(receiver, row, lost=1), (), None
        if row.notice:
            return receiver, (), read_notice(row)
        stories = self._store.stories
        numbers = stories.numbers(row.page_id)
        told = receivers.told(row, numbers)
        if row.page_id in told:  # by a sender that was killed, or before the page was fetched again
            return receivers.end(receiver, row), (), None
        if any(stories.is_copy(row.page_id, each) for each in told):
            return receivers.end(receiver, row, copies=1), (), None
        message = story_message(self._store, row)
        if message is None:
            return receivers.end(receiver, row), (), None
        return receiver, numbers, message

    def _failed(self, receiver: Receiver, result: Result) -> Receiver:
        pause_s = max(pause_after(receiver.tries + 1), result.wait_s)
        now = self._now()
        extra = {"receiver": receiver.name, "error": result.error, "retry_in_s": round(pause_s)}
        log.warning("a receiver was not reached", extra=extra)
        return self._store.receivers.failed(
            receiver, result.error, now, now + timedelta(seconds=pause_s)
        )

    def _trimmed(self, receiver: Receiver) -> Receiver:
        """Gives up the oldest rows when too many wait."""
        too_many = self._store.receivers.count_waiting(receiver) - MOST_WAITING
        if too_many <= 0:
            return receiver
        extra = {"receiver": receiver.name, "n": too_many}
        log.warning("messages are given up: too many wait", extra=extra)
        for row in self._store.receivers.waiting(receiver, too_many):
            receiver = self._store.receivers.end(receiver, row, lost=1)
        return receiver


def parts_of(receiver: Receiver, rows: Sequence[OutboxRow]) -> list[list[OutboxRow]]:
    """Rows that go as one message each: a story of a webhook stands alone."""
    if receiver.kind is not ReceiverKind.WEBHOOK:
        return [list(rows[n : n + MOST_IN_ONE]) for n in range(0, len(rows), MOST_IN_ONE)]
    parts: list[list[OutboxRow]] = []
    for row in rows:
        if row.notice and parts and parts[-1][0].notice and len(parts[-1]) < MOST_IN_ONE:
            parts[-1].append(row)
        else:
            parts.append([row])
    return parts


def _message_id(items: Sequence[Item]) -> str:
    """The id of a message: that of what it tells, of several a digest of theirs."""
    ids = [each.data.id if isinstance(each, StoryMessage) else each.id for each in items]
    if len(ids) == 1:
        return ids[0]
    return f"several:{hashlib.sha256(' '.join(ids).encode()).hexdigest()[:24]}"


def pause_after(tries: int) -> float:
    """Seconds between a failure and the next try: 10, 20, 40 ... 3,600."""
    return float(min(FIRST_PAUSE_S * 2 ** min(tries - 1, 20), LONGEST_PAUSE_S))


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
        self._sender = Sender(
            store, Courier(settings).deliver, lambda: datetime.now(UTC),
            lambda: time.monotonic() > self._end_by,
        )  # fmt: skip
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="sender")
        self._busy: dict[str, Future[Receiver | None]] = {}

    def begin(
        self, of: Collection[str] | None = None, *, at_once: bool = False, gathers: bool = True
    ) -> None:
        """Begins the turns that are due.

        Args:
            of: Names of receivers; None: all.
            at_once: Whether receivers that failed lately have their turn, too.
            gathers: Whether messages for people wait for what may come with them.

        Raises:
            ServiceError: The store is away, or was in a turn.
        """
        for name, future in list(self._busy.items()):
            if future.done():
                del self._busy[name]
                future.result()
        now, store = datetime.now(UTC), self._store
        found = [each for each in store.receivers.all() if of is None or each.name in of]
        for receiver in sorted(found, key=lambda each: each.next_try):
            is_due = at_once or receiver.next_try <= now
            # Its own, without a turn: that of a turn that failed, or of a process that died and had
            # the same number, as in a container that is started again.
            is_ours = receiver.owner == self._owner
            if receiver.name in self._busy or not is_due or not (is_ours or is_free(receiver, now)):
                continue
            if self._has_work(receiver, now, gathers=gathers and not at_once):
                turn = self._pool.submit(self._sender.take_turn, receiver, self._owner)
                self._busy[receiver.name] = turn

    def _has_work(self, receiver: Receiver, now: datetime, *, gathers: bool) -> bool:
        """Whether anything is to be sent to a receiver at this moment."""
        store = self._store
        if not store.receivers.waiting(receiver, 1):
            return False
        oldest = store.receivers.waiting(receiver, 1, open_levels(store, receiver, now))
        gathers = gathers and receiver.kind is not ReceiverKind.WEBHOOK
        return any(
            not gathers or row.level == TEST or now - row.at >= timedelta(seconds=GATHER_S)
            for row in oldest
        )

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
                    self.begin(gathers=False)
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
