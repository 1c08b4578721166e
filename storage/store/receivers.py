"""The members ``receivers``, ``alerts`` and ``messages``: who is told of what, and what was sent.

A relevant page puts a row for each receiver of its topic into ``outbox``, in the transaction of its
save; a notice (a sign, the end of a crawl, a digest) is put there by the housekeeper. A sender
takes a receiver for some seconds (``take``), sends its rows in their order, and ends each: sent, a
copy of a story that was sent, or given up. ``told`` keeps the numbers of the stories that were
sent, so that a story is sent once, however many reprints come.

Ending a row is three writes in an order that a killed process may leave after each: the story is
told, the row is gone, the sum grows. A row whose own page told a story was sent: the next sender
only deletes it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta

import msgspec
from msgspec.structs import asdict, replace

from crawlclean.cleaning.errors import StoreDamaged
from crawlclean.cleaning.json_values import DAMAGE, replace_surrogates
from crawlclean.storage.receiver_types import (
    Alert,
    OutboxRow,
    Receiver,
    ReceiverOrder,
    SentMessage,
)
from crawlclean.storage.store.journal import Events
from crawlclean.storage.store.ports import Member, Row, Scan, Where
from crawlclean.storage.store.rows import NumberedRows, RowType, to_microseconds

MOST_NUMBERS = 10_000
"""Numbers of a story that are looked up: a story of more reprints was told long ago."""

KEPT_MESSAGES = 10_000
"""Messages kept, the newest: some 2 MB."""

_RECEIVER = RowType(Receiver, "receiver")
_OUTBOX = RowType(OutboxRow, "row of an outbox")
_ALERT = RowType(Alert, "alert")
_FORMER = msgspec.json.Decoder(tuple[bool, ReceiverOrder])


def order_of(receiver: Receiver) -> ReceiverOrder:
    """What was asked of a receiver."""
    names = ReceiverOrder.__struct_fields__
    return ReceiverOrder(**{name: getattr(receiver, name) for name in names})


class Receivers(Member):
    """The member ``receivers``."""

    def put(
        self,
        name: str,
        order: ReceiverOrder,
        *,
        source: str = "",
        is_off: bool = False,
        at: datetime | None = None,
    ) -> None:
        """Stores what is asked of a receiver; what waits goes to the new target at once.

        ``revert`` takes the change back.

        Args:
            name: Its name.
            order: What is asked of it.
            source: The crawl whose file has it.
            is_off: Whether it is removed.
            at: It is told of what happens from then on; None: from now on.
        """
        now, found = at or datetime.now(UTC), self._found({"name": name})
        values = {**asdict(order), "target": replace_surrogates(order.target)}
        new = Receiver(
            **values, name=name, source=source, is_off=is_off, since=now, next_try=now,
            owned_until=now, told_event=Events(self._ports).newest(),
        )  # fmt: skip
        before = found[0] if found else replace(new, is_off=True)
        former = msgspec.json.encode((before.is_off, order_of(before))).decode()
        if found and not before.is_off:
            new = replace(
                new, since=before.since, told_event=before.told_event,
                digest_day=before.digest_day,
            )  # fmt: skip
        new = replace(new, former=former)
        if not found:
            self._tables.add("receivers", [_RECEIVER.row(new)])
        elif order_of(before) != order or (before.is_off, before.source) != (is_off, source):
            kept = ("owner", "owned_until", "last_sent", "sent", "copies", "given_up")
            row = _RECEIVER.row(new)
            changed = {each: value for each, value in row.items() if each not in kept}
            self._tables.change("receivers", {"name": name}, changed)
        if is_off:
            self._tables.delete("outbox", {"receiver": name})

    def revert(self, receiver: Receiver) -> bool:
        """Takes the last change of a receiver back; returns whether it is there then.

        Raises:
            StoreDamaged: This program never wrote what it was before.
        """
        try:
            is_off, order = _FORMER.decode(receiver.former)
        except DAMAGE as error:
            raise StoreDamaged(f"a stored receiver cannot be read: {error}") from error
        self.put(receiver.name, order, source=receiver.source, is_off=is_off)
        return not is_off

    def remove(self, name: str) -> int:
        """Deletes a receiver with what waits; returns how many there were."""
        gone = self._tables.delete("receivers", {"name": name})
        for table in ("outbox", "told"):
            self._tables.delete(table, {"receiver": name})
        return gone

    def all(self) -> list[Receiver]:
        """Every receiver that was not removed, by name."""
        return [each for each in self._found({}) if not each.is_off]

    def get(self, name: str) -> Receiver | None:
        """A receiver, one that was removed, too; None: there is none."""
        return next(iter(self._found({"name": name})), None)

    def of(self, topic: str) -> list[Receiver]:
        """Those that are told of a topic's new stories, by name."""
        return [each for each in self.all() if topic in each.stories]

    def _found(self, where: Where) -> list[Receiver]:
        wanted = Scan("receivers", _RECEIVER.columns, where, order=("name",))
        return list(map(_RECEIVER.read, self._tables.scan(wanted)))

    # --- one sender at a time ---

    def take(self, receiver: Receiver, owner: str, until: datetime) -> Receiver | None:
        """Gives a receiver to a sender until a time; None: another was faster.

        Whether the sender that has it may lose it, the caller decides.

        Args:
            receiver: As it was read.
            owner: Name of the sender.
            until: When another may take it.
        """
        old = {"owner": receiver.owner, "owned_until": to_microseconds(receiver.owned_until)}
        new = {"owner": owner, "owned_until": to_microseconds(until)}
        if not self._tables.change("receivers", {**_key(receiver), **old}, new):
            return None
        return replace(receiver, owner=owner, owned_until=until)

    def give_back(self, receiver: Receiver, now: datetime) -> None:
        """Lets others take a receiver, unless another has taken it meanwhile."""
        ours = {**_key(receiver), "owner": receiver.owner}
        free = {"owner": "", "owned_until": to_microseconds(now)}
        self._tables.change("receivers", ours, free)

    def failed(self, receiver: Receiver, error: str, now: datetime, next_try: datetime) -> Receiver:
        """Stores that sending failed and when it is tried again; returns the receiver so."""
        after = replace(
            receiver,
            tries=receiver.tries + 1,
            failing_since=receiver.failing_since or now,
            last_error=replace_surrogates(error),
            next_try=next_try,
        )
        names = ("tries", "failing_since", "last_error", "next_try")
        self._change(after, names)
        return after

    def worked(self, receiver: Receiver, now: datetime) -> Receiver:
        """Stores that sending succeeded; returns the receiver so."""
        after = replace(receiver, tries=0, failing_since=None, last_error="", last_sent=now)
        self._change(after, ("tries", "failing_since", "last_error", "last_sent"))
        return after

    def _change(self, receiver: Receiver, names: Collection[str]) -> None:
        row = _RECEIVER.row(receiver)
        self._tables.change("receivers", _key(receiver), {name: row[name] for name in names})

    # --- the outbox ---

    def tell(self, rows: Sequence[OutboxRow], receiver: Receiver | None = None) -> None:
        """Puts notices into the outbox; one that is there already stays as it is.

        Args:
            rows: The notices.
            receiver: Of whom is stored how far it was told of events, and the day of its digest.
        """
        with self._tables.together():
            self._tables.add("outbox", [_OUTBOX.row(row) for row in rows])
            if receiver:
                self._change(receiver, ("told_event", "digest_day"))

    def waiting(
        self, receiver: Receiver, limit: int, levels: Collection[str] = ()
    ) -> list[OutboxRow]:
        """What waits for a receiver, the oldest first, at most ``limit``; of all levels or some."""
        where = {"receiver": receiver.name} | ({"level": list(levels)} if levels else {})
        wanted = Scan("outbox", _OUTBOX.columns, where, ("at", "id"), limit=limit)
        return list(map(_OUTBOX.read, self._tables.scan(wanted)))

    def count_waiting(self, receiver: Receiver, topic: str = "") -> int:
        """Number of rows that wait for a receiver; of one topic, or all."""
        where = {"receiver": receiver.name} | ({"topic": topic} if topic else {})
        return self._tables.count("outbox", where)

    def told(self, row: OutboxRow, numbers: Collection[int]) -> set[str]:
        """The pages with which a receiver was told a story, of these numbers."""
        keys = [(row.receiver, row.topic, number) for number in list(numbers)[:MOST_NUMBERS]]
        return {values[0] for values in self._tables.get("told", keys, ("page_id",)).values()}

    def end_sent(self, receiver: Receiver, row: OutboxRow, numbers: Collection[int]) -> Receiver:
        """Ends a row that was sent, the story is told by these numbers; returns the receiver."""
        told = [
            {
                "receiver": row.receiver, "topic": row.topic, "number": number,
                "page_id": row.page_id,
            }
            for number in sorted(numbers)
        ]  # fmt: skip
        with self._tables.together():
            self._tables.put("told", *told)  # a number of a story that the page has left, too
            return self.end(receiver, row, sent=1)

    def end(
        self, receiver: Receiver, row: OutboxRow, *, sent: int = 0, copies: int = 0, lost: int = 0
    ) -> Receiver:
        """Ends a row and adds to the receiver's sums; returns the receiver so.

        Args:
            receiver: Owned by the caller, who alone changes its sums.
            row: The row.
            sent: 1 when it was sent.
            copies: 1 when its story was told before.
            lost: 1 when it is given up.
        """
        after = replace(
            receiver,
            sent=receiver.sent + sent,
            copies=receiver.copies + copies,
            given_up=receiver.given_up + lost,
        )
        with self._tables.together():
            self._tables.delete("outbox", {"receiver": receiver.name, "id": row.id})
            self._change(after, ("sent", "copies", "given_up"))
        return after


def _key(receiver: Receiver) -> Row:
    return {"name": receiver.name}


class Alerts(Member):
    """The member ``alerts``: signs that receivers were told of, until they are gone for a while."""

    def all(self) -> dict[str, Alert]:
        """Every alert, by its sign."""
        rows = self._tables.scan(Scan("alerts", _ALERT.columns))
        return {each.sign: each for each in map(_ALERT.read, rows)}

    def put(self, alert: Alert, rows: Sequence[OutboxRow] = ()) -> None:
        """Stores an alert, and puts what is told of it into the outbox."""
        row = _ALERT.row(alert)
        with self._tables.together():
            self._tables.add("outbox", [_OUTBOX.row(each) for each in rows])
            if not self._tables.change("alerts", {"sign": alert.sign}, row):
                self._tables.add("alerts", [row])

    def end(self, alert: Alert, rows: Sequence[OutboxRow] = ()) -> None:
        """Deletes an alert, and puts what is told of its end into the outbox."""
        with self._tables.together():
            self._tables.add("outbox", [_OUTBOX.row(each) for each in rows])
            self._tables.delete("alerts", {"sign": alert.sign})


class Messages(NumberedRows[SentMessage]):
    """The member ``messages``; ``read`` takes values of ``receiver``, and of ``error`` with it."""

    table, kept = "messages", KEPT_MESSAGES
    rows = RowType(SentMessage, "message")

    def add(self, message: SentMessage) -> int:
        """Stores a message that was sent, or not taken, now; returns its number."""
        return self._add(replace(message, at=datetime.now(UTC)))

    def free_at(self, receiver: Receiver, now: datetime) -> datetime:
        """When a receiver may be sent the next message, by its messages of the last hour."""
        most = receiver.most_an_hour
        sent = self.read(limit=most, receiver=receiver.name, error="") if most else []
        if len(sent) < most or not sent or not sent[-1].at:
            return now
        return sent[-1].at + timedelta(hours=1)
