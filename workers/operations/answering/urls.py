"""URLs as answers: `why`, `failures`, and the API."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from crawlclean.storage.crawl_types import FailureRow
from crawlclean.storage.live_state import HostWait
from crawlclean.workers.answers.crawls import FailedUrl, Inlink, LinkedFrom, UnknownUrl, UrlTrace
from crawlclean.workers.answers.making import answer_of

if TYPE_CHECKING:  # they import the cleaner, which a list of failures does not need
    from crawlclean.workers.operations.urls.explaining import Explanation, Trace
    from crawlclean.workers.operations.urls.queued_urls import Inlinks

Describe = Callable[[HostWait, datetime], str]
"""What a host waits for at a time, in words for a person."""


def url_traces(found: Explanation, describe: Describe) -> Iterator[UrlTrace]:
    """Yields an answer for each crawl that knows the URL."""
    for trace in found.traces:
        yield answer_of(UrlTrace, trace, url=found.url, waits_for=waits_for(trace, describe))


def unknown_urls(found: Explanation) -> Iterator[UnknownUrl]:
    """Yields an answer for each crawl, when none knows the URL."""
    for each in found.not_taken:
        yield UnknownUrl(
            url=found.url,
            crawl=each.crawl,
            cause=each.cause,
            reason=each.reason,
            unknown=each.unknown,
            linked_from=_linked_from(each.inlinks),
            did_you_mean=found.near,
        )


def waits_for(trace: Trace, describe: Describe) -> str:
    """Why a pending URL is not fetched at this moment; ``""`` otherwise."""
    if trace.wait is None or trace.at is None:
        return trace.waits_for
    return f"{trace.wait.host}: {describe(trace.wait, trace.at)}"


def failed_url(row: FailureRow) -> FailedUrl:
    """A failure as an answer."""
    return answer_of(FailedUrl, row, crawl=row.crawl_id)


def _linked_from(found: Inlinks) -> LinkedFrom:
    return LinkedFrom(
        pages=found.count,
        nearest=tuple(
            Inlink(url=link.page_url, via=link.via, text=link.text, depth=link.depth)
            for link in found.pages
        ),
        records_searched=found.records,
        is_whole=found.is_whole,
        capped=tuple(found.capped),
    )
