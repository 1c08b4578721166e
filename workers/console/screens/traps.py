"""Traps: URL classes that are not fetched any more, because their pages brought nothing new."""

from __future__ import annotations

from flask import request

from crawlclean.cleaning.errors import NotFound
from crawlclean.workers.console.routes import (
    Console,
    Page,
    Routes,
    asked_limit,
    asked_place,
    render,
)
from crawlclean.workers.operations.watching.views.hosts import TrapPage, list_traps


def register(routes: Routes) -> None:
    """Adds the page."""
    routes.page("/traps", show_traps)


def show_traps(console: Console) -> Page:
    """The list, the last stop first."""
    crawl, host = request.args.get("crawl", "").strip(), request.args.get("host", "").strip()
    why_not = ""
    try:
        page = list_traps(console.backends, crawl, host.lower(), asked_place(), asked_limit())
    except NotFound as error:  # stops are in the queue, which runs with a crawl
        page, why_not = TrapPage(rows=(), total=0, after=""), str(error)
    return render("traps.html", page=page, crawl=crawl, host_name=host, why_not=why_not)
