"""What takes the room: folders of the data folder; crawls and hosts by what is stored of them."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from cleaning.errors import NotFound, ServiceError
from storage.crawl_types import CrawlState, UrlState
from storage.store.overview import HostRow
from storage.store.protocol import Store
from storage.store.space import COUNTED, SAMPLED, Space, SpaceKind
from workers.operations.watching.crawls import newest_crawls
from workers.operations.watching.kept_backends import KeptBackends
from workers.processes.fleet import size_of

AT_WORK = frozenset({CrawlState.RUNNING, CrawlState.PAUSED})

SPACE_S = 10.0
"""How old the figures may be: a million responses take 0.1 s to add up."""

FOLDERS = ("raw", "queue", "logs")
"""Folders of a data folder; the rest is the store's file."""

HOSTS_PER_PAGE = 20
"""Hosts that are sampled for one page: one with 30,000 responses takes 1.3 ms in SQLite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of the data folder.

    Attributes:
        name: ``raw``, ``queue``, ``logs``, ``store`` or ``other``.
        used_bytes: Its size on disk.
    """

    name: str
    used_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlSpace:
    """What one crawl takes.

    Attributes:
        crawl_id: The crawl.
        raw: Its archived responses; None without any.
        records: Its records; None without any.
        is_at_rest: Whether it is finished or stopped: its responses can be dropped.
    """

    crawl_id: str
    raw: Space | None
    records: Space | None
    is_at_rest: bool = True

    @property
    def stored_bytes(self) -> int:
        """Packed size of both."""
        return sum(each.stored_bytes for each in (self.raw, self.records) if each)


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What takes the room.

    Attributes:
        parts: Parts of the data folder; empty with servers.
        mount: Where its disk is mounted: ``/srv``; ``""`` with servers.
        free_bytes: Free on its disk; None with servers.
        total_bytes: Size of that disk; None with servers.
        quota_bytes: Most that the data folder may take; 0: no limit.
        crawls: The largest first.
        why_no_store: Why the store cannot be read; ``""``: it can, or has no crawl yet.
    """

    parts: Sequence[Part]
    free_bytes: int | None
    total_bytes: int | None
    quota_bytes: int
    crawls: Sequence[CrawlSpace]
    why_no_store: str
    mount: str = ""

    @property
    def others_bytes(self) -> int:
        """What other files take of the disk, and what it keeps for the administrator."""
        used = sum(part.used_bytes for part in self.parts)
        return max(0, (self.total_bytes or 0) - (self.free_bytes or 0) - used)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSpace:
    """What one host takes, over all crawls.

    Attributes:
        host: Lower-case authority.
        fetched_bytes: Bytes of its responses after content decoding, by which hosts are sorted.
        responses: Its archived responses; of very many, at least so many.
        raw_bytes: Their packed size.
        records: Its clean records.
        record_bytes: Their packed size.
        images: Its stored images; their bytes are among the archived responses.
        is_estimate: Whether sizes are the mean of 200 items, times their number.
    """

    host: str
    fetched_bytes: int
    responses: int
    raw_bytes: int
    records: int
    record_bytes: int
    images: int
    is_estimate: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRoom:
    """A part of the list of hosts by the bytes that were fetched of them.

    Attributes:
        hosts: The largest first.
        after: Place behind the last host, as in the address; ``""`` at the end.
        as_of: When the numbers of records and images were computed; None: of this moment.
    """

    hosts: Sequence[HostSpace]
    after: str
    as_of: datetime | None


def hosts_room(
    backends: KeptBackends, after: tuple[int, str] | None = None, limit: int = HOSTS_PER_PAGE
) -> HostRoom:
    """Returns what hosts take, the most fetched first; figures are at most a minute old.

    Args:
        backends: Queue and store.
        after: Only hosts behind this (fetched bytes, host).
        limit: At most this many hosts, at most ``HOSTS_PER_PAGE``.
    """
    most = min(limit, HOSTS_PER_PAGE)
    ask = partial(_hosts_room, backends, after, most)
    return backends.remembered(("space of hosts", after, most), SPACE_S, ask)


def _hosts_room(backends: KeptBackends, after: tuple[int, str] | None, most: int) -> HostRoom:
    with backends.store() as store:
        rows = store.overview.hosts("fetched_bytes", after, most + 1)
        hosts = [_host_space(store, row) for row in rows[:most]]
        as_of = store.overview.as_of()
    last = rows[most - 1] if len(rows) > most else None
    return HostRoom(
        hosts=hosts, after=f"{last.fetched_bytes}~{last.host}" if last else "", as_of=as_of
    )


def _host_space(store: Store, row: HostRow) -> HostSpace:
    sample = store.sample_host(row.host)
    stats = store.statistics.get(row.host)
    images = stats.pages_by_state.get(UrlState.IMAGE, 0) if stats else 0
    responses = sample.responses
    if responses == COUNTED:
        responses = max(COUNTED, row.records + images)
    return HostSpace(
        host=row.host,
        fetched_bytes=row.fetched_bytes,
        responses=responses,
        raw_bytes=round(sample.response_bytes * responses),
        records=row.records,
        record_bytes=round(sample.record_bytes * row.records),
        images=images,
        is_estimate=max(responses, row.records) > SAMPLED,
    )


def room_of(backends: KeptBackends) -> Room:
    """Returns what takes the room; figures are at most ten seconds old."""
    storage = backends.settings.storage
    parts: Sequence[Part] = ()
    free, total, mount = None, None, ""
    if storage.is_embedded and storage.data.exists():
        usage = shutil.disk_usage(storage.data)
        free, total = usage.free, usage.total
        parts = backends.remembered(("folders",), SPACE_S, lambda: _parts(storage.data))
        mount = str(_mount_of(storage.data))
    crawls: Sequence[CrawlSpace] = ()
    why_no_store = ""
    try:
        crawls = backends.remembered(("space",), SPACE_S, lambda: _crawls(backends))
        running = {each.name for each in newest_crawls(backends) if each.state in AT_WORK}
        crawls = [replace(each, is_at_rest=each.crawl_id not in running) for each in crawls]
    except NotFound:
        pass
    except ServiceError as error:
        why_no_store = str(error)
    return Room(
        parts=parts,
        free_bytes=free,
        total_bytes=total,
        quota_bytes=storage.disk_quota_bytes,
        crawls=crawls,
        why_no_store=why_no_store,
        mount=mount,
    )


def _mount_of(data: Path) -> Path:
    """The folder where the disk of a folder is mounted."""
    place = data.resolve()
    return next((each for each in (place, *place.parents) if each.is_mount()), place)


def _parts(data: Path) -> list[Part]:
    sizes = {name: size_of(data / name) for name in FOLDERS}
    sizes["store"] = sum(
        each.stat().st_blocks * 512 for each in data.glob("records.sqlite*") if each.is_file()
    )
    sizes["other"] = max(0, size_of(data) - sum(sizes.values()))
    ordered = sorted(sizes.items(), key=lambda each: -each[1])
    return [Part(name=name, used_bytes=size) for name, size in ordered]


def _crawls(backends: KeptBackends) -> list[CrawlSpace]:
    with backends.store() as store:
        found = {(each.crawl_id, each.kind): each for each in store.space()}
    crawls = [
        CrawlSpace(
            crawl_id=crawl,
            raw=found.get((crawl, SpaceKind.RAW)),
            records=found.get((crawl, SpaceKind.RECORDS)),
        )
        for crawl in {crawl for crawl, _ in found}
    ]
    return sorted(crawls, key=lambda each: (-each.stored_bytes, each.crawl_id))
