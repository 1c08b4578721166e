"""Figures that are kept ready for lists: hosts, failures by cause, URLs of crawls by state.

Reading one of them costs milliseconds however many URLs are stored, and changes nothing.
``refresh`` of the member ``statistics`` recomputes the rows of the hosts that changed, and with
them the totals of their crawls; nothing is ever counted up, so no number can drift. The housekeeper
does so every ten seconds, a run at its end: in between the figures are those of ``as_of``.

| table | one row | example |
|---|---|---|
| ``host_rows`` | a host over all crawls | ``www.example.com``, 480 records, 3 failed |
| ``host_states`` | URLs of a host and crawl in a final state | ``record``, 480 |
| ``failure_groups`` | failures of a host and crawl by reason and status | ``http_status``, 404, 2 |
| ``crawl_counts`` | URLs of a crawl in a final state | ``news``, ``record``, 12480 |
| ``causes`` | failures of a crawl by reason and status | ``news``, ``timeout``, 0, 31 |
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from itertools import chain
from operator import itemgetter
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from crawlclean.cleaning.records import HostStats, PageKind
from crawlclean.storage.crawl_types import FailureReason, UrlState
from crawlclean.storage.store.host_statistics import FailureGroups, merge_stats
from crawlclean.storage.store.ports import PRESENT, Fold, Member, Row, Scan, Values, Where, of
from crawlclean.storage.store.rows import (
    RowType,
    from_microseconds,
    stats_from_json,
    to_microseconds,
)
from crawlclean.storage.store.stories import number_of
from crawlclean.storage.store.tables import KEYS, HostColumn

# Space that crawls and hosts take in a store, by what is stored.

SAMPLED = 200
"""Items of a crawl whose sizes are read where reading all would take long."""

COUNTED = 20_000
"""Archived responses of a host that are counted: 2 ms; a host with more has at least so many."""


class SpaceKind(StrEnum):
    """What is stored."""

    RAW = "raw"  # archived responses
    RECORDS = "records"  # clean records


class Space(Struct, frozen=True):
    """What a crawl takes of one kind.

    Attributes:
        crawl_id: The crawl.
        kind: What is stored.
        items: Their number.
        stored_bytes: Their packed size.
        is_estimate: Whether the size is the mean of ``SAMPLED`` items, times their number.
    """

    crawl_id: str
    kind: SpaceKind
    items: int
    stored_bytes: int
    is_estimate: bool


SAVED_LAST = 20
"""Records of a crawl among which its newest page is: re-cleaning saves older ones."""

_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "host_states": ("n",),
    "failure_groups": ("n", "first_at", "newest_at", "sample"),
    "crawl_counts": ("n",),
    "causes": ("n", "hosts", "first_at", "newest_at"),
}
"""Columns behind the key."""

FORGET_HOSTS = 500
"""Hosts whose rows are computed at once when a crawl is deleted."""
_TOTALS: Final[tuple[tuple[str, Fold], ...]] = (
    ("n", "sum"),
    ("host", "count"),
    ("first_at", "min"),
    ("newest_at", "max"),
)


class HostFigures(Struct, frozen=True, kw_only=True):
    """Numbers of a host in one crawl, counted from its rows.

    Attributes:
        crawl_id: The crawl.
        host: The host.
        states: URLs by final state, ``{"record": 480, "failed": 3}``; empty: no URL is left.
        groups: Failures by cause.
    """

    crawl_id: str
    host: str
    states: Mapping[str, int]
    groups: FailureGroups


class HostRow(Struct, frozen=True, kw_only=True):
    """A host over all crawls, in the figures of a list.

    Attributes:
        host: Lower-case authority.
        crawls: Crawls that have stored a URL of the host.
        records: URLs whose newest outcome is a clean record; a page of two crawls counts twice.
        failed: URLs that gave no record.
        excluded: URLs that were not fetched: robots.txt, patterns, traps, hooks.
        other: Redirects, sitemaps, feeds, images.
        body_chars: Characters of all bodies.
        fetched_bytes: Bytes of all responses after content decoding.
        noise_share: Share of links that are navigation, function, advertising, hot or legal, 0..1.
        near_duplicates: Pages whose story has an earlier page.
        model_version: Newest model version among the records; 0 is none.
        first_seen: Earliest of the URLs' newest fetches.
        last_seen: Latest fetch.
        updated_at: When these figures were computed.
    """

    host: str
    crawls: int
    records: int
    failed: int
    excluded: int
    other: int
    body_chars: int
    fetched_bytes: int
    noise_share: float
    near_duplicates: int
    model_version: int
    first_seen: datetime | None
    last_seen: datetime | None
    updated_at: datetime


class FailureCause(Struct, frozen=True, kw_only=True):
    """A line of `failures --causes`: failed URLs of a crawl with one reason and status.

    URLs that are left out (robots.txt, patterns, traps) do not count as failed.

    Attributes:
        crawl: Name of the crawl.
        reason: Why they gave no record.
        status: HTTP status; 0 without a response.
        urls: Their number.
        hosts: Their hosts.
        first_at: When the earliest of these failures was.
        newest_at: When the newest was.
        as_of: When the figures were computed; null: they are of this moment.
    """

    crawl: str
    reason: FailureReason
    status: int
    urls: int
    hosts: int
    first_at: datetime
    newest_at: datetime
    as_of: datetime | None


GroupPlace = tuple[int, str, str]
"""A group of failures in a list: (count, sample, crawl)."""


class FailureGroup(Struct, frozen=True, kw_only=True):
    """URLs of a host in a crawl that failed for one reason.

    Attributes:
        crawl_id: The crawl.
        host: The host.
        reason: Why.
        status: HTTP status; 0 without a response.
        count: URLs, >= 1.
        first_at: Earliest of these failures.
        newest_at: Newest of these failures.
        sample: Page id of one of the URLs, the smallest.
    """

    crawl_id: str
    host: str
    reason: FailureReason
    status: int
    count: int
    first_at: datetime
    newest_at: datetime
    sample: str

    def as_cause(self, as_of: datetime | None) -> FailureCause:
        """The group as the cause of failures of one host; ``as_of``: when it was computed."""
        return FailureCause(
            crawl=self.crawl_id,
            reason=self.reason,
            status=self.status,
            urls=self.count,
            hosts=1,
            first_at=self.first_at,
            newest_at=self.newest_at,
            as_of=as_of,
        )

    @property
    def place(self) -> GroupPlace:
        """Its place in a list of the largest."""
        return self.count, self.sample, self.crawl_id


class PageRow(Struct, frozen=True, kw_only=True):
    """A stored page, in what tells whether it has a text of its own.

    Attributes:
        crawl_id: Its crawl.
        host: Its host.
        page_id: 32 hex digits.
        fetched_at: End of its response.
        kind: What it is for its reader.
        body_chars: Characters of its body.
        signature: Fingerprint of its body; ``""`` without a body.
        links_navigation: Its links of this kind.
        images_content: Its images that are content.
        confidence: Probability that its body is right, 0..1; None: an older version stored it.
        saved_seq: Number of its save; the newest page has the largest.
        url: As fetched.
        story: Number of the story that other pages tell, too; None: it is alone.
    """

    crawl_id: str
    host: str
    page_id: str
    fetched_at: datetime
    kind: PageKind
    body_chars: int
    signature: str
    links_navigation: int
    images_content: int
    confidence: float | None = None
    saved_seq: int = 0
    url: str = ""
    story: int | None = None

    @property
    def text(self) -> str:
        """What pages with its text have in common; ``""`` without a text."""
        return str(self.story) if self.story is not None else self.signature

    @property
    def is_copy(self) -> bool:
        """Whether another page told its story before."""
        return self.story is not None and self.story != number_of(self.page_id)

    @property
    def has_text(self) -> bool:
        """Whether it has a text of its own."""
        is_text = self.kind in (PageKind.ARTICLE, PageKind.THREAD)
        return is_text and self.body_chars >= TEXT_CHARS and not self.is_copy

    @property
    def is_form(self) -> bool:
        """Whether it has neither a text nor images that are content, as a form has not."""
        is_short = self.body_chars < TEXT_CHARS and not self.images_content
        return is_short and (self.kind is PageKind.OTHER or bool(self.signature))

    @property
    def looks(self) -> tuple[object, ...]:
        """What copies of one form have in common."""
        return self.kind, self.body_chars, self.signature, self.links_navigation


TEXT_CHARS = 100
"""A shorter body is a line; stories begin with so many letters, too."""

_HOST = RowType(HostRow, "host", but=("noise_share", "first_seen", "last_seen"))
_PAGE = RowType(PageRow, "record", but=("url", "story"))
_CONFIDENCE, _SEQ = map(_PAGE.columns.index, ("confidence", "saved_seq"))
_WITH_URL = ("kind", "body_chars", "signature", "links", "images")
_HOST_COLUMNS = ("noise_ppm", "first_seen", "last_seen", *_HOST.columns)
_GROUP = RowType(FailureGroup, "group of failures", count="n")
_CAUSE = RowType(FailureCause, "cause of failures", but=("as_of",), crawl="crawl_id", urls="n")


class Overview(Member):
    """The member ``overview``."""

    # --- reading ---

    def hosts(
        self,
        by: HostColumn = "records",
        after: tuple[int, str] | None = None,
        limit: int = 50,
    ) -> list[HostRow]:
        """Hosts by a column, largest first.

        Args:
            by: The column.
            after: Only hosts behind this (value of the column, host); a time is in microseconds
                since 1970 UTC, ``(1772366400123456, "www.example.com")``.
            limit: At most this many, >= 1.
        """
        wanted = Scan(
            "host_rows", _HOST_COLUMNS, order=(by, "host"), backwards=True, after=after or (),
            limit=limit,
        )  # fmt: skip
        return [_host_row(row) for row in self._tables.scan(wanted)]

    def every_host(self, most: int) -> list[HostRow] | None:
        """All hosts, in any order; None when there are more than ``most``."""
        rows = self._tables.scan(Scan("host_rows", _HOST_COLUMNS, limit=most + 1))
        return None if len(rows) > most else [_host_row(row) for row in rows]

    def every_failure_group(self, most: int) -> list[FailureGroup] | None:
        """All groups of failures, in any order; None when there are more than ``most``."""
        rows = self._tables.scan(Scan("failure_groups", _GROUP.columns, limit=most + 1))
        return None if len(rows) > most else list(map(_GROUP.read, rows))

    def host(self, host: str) -> HostRow | None:
        """One host; None while it has no figures."""
        return self.rows_of([host]).get(host)

    def rows_of(self, hosts: Collection[str]) -> dict[str, HostRow]:
        """Some hosts by name, at most 10,000; one without figures is not in the result."""
        found = self._tables.get("host_rows", [(host,) for host in hosts], _HOST_COLUMNS)
        return {key[0]: _host_row(row) for key, row in found.items()}

    def causes(self, crawl_id: str | None = None) -> list[FailureCause]:
        """Causes of failures of every crawl, the most frequent first."""
        rows, as_of = self._tables.scan(Scan("causes", _CAUSE.columns, of(crawl_id))), self.as_of()
        found = [_CAUSE.read(row, as_of=as_of) for row in rows]
        return sorted(found, key=lambda each: (-each.urls, each.crawl, each.reason))

    def failure_groups(
        self,
        crawl_id: str | None = None,
        host: str | None = None,
        limit: int = 200,
        *,
        reason: FailureReason | None = None,
        after: GroupPlace | None = None,
    ) -> list[FailureGroup]:
        """Failures by cause of each host, the largest groups first, at most ``limit``.

        ``after``: only groups behind this one. A page has one outcome in a crawl, so a place names
        one group; one that grows between two parts moves to the front, where it is found anew.
        """
        where = of(crawl_id, host) | ({"reason": reason.value} if reason else {})
        wanted = Scan("failure_groups", _GROUP.columns, where)
        if host is None:
            order = ("n", "sample", "crawl_id")
            wanted = replace(wanted, order=order, backwards=True, after=after or (), limit=limit)
            return list(map(_GROUP.read, self._tables.scan(wanted)))
        # A few: found by the host, whatever index the database would sort by.
        found = map(_GROUP.read, self._tables.scan(wanted))
        behind = [group for group in found if after is None or group.place < after]
        return sorted(behind, key=lambda group: group.place, reverse=True)[:limit]

    def recent_pages(self, since: datetime, limit: int) -> list[PageRow]:
        """The pages among the ``limit`` newest records that were fetched since, newest first."""
        first_us = to_microseconds(since)
        return self._pages([row for row in self._newest({}, None, limit) if row[3] >= first_us])

    def pages(
        self, places: Sequence[tuple[str | None, str | None]], before: int | None, limit: int
    ) -> list[PageRow]:
        """Stored pages of some (crawl, host), None: any; those saved last first.

        Args:
            places: One, or the crawls of a host: each is read along its own index.
            before: Only saves with a smaller number; None: all.
            limit: At most this many, >= 1.
        """
        of_places = [self._newest(of(*place), before, limit) for place in places]
        rows = sorted(chain(*of_places), key=itemgetter(_SEQ), reverse=True)
        return self._pages(rows[:limit])

    def _newest(self, where: Where, before: int | None, limit: int) -> list[Values]:
        after = () if before is None else (before,)
        wanted = Scan("records", _PAGE.columns, where, ("saved_seq",), True, after, limit)
        return self._tables.scan(wanted)

    def _pages(self, newest: Sequence[Values]) -> list[PageRow]:
        rows = {(row[2], row[0]): row for row in newest}
        if not rows:
            return []
        # MongoDB keeps what is counted of a record with its URL.
        is_apart = any(row[4] is None for row in rows.values())
        urls = self._tables.get("urls", list(rows), ("url", *(_WITH_URL if is_apart else ())))
        ids = list({page_id for page_id, _ in rows})
        members = self._ports.stories.read({"page_id": ids})
        stories = {(each.page_id, each.crawl_id): each.story for each in members}
        found = []
        for key, row in rows.items():
            if key in urls:
                url, *apart = urls[key]
                if apart:
                    *others, links, images = apart
                    counts = links.get("navigation", 0), images.get("content", 0)
                    row = (*row[:4], *others, *counts, *row[_CONFIDENCE:])
                found.append(_PAGE.read(row, url=url, story=stories.get(key)))
        return found

    def newest_page(self, crawl_id: str) -> datetime | None:
        """When the newest page of a crawl was fetched, of those saved last; None without pages."""
        where, order = {"crawl_id": crawl_id}, ("saved_seq",)
        wanted = Scan("records", ("fetched_at",), where, order, backwards=True, limit=SAVED_LAST)
        return max((from_microseconds(row[0]) for row in self._tables.scan(wanted)), default=None)

    def as_of(self) -> datetime | None:
        """When the figures were computed; None while they are those of this moment."""
        if not self._ports.is_behind():
            return None
        wanted = Scan("host_rows", ("updated_at",), order=("updated_at",), backwards=True, limit=1)
        newest = self._tables.scan(wanted)
        return from_microseconds(newest[0][0] if newest else 0)

    # --- keeping ---

    def keep(self, figures: Sequence[HostFigures]) -> None:
        """Replaces the rows of some hosts and the totals of their crawls.

        The statistics of the hosts must be stored before; a host whose statistics are not, because
        it is deleted at this moment, leaves no rows.
        """
        if not figures:
            return
        pairs = {(each.host, each.crawl_id) for each in figures}
        hosts = sorted({each.host for each in figures})
        stored = self._statistics(hosts)
        kept = [each for each in figures if each.crawl_id in stored.get(each.host, {})]
        states = [
            (each.host, each.crawl_id, state, n)
            for each in kept
            for state, n in each.states.items()
        ]
        groups = [(each.host, each.crawl_id, *group) for each in kept for group in each.groups]
        self._replace("host_states", {"host": hosts}, states, pairs)
        self._replace("failure_groups", {"host": hosts}, groups, pairs)
        self._keep_hosts(hosts, stored)
        for crawl_id in sorted({each.crawl_id for each in figures}):
            self._recount(crawl_id)

    def forget(self, crawl_id: str, host: str | None = None) -> None:
        """Takes a crawl or one of its hosts out of all figures, after its statistics are deleted.

        An interrupted call can be repeated.
        """
        where = of(crawl_id, host)
        hosts = sorted({row[0] for row in self._tables.scan(Scan("host_states", ("host",), where))})
        self._tables.delete("failure_groups", where)
        for start in range(0, len(hosts), FORGET_HOSTS):
            some = hosts[start : start + FORGET_HOSTS]
            self._keep_hosts(some, self._statistics(some))
        self._tables.delete("host_states", where)
        self._recount(crawl_id)

    def _statistics(self, hosts: Sequence[str]) -> dict[str, dict[str, str]]:
        """JSON text of the statistics of hosts by crawl; a host without any is not in it."""
        found: dict[str, dict[str, str]] = {}
        wanted = Scan("hosts", ("host", "crawl_id", "stats"), {"host": hosts, "stats": PRESENT})
        for host, crawl_id, stats in self._tables.scan(wanted):
            found.setdefault(host, {})[crawl_id] = stats
        return found

    def _keep_hosts(self, hosts: Sequence[str], stored: Mapping[str, Mapping[str, str]]) -> None:
        """Replaces the rows of hosts by the sums of their statistics in all crawls."""
        now = time.time_ns() // 1000
        rows = []
        for host in hosts:
            parts = [stats_from_json(text) for text in stored.get(host, {}).values()]
            if parts:
                rows.append(_row_of(merge_stats(parts), len(parts), now))
            else:
                self._tables.delete("host_rows", {"host": host})
        self._tables.put("host_rows", *rows)

    def _recount(self, crawl_id: str) -> None:
        """Computes the totals of a crawl anew from the rows of its hosts."""
        key = {"crawl_id": crawl_id}
        sums = self._tables.fold("host_states", ("state",), (("n", "sum"),), key)
        self._replace("crawl_counts", key, [(crawl_id, *row) for row in sums])
        found = self._tables.fold("failure_groups", ("reason", "status"), _TOTALS, key)
        self._replace("causes", key, [(crawl_id, *row) for row in found])

    def _replace(
        self,
        table: str,
        where: Where,
        rows: Sequence[tuple[Any, ...]],
        only: Collection[tuple[str, str]] = (),
    ) -> None:
        """Puts the rows that differ from those of a condition, then deletes the others of these.

        A reader never misses a row that stays, and what did not change costs no write.

        Args:
            table: A table with ``_COLUMNS``.
            where: The condition.
            rows: Values of the key and of ``_COLUMNS``.
            only: Rows that begin otherwise stay as they are; empty: all are meant.
        """
        key, columns = KEYS[table], _COLUMNS[table]
        names, width = (*key, *columns), len(key)
        found = map(tuple, self._tables.scan(Scan(table, names, where)))
        before = {row[:width]: row for row in found if not only or row[:2] in only}
        new = [row for row in rows if before.pop(row[:width], ()) != row]
        self._tables.put(table, *[dict(zip(names, row, strict=True)) for row in new])
        for gone in before:
            self._tables.delete(table, dict(zip(key, gone, strict=True)))


def _row_of(stats: HostStats, crawls: int, now: int) -> Row:
    """The row of a host of its statistics in all crawls."""
    states = stats.pages_by_state
    named = (UrlState.RECORD, UrlState.FAILED, UrlState.EXCLUDED)
    records, failed, excluded = (states.get(state, 0) for state in named)
    return {
        "host": stats.host,
        "crawls": crawls,
        "records": records,
        "failed": failed,
        "excluded": excluded,
        "other": sum(states.values()) - records - failed - excluded,
        "body_chars": stats.body_chars,
        "fetched_bytes": stats.fetched_bytes,
        "noise_ppm": round(stats.noise_share * 1_000_000),
        "near_duplicates": stats.near_duplicates,
        "model_version": stats.model_version,
        "first_seen": to_microseconds(stats.first_seen) if stats.first_seen else 0,
        "last_seen": to_microseconds(stats.last_seen) if stats.last_seen else 0,
        "updated_at": now,
    }


def _host_row(row: Sequence[Any]) -> HostRow:
    """The host of the values of ``_HOST_COLUMNS``; a time of 0 is none."""
    noise_ppm, first, last, *others = row
    return _HOST.read(
        others,
        noise_share=noise_ppm / 1_000_000,
        first_seen=from_microseconds(first) if first else None,
        last_seen=from_microseconds(last) if last else None,
    )
