"""Events, actions (audit), and long operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from crawlclean.storage.store.journal import Action, Event, EventKind, Operation
from crawlclean.workers.console.api.registry import Api, Call, Name, PageOf, Part, cursor, number
from crawlclean.workers.operations.watching.journal import (
    JournalPage,
    find_operation,
    list_actions,
    list_events,
    list_operations,
)

T = TypeVar("T", Event, Action, Operation)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsQuery(Part):
    """Which events.

    Attributes:
        kind: Only of this kind.
        crawl: Only of this crawl.
        host: Only of this host.
    """

    kind: EventKind | None = None
    crawl: Name = ""
    host: Name = ""


def register(api: Api) -> None:
    """Adds the addresses."""
    api.get("/events", get_events, query=EventsQuery, page_of=Event)
    api.get("/audit", get_audit, query=Part, page_of=Action)
    api.get("/operations", get_operations, query=Part, page_of=Operation)
    api.get("/operations/<int:seq>", get_operation, answer=Operation)


def get_events(call: Call, query: EventsQuery) -> PageOf[Event]:
    """What happened to crawls, hosts and processes, newest first."""
    asked = {"kind": query.kind or "", "crawl_id": query.crawl, "host": query.host}
    of = {name: str(value) for name, value in asked.items() if value}
    at = number(query.after, "events")
    return _page(list_events(call.console.backends, at, query.limit, of), "events")


def get_audit(call: Call, query: Part) -> PageOf[Action]:
    """Who did what by console or API, newest first."""
    at = number(query.after, "audit")
    return _page(list_actions(call.console.backends, at, query.limit), "audit")


def get_operations(call: Call, query: Part) -> PageOf[Operation]:
    """Long actions with their progress, newest first."""
    at = number(query.after, "operations")
    found = list_operations(call.console.backends, at, query.limit)
    return _page(found, "operations")


def get_operation(call: Call, seq: int) -> Operation:
    """One long action."""
    return find_operation(call.console.backends, seq)


def _page(found: JournalPage[T], of: str) -> PageOf[T]:
    return PageOf(items=found.rows, next=cursor(of, found.after) if found.after else None)
