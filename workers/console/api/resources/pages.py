"""Pages: what became of a URL, and records."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

import msgspec

from crawlclean.cleaning.records import CleanRecord
from crawlclean.workers.answers.moments import UrlHistory
from crawlclean.workers.answers.versions import PageVersion, VersionDifference
from crawlclean.workers.console.api.registry import Api, Call, PageOf
from crawlclean.workers.console.api.resources.moments import wait_in_words
from crawlclean.workers.operations.watching.answers import record_answer, url_history
from crawlclean.workers.operations.watching.views.pages import (
    version_answers,
    version_difference,
)

MOST_CHARS = 4096
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
            min_length=1, max_length=MOST_CHARS, extra_json_schema={"format": "url-or-page-id"}
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


def register(api: Api) -> None:
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
    return url_history(call.console.backends, query.url, wait_in_words)


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
