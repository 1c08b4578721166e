"""Events: what changed before it went wrong; receivers: who is told of it, and what was sent."""

from __future__ import annotations

from flask import request

from crawlclean.storage.receiver_types import ReceiverKind
from crawlclean.storage.store.journal import EventKind
from crawlclean.workers.console.routes import Console, Page, asked_limit, asked_row, render
from crawlclean.workers.operations.alerting.receivers import list_messages, list_receivers
from crawlclean.workers.operations.watching.journal import events

LEVELS = {
    EventKind.DIED: "bad",
    EventKind.POISON: "bad",
    EventKind.AWAY: "bad",
    EventKind.NOT_LEARNED: "bad",
    EventKind.DRIFT: "warn",
    EventKind.TRAP: "warn",
    EventKind.PAUSED: "warn",
    EventKind.SLOWED: "warn",
    EventKind.RESUMED: "ok",
    EventKind.RECOVERED: "ok",
    EventKind.MODEL: "info",
    EventKind.CRAWL: "info",
    EventKind.SEEN: "info",
}
"""Colours of the kinds."""


def show_events(console: Console) -> Page:
    """The events."""
    asked = request.args.get("kind", "")
    kind = next((each for each in EventKind if each.value == asked), None)
    crawl, host = request.args.get("crawl", "").strip(), request.args.get("host", "").strip()
    page = events(console.backends, kind, crawl, host.lower(), asked_row(), asked_limit())
    return render(
        "events.html", page=page, kind=kind, kinds=list(EventKind), levels=LEVELS, crawl=crawl,
        host_name=host,
    )  # fmt: skip


def show_receivers(console: Console) -> Page:
    """The receivers, and the log of messages."""
    name = request.args.get("receiver", "").strip()
    messages = list_messages(console.backends, name, asked_row(), asked_limit())
    kinds = [each for each in ReceiverKind if each is not ReceiverKind.COMMAND]
    return render(
        "receivers.html", receivers=list_receivers(console.backends).items, page=messages,
        kinds=kinds, name=name,
    )  # fmt: skip
