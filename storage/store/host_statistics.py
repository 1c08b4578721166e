"""Hosts' statistics at rest: one JSON text a host and crawl, recomputed when it is asked for.

Every number is recomputed from rows, never counted up, so it cannot drift. How that is done is
the databases' own (``sqlite/host_statistics.py``, ``mongo/host_statistics.py``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from cleaning.records import HostStats, ImageKind, LinkKind, PageKind
from storage.store.codec import stats_from_json
from storage.store.tables import PRESENT, Scan, Tables, of

Refresh = Callable[[str | None, str | None], int]
"""Recomputes the dirty hosts of a crawl and a host (None: of all); returns how many."""


class Statistics:
    """The table ``hosts``. A host is dirty from the save of an outcome until it is recomputed."""

    def __init__(self, tables: Tables, refresh: Refresh) -> None:
        self._tables = tables
        self._refresh = refresh

    def all(self, crawl_id: str | None = None) -> list[HostStats]:
        """Statistics of all hosts, most pages first; dirty ones are recomputed first."""
        return self._read(crawl_id, None)

    def get(self, host: str, crawl_id: str | None = None) -> HostStats | None:
        """Statistics of one host, recomputed when dirty; None for an unknown host.

        ``exact`` is True: whether the queue is at rest is not the store's to know.
        """
        return next(iter(self._read(crawl_id, host)), None)

    def refresh(self) -> int:
        """Recomputes the statistics of all dirty hosts; returns how many."""
        return self._refresh(None, None)

    def _read(self, crawl_id: str | None, host: str | None) -> list[HostStats]:
        self._refresh(crawl_id, host)
        by_host: dict[str, list[HostStats]] = {}
        where = of(crawl_id, host) | {"stats": PRESENT}
        wanted = Scan("hosts", ("crawl_id", "host", "stats"), where, ("crawl_id",))
        for _, name, stats in self._tables.scan(wanted):
            by_host.setdefault(name, []).append(stats_from_json(stats))
        merged = [merge_stats(parts) for parts in by_host.values()]
        return sorted(merged, key=lambda s: (-sum(s.pages_by_state.values()), s.host))


def merge_stats(parts: Sequence[HostStats]) -> HostStats:
    """One host's statistics over several crawls; a page of two crawls counts twice.

    Args:
        parts: At least one, all of the same host.
    """
    if len(parts) == 1:
        return parts[0]
    states: Counter[str] = Counter()
    kinds: Counter[PageKind] = Counter()
    links: Counter[LinkKind] = Counter()
    images: Counter[ImageKind] = Counter()
    reasons: Counter[str] = Counter()
    for part in parts:
        states.update(part.pages_by_state)
        kinds.update(part.pages_by_kind)
        links.update(part.links_by_kind)
        images.update(part.images_by_kind)
        reasons.update(part.errors_by_reason)
    return HostStats(
        host=parts[0].host,
        pages_by_state=dict(states),
        pages_by_kind=dict(kinds),
        links_by_kind=dict(links),
        images_by_kind=dict(images),
        errors_by_reason=dict(reasons),
        fetched_bytes=sum(part.fetched_bytes for part in parts),
        html_chars=sum(part.html_chars for part in parts),
        body_chars=sum(part.body_chars for part in parts),
        near_duplicates=sum(part.near_duplicates for part in parts),
        wait_ms=sum(part.wait_ms for part in parts),
        first_seen=min((p.first_seen for p in parts if p.first_seen), default=None),
        last_seen=max((p.last_seen for p in parts if p.last_seen), default=None),
        model_version=max(part.model_version for part in parts),
        exact=all(part.exact for part in parts),
    )
