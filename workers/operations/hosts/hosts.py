"""The statistics of all hosts, and the full figures of one host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime

from crawlclean.cleaning.errors import NotFound, ServiceError
from crawlclean.cleaning.lexicon import second
from crawlclean.cleaning.records import HostStats
from crawlclean.storage.live_state import Waits
from crawlclean.storage.opening import join_queue
from crawlclean.storage.store.models import DriftEvent, StoredModel
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.config import Settings
from crawlclean.workers.operations.backends import existing_store
from crawlclean.workers.operations.files.stored_images import ImageReport, report_host
from crawlclean.workers.operations.urls.near_matches import did_you_mean, near_hosts


@dataclass(frozen=True, slots=True, kw_only=True)
class HostList:
    """The statistics of every host.

    Attributes:
        stats: Most pages first.
        moving: Why the figures are changing, as ``a crawl is running: ...``; ``""`` at rest.
        as_of: When the figures were computed; None: they are of this moment.
    """

    stats: Sequence[HostStats]
    moving: str
    as_of: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFigures:
    """One host in full.

    Attributes:
        stats: Its statistics.
        model: The version of its model that is in use; None before the host was learned.
        records_by_model: Records by the model version that made them, 0: none: ``{0: 5, 1: 80}``.
        drifts: When the host changed, newest first.
        images: Report on its images; None when no crawl of the host fetches images.
        moving: Why the figures are changing, as ``a crawl is running: ...``; ``""`` at rest.
        as_of: When the figures were computed; None: they are of this moment.
        waits: What the host waits for in each of its crawls; None when no queue runs.
        next_visits: When its next page is due in each crawl that keeps fresh, by name of the crawl.
    """

    stats: HostStats
    model: StoredModel | None
    records_by_model: Mapping[int, int]
    drifts: Sequence[DriftEvent]
    images: ImageReport | None
    moving: str
    as_of: datetime | None
    waits: Waits | None = None
    next_visits: Mapping[str, datetime] = field(default_factory=dict)


def list_hosts(settings: Settings) -> HostList:
    """Returns the statistics of all hosts."""
    before = why_moving(settings)
    with existing_store(settings) as store:
        as_of = settle(store, before)
        found = store.statistics.all()
    moving = _moving_line(before or why_moving(settings), as_of)
    stats = [replace(each, exact=not moving) for each in found]
    return HostList(stats=stats, moving=moving, as_of=as_of)


def find_host(settings: Settings, host: str) -> HostFigures:
    """Returns the figures of one host; all are 0 while nothing of the host is stored.

    Raises:
        NotFound: Nothing of the host is stored, and no running queue knows the host.
    """
    before = why_moving(settings)
    waits = waits_of(settings, host)
    with existing_store(settings) as store:
        as_of = settle(store, before)
        stats = store.statistics.get(host)
        if stats is None and not (waits and waits.hosts):
            raise NotFound(f"nothing of {host} is stored{did_you_mean(near_hosts(store, host))}")
        stats = stats or HostStats(host=host)
        figures = HostFigures(
            stats=stats,
            model=store.models.get(host),
            records_by_model=store.hosts.by_model(host),
            drifts=store.drifts.of(host),
            images=report_host(store, host),
            moving="",
            as_of=as_of,
            waits=waits,
            next_visits=_next_visits(store, host),
        )
    moving = _moving_line(before or why_moving(settings), as_of)
    return replace(figures, stats=replace(stats, exact=not moving), moving=moving)


def _next_visits(store: Store, host: str) -> dict[str, datetime]:
    """When the next page of a host is due in each crawl that keeps fresh."""
    fresh = [row.spec.crawl_id for row in store.crawls.all() if row.spec.keep_fresh]
    due = {crawl_id: store.revisits.next_due(crawl_id, host) for crawl_id in fresh}
    return {crawl_id: at for crawl_id, at in due.items() if at is not None}


def waits_of(settings: Settings, host: str) -> Waits | None:
    """Returns what a host waits for in each of its crawls; None when no queue runs."""
    with suppress(ServiceError), closing(join_queue(settings.storage)) as frontier:
        return frontier.waits.of([(crawl, host) for crawl in frontier.crawls_of(host)])
    return None


def settle(store: Store, moving: str) -> datetime | None:
    """Brings kept figures up to date at rest; while a crawl runs, its housekeeper does.

    Returns when the figures were computed; None while nothing has changed since.
    """
    if not moving:
        store.statistics.refresh()
    return store.overview.as_of()


def as_of_text(as_of: datetime | None) -> str:
    """The age of kept figures: ``these numbers are as of 2026-11-22 14:05:09 UTC``."""
    if as_of is None:
        return "these numbers are of this moment"
    return f"these numbers are as of {second(as_of)}"


def _moving_line(why: str, as_of: datetime | None) -> str:
    return f"{why}: {as_of_text(as_of)}" if why else ""


def why_moving(settings: Settings) -> str:
    """Returns why stored figures are changing at this moment; ``""`` when all is at rest."""
    try:
        with closing(join_queue(settings.storage)) as frontier:
            if any(frontier.counts(crawl).in_flight for crawl in frontier.crawl_ids()):
                return "a crawl is running"
            if frontier.learning.count():
                return "pages are being re-cleaned"
    except NotFound:  # an embedded queue runs as long as its crawl
        return ""
    except ServiceError as error:
        return f"not known whether a crawl is running ({error})"
    return ""
