"""The figures of all hosts and failures in the memory of the console, on MongoDB.

SQLite reads the first rows of a list along an index in a millisecond. The MongoDB store does so
where the server does; servers that sort by reading all rows need a second for each page. So the
rows are read as they lie, sorted here, and read again in the background while somebody looks at
them. Stores with more rows than are held are asked for each page.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from heapq import nlargest

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

MOST_HOSTS, MOST_GROUPS = 20_000, 50_000
"""Rows that are held: 10 and 20 MB; the first ones behind a place are found in 10 ms."""

AGE_S, SHARE = 10.0, 0.05
"""Rows are read anew when they are this old, or older where reading takes more of the time."""

SHOWN_AGE_S = 15.0
"""Pages show the age of rows from here on; the housekeeper computes them every ten seconds."""


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
        rows = self._held.ask("hosts", lambda: self.every_host(MOST_HOSTS), AGE_S)
        if rows is None:
            return super().hosts(by, after, limit)

        def place(row: HostRow) -> tuple[int, str]:
            value = getattr(row, by)
            number = to_microseconds(value) if isinstance(value, datetime) else value or 0
            return number, row.host

        behind = (row for row in rows if after is None or place(row) < after)
        return nlargest(limit, behind, key=place)

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

        rows = None
        if host is None:
            rows = self._held.ask("groups", lambda: self.every_failure_group(MOST_GROUPS), AGE_S)
        if rows is None:
            return super().failure_groups(crawl_id, host, limit, reason=reason, after=after)
        wanted = (
            group
            for group in rows
            if (crawl_id is None or group.crawl_id == crawl_id)
            and (reason is None or group.reason is reason)
            and (after is None or group.place < after)
        )
        return nlargest(limit, wanted, key=lambda group: group.place)

    def as_of(self) -> datetime | None:
        """When the figures were computed, as ``Overview.as_of``; or read, when that is long ago."""
        known = super().as_of()
        age_s = self._held.oldest_s()
        if age_s < SHOWN_AGE_S:
            return known
        then = datetime.fromtimestamp(time.time() - age_s, UTC)
        return min(known, then) if known else then
