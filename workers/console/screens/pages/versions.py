"""The versions of a page: what it showed when, and what changed between two of them."""

from __future__ import annotations

from datetime import UTC, datetime

from flask import abort, request

from crawlclean.workers.console.routes import Console, Page, Routes, render
from crawlclean.workers.console.screens.pages.pages import checked_id
from crawlclean.workers.operations.watching.views.pages import show_versions


def register(routes: Routes) -> None:
    """Adds the page."""
    routes.page("/pages/<page_id>/versions", show_page_versions)


def show_page_versions(console: Console, page_id: str) -> Page:
    """The versions, and the difference of two that the address names, else of the newest two."""
    crawl = request.args.get("crawl", "")
    wanted = [at for name in ("older", "newer") if (at := _asked_time(name))]
    found = show_versions(console.backends, checked_id(page_id), crawl, wanted)
    return render("page_versions.html", page_id=page_id, crawl=crawl, found=found)


def _asked_time(name: str) -> datetime | None:
    """A time of the address, ``older=2026-10-05T18:30:00Z``, to its last second; None without.

    Raises:
        BadRequest: It is no time.
    """
    text = request.args.get(name, "")
    if not text:
        return None
    try:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        abort(400, description=name)
