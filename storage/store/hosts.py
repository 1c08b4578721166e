"""Hosts at rest: a host's archived pages and record versions in all crawls, and its statistics.

Statistics are one JSON text a host and crawl. Every number is recomputed from rows when it is asked
for, never counted up, so it cannot drift; each database does that in its own way
(``sqlite/host_statistics.py``, ``mongo/host_statistics.py``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from crawlclean.cleaning.page_warnings import WarningKind
from crawlclean.cleaning.records import HostStats, ImageKind, LinkKind, PageKind
from crawlclean.storage.crawl_types import PageRole
from crawlclean.storage.store.codec import from_microseconds, stats_from_json
from crawlclean.storage.store.ports import PAGE_KEY, PRESENT, Scan, Tables, count_by, of, steps
from crawlclean.storage.store.row_types import RowType

READ_PAGES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedPage:
    """A page whose response is archived: enough to choose a sample without reading bodies."""

    page_id: str
    crawl_id: str
    url: str
    fetched_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordVersion:
    """The version of a record.

    Attributes:
        page_id: 32 hex digits.
        crawl_id: Its crawl.
        fetched_at: End of the response it was made from.
        model_version: Version of the site model that made it; 0: no model.
        is_archived: Whether the archive holds the response it was made from.
    """

    page_id: str
    crawl_id: str
    fetched_at: datetime
    model_version: int
    is_archived: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBody:
    """What is stored of a page, without reading its record.

    Attributes:
        page_id: 32 hex digits.
        crawl_id: Its crawl.
        fetched_at: End of the response it was made from.
        model_version: Version of the site model that made it; 0: no model.
        body_chars: Length of its body.
    """

    page_id: str
    crawl_id: str
    fetched_at: datetime
    model_version: int
    body_chars: int


_BODY = RowType(StoredBody, "record")


class HostPages:
    """The member ``hosts``: a host's pages over all crawls, read in steps, ordered by page id."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def archived(self, host: str) -> Iterator[ArchivedPage]:
        """Yields the archived pages of a host, one for each crawl that has the page; no images."""
        wanted = Scan("raw", (*PAGE_KEY, "fetched_at"), {"host": host}, PAGE_KEY)
        for rows in steps(self._tables, wanted, READ_PAGES):
            urls = self._tables.get("urls", [(row[0], row[1]) for row in rows], ("url", "role"))
            for page_id, crawl_id, fetched_at in rows:
                url, role = urls.get((page_id, crawl_id), (None, None))
                if url and role != PageRole.IMAGE:  # no URL: being saved or deleted
                    yield ArchivedPage(
                        page_id=page_id,
                        crawl_id=crawl_id,
                        url=url,
                        fetched_at=from_microseconds(fetched_at),
                    )

    def versions(self, host: str, after: tuple[str, str] = ("", "")) -> Iterator[RecordVersion]:
        """Yields the version of every record of a host behind a (page id, crawl).

        A record that is saved again meanwhile is yielded once, in its old or its new version.
        """
        columns = (*PAGE_KEY, "fetched_at", "model_version")
        wanted = Scan("records", columns, {"host": host}, PAGE_KEY, after=after)
        for rows in steps(self._tables, wanted, READ_PAGES):
            raw = self._tables.get("raw", [(row[0], row[1]) for row in rows], ("fetched_at",))
            for page_id, crawl_id, fetched_at, model_version in rows:
                yield RecordVersion(
                    page_id=page_id,
                    crawl_id=crawl_id,
                    fetched_at=from_microseconds(fetched_at),
                    model_version=model_version,
                    is_archived=raw.get((page_id, crawl_id), (None,))[0] == fetched_at,
                )

    def bodies(self, host: str) -> list[StoredBody]:
        """What is stored of every page of a host, in any order; 3 ms a thousand."""
        rows = self._tables.scan(Scan("records", _BODY.columns, {"host": host}))
        return list(map(_BODY.read, rows))

    def by_model(self, host: str) -> Mapping[int, int]:
        """Number of a host's records by model version, ``{0: 12, 3: 480}``; 0: no model."""
        return count_by(self._tables, "records", "model_version", {"host": host})


Refresh = Callable[[str | None, str | None], int]
"""Recomputes the marked hosts of a crawl and a host (None: any); returns how many."""


class Statistics:
    """The member ``statistics``: one JSON text a host and crawl.

    A save marks the hosts of its outcomes as dirty; ``refresh`` recomputes those. Reading does not:
    with 10,000 hosts it would take as long as the crawl lets it (2 ms a dirty host).
    """

    def __init__(self, tables: Tables, refresh: Refresh) -> None:
        self._tables = tables
        self._refresh = refresh

    def all(self, crawl_id: str | None = None) -> list[HostStats]:
        """Statistics of all hosts, most pages first, as ``refresh`` left them."""
        return self._read(crawl_id, None)

    def get(self, host: str, crawl_id: str | None = None) -> HostStats | None:
        """Statistics of one host as ``refresh`` left them; None for an unknown host.

        Those of a host that never had any are computed. ``exact`` is True: a store does not know
        whether the queue is at rest.
        """
        found = self._read(crawl_id, host)
        if not found and self._refresh(crawl_id, host):
            found = self._read(crawl_id, host)
        return next(iter(found), None)

    def crawls_of(self, hosts: Sequence[str]) -> dict[str, list[str]]:
        """Crawls by host, of those hosts that the store knows: ``{"a.example": ["news"]}``."""
        found: dict[str, list[str]] = {}
        columns = ("host", "crawl_id")
        for host, crawl_id in self._tables.scan(Scan("hosts", columns, {"host": list(hosts)})):
            found.setdefault(host, []).append(crawl_id)
        return found

    def hosts_of(self, crawl_id: str, limit: int) -> list[str]:
        """Hosts of a crawl, at most ``limit``, in any order."""
        wanted = Scan("hosts", ("host",), {"crawl_id": crawl_id}, limit=limit)
        return [row[0] for row in self._tables.scan(wanted)]

    def names(self, prefix: str = "", limit: int = 1000) -> list[str]:
        """Hosts that begin with a prefix, in order; ``limit`` rows of host and crawl are read."""
        columns = ("host", "crawl_id")
        wanted = Scan("hosts", columns, order=columns, after=(prefix, ""), limit=limit)
        names = dict.fromkeys(row[0] for row in self._tables.scan(wanted))
        return [name for name in names if name.startswith(prefix)]

    def refresh(self) -> int:
        """Recomputes the statistics of all dirty hosts; returns how many."""
        return self._refresh(None, None)

    def _read(self, crawl_id: str | None, host: str | None) -> list[HostStats]:
        by_host: dict[str, list[HostStats]] = {}
        where = of(crawl_id, host) | {"stats": PRESENT}
        wanted = Scan("hosts", ("crawl_id", "host", "stats"), where, ("crawl_id",))
        for _, name, stats in self._tables.scan(wanted):
            by_host.setdefault(name, []).append(stats_from_json(stats))
        merged = [merge_stats(parts) for parts in by_host.values()]
        return sorted(merged, key=lambda s: (-sum(s.pages_by_state.values()), s.host))


def merge_stats(parts: Sequence[HostStats]) -> HostStats:
    """Adds up one host's statistics of several crawls; a page of two crawls counts twice.

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
    faults: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    warnings: Counter[WarningKind] = Counter()
    for part in parts:
        states.update(part.pages_by_state)
        kinds.update(part.pages_by_kind)
        links.update(part.links_by_kind)
        images.update(part.images_by_kind)
        reasons.update(part.errors_by_reason)
        faults.update(part.certificate_faults)
        statuses.update(part.errors_by_status)
        warnings.update(part.pages_by_warning)
    return HostStats(
        host=parts[0].host,
        pages_by_state=dict(states),
        pages_by_kind=dict(kinds),
        links_by_kind=dict(links),
        images_by_kind=dict(images),
        errors_by_reason=dict(reasons),
        certificate_faults=dict(faults),
        errors_by_status=dict(statuses),
        pages_by_warning=dict(warnings),
        empty_bodies=sum(part.empty_bodies for part in parts),
        fetched_bytes=sum(part.fetched_bytes for part in parts),
        html_chars=sum(part.html_chars for part in parts),
        body_chars=sum(part.body_chars for part in parts),
        near_duplicates=sum(part.near_duplicates for part in parts),
        kept_records=sum(part.kept_records for part in parts),
        wait_ms=sum(part.wait_ms for part in parts),
        first_seen=min((p.first_seen for p in parts if p.first_seen), default=None),
        last_seen=max((p.last_seen for p in parts if p.last_seen), default=None),
        model_version=max(part.model_version for part in parts),
        exact=all(part.exact for part in parts),
    )
