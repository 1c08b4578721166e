"""The figures of all hosts and failures in the memory of the console, on MongoDB.

SQLite reads the first rows of a list along an index in a millisecond. The MongoDB store does so
where the server does; servers that sort by reading all rows need a second for each page. So the
rows are read as they lie, sorted here, and read again in the background while somebody looks at
them. Stores with more rows than are held are asked for each page.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Generic, TypeVar

from crawlclean.storage.crawl_types import FailureReason
from crawlclean.storage.store.overview import (
    FailureGroup,
    GroupPlace,
    HostRow,
    Overview,
)
from crawlclean.storage.store.rows import to_microseconds
from crawlclean.storage.store.tables import HostColumn
from crawlclean.workers.operations.watching.remembering import Remembered

T = TypeVar("T")

MOST_HOSTS, MOST_GROUPS = 20_000, 50_000
"""Rows that are held: 10 and 20 MB."""

AGE_S, SHARE = 10.0, 0.05
"""Rows are read anew when they are this old, or older where reading takes more of the time."""

SHOWN_AGE_S = 15.0
"""Pages show the age of rows from here on; the housekeeper computes them every ten seconds."""


class Rows(Generic[T]):
    """Rows as they were read; None: there are too many."""

    def __init__(self, rows: Sequence[T] | None) -> None:
        """Has sorted nothing."""
        self.rows = rows
        self._ordered: dict[str, Sequence[T]] = {}

    def by(self, name: str, key: Callable[[T], tuple[int | str, ...]]) -> Sequence[T]:
        """The rows by a key, largest first; ``name`` is the name of the order."""
        if name not in self._ordered:
            self._ordered[name] = sorted(self.rows or (), key=key, reverse=True)
        return self._ordered[name]


class HeldFigures(Overview):
    """The lists of ``Overview`` from memory; what has a key is read by it."""

    def __init__(self, overview: Overview) -> None:
        """Has read nothing."""
        super().__init__(overview._ports)
        self._held = Remembered(share=SHARE)

    def hosts(
        self, by: HostColumn = "records", after: tuple[int, str] | None = None, limit: int = 50
    ) -> list[HostRow]:
        """Hosts by a column, as ``Overview.hosts``."""
        held = self._held.ask("hosts", lambda: Rows(self.every_host(MOST_HOSTS)), AGE_S)
        if held.rows is None:
            return super().hosts(by, after, limit)

        def place(row: HostRow) -> tuple[int, str]:
            value = getattr(row, by)
            number = to_microseconds(value) if isinstance(value, datetime) else value or 0
            return number, row.host

        behind = (r for r in held.by(by, place) if after is None or place(r) < after)
        return [row for row, _ in zip(behind, range(limit), strict=False)]

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

        def read() -> Rows[FailureGroup]:
            return Rows(self.every_failure_group(MOST_GROUPS))

        held = self._held.ask("groups", read, AGE_S) if host is None else None
        if held is None or held.rows is None:
            return super().failure_groups(crawl_id, host, limit, reason=reason, after=after)
        wanted = (
            group
            for group in held.by("count", lambda group: group.place)
            if (crawl_id is None or group.crawl_id == crawl_id)
            and (reason is None or group.reason is reason)
            and (after is None or group.place < after)
        )
        return [group for group, _ in zip(wanted, range(limit), strict=False)]

    def as_of(self) -> datetime | None:
        """When the figures were computed, as ``Overview.as_of``; or read, when that is long ago."""
        known = super().as_of()
        age_s = self._held.oldest_s()
        if age_s < SHOWN_AGE_S:
            return known
        then = datetime.fromtimestamp(time.time() - age_s, UTC)
        return min(known, then) if known else then
