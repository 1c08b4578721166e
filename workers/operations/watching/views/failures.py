"""Failures in groups of one cause, the largest first, and the URLs of one group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from crawlclean.cleaning.errors import NotFound
from crawlclean.storage.crawl_types import FailureReason, FailureRow
from crawlclean.storage.store.overview import Cause, FailureGroup
from crawlclean.storage.store.rows import to_microseconds
from crawlclean.storage.store.urls import READ_FAILURES, FailureKey
from crawlclean.workers.operations.watching.kept_backends import KeptBackends

MOST_CAUSES = 20
MOST_GROUPS = 1_000
"""Causes of one host in one crawl; more are not seen. Also groups that are looked at for growth."""

MOST_GROWN = 50
"""Groups that have grown while somebody pages, as shown; among the first ``MOST_GROUPS``."""

FEW = READ_FAILURES // 2
"""Failed URLs of a host that may be read at once; there may be more since its figures."""
CAUSES_S = 5.0
"""How old the lists of causes and groups may be; the sweeper computes them every ten seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailurePage:
    """A part of the list of groups.

    Attributes:
        causes: Causes over all hosts, the most frequent first; of the asked crawl.
        groups: Groups of a host, a crawl and a cause, the largest first.
        after: Place behind the last group, as in the address; ``""`` at the end.
        as_of: When the figures were computed; None: they are of this moment.
    """

    causes: Sequence[Cause]
    groups: Sequence[FailureGroup]
    after: str
    as_of: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDetails:
    """One group, and a part of its URLs.

    Attributes:
        group: The group; None when it has none any more.
        rows: Its URLs, newest first.
        after: Place behind the last URL, as in the address; ``""`` at the end.
        as_of: When the figures of the group were computed; its URLs are of this moment.
    """

    group: FailureGroup | None
    rows: Sequence[FailureRow]
    after: str
    as_of: datetime | None


def list_failures(
    backends: KeptBackends,
    crawl: str,
    host: str,
    reason: FailureReason | None,
    place: tuple[tuple[int, str] | None, int],
) -> FailurePage:
    """Returns groups of failures.

    Args:
        backends: Queue and store.
        crawl: Only of this crawl; ``""``: of all.
        host: Only of this host; ``""``: of all.
        reason: Only of this reason; None: of all.
        place: Only groups behind this (count, sample and crawl: ``4f11...~news``), None: from the
            first; at most this many.
    """
    (asked, limit), after = place, None
    if asked:
        sample, _, of_crawl = asked[1].partition("~")
        after = (asked[0], sample, of_crawl)
    with backends.store() as store:
        causes = backends.remembered(
            ("causes", crawl),
            CAUSES_S,
            lambda: backends.figures(store).causes(crawl or None)[:MOST_CAUSES],
        )
        groups = backends.remembered(
            ("groups", crawl, host, reason, after, limit),
            CAUSES_S,
            lambda: backends.figures(store).failure_groups(
                crawl or None, host or None, limit + 1, reason=reason, after=after
            ),
        )
        as_of = backends.figures(store).as_of()
    last = groups[limit - 1] if len(groups) > limit else None
    return FailurePage(
        causes=causes,
        groups=groups[:limit],
        after=f"{last.count}~{last.sample}~{last.crawl_id}" if last else "",
        as_of=as_of,
    )


def grown_groups(
    backends: KeptBackends,
    crawl: str,
    host: str,
    reason: FailureReason | None,
    place: tuple[tuple[int, str], datetime],
) -> Sequence[FailureGroup]:
    """Returns groups before a part of the list that have grown since its first part was read.

    The list is sorted by number: a group that grows moves to the front, where whoever reads on
    would miss it. Groups that were read before and have grown since are among them.

    Args:
        backends: Queue and store.
        crawl: As in ``list_failures``.
        host: As in ``list_failures``.
        reason: As in ``list_failures``.
        place: The part begins behind this (count, sample and crawl); when the first one was read.
    """
    (count, rest), begun = place
    sample, _, of_crawl = rest.partition("~")
    with backends.store() as store:
        groups = backends.remembered(
            ("first groups", crawl, host, reason),
            CAUSES_S,
            lambda: backends.figures(store).failure_groups(
                crawl or None, host or None, MOST_GROUPS, reason=reason
            ),
        )
    return [
        each
        for each in groups
        if (each.count, each.sample, each.crawl_id) >= (count, sample, of_crawl)
        and each.newest_at >= begun
    ][:MOST_GROWN]


def find_group(
    backends: KeptBackends, key: FailureKey, after: tuple[int, str] | None = None, limit: int = 50
) -> GroupDetails:
    """Returns a group with its URLs.

    Args:
        backends: Queue and store.
        key: The group.
        after: Only URLs behind this (microseconds since 1970 UTC, page id).
        limit: At most this many.

    Raises:
        NotFound: There is no such group.
    """
    with backends.store() as store:
        groups = backends.figures(store).failure_groups(key.crawl_id, key.host, MOST_GROUPS)
        causes = {(each.reason, each.status): each for each in groups}
        group = causes.get((key.reason, key.status))
        are_few = sum(each.count for each in groups) <= FEW
        rows = store.urls.failures_of(key, after, limit + 1, are_few=are_few)
        as_of = backends.figures(store).as_of()
    if group is None and not rows and after is None:
        raise NotFound(f"no URL of {key.host} has failed so in crawl {key.crawl_id}")
    last = rows[limit - 1] if len(rows) > limit else None
    return GroupDetails(
        group=group,
        rows=rows[:limit],
        after=f"{to_microseconds(last.failed_at)}~{last.page_id}" if last else "",
        as_of=as_of,
    )
