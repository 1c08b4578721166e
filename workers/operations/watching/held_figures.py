"""The figures of all hosts and failures in the memory of the console, on MongoDB.

SQLite reads the first rows of a list along an index in a millisecond. The MongoDB store does so
where the server does; servers that sort by reading all rows need a second for each page. So the
rows are read as they lie, sorted here, and read again in the background while somebody looks at
them. Stores with more rows than are held are asked for each page.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Generic, TypeVar

from cleaning.errors import ServiceError
from storage.crawl_types import FailureReason
from storage.store.codec import to_microseconds
from storage.store.overview import Cause, FailureGroup, GroupPlace, HostColumn, HostRow, Overview

T = TypeVar("T")

MOST_HOSTS, MOST_GROUPS = 20_000, 50_000
"""Rows that are held: 10 and 20 MB."""

AGE_S, SHARE = 10.0, 0.05
"""Rows are read anew when they are this old, or older where reading takes more of the time."""

SHOWN_AGE_S = 15.0
"""Pages show the age of rows from here on; the sweeper computes them every ten seconds."""


@dataclass(frozen=True, slots=True)
class Reading(Generic[T]):
    """Rows as they were read.

    Attributes:
        rows: The rows, in any order; None: there are too many.
        read_at: Monotonic time when reading began.
        took_s: How long it took.
        ordered: The rows by order, made when asked for.
    """

    rows: Sequence[T] | None
    read_at: float
    took_s: float
    ordered: dict[str, Sequence[T]] = field(default_factory=dict)

    def by(self, name: str, key: Callable[[T], tuple[int | str, ...]]) -> Sequence[T]:
        """The rows by a key, largest first; ``name`` is the name of the order."""
        if name not in self.ordered:
            self.ordered[name] = sorted(self.rows or (), key=key, reverse=True)
        return self.ordered[name]


class Held(Generic[T]):
    """Rows of one kind."""

    def __init__(self, read: Callable[[], Sequence[T] | None]) -> None:
        """Has read nothing.

        Args:
            read: Reads the rows; None: there are too many.
        """
        self._read = read
        self._lock = threading.Lock()
        self._reading: Reading[T] | None = None
        self._refreshing = threading.Thread()

    def newest(self) -> Reading[T]:
        """The rows; those of a moment ago while others read them anew."""
        with self._lock:
            if self._reading is None:  # whoever comes meanwhile needs them, too
                self._reading = self._now()
            found = self._reading
            age_s = time.monotonic() - found.read_at
            is_old = age_s > max(AGE_S, found.took_s / SHARE)
            if is_old and not self._refreshing.is_alive():  # it also ends by a defect
                self._refreshing = threading.Thread(target=self._refresh, daemon=True)
                self._refreshing.start()
        return found

    def last(self) -> Reading[T] | None:
        """The rows that were read last; None before."""
        return self._reading

    def _refresh(self) -> None:
        with suppress(ServiceError):  # the rows stay, and pages show their age
            self._reading = self._now()

    def _now(self) -> Reading[T]:
        begun = time.monotonic()
        rows = self._read()
        return Reading(rows, begun, time.monotonic() - begun)


class HeldFigures:
    """The lists of ``Overview`` from memory; what has a key is read by it."""

    def __init__(self, overview: Overview) -> None:
        """Has read nothing."""
        self._overview = overview
        self._hosts = Held(lambda: overview.every_host(MOST_HOSTS))
        self._groups = Held(lambda: overview.every_failure_group(MOST_GROUPS))

    def hosts(
        self, by: HostColumn = "records", after: tuple[int, str] | None = None, limit: int = 50
    ) -> list[HostRow]:
        """Hosts by a column, as ``Overview.hosts``."""
        reading = self._hosts.newest()
        if reading.rows is None:
            return self._overview.hosts(by, after, limit)

        def place(row: HostRow) -> tuple[int, str]:
            value = getattr(row, by)
            number = to_microseconds(value) if isinstance(value, datetime) else value or 0
            return number, row.host

        behind = (r for r in reading.by(by, place) if after is None or place(r) < after)
        return [row for row, _ in zip(behind, range(limit), strict=False)]

    def host(self, host: str) -> HostRow | None:
        """One host, as ``Overview.host``."""
        return self._overview.host(host)

    def causes(self, crawl_id: str | None = None) -> list[Cause]:
        """Causes of failures, as ``Overview.causes``."""
        return self._overview.causes(crawl_id)

    def failure_groups(
        self,
        crawl_id: str | None = None,
        host: str | None = None,
        limit: int = 200,
        *,
        reason: FailureReason | None = None,
        after: GroupPlace | None = None,
    ) -> list[FailureGroup]:
        """Failures by cause of each host, as ``Overview.failure_groups``."""
        reading = self._groups.newest() if host is None else None
        if reading is None or reading.rows is None:
            return self._overview.failure_groups(crawl_id, host, limit, reason=reason, after=after)
        wanted = (
            group
            for group in reading.by("count", lambda group: group.place)
            if (crawl_id is None or group.crawl_id == crawl_id)
            and (reason is None or group.reason is reason)
            and (after is None or group.place < after)
        )
        return [group for group, _ in zip(wanted, range(limit), strict=False)]

    def as_of(self) -> datetime | None:
        """When the figures were computed, as ``Overview.as_of``; or read, when that is long ago."""
        known = self._overview.as_of()
        read = [each.read_at for each in (self._hosts.last(), self._groups.last()) if each]
        age_s = time.monotonic() - min(read, default=time.monotonic())
        if age_s < SHOWN_AGE_S:
            return known
        then = datetime.fromtimestamp(time.time() - age_s, UTC)
        return min(known, then) if known else then
