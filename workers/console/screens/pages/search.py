"""Search: the page, crawl or host that was typed; without one of that name records by words."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import datetime

from flask import request, url_for

from crawlclean.cleaning.errors import ConfigError, NotFound, ServiceError
from crawlclean.storage.search import Asked
from crawlclean.workers.config import variable
from crawlclean.workers.console.routes import Console, Page, asked_limit, asked_number, render, see
from crawlclean.workers.console.screens.pages.pages import PAGE_ID
from crawlclean.workers.operations.controlling.crawls import crawl_names
from crawlclean.workers.operations.reading import read_time
from crawlclean.workers.operations.searching import SearchPage, is_known_host, search_words

SCHEME = re.compile(r"https?://", re.IGNORECASE)
MOST_HITS = 50
"""Records of one page: each is read, and compared with the phrases."""


def search(console: Console) -> Page:
    """Leads to the page, crawl or host of that name; without one to the records with the words.

    While search by words is off: to the hosts of a name like it. ``kind=words`` leads nowhere.
    """
    text = request.args.get("q", "").strip()
    is_on = console.settings.storage.search
    if not text:
        return _page(text, None, "", is_on=is_on)
    if request.args.get("kind") != "words":
        leads_to = _leads_to(console, text)
        if leads_to:
            return see(leads_to)
        if not is_on:
            return see(url_for("show_hosts", q=text))
    page, wrong = _found(console, text) if is_on else (None, "")
    return _page(text, page, wrong, is_on=is_on)


def _page(text: str, page: SearchPage | None, wrong: str, *, is_on: bool) -> Page:
    setting = f"{variable('search')}=true"
    return render("search.html", text=text, is_on=is_on, page=page, wrong=wrong, setting=setting)


def _leads_to(console: Console, text: str) -> str:
    """Where a name of a page, a URL, a crawl or a host leads, in this order; ``""``: no name."""
    if PAGE_ID.fullmatch(text):
        return url_for("show_page", page_id=text)
    if SCHEME.match(text) or "/" in text:
        return url_for("show_pages", url=text if SCHEME.match(text) else f"https://{text}")
    with suppress(ServiceError):  # away: shown without it
        if text in crawl_names(console.backends):
            return url_for("show_crawl", crawl=text)
    is_host = is_known_host(console.backends, text.lower())
    return url_for("show_host", host=text.lower()) if is_host else ""


def _found(console: Console, text: str) -> tuple[SearchPage | None, str]:
    """What was found, or why nothing can be."""
    asked = request.args
    before, limit = asked_number(), min(asked_limit(), MOST_HITS)
    try:
        wanted = Asked(
            text=text,
            host=asked.get("host", "").strip().lower(),
            crawl_id=asked.get("crawl", "").strip(),
            since=_time(asked.get("from", "")),
            until=_time(asked.get("to", "")),
        )
        return search_words(console.backends, wanted, before, limit), ""
    except (ConfigError, NotFound) as error:
        return None, str(error)
    except ServiceError as error:
        if not error.retryable:
            raise
        return None, str(error)


def _time(text: str) -> datetime | None:
    return read_time(text.strip()) if text.strip() else None
