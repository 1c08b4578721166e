"""The member ``receivers``: who is told of a topic's new stories, and what waits to be sent.

A relevant page puts a row for each receiver of its topic into ``outbox``, in the transaction of its
save. A sender takes a receiver for some seconds (``take``), sends its rows in their order, and ends
each: sent, a copy of a story that was sent, or given up. ``told`` keeps the numbers of the stories
that were sent, so that a story is sent once, however many reprints come.

Ending a row is three writes in an order that a killed process may leave after each: the story is
told, the row is gone, the sum grows. A row whose own page told a story was sent: the next sender
only deletes it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from crawlclean.cleaning.json_values import replace_surrogates
from crawlclean.storage.store.codec import to_microseconds
from crawlclean.storage.store.ports import Row, Scan, Tables
from crawlclean.storage.store.row_types import RowType
from crawlclean.storage.topic_types import OutboxRow, Receiver, ReceiverKind

MOST_NUMBERS = 10_000
"""Numbers of a story that are looked up: a story of more reprints was told long ago."""

_RECEIVER = RowType(Receiver, "receiver")
_OUTBOX = RowType(OutboxRow, "row of an outbox")


class Receivers:
    """The member ``receivers``."""

    def __init__(self, tables: Tables) -> None:
        """Wraps the port."""
        self._tables = tables

    def put(self, receiver: Receiver) -> None:
        """Stores a receiver, or gives it another target; what waits goes to the new one at once."""
        key = {"topic": receiver.topic, "kind": receiver.kind.value}
        target = {
            "target": replace_surrogates(receiver.target),
            "is_private": int(receiver.is_private),
            "next_try": to_microseconds(receiver.next_try),
            "tries": 0,
            "failing_since": None,
            "last_error": "",
        }
        if not self._tables.change("receivers", key, target):
            self._tables.add("receivers", [_RECEIVER.row(receiver)])

    def remove(self, topic: str, kind: ReceiverKind | None = None) -> int:
        """Deletes a receiver of a topic, or all, with what waits; returns how many there were."""
        where = {"topic": topic} if kind is None else {"topic": topic, "kind": kind.value}
        gone = self._tables.delete("receivers", where)
        for table in ("outbox", "told"):
            self._tables.delete(table, where)
        return gone

    def all(self) -> list[Receiver]:
        """Every receiver, by topic and kind."""
        return self._found({})

    def of(self, topic: str) -> list[Receiver]:
        """The receivers of a topic, by kind."""
        return self._found({"topic": topic})

    def _found(self, where: Row) -> list[Receiver]:
        rows = self._tables.scan(
            Scan("receivers", _RECEIVER.columns, where, order=("topic", "kind"))
        )
        return list(map(_RECEIVER.read, rows))

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

    def waiting(self, receiver: Receiver, limit: int) -> list[OutboxRow]:
        """What waits for a receiver, the oldest first, at most ``limit``."""
        order = ("at", "page_id")
        wanted = Scan("outbox", _OUTBOX.columns, _key(receiver), order, limit=limit)
        rows = self._tables.scan(wanted)
        return list(map(_OUTBOX.read, rows))

    def count_waiting(self, receiver: Receiver) -> int:
        """Number of rows that wait for a receiver."""
        return self._tables.count("outbox", _key(receiver))

    def told(self, row: OutboxRow, numbers: Collection[int]) -> set[str]:
        """The pages with which a receiver was told a story, of these numbers."""
        keys = [(row.topic, row.kind.value, number) for number in list(numbers)[:MOST_NUMBERS]]
        return {values[0] for values in self._tables.get("told", keys, ("page_id",)).values()}

    def end_sent(self, receiver: Receiver, row: OutboxRow, numbers: Collection[int]) -> Receiver:
        """Ends a row that was sent, the story is told by these numbers; returns the receiver."""
        told = [
            {"topic": row.topic, "kind": row.kind.value, "number": number, "page_id": row.page_id}
            for number in sorted(numbers)
        ]
        with self._tables.together():
            self._tables.put_all("told", told)  # a number of a story that the page has left, too
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
            self._tables.delete("outbox", {**_key(receiver), "page_id": row.page_id})
            self._change(after, ("sent", "copies", "given_up"))
        return after


def _key(receiver: Receiver) -> Row:
    return {"topic": receiver.topic, "kind": receiver.kind.value}
