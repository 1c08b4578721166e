"""Failures: groups of a host and a cause, their URLs, causes of crawls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import msgspec

from crawlclean.storage.crawl_types import FailureReason
from crawlclean.storage.store.overview import FailureGroup
from crawlclean.storage.store.urls import FailureKey
from crawlclean.workers.answers.crawls import FailedUrl, FailureCause
from crawlclean.workers.console.api.registry import Api, Call, Name, PageOf, Part, following, place
from crawlclean.workers.operations.answering.urls import failed_url
from crawlclean.workers.operations.watching.answers import failure_causes
from crawlclean.workers.operations.watching.views.failures import find_group, list_failures

GROUPS, URLS = "failures", "failed urls"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailuresQuery(Part):
    """Which groups.

    Attributes:
        crawl: Only of this crawl.
        host: Only of this host.
        reason: Only of this reason.
    """

    crawl: Name = ""
    host: Name = ""
    reason: FailureReason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupQuery(Part):
    """Which group.

    Attributes:
        crawl: Its crawl.
        host: Its host.
        reason: Why its URLs failed.
        status: Their HTTP status; 0 without a response.
    """

    crawl: Name
    host: Name
    reason: FailureReason
    status: Annotated[int, msgspec.Meta(ge=0, le=999)] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CausesQuery:
    """Which causes.

    Attributes:
        crawl: Only of this crawl.
    """

    crawl: Name = ""


def register(api: Api) -> None:
    """Adds the addresses."""
    api.get("/failures", get_failures, query=FailuresQuery, page_of=FailureGroup)
    api.get("/failures/urls", get_failed_urls, query=GroupQuery, page_of=FailedUrl)
    api.get("/failures/causes", get_failure_causes, query=CausesQuery, page_of=FailureCause)


def get_failures(call: Call, query: FailuresQuery) -> PageOf[FailureGroup]:
    """Failures of each host by cause, the largest groups first."""
    page = list_failures(
        call.console.backends,
        query.crawl,
        query.host,
        query.reason,
        (place(query.after, GROUPS), query.limit),
    )
    return PageOf(items=page.groups, next=following(GROUPS, page.after), as_of=page.as_of)


def get_failed_urls(call: Call, query: GroupQuery) -> PageOf[FailedUrl]:
    """The URLs of one group of failures, newest first."""
    key = FailureKey(
        crawl_id=query.crawl, host=query.host, reason=query.reason, status=query.status
    )
    found = find_group(call.console.backends, key, place(query.after, URLS), query.limit)
    items = [failed_url(row) for row in found.rows]
    return PageOf(items=items, next=following(URLS, found.after), as_of=found.as_of)


def get_failure_causes(call: Call, query: CausesQuery) -> PageOf[FailureCause]:
    """Causes of failures of each crawl, most URLs first; in one part.

    The lines of `failures --causes`.
    """
    found, as_of = failure_causes(call.console.backends, query.crawl or None)
    return PageOf(items=found, as_of=as_of)
