"""Search by words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

import msgspec

from crawlclean.storage.search import MOST_CHARS, phrases_of
from crawlclean.workers.answers.searching import SearchHit
from crawlclean.workers.console.api.registry import Api, Call, Name, PageOf, Part, cursor, number
from crawlclean.workers.operations.searching import Wanted, require_search
from crawlclean.workers.operations.watching.views.search import search_words

LIST = "search"
Time = Annotated[datetime, msgspec.Meta(tz=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery(Part):
    """What is searched for.

    Attributes:
        q: Words, or phrases in quotation marks; a record has to have all of them.
        host: Only of this host.
        crawl: Only of this crawl.
        since: Only pages fetched then or later.
        until: Only pages fetched before.
    """

    q: Annotated[str, msgspec.Meta(min_length=1, max_length=MOST_CHARS)]
    host: Name = ""
    crawl: Name = ""
    since: Time | None = None
    until: Time | None = None


def register(api: Api) -> None:
    """Adds the address."""
    api.get("/search", get_search, query=SearchQuery, page_of=SearchHit)


def get_search(call: Call, query: SearchQuery) -> PageOf[SearchHit]:
    """Records by words of title and body, those saved last first; 404 while search is off.

    None where `q` has no word of two letters.
    """
    require_search(call.console.settings)
    if not phrases_of(query.q):
        return PageOf(items=())
    wanted = Wanted(
        text=query.q,
        host=query.host.lower(),
        crawl=query.crawl,
        since=query.since,
        until=query.until,
    )
    before = number(query.after, LIST)
    found = search_words(call.console.backends, wanted, before, query.limit)
    return PageOf(items=found.hits, next=cursor(LIST, found.after) if found.after else None)
