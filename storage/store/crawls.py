"""Crawls at rest: order, state, the queue that runs them, and counts of ended URLs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime

from crawlclean.storage.crawl_types import CrawlRow, CrawlSpec, CrawlState, UrlState
from crawlclean.storage.store.codec import from_microseconds, spec_from_json, spec_to_json
from crawlclean.storage.store.events import Event, EventKind, Events
from crawlclean.storage.store.ports import Scan, Tables, Where


@dataclass(frozen=True, slots=True, kw_only=True)
class StateSince:
    """Since when a crawl has its state.

    Attributes:
        at: When it got the state.
        who: Who asked for it, ``root@machine``; ``""``: the program, or not known.
        why: Why, in words for a person, may be empty.
    """

    at: datetime
    who: str = ""
    why: str = ""


_BY = ", by "


class Crawls:
    """The member ``crawls``."""

    def __init__(self, tables: Tables, events: Events) -> None:
        self._tables = tables
        self._events = events

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
                before = f"was {known[key][0]}" if known else "new"
                self._events.add(
                    Event(
                        kind=EventKind.CRAWL,
                        crawl_id=spec.crawl_id,
                        text=f"{state.value}, {before}" + _by(who, why),
                        link=state.value,
                    )
                )

    def state_since(self, crawl_id: str, state: CrawlState) -> StateSince | None:
        """Since when a crawl has a state, and who asked for it; None where it has another one."""
        newest = self._events.read(limit=1, crawl_id=crawl_id, kind=EventKind.CRAWL.value)
        if not newest or newest[0].link != state.value or newest[0].at is None:
            return None
        who, _, why = newest[0].text.partition(_BY)[2].partition(": ")
        return StateSince(at=newest[0].at, who=who, why=why)

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
                text = f"taken over by the queue {queue}, was run by the queue {known[key][0]}"
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
        wanted = ("created_at", "crawl_id", "spec", "state", "queue")
        rows = self._tables.scan(Scan("crawls", wanted, where, wanted[:2]))
        return [
            CrawlRow(
                spec=spec_from_json(spec),
                created_at=from_microseconds(created_at),
                state=CrawlState(state),
                pages=counts.get(crawl_id, {}),
                queue=queue or "",
            )
            for created_at, crawl_id, spec, state, queue in rows
        ]


def _by(who: str, why: str) -> str:
    """Who and why at the end of an event's text: ``, by root@machine: too slow``."""
    return f"{_BY}{who}" + (f": {why}" if why else "") if who else ""
