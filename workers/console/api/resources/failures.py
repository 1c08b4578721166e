"""Failures: single URLs, groups of a host and cause, causes of crawls."""

from __future__ import annotations

from dataclasses import dataclass

from storage.store.overview import FailureGroup
from workers.answers.crawls import FailedUrl, FailureCause
from workers.console.api.paging import USUAL_ROWS, Limit, Name, PageOf
from workers.console.api.registry import Api, Call
from workers.operations.watching.answers import failed_urls, failure_causes, failure_groups


@dataclass(frozen=True, slots=True, kw_only=True)
class FailuresQuery:
    """Which failures.

    Attributes:
        crawl: Only of this crawl.
        host: Only of this host.
        limit: At most this many rows.
    """

    crawl: Name = ""
    host: Name = ""
    limit: Limit = USUAL_ROWS


@dataclass(frozen=True, slots=True, kw_only=True)
class CausesQuery:
    """Which causes.

    Attributes:
        crawl: Only of this crawl.
    """

    crawl: Name = ""


def register(api: Api) -> None:
    """Adds the addresses."""
    api.get("/failures", get_failures, query=FailuresQuery, page_of=FailedUrl)
    api.get("/failures/groups", get_failure_groups, query=FailuresQuery, page_of=FailureGroup)
    api.get("/failures/causes", get_failure_causes, query=CausesQuery, page_of=FailureCause)


def get_failures(call: Call, query: FailuresQuery) -> PageOf[FailedUrl]:
    """The newest failed URLs, those left out by a rule among them; in one part."""
    backends = call.console.backends
    found = failed_urls(backends, query.crawl or None, query.host or None, query.limit)
    return PageOf(items=found)


def get_failure_groups(call: Call, query: FailuresQuery) -> PageOf[FailureGroup]:
    """Failures of each host by cause, the largest groups first; in one part."""
    backends = call.console.backends
    found, as_of = failure_groups(backends, query.crawl or None, query.host or None, query.limit)
    return PageOf(items=found, as_of=as_of)


def get_failure_causes(call: Call, query: CausesQuery) -> PageOf[FailureCause]:
    """Causes of failures of each crawl, most URLs first; in one part."""
    found, as_of = failure_causes(call.console.backends, query.crawl or None)
    return PageOf(items=found, as_of=as_of)
