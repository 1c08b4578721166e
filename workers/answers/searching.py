"""JSON lines of `search`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from crawlclean.storage.search import SnippetPart


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A line of `search`: a record whose title or body has every word that was searched for.

    Attributes:
        url: URL of the page.
        title: Its title, may be empty.
        host: Its host.
        crawl: The crawl that stored the record.
        page_id: Id of the page, for `show` and the console.
        fetched_at: When the page was fetched.
        snippet: The text around the first hit, in parts.
    """

    url: str
    title: str
    host: str
    crawl: str
    page_id: str
    fetched_at: datetime
    snippet: tuple[SnippetPart, ...]
