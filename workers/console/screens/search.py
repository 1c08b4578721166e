"""The search field of the frame: leads to what was typed."""

from __future__ import annotations

from flask import request, url_for

from workers.console.routes import Console, Page, Routes, see
from workers.operations.watching.naming import SCHEME, Named, what_is


def register(routes: Routes) -> None:
    """Adds the address."""
    routes.page("/search", search)


def search(console: Console) -> Page:
    """Leads to the page, crawl or host of that name; without one to the hosts like it."""
    text = request.args.get("q", "").strip()
    named = what_is(console.backends, text)
    if named is Named.URL:
        return see(url_for("show_pages", url=text if SCHEME.match(text) else f"https://{text}"))
    if named is Named.PAGE:
        return see(url_for("show_page", page_id=text))
    if named is Named.CRAWL:
        return see(url_for("show_crawl", crawl=text))
    if named is Named.HOST:
        return see(url_for("show_host", host=text.lower()))
    return see(url_for("show_hosts", q=text) if text else url_for("show_hosts"))
