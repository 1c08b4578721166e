"""Crawls at rest: order, state, the queue that runs them, and counts of ended URLs."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from msgspec import Struct

from crawlclean.cleaning.messages import Message
from crawlclean.storage.crawl_types import CrawlRow, CrawlSpec, CrawlState, UrlState
from crawlclean.storage.store.journal import Event, EventKind, WithEvents
from crawlclean.storage.store.ports import Member, Scan, Where, of
from crawlclean.storage.store.rows import RowType, spec_from_json, spec_to_json

# The queues that run crawls of a store: where they are, and when they were last heard.
#
# A store may serve several queues, each a Redis server with its own id (``queue/clients.py``). The
# housekeeper of each is heard here every ten seconds; a crawl's row names the queue that runs it.

LIFE_S = 60.0
"""A queue that was not heard for so long is gone."""
KEPT_S = 86_400.0  # a day: a queue that was silent for so long and has no crawl is gone


class QueueRow(Struct, frozen=True, kw_only=True):
    """A queue.

    Attributes:
        queue_id: 32 hex digits.
        place: Where it is, without a password: ``redis://db1:6379/0``.
        server: The run of its server, which a restart changes: 40 hex digits.
        heard_at: When its housekeeper was last heard, by the database's clock.
        silent_s: Seconds since then.
    """

    queue_id: str
    place: str
    server: str
    heard_at: datetime
    silent_s: float

    @property
    def is_alive(self) -> bool:
        """Whether it was heard a moment ago."""
        return self.silent_s < LIFE_S


_QUEUE = RowType(QueueRow, "queue", but=("silent_s",))


class Queues(Member):
    """The member ``queues``: one row a queue."""

    def hear(self, queue_id: str, place: str, server: str) -> None:
        """Stores that a queue lives, as of now."""
        row = {
            "queue_id": queue_id,
            "place": place,
            "server": server,
            "heard_at": self._tables.now_us(),
        }
        self._tables.put("queues", row)

    def forget(self, queue_id: str) -> None:
        """Deletes a queue: its server has another by now."""
        self._tables.delete("queues", {"queue_id": queue_id})

    def forget_gone(self, named: Collection[str]) -> None:
        """Deletes queues that were silent for a day, and that no crawl names.

        Args:
            named: Ids of the queues that crawls name.
        """
        for row in self.all():
            if row.silent_s > KEPT_S and row.queue_id not in named:
                self.forget(row.queue_id)

    def all(self) -> list[QueueRow]:
        """Every queue, by id."""
        rows = self._tables.scan(Scan("queues", _QUEUE.columns, order=("queue_id",)))
        now_us = self._tables.now_us() if rows else 0
        return [_QUEUE.read(row, silent_s=max(0, now_us - row[-1]) / 1e6) for row in rows]


# Spills at rest: pending URLs that outgrew the queue's memory, stored by id.
#
# A spill is a block of up to 1,000 entries of one host's queue (``storage/queue/overflow.py``).

DELETED_AT_ONCE = 1000  # ids of one statement: other writers come in between


@dataclass(frozen=True, slots=True, kw_only=True)
class Spill:
    """One spill as a store keeps it.

    Attributes:
        spill_id: 32 hex digits, random.
        crawl_id: Its crawl.
        host: Lower-case authority.
        urls: Number of URLs in ``packed``.
        packed: The entries, packed by ``storage/queue/entries.py``.
    """

    spill_id: str
    crawl_id: str
    host: str
    urls: int
    packed: bytes


_SPILL = RowType(Spill, "spill")


class Spills(Member):
    """The member ``spills``."""

    def save(self, spills: Sequence[Spill]) -> None:
        """Stores the spills whose ids are new."""
        self._tables.add("spills", list(map(_SPILL.row, spills)))

    def get(self, spill_id: str) -> Spill | None:
        """A spill by its id; None when it is not stored."""
        found = self._tables.get("spills", [(spill_id,)], _SPILL.columns)
        return next(map(_SPILL.read, found.values()), None)

    def ids(self, crawl_id: str) -> list[str]:
        """Ids of a crawl's spills, in any order."""
        found = self._tables.scan(Scan("spills", ("spill_id",), {"crawl_id": crawl_id}))
        return [row[0] for row in found]

    def delete(self, spill_ids: Collection[str]) -> int:
        """Deletes spills by id; returns how many were stored."""
        ids = list(spill_ids)
        parts = [ids[at : at + DELETED_AT_ONCE] for at in range(0, len(ids), DELETED_AT_ONCE)]
        return sum(self._tables.delete("spills", {"spill_id": part}) for part in parts)

    def forget(self, crawl_id: str, host: str | None = None) -> int:
        """Deletes all spills of a crawl, or of one host of it; returns how many."""
        return self._tables.delete("spills", of(crawl_id, host))


_BY = ", by "
_CRAWL = RowType(CrawlRow, "crawl", but=("spec", "pages"))


class Crawls(WithEvents):
    """The member ``crawls``."""

    def put(
        self,
        spec: CrawlSpec,
        state: CrawlState,
        who: str = "",
        why: str = "",
        *,
        queue: str | None = None,
    ) -> None:
        """Creates a crawl's row, or updates its order and state; a new state is an event.

        Args:
            spec: Its order.
            state: Its state.
            who: Who asked for the state; ``""``: the program.
            why: Why, in words for a person.
            queue: Id of the queue that runs it; None: the row keeps what it has.
        """
        row = {
            "crawl_id": spec.crawl_id,
            "spec": spec_to_json(spec).decode(),
            "state": state.value,
            "created_at": time.time_ns() // 1000,
            "queue": queue or "",
        }
        kept = ("created_at", *(("queue",) if queue is None else ()))
        key = (spec.crawl_id,)
        with self._tables.together():
            known = self._tables.get("crawls", [key], ("state",))
            self._tables.put("crawls", row, keep=kept)
            if not known or known[key][0] != state.value:
                text = Message("new_crawl", state.value)
                if known:
                    text = Message("crawl", state.value, known[key][0])
                self._events.add(
                    Event(
                        kind=EventKind.CRAWL,
                        crawl_id=spec.crawl_id,
                        text=_by(text, who, why),
                        link=state.value,
                    )
                )

    def state_since(self, crawl_id: str, state: CrawlState) -> tuple[datetime, str, str] | None:
        """(since when a crawl has a state, who asked for it, why); None: it has another state.

        Who is ``root@machine``, or ``""``: the program, or not known; why may be empty.
        """
        newest = self._events.read(limit=1, crawl_id=crawl_id, kind=EventKind.CRAWL.value)
        if not newest or newest[0].link != state.value or newest[0].at is None:
            return None
        who, _, why = newest[0].text.partition(_BY)[2].partition(": ")
        return newest[0].at, who, why

    def give_to(self, crawl_id: str, queue: str) -> None:
        """Stores which queue runs a crawl; does nothing without a row of the crawl.

        Args:
            crawl_id: The crawl.
            queue: Id of the queue.
        """
        key = (crawl_id,)
        with self._tables.together():
            known = self._tables.get("crawls", [key], ("queue",))
            if not known or known[key][0] == queue:
                return
            self._tables.change("crawls", {"crawl_id": crawl_id}, {"queue": queue})
            if known[key][0]:
                text = Message("taken_over", queue, known[key][0])
                self._events.add(Event(kind=EventKind.RECOVERED, crawl_id=crawl_id, text=text))

    def all(self) -> list[CrawlRow]:
        """All crawls, oldest first, each with the numbers of its URLs by final state.

        The numbers are those of ``Overview.as_of``.
        """
        return self._rows({})

    def get(self, crawl_id: str) -> CrawlRow | None:
        """One crawl, as ``all`` returns it; None when none of this name is stored."""
        return next(iter(self._rows({"crawl_id": crawl_id})), None)

    def _rows(self, where: Where) -> list[CrawlRow]:
        counts: dict[str, dict[UrlState, int]] = {}
        states = ("crawl_id", "state", "n")
        for crawl_id, state, n in self._tables.scan(Scan("crawl_counts", states, where)):
            counts.setdefault(crawl_id, {})[UrlState(state)] = n
        columns = ("crawl_id", "spec", *_CRAWL.columns)
        rows = self._tables.scan(Scan("crawls", columns, where, ("created_at", "crawl_id")))
        return [
            _CRAWL.read(row, spec=spec_from_json(spec), pages=counts.get(crawl_id, {}))
            for crawl_id, spec, *row in rows
        ]


def _by(what: Message, who: str, why: str) -> Message:
    """An event's text with who and why at its end: ``..., by root@machine: too slow``."""
    text = Message("by", what, who) if who else what
    return Message("of", text, why) if who and why else text
