"""Why URLs failed, in kept figures: causes of all crawls, of one crawl, or of one host."""

from __future__ import annotations

from datetime import datetime
from difflib import get_close_matches

from cleaning.errors import NotFound
from storage.store.protocol import Store
from workers.answers.crawls import FailureCause
from workers.config import Settings
from workers.operations.backends import existing_store
from workers.operations.hosts.hosts import settle, why_moving
from workers.operations.urls.near_matches import did_you_mean, near_hosts

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
        crawls = {row.spec.crawl_id for row in store.crawls.all()}
        if not target or target in crawls:
            return _of_crawl(store, target or None, as_of)
        found = _of_host(store, target, as_of)
        if not found and store.overview.host(target) is None:
            names = [*near_hosts(store, target), *get_close_matches(target, sorted(crawls))]
            raise NotFound(
                f"no crawl and no host is named {target}; `crawls` and `hosts` list them"
                f"{did_you_mean(names)}"
            )
    return found


def _of_crawl(store: Store, crawl_id: str | None, as_of: datetime | None) -> list[FailureCause]:
    return [
        FailureCause(
            crawl=each.crawl_id,
            reason=each.reason,
            status=each.status,
            urls=each.count,
            hosts=each.hosts,
            first_at=each.first_at,
            newest_at=each.newest_at,
            as_of=as_of,
        )
        for each in store.overview.causes(crawl_id)
    ]


def _of_host(store: Store, host: str, as_of: datetime | None) -> list[FailureCause]:
    return [
        FailureCause(
            crawl=each.crawl_id,
            reason=each.reason,
            status=each.status,
            urls=each.count,
            hosts=1,
            first_at=each.first_at,
            newest_at=each.newest_at,
            as_of=as_of,
        )
        for each in store.overview.failure_groups(host=host, limit=MOST_GROUPS)
    ]
