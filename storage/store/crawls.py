"""Crawls at rest: order, state, and counts of ended URLs."""

from __future__ import annotations

import time

from storage.crawl_types import CrawlRow, CrawlSpec, CrawlState, UrlState
from storage.store.codec import from_microseconds, spec_from_json, spec_to_json
from storage.store.events import Event, EventKind, Events
from storage.store.ports import Scan, Tables


class Crawls:
    """The member ``crawls``."""

    def __init__(self, tables: Tables, events: Events) -> None:
        self._tables = tables
        self._events = events

    def put(self, spec: CrawlSpec, state: CrawlState) -> None:
        """Creates a crawl's row, or updates its order and state; a new state is an event."""
        row = {
            "crawl_id": spec.crawl_id,
            "spec": spec_to_json(spec).decode(),
            "state": state.value,
            "created_at": time.time_ns() // 1000,
        }
        key = (spec.crawl_id,)
        with self._tables.together():
            known = self._tables.get("crawls", [key], ("state",))
            self._tables.put("crawls", row, keep=("created_at",))
            if not known or known[key][0] != state.value:
                before = f"was {known[key][0]}" if known else "new"
                self._events.add(
                    Event(
                        kind=EventKind.CRAWL,
                        crawl_id=spec.crawl_id,
                        text=f"{state.value}, {before}",
                        link=state.value,
                    )
                )

    def all(self) -> list[CrawlRow]:
        """All crawls, oldest first, each with the numbers of its URLs by final state.

        The numbers are those of ``Overview.as_of``.
        """
        counts: dict[str, dict[UrlState, int]] = {}
        states = ("crawl_id", "state", "n")
        for crawl_id, state, n in self._tables.scan(Scan("crawl_counts", states)):
            counts.setdefault(crawl_id, {})[UrlState(state)] = n
        wanted = ("created_at", "crawl_id", "spec", "state")
        rows = self._tables.scan(Scan("crawls", wanted, order=wanted[:2]))
        return [
            CrawlRow(
                spec=spec_from_json(spec),
                created_at=from_microseconds(created_at),
                state=CrawlState(state),
                pages=counts.get(crawl_id, {}),
            )
            for created_at, crawl_id, spec, state in rows
        ]
