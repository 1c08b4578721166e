"""Why URLs failed: causes of crawls, groups of a host and a cause, and the URLs of a group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from http import HTTPStatus
from itertools import chain, islice
from typing import Annotated

import msgspec
from msgspec import Struct

from crawlclean.cleaning.errors import NotFound
from crawlclean.cleaning.messages import Message
from crawlclean.storage.crawl_types import FailureReason, UrlRow
from crawlclean.storage.store.overview import FailureCause, FailureGroup
from crawlclean.storage.store.rows import to_microseconds
from crawlclean.storage.store.urls import READ_FAILURES
from crawlclean.workers.answers.crawls import FailedUrl
from crawlclean.workers.answers.making import answer_of
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.parts import Part, Place, part_of
from crawlclean.workers.operations.urls.near_matches import unknown_name

MOST_GROUPS = 1_000
"""Causes of one host in one crawl; more are not seen. Also groups that are looked at for growth."""

MOST_GROWN = 50
"""Groups that have grown while somebody pages, as shown; among the first ``MOST_GROUPS``."""

FEW = READ_FAILURES // 2
"""Failed URLs of a host that may be read at once; there may be more since its figures."""

CAUSES_S = 5.0
"""How old the lists of causes and groups may be; the housekeeper makes them every ten seconds."""

TRANSIENT = frozenset(
    {
        FailureReason.DNS,
        FailureReason.CONNECT,
        FailureReason.TIMEOUT,
        FailureReason.TLS,
        FailureReason.BROKEN_ANSWER,
    }
)

Status = Annotated[int, msgspec.Meta(ge=0, le=999)]


def is_transient(reason: FailureReason | None, status: int) -> bool:
    """Whether URLs that failed so may succeed when they are fetched again."""
    if reason is FailureReason.HTTP_STATUS:
        return status >= 500 or status == HTTPStatus.TOO_MANY_REQUESTS
    return reason in TRANSIENT


def failure_causes(backends: Backends, crawl: str = "") -> Part[FailureCause]:
    """Causes of failures of each crawl, most URLs first; in one part.

    The lines of `failures --causes`.

    Args:
        backends: Queue and store.
        crawl: Only of this crawl.
    """
    with backends.store() as store:
        as_of = backends.settled(store)
        figures = backends.figures(store)
        ask = partial(figures.causes, crawl or None)
        return Part(items=backends.remembered(("causes", crawl), CAUSES_S, ask), as_of=as_of)


class CauseTotal(Struct, frozen=True, kw_only=True):
    """Failures of one reason and status in all crawls.

    Attributes:
        reason: Why they gave no record.
        status: HTTP status; 0 without a response.
        urls: Their number.
        newest_at: When the newest of them was.
        may_pass: Whether they may succeed when they are fetched again; 404 does not.
        crawls: Those of each crawl, the most first.
    """

    reason: FailureReason
    status: int
    urls: int
    newest_at: datetime
    may_pass: bool
    crawls: Sequence[FailureCause]


def cause_totals(causes: Iterable[FailureCause]) -> list[CauseTotal]:
    """Causes of crawls as totals, the most frequent first."""
    found: dict[tuple[FailureReason, int], list[FailureCause]] = {}
    for each in causes:
        found.setdefault((each.reason, each.status), []).append(each)
    totals = [
        CauseTotal(
            reason=reason,
            status=status,
            urls=sum(each.urls for each in of),
            newest_at=max(each.newest_at for each in of),
            may_pass=is_transient(reason, status),
            crawls=of,
        )
        for (reason, status), of in found.items()
    ]
    return sorted(totals, key=lambda each: -each.urls)


def causes_of(backends: Backends, target: str) -> Part[FailureCause]:
    """The causes of a crawl or of a host; ``""``: of every crawl.

    Raises:
        NotFound: Neither a crawl nor a host has this name.
    """
    with backends.store() as store:
        if not target or store.crawls.get(target):
            return failure_causes(backends, target)
        as_of = backends.settled(store)
        found = store.overview.failure_groups(host=target, limit=MOST_GROUPS)
        if not found and store.overview.host(target) is None:
            raise unknown_name(store, target)
        return Part(items=[each.as_cause(as_of) for each in found], as_of=as_of)


def failure_groups(
    backends: Backends,
    crawl: str = "",
    host: str = "",
    reason: FailureReason | None = None,
    after: Place | None = None,
    limit: int = 50,
) -> Part[FailureGroup]:
    """Failures of each host by cause, the largest groups first.

    Args:
        backends: Queue and store.
        crawl: Only of this crawl.
        host: Only of this host.
        reason: Only of this reason.
        after: Only groups behind this (count, sample and crawl: ``4f11...~news``).
        limit: At most this many.
    """
    behind = after and (after[0], *_sample_and_crawl(after[1]))
    with backends.store() as store:
        figures = backends.figures(store)
        groups = backends.remembered(
            ("groups", crawl, host, reason, behind, limit),
            CAUSES_S,
            lambda: figures.failure_groups(
                crawl or None, host or None, limit + 1, reason=reason, after=behind
            ),
        )
        return part_of(groups, limit, _place_of_group, figures.as_of())


def grown_groups(
    backends: Backends,
    crawl: str,
    host: str,
    reason: FailureReason | None,
    place: tuple[Place, datetime],
) -> Sequence[FailureGroup]:
    """Returns groups before a part of the list that have grown since its first part was read.

    The list is sorted by number: a group that grows moves to the front, where whoever reads on
    would miss it. Groups that were read before and have grown since are among them.

    Args:
        backends: Queue and store.
        crawl: As in ``failure_groups``.
        host: As in ``failure_groups``.
        reason: As in ``failure_groups``.
        place: The part begins behind this (count, sample and crawl); when the first one was read.
    """
    (count, rest), begun = place
    behind = (count, *_sample_and_crawl(rest))
    with backends.store() as store:
        groups = backends.remembered(
            ("first groups", crawl, host, reason),
            CAUSES_S,
            lambda: backends.figures(store).failure_groups(
                crawl or None, host or None, MOST_GROUPS, reason=reason
            ),
        )
    return [each for each in groups if each.place >= behind and each.newest_at >= begun][
        :MOST_GROWN
    ]


def failed_urls(
    backends: Backends,
    crawl: str,
    host: str,
    reason: FailureReason,
    status: Status = 0,
    after: Place | None = None,
    limit: int = 50,
) -> Part[FailedUrl]:
    """The URLs of one group of failures, newest first.

    Args:
        backends: Queue and store.
        crawl: Its crawl.
        host: Its host.
        reason: Why its URLs failed.
        status: Their HTTP status; 0 without a response.
        after: Only URLs behind this (microseconds since 1970 UTC, page id).
        limit: At most this many.

    Raises:
        NotFound: There is no such group.
    """
    with backends.store() as store:
        groups = backends.figures(store).failure_groups(crawl, host, MOST_GROUPS)
        are_few = sum(each.count for each in groups) <= FEW
        rows = store.urls.failures_of(
            crawl, host, reason, status, after, limit + 1, are_few=are_few
        )
        as_of = backends.figures(store).as_of()
    if not rows and after is None and _find(groups, reason, status) is None:
        raise NotFound(Message("none_failed", host, crawl))
    found = part_of(rows, limit, _place_of_url, as_of)
    return Part(items=[_failed_url(row) for row in found.items], after=found.after, as_of=as_of)


def every_failed_url(backends: Backends, target: str) -> Iterator[FailedUrl]:
    """Returns all URLs that gave no record, newest first, read while they are asked for.

    Args:
        backends: Queue and store.
        target: Only of this crawl or host; ``""``: all.

    Raises:
        NotFound: Neither a crawl nor a host has this name.
    """
    with backends.store() as store:
        crawl = target if store.crawls.get(target) else None
        rows = store.urls.failures(crawl, None if crawl or not target else target)
        first = list(islice(rows, 1))
        if target and not crawl and not first and store.statistics.get(target) is None:
            raise unknown_name(store, target)
        return map(_failed_url, chain(first, rows))


def find_group(
    backends: Backends, crawl: str, host: str, reason: FailureReason, status: int
) -> FailureGroup | None:
    """Returns the figures of a group; None while it has none."""
    with backends.store() as store:
        groups = backends.figures(store).failure_groups(crawl, host, MOST_GROUPS)
    return _find(groups, reason, status)


def _find(
    groups: Sequence[FailureGroup], reason: FailureReason, status: int
) -> FailureGroup | None:
    cause = (reason, status)
    return next((each for each in groups if (each.reason, each.status) == cause), None)


def _failed_url(row: UrlRow) -> FailedUrl:
    return answer_of(FailedUrl, row, crawl=row.crawl_id, failed_at=row.finished_at)


def _sample_and_crawl(text: str) -> tuple[str, str]:
    """Sample and crawl of a group in a place of the list: ``4f11...~news``."""
    sample, _, crawl = text.partition("~")
    return sample, crawl


def _place_of_group(group: FailureGroup) -> Place:
    return group.count, f"{group.sample}~{group.crawl_id}"


def _place_of_url(row: UrlRow) -> Place:
    return to_microseconds(row.finished_at), row.page_id
