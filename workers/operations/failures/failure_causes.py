"""Why URLs failed, in kept figures: causes of all crawls, of one crawl, or of one host."""

from __future__ import annotations

from datetime import datetime

from crawlclean.storage.store.overview import Cause, FailureGroup
from crawlclean.workers.answers.crawls import FailureCause
from crawlclean.workers.answers.making import answer_of
from crawlclean.workers.config import Settings
from crawlclean.workers.operations.backends import existing_store
from crawlclean.workers.operations.hosts.hosts import settle, why_moving
from crawlclean.workers.operations.urls.near_matches import unknown_name

MOST_GROUPS = 1_000


def find_causes(settings: Settings, target: str = "") -> list[FailureCause]:
    """Returns the causes of failures, most URLs first.

    While a crawl runs the figures are those of its sweeper's last round, and ``as_of`` has the
    time; at rest they are of this moment.

    Args:
        settings: Where the store is.
        target: Only of this crawl or host; ``""``: of every crawl.

    Raises:
        NotFound: Neither a crawl nor a host has this name.
    """
    moving = why_moving(settings)
    with existing_store(settings) as store:
        as_of = settle(store, moving)
        if not target or store.crawls.get(target):
            causes = store.overview.causes(target or None)
            return [cause_answer(each, as_of) for each in causes]
        found = store.overview.failure_groups(host=target, limit=MOST_GROUPS)
        if not found and store.overview.host(target) is None:
            raise unknown_name(store, target)
    return [cause_answer(each, as_of) for each in found]


def cause_answer(cause: Cause | FailureGroup, as_of: datetime | None) -> FailureCause:
    """A cause of a crawl, or of one host in it, as an answer."""
    return answer_of(
        FailureCause,
        cause,
        crawl=cause.crawl_id,
        urls=cause.count,
        hosts=cause.hosts,
        as_of=as_of,
    )
