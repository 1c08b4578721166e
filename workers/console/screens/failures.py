"""Failures: what fails, since when, one cause or many, what mends it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from flask import abort, request

from crawlclean.storage.crawl_types import FailureReason
from crawlclean.storage.store.overview import FailureGroup
from crawlclean.storage.store.rows import from_microseconds, to_microseconds
from crawlclean.storage.store.urls import FailureKey
from crawlclean.workers.console.routes import (
    Console,
    Page,
    Routes,
    asked_limit,
    asked_place,
    render,
)
from crawlclean.workers.operations.watching.views.failures import (
    find_group,
    grown_groups,
    list_failures,
)

MARGIN = timedelta(seconds=15)
"""The list may be so much older than it says: what failed in between is named twice at most."""

MOST_DIGITS = 17

HINTED_STATUSES = {401: "401", 403: "403", 404: "404", 410: "404", 429: "429"}
"""Statuses with a hint of their own."""


def register(routes: Routes) -> None:
    """Adds the pages."""
    routes.page("/failures", show_failures)
    routes.page("/failures/group", show_failure_group)


def show_failures(console: Console) -> Page:
    """The groups, the largest first."""
    asked = request.args.get("cause", "")
    reason = next((each for each in FailureReason if each.value == asked), None)
    crawl, host = request.args.get("crawl", "").strip(), request.args.get("host", "").strip()
    place = (asked_place(), asked_limit())
    page = list_failures(console.backends, crawl, host.lower(), reason, place)
    begun = _begun(page.as_of)
    grown: Sequence[FailureGroup] = ()
    if place[0]:
        grown = grown_groups(console.backends, crawl, host.lower(), reason, (place[0], begun))
    return render(
        "failures.html", page=page, crawl=crawl, host_name=host, reason=reason,
        reasons=list(FailureReason), grown=grown, begun=to_microseconds(begun),
    )  # fmt: skip


def _begun(as_of: datetime | None) -> datetime:
    """When the first part of the list was read, as its address has it; else now, with a margin."""
    text = request.args.get("begun", "")
    if text.isascii() and text.isdigit() and len(text) < MOST_DIGITS:
        return from_microseconds(int(text))
    return (as_of or datetime.now(UTC)) - MARGIN


def show_failure_group(console: Console) -> Page:
    """The URLs of one group."""
    key = _asked_key()
    details = find_group(console.backends, key, asked_place(), asked_limit())
    return render("failure_group.html", details=details, key=key, hint=hint_of(key))


def hint_of(key: FailureKey) -> str:
    """The key of the words that say what mends failures of a cause."""
    if key.reason is not FailureReason.HTTP_STATUS:
        return f"hint.{key.reason.value}"
    if key.status >= 500:
        return "hint.status_5xx"
    return f"hint.status_{HINTED_STATUSES.get(key.status, '4xx')}"


def _asked_key() -> FailureKey:
    """The group that the address names.

    Raises:
        BadRequest: It names none.
    """
    try:
        return FailureKey(
            crawl_id=request.args["crawl"],
            host=request.args["host"],
            reason=FailureReason(request.args["cause"]),
            status=int(request.args.get("status", "0")[:3] or 0),
        )
    except (KeyError, ValueError):
        abort(400, description="group")
