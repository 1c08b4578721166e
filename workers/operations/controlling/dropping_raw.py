"""Drops archived responses of a crawl or a host, to free room; their records stay."""

from __future__ import annotations

from crawlclean.cleaning.errors import ConfigError
from crawlclean.storage.crawl_types import CrawlState
from crawlclean.storage.store.overview import RawSpace
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.answers.control import DroppedRaw, TargetKind
from crawlclean.workers.config import Settings
from crawlclean.workers.operations.backends import existing_store, queue_side
from crawlclean.workers.operations.controlling.fetching_again import crawls_of_target

STEP = 1000
"""Responses that are dropped between two looks at whether to go on: about 0.2 s."""


def raw_place(settings: Settings, store: Store, target: str) -> tuple[str | None, str | None]:
    """The (crawl, host) of what is dropped; None: any.

    Raises:
        NotFound: The store has neither crawl nor host of this name.
        ConfigError: The crawl is not at rest: it learns hosts from its archive.
    """
    _, host = crawls_of_target(store, target)
    if host:
        return None, host
    # A queue at rest is started for this, and its file written anew when it is stopped.
    with queue_side(settings, at_rest=True) as side:
        if side.frontier is not None:
            counts = side.frontier.counts_of([target]).get(target)
            if counts and counts.state in (CrawlState.RUNNING, CrawlState.PAUSED) and counts.open:
                raise ConfigError(f"crawl {target} is not finished: stop it first, or name a host")
    return target, None


def plan_drop(settings: Settings, target: str) -> DroppedRaw:
    """What `drop_raw` would free; changes nothing.

    Raises:
        NotFound: No such crawl or host.
        ConfigError: The crawl is not at rest.
    """
    with existing_store(settings) as store:
        crawl, host = raw_place(settings, store, target)
        return _answer(target, host, store.raw_space(crawl, host))


def drop_raw(settings: Settings, target: str) -> DroppedRaw:
    """Drops the archived responses of a crawl, or of a host in every crawl.

    Raises:
        NotFound: No such crawl or host.
        ConfigError: The crawl is not at rest.
    """
    with existing_store(settings) as store:
        crawl, host = raw_place(settings, store, target)
        space = store.raw_space(crawl, host)
        store.drop_raw(crawl, host)
    return _answer(target, host, space)


def _answer(target: str, host: str | None, space: RawSpace) -> DroppedRaw:
    kind = TargetKind.HOST if host else TargetKind.CRAWL
    freed = space.freed_bytes
    return DroppedRaw(kind=kind, target=target, responses=space.responses, freed_bytes=freed)
