"""The statistics of all hosts, and the full figures of one host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace

from cleaning.errors import NotFound, ServiceError
from cleaning.records import HostStats
from storage.host_waits import Waits
from storage.opening import join_queue
from storage.store.drifts import DriftEvent
from storage.store.models import StoredModel
from workers.config import Settings
from workers.operations.backends import existing_store
from workers.operations.near_matches import did_you_mean, near_hosts
from workers.operations.stored_images import ImageReport, report_host


@dataclass(frozen=True, slots=True, kw_only=True)
class HostList:
    """The statistics of every host.

    Attributes:
        stats: Most pages first.
        moving: Why the figures are changing, as ``a crawl is running: ...``; ``""`` at rest.
    """

    stats: Sequence[HostStats]
    moving: str


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
        waits: What the host waits for in each of its crawls; None when no queue runs.
    """

    stats: HostStats
    model: StoredModel | None
    records_by_model: Mapping[int, int]
    drifts: Sequence[DriftEvent]
    images: ImageReport | None
    moving: str
    waits: Waits | None = None


def list_hosts(settings: Settings) -> HostList:
    """Returns the statistics of all hosts."""
    before = why_moving(settings)
    with existing_store(settings) as store:
        found = store.statistics.all()
    moving = before or why_moving(settings)
    return HostList(stats=[replace(stats, exact=not moving) for stats in found], moving=moving)


def find_host(settings: Settings, host: str) -> HostFigures:
    """Returns the figures of one host; all are 0 while nothing of the host is stored.

    Raises:
        NotFound: Nothing of the host is stored, and no running queue knows the host.
    """
    before = why_moving(settings)
    waits = waits_of(settings, host)
    with existing_store(settings) as store:
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
            waits=waits,
        )
    moving = before or why_moving(settings)
    return replace(figures, stats=replace(stats, exact=not moving), moving=moving)


def waits_of(settings: Settings, host: str) -> Waits | None:
    """Returns what a host waits for in each of its crawls; None when no queue runs."""
    with suppress(ServiceError), closing(join_queue(settings.storage)) as frontier:
        return frontier.waits.of([(crawl, host) for crawl in frontier.crawls_of(host)])
    return None


def why_moving(settings: Settings) -> str:
    """Returns a line why stored figures are changing at this moment; ``""`` when all is at rest."""
    try:
        with closing(join_queue(settings.storage)) as frontier:
            if any(frontier.counts(crawl).in_flight for crawl in frontier.crawl_ids()):
                return "a crawl is running: these numbers are of this moment"
            if frontier.learning.count():
                return "pages are being re-cleaned: these numbers are of this moment"
    except NotFound:  # an embedded queue runs as long as its crawl
        return ""
    except ServiceError as error:
        return f"not known whether a crawl is running: {error}"
    return ""
