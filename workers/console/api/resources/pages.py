"""Pages: what became of a URL, records, and search by words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

import msgspec

from crawlclean.cleaning.records import CleanRecord
from crawlclean.storage.search import MOST_CHARS, phrases_of
from crawlclean.workers.answers.hosts import PageVersion, SearchHit, VersionDifference
from crawlclean.workers.answers.moments import UrlHistory
from crawlclean.workers.console.api.registry import Api, Call, Name, PageOf, Part, cursor, number
from crawlclean.workers.operations.searching import Wanted, require_search
from crawlclean.workers.operations.urls.explaining import explain_from
from crawlclean.workers.operations.watching.answers import record_answer
from crawlclean.workers.operations.watching.views.pages import (
    version_answers,
    version_difference,
)
from crawlclean.workers.operations.watching.views.search import search_words

# Pages: what became of a URL, and records.

MOST_ASKED_CHARS = 4096
"""The longest URL that is crawled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlQuery:
    """Which page.

    Attributes:
        url: Its URL, with or without ``http://``, or the first digits of its page id, at least
            six: ``4f1193``.
    """

    url: Annotated[
        str,
        msgspec.Meta(
            min_length=1,
            max_length=MOST_ASKED_CHARS,
            extra_json_schema={"format": "url-or-page-id"},
        ),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceQuery(UrlQuery):
    """Which two versions of a page.

    Attributes:
        older: A time: the version that the page had then; without both times the newest version
            and the one before are compared.
        newer: A later time.
    """

    older: datetime | None = None
    newer: datetime | None = None


def register_pages(api: Api) -> None:
    """Adds the addresses."""
    api.get("/versions", get_versions, query=UrlQuery, page_of=PageVersion)
    api.get("/versions/difference", get_difference, query=DifferenceQuery, answer=VersionDifference)
    api.get("/urls", get_url, query=UrlQuery, answer=UrlHistory)
    api.get("/records", get_record, query=UrlQuery, answer=CleanRecord)


def get_url(call: Call, query: UrlQuery) -> UrlHistory:
    """What became of a URL: every step in every crawl, or why no crawl took it.

    The lines of `why`, in one object. A queue at rest is not started to answer, and links to an
    unknown URL are searched for a moment: `why` takes longer for both.
    """
    return explain_from(call.console.backends, query.url).history


def get_record(call: Call, query: UrlQuery) -> CleanRecord:
    """The newest record of a page, as `show --json` prints it."""
    return record_answer(call.console.backends, query.url)


def get_versions(call: Call, query: UrlQuery) -> PageOf[PageVersion]:
    """The versions of a page, newest first, as `show --history --json` prints them."""
    return PageOf(items=version_answers(call.console.backends, query.url))


def get_difference(call: Call, query: DifferenceQuery) -> VersionDifference:
    """The difference between two versions of a page, as `show --diff --json` prints it."""
    given = [at for at in (query.older, query.newer) if at]
    wanted = [at if at.tzinfo else at.replace(tzinfo=UTC) for at in given]
    return version_difference(call.console.backends, query.url, wanted if len(wanted) == 2 else ())


# Search by words.

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


def register_search(api: Api) -> None:
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
