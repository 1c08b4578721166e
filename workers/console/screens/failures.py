"""Failures: what fails, since when, one cause or many, what mends it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from flask import abort, request

from crawlclean.storage.crawl_types import FailureReason
from crawlclean.storage.store.overview import FailureGroup
from crawlclean.storage.store.rows import from_microseconds, to_microseconds
from crawlclean.workers.console.routes import Console, Page, asked_limit, asked_place, render
from crawlclean.workers.operations.failures import (
    cause_totals,
    failed_urls,
    failure_causes,
    failure_groups,
    find_group,
    grown_groups,
    is_transient,
)

MARGIN = timedelta(seconds=15)
"""The list may be so much older than it says: what failed in between is named twice at most."""

MOST_CAUSES = 20  # the most frequent ones, above the list that has them all
MOST_DIGITS = 17  # the microseconds since 1970 have 16 digits until the year 2286

HINTED_STATUSES = {401: "401", 403: "403", 404: "404", 410: "404", 429: "429"}
"""Statuses with a hint of their own."""


def show_failures(console: Console) -> Page:
    """The groups, the largest first."""
    asked = request.args.get("cause", "")
    reason = next((each for each in FailureReason if each.value == asked), None)
    crawl, host = request.args.get("crawl", "").strip(), request.args.get("host", "").strip()
    place, backends = asked_place(), console.backends
    page = failure_groups(backends, crawl, host.lower(), reason, place, asked_limit())
    begun = _begun(page.as_of)
    grown: Sequence[FailureGroup] = ()
    if place:
        grown = grown_groups(backends, crawl, host.lower(), reason, (place, begun))
    causes = cause_totals(failure_causes(backends, crawl).items)[:MOST_CAUSES]
    return render(
        "failures.html", page=page, causes=causes, crawl=crawl, host_name=host, reason=reason,
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
    key = _asked_group()
    page = failed_urls(console.backends, *key, asked_place(), asked_limit())
    crawl, host, reason, status = key
    return render(
        "failure_group.html", page=page, group=find_group(console.backends, *key), crawl=crawl,
        host=host, reason=reason, status=status, hint=_hint_of(reason, status),
        may_pass=is_transient(reason, status),
    )  # fmt: skip


def _hint_of(reason: FailureReason, status: int) -> str:
    """The key of the words that say what mends failures of a cause."""
    if reason is not FailureReason.HTTP_STATUS:
        return f"hint.{reason.value}"
    if status >= 500:
        return "hint.status_5xx"
    return f"hint.status_{HINTED_STATUSES.get(status, '4xx')}"


def _asked_group() -> tuple[str, str, FailureReason, int]:
    """(crawl, host, reason, status) of the group that the address names.

    Raises:
        BadRequest: It names none.
    """
    try:
        reason = FailureReason(request.args["cause"])
        status = int(request.args.get("status", "0")[:3] or 0)
        return request.args["crawl"], request.args["host"], reason, status
    except (KeyError, ValueError):
        abort(400, description="group")
