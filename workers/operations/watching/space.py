"""What takes the room: folders of the data folder; crawls and hosts by what is stored of them."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from crawlclean.cleaning.errors import NotFound, ServiceError
from crawlclean.storage.crawl_types import CrawlState, UrlState
from crawlclean.storage.store.overview import COUNTED, SAMPLED, HostRow, Space, SpaceKind
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.operations import parts
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.controlling.crawls import newest_crawls
from crawlclean.workers.operations.parts import Place
from crawlclean.workers.operations.watching.kept_backends import KeptBackends
from crawlclean.workers.processes.fleet import size_of

AT_WORK = frozenset({CrawlState.RUNNING, CrawlState.PAUSED})

SPACE_S = 10.0
"""How old the figures may be: a million responses take 0.1 s to add up."""

FOLDERS = ("raw", "queue", "logs")
"""Folders of a data folder; the rest is the store's file."""

LOW_SHARE, LOW_LEAST_BYTES, LOW_MOST_BYTES = 1 / 20, 64 << 20, 10 << 30
"""A disk is nearly full with a twentieth free, but never above 10 GiB, which last for a while, nor
below 64 MiB: at 8 MiB a crawl stops."""

LOW_QUOTA_SHARE = 1 / 10
"""A quota is nearly reached with that much of it left."""

HOSTS_PER_PAGE = 20
"""Hosts that are sampled for one page: one with 30,000 responses takes 1.3 ms in SQLite."""


class Part(Struct, frozen=True, kw_only=True):
    """A part of the data folder.

    Attributes:
        name: ``raw``, ``queue``, ``logs``, ``store`` or ``other``.
        used_bytes: Its size on disk.
    """

    name: str
    used_bytes: int


class CrawlSpace(Struct, frozen=True, kw_only=True):
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


class Room(Struct, frozen=True, kw_only=True):
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
    def used_bytes(self) -> int:
        """What the data folder takes."""
        return sum(part.used_bytes for part in self.parts)

    @property
    def is_low(self) -> bool:
        """Whether the disk is nearly full."""
        return self.total_bytes is not None and is_low(self.free_bytes or 0, self.total_bytes)

    @property
    def is_quota_low(self) -> bool:
        """Whether the quota is nearly reached."""
        left_bytes = self.quota_bytes - self.used_bytes
        return self.quota_bytes > 0 and left_bytes < self.quota_bytes * LOW_QUOTA_SHARE

    @property
    def others_bytes(self) -> int:
        """What other files take of the disk, and what it keeps for the administrator."""
        return max(0, (self.total_bytes or 0) - (self.free_bytes or 0) - self.used_bytes)


class HostSpace(Struct, frozen=True, kw_only=True):
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


def hosts_room(
    backends: Backends, after: Place | None = None, limit: int = HOSTS_PER_PAGE
) -> parts.Part[HostSpace]:
    """What hosts take over all crawls, the most fetched first, at most 20 in a part.

    Args:
        backends: Queue and store.
        after: Only hosts behind this (fetched bytes, host).
        limit: At most this many.
    """
    most = min(limit, HOSTS_PER_PAGE)

    def ask() -> parts.Part[HostSpace]:
        with backends.store() as store:
            rows = store.overview.hosts("fetched_bytes", after, most + 1)
            found = parts.part_of(rows, most, lambda row: (row.fetched_bytes, row.host))
            hosts = [_host_space(store, row) for row in found.items]
            return parts.Part(items=hosts, after=found.after, as_of=store.overview.as_of())

    return backends.remembered(("space of hosts", after, most), SPACE_S, ask)


def _host_space(store: Store, row: HostRow) -> HostSpace:
    responses, response_bytes, record_bytes = store.sample_host(row.host)
    stats = store.statistics.get(row.host)
    images = stats.pages_by_state.get(UrlState.IMAGE, 0) if stats else 0
    if responses == COUNTED:
        responses = max(COUNTED, row.records + images)
    return HostSpace(
        host=row.host,
        fetched_bytes=row.fetched_bytes,
        responses=responses,
        raw_bytes=round(response_bytes * responses),
        records=row.records,
        record_bytes=round(record_bytes * row.records),
        images=images,
        is_estimate=max(responses, row.records) > SAMPLED,
    )


def is_low(free_bytes: int, total_bytes: int) -> bool:
    """Whether a disk is nearly full."""
    least = max(LOW_LEAST_BYTES, min(LOW_MOST_BYTES, round(total_bytes * LOW_SHARE)))
    return free_bytes < least


def low_room(backends: KeptBackends) -> Room | None:
    """Returns the room when the disk or the quota is nearly used up; None: there is enough."""
    storage = backends.settings.storage
    if not (storage.is_embedded and storage.data.exists()):
        return None
    usage = shutil.disk_usage(storage.data)
    if not storage.disk_quota_bytes and not is_low(usage.free, usage.total):
        return None
    room = room_of(backends)
    return room if room.is_low or room.is_quota_low else None


def droppable_crawl(backends: KeptBackends, room: Room) -> tuple[str, int]:
    """(crawl, bytes) of the crawl at rest whose archived responses free most; ``("", 0)``: none."""
    sizes = {
        each.crawl_id: each.raw.stored_bytes for each in room.crawls if each.raw and each.is_at_rest
    }
    if not sizes:
        return "", 0
    crawl = max(sizes, key=sizes.__getitem__)

    def ask() -> int:
        with backends.store() as store:
            return store.raw_space(crawl)[2]

    freed = backends.remembered(("freed by", crawl), SPACE_S, ask)
    return (crawl, freed) if freed else ("", 0)


def room_of(backends: KeptBackends) -> Room:
    """Parts of the data folder, and what each crawl takes; at most a minute old."""
    storage = backends.settings.storage
    folders: Sequence[Part] = ()
    free, total, mount = None, None, ""
    if storage.is_embedded and storage.data.exists():
        usage = shutil.disk_usage(storage.data)
        free, total = usage.free, usage.total
        folders = backends.remembered(("folders",), SPACE_S, lambda: _parts(storage.data))
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
        parts=folders,
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
