"""Revisits: which URLs of a crawl that keeps fresh are due, and what their visits have found.

The schedule of a URL is in its row of ``urls``; a save writes it (``visits.py``) for outcomes with
``Outcome.visit``. Thus a crawl is kept fresh:
1. ``begin`` once when a crawl begins to keep fresh: gives a schedule to the URLs it had before.
2. Again and again: ``due`` gives what to fetch now; the caller queues each URL unless it is in the
   queue already, with ``etag`` and ``last_modified`` as the conditions of its request. A URL stays
   due until its visit is saved, so a lost queue loses nothing. ``next_due`` is when to ask again.
3. Every ended page of the crawl is saved with ``visit`` (class of the URL) and ``template``. A 304
   is saved as ``Outcome(queued, state=<state of the row>, unchanged=True, visit=...)``: ``state``
   is RECORD of a page, SITEMAP of a sitemap; ``queued.fetched_at`` is the time of the visit.
   A sitemap is saved with ``content``; then ``announce`` uses its dates.

All times are the caller's: those of the queue's server. A visit is never due before its interval is
over; one that comes late is made once, and the next interval begins with it. A visit older than the
last one changes nothing, so a clock that jumps back repeats nothing.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from msgspec import structs

from crawlclean.cleaning.records import PageKind
from crawlclean.cleaning.revisits import (
    BOUNDS,
    DAY,
    HOUR,
    ClassSums,
    HostTrust,
    Lastmod,
    VisitKind,
    VisitState,
    after_sitemap,
    next_interval_s,
    read_lastmod,
    unpack_state,
    visit_kind,
)
from crawlclean.cleaning.urls.normal_form import normalize, page_id as page_id_of
from crawlclean.storage.crawl_types import PageRole, UrlRow, UrlState
from crawlclean.storage.store.hosts import read_trust, write_trust
from crawlclean.storage.store.ports import PAGE_KEY, PRESENT, Member, Scan, of
from crawlclean.storage.store.rows import RowType, from_microseconds, to_microseconds, unpack_text
from crawlclean.storage.store.visits import SECOND_US, Schedule

READ_DUE = 20_000
"""Due rows read at once, narrow ones of an index."""
READ_STATES = 5_000  # keys of one read: bounds its statement and its answer
BEGUN_AT_ONCE = 500
"""URLs that get their first schedule in one call of ``begin``; a record of each is read."""
SOON_US = 12 * HOUR * SECOND_US
"""A visit within this time after a sitemap was read is put off for the page's date."""
MOST_SKIPPED = 4
"""Intervals after its last visit at which a page is visited whatever its date is."""

_UNREAD = ("reason", "detail", "attempts", "log", "fetched_bytes", "media_type", "sha256")
_DUE = RowType(UrlRow, "URL", but=_UNREAD, finished_at="fetched_at")


class Revisits(Member):
    """The member ``revisits``."""

    def due(
        self,
        crawl_id: str,
        now: datetime,
        per_host: int = 60,
        limit: int = 5_000,
        without: Collection[str] = frozenset(),
    ) -> list[UrlRow]:
        """The URLs that are due, those first that are late by the most intervals.

        A list of ten minutes that is an hour late comes before an article of 30 days that is a day
        late. Reads all due rows of the crawl, and keeps at most ``per_host`` of a host in memory.

        Args:
            crawl_id: The crawl.
            now: The queue's time.
            per_host: At most this many of one host.
            limit: At most this many in all.
            without: Hosts that are left out, because enough of their URLs wait in the queue.
        """
        at = to_microseconds(now)
        best: dict[str, list[tuple[float, str]]] = defaultdict(list)
        columns = ("next_visit", "page_id", "interval_s", "host")
        for rows in self._due_rows(crawl_id, at, columns):
            for next_visit, page_id, interval_s, host in rows:
                if host in without:
                    continue
                entry = ((at - next_visit) / max(interval_s or 0, 1), page_id)
                kept = best[host]
                if len(kept) < per_host:
                    heapq.heappush(kept, entry)
                elif entry > kept[0]:
                    heapq.heapreplace(kept, entry)
        chosen = heapq.nlargest(limit, (each for kept in best.values() for each in kept))
        return self._read(crawl_id, [page_id for _, page_id in chosen], at)

    def next_due(self, crawl_id: str, host: str | None = None) -> datetime | None:
        """When the next URL of a crawl (of a host) is due, in the past if some are; None: never."""
        where = of(crawl_id, host) | {"next_visit": PRESENT}
        rows = self._tables.scan(Scan("urls", ("next_visit",), where, ("next_visit",), limit=1))
        return from_microseconds(rows[0][0]) if rows else None

    def schedule(self, page_id: str, crawl_id: str) -> tuple[datetime | None, VisitState] | None:
        """(next visit or None, what its visits have found) of a URL; None without a schedule."""
        rows = self._tables.get("urls", [(page_id, crawl_id)], ("next_visit", "visits"))
        for next_visit, packed in rows.values():
            if packed is not None:
                due = None if next_visit is None else from_microseconds(next_visit)
                return due, unpack_state(bytes(packed))
        return None

    def checked_at(self, page_id: str, crawl_id: str) -> datetime | None:
        """End of the last response that showed a page; None without a schedule."""
        rows = self._tables.get("urls", [(page_id, crawl_id)], ("checked_at",))
        return next((from_microseconds(row[0]) for row in rows.values() if row[0]), None)

    def begin(self, crawl_id: str, after: str = "") -> str:
        """Gives a first schedule to stored URLs that have none, as when they were just visited.

        Args:
            crawl_id: A crawl that begins to keep fresh, or that resumes doing so.
            after: What the last call returned; ``""`` at first.

        Returns:
            For the next call; ``""``: no URL is left.
        """
        states = [UrlState.RECORD.value, UrlState.SITEMAP.value]
        where = {"crawl_id": crawl_id, "state": states}
        columns = (*PAGE_KEY, "url", "depth", "role", "fetched_at", "visits")
        behind = (after, crawl_id if after else "")
        wanted = Scan("urls", columns, where, PAGE_KEY, after=behind, limit=BEGUN_AT_ONCE)
        rows = self._tables.scan(wanted)
        with self._tables.together():
            for row in rows:
                if row[6] is None:
                    self._begin_url(row)
        return rows[-1][0] if len(rows) == BEGUN_AT_ONCE else ""

    def announce(
        self,
        crawl_id: str,
        host: str,
        dates: Mapping[str, str | None],
        read_at: datetime,
        *,
        is_feed: bool = False,
    ) -> None:
        """Uses the dates of a sitemap or feed that was read, as far as the host's dates are true.

        A page whose date is after its last visit becomes due, when the least interval of its kind
        is over; one that would soon be due, and
        whose date is before its last visit, is put off by one of its intervals, to at most four
        intervals after the last visit.

        Args:
            crawl_id: A crawl that keeps fresh.
            host: The host of the sitemap and of its pages.
            dates: URL in normal form -> ``lastmod`` as written; None or no date: nothing is known.
            read_at: End of the response.
            is_feed: Whether the dates are of a feed: they put nothing off.
        """
        at = to_microseconds(read_at)
        at_s = at / SECOND_US
        known = {url: read_lastmod(text) for url, text in dates.items()}
        by_page = {page_id_of(url): date for url, date in known.items() if date is not None}
        key = (host, crawl_id)
        before = read_trust(self._tables, [key]).get(key, HostTrust())
        trust = (before.feeds or HostTrust()) if is_feed else before
        trust = after_sitemap(trust, by_page, at_s)
        may_hurry, may_skip = trust.may_hurry(at_s), trust.may_skip(at_s) and not is_feed
        hurried = skipped = 0
        if may_hurry or may_skip:
            hurried, skipped = self._heed(crawl_id, by_page, at, (may_hurry, may_skip))
        trust = structs.replace(
            trust, hurried=trust.hurried + hurried, skipped=trust.skipped + skipped
        )
        after = structs.replace(before, feeds=trust) if is_feed else trust
        if after != before:
            write_trust(self._tables, key, after)

    def _heed(
        self, crawl_id: str, dates: Mapping[str, Lastmod], at: int, may: tuple[bool, bool]
    ) -> tuple[int, int]:
        """Moves the visits of pages by their dates, as it may; returns (hurried, skipped)."""
        pages, (may_hurry, may_skip) = list(dates), may
        hurried = skipped = 0
        for start in range(0, len(pages), READ_STATES):
            keys = [(page_id, crawl_id) for page_id in pages[start : start + READ_STATES]]
            rows = self._tables.get("urls", keys, Schedule._fields)
            for key, (due, interval_s, checked_at, packed) in rows.items():
                if due is None or checked_at is None:
                    continue
                bounds = BOUNDS[unpack_state(bytes(packed)).kind]
                soonest = max(at, checked_at + int(bounds.least_s * SECOND_US))
                date, interval = dates[key[0]], interval_s * SECOND_US
                new = due
                if may_hurry and date.first_s * SECOND_US > checked_at and due > soonest:
                    new, hurried = soonest, hurried + 1
                elif may_skip and date.last_s * SECOND_US < checked_at and due < at + SOON_US:
                    new = max(due, min(at + interval, checked_at + MOST_SKIPPED * interval))
                    skipped += new > due
                if new != due:
                    still = {"page_id": key[0], "crawl_id": crawl_id, "next_visit": due}
                    self._tables.change("urls", still, {"next_visit": new})
        return hurried, skipped

    def _begin_url(self, row: Any) -> None:
        """Schedules one URL of the values of ``begin``'s columns."""
        page_id, crawl_id, url, depth, role, fetched_at, _ = row
        kind: PageKind | None = None
        born = fetched_at // (SECOND_US * DAY)
        if role == PageRole.PAGE.value:
            packed = self._blobs.record(page_id, crawl_id)
            if packed is not None:
                record = unpack_text(packed.head, packed.links)
                kind = record.kind
                if record.published_at is not None:
                    published = to_microseconds(record.published_at) // (SECOND_US * DAY)
                    born = published if 0 < published <= born else born
        from crawlclean.cleaning.url_classes.rules import (
            url_kind,  # stores that are only read need no cleaner
        )

        is_sitemap = role == PageRole.SITEMAP.value
        known = visit_kind(
            kind, url_kind(normalize(url)), is_seed=depth == 0, is_sitemap=is_sitemap
        )
        state = VisitState(known, born_day=born)
        wait = next_interval_s(state, ClassSums())
        schedule = Schedule(
            next_visit=None if wait is None else fetched_at + int(wait * SECOND_US),
            interval_s=None if wait is None else int(wait),
            checked_at=fetched_at,
            visits=state.packed(),
        )
        still = {
            "page_id": page_id,
            "crawl_id": crawl_id,
            "fetched_at": fetched_at,
            "visits": None,
        }
        self._tables.change("urls", still, schedule._asdict())

    def _due_rows(self, crawl_id: str, at: int, columns: tuple[str, ...]) -> Any:
        """Yields the due rows of a crawl in lists; ``columns`` begin with next_visit, page_id."""
        where = {"crawl_id": crawl_id, "next_visit": PRESENT}
        after: tuple[Any, ...] = (at + 1, "")
        while True:
            wanted = Scan(
                "urls",
                columns,
                where,
                ("next_visit", "page_id"),
                after=after,
                backwards=True,
                limit=READ_DUE,
            )
            rows = self._tables.scan(wanted)
            if rows:
                yield rows
            if len(rows) < READ_DUE:
                return
            after = tuple(rows[-1][:2])

    def _read(self, crawl_id: str, page_ids: list[str], at: int) -> list[UrlRow]:
        """The due URLs of some pages, in this order."""
        found: dict[str, UrlRow] = {}
        for start in range(0, len(page_ids), READ_STATES):
            keys = [(page_id, crawl_id) for page_id in page_ids[start : start + READ_STATES]]
            rows = self._tables.get("urls", keys, ("next_visit", "visits", *_DUE.columns))
            visits = [
                (packed, _DUE.read(row))
                for due, packed, *row in rows.values()
                if due is not None and due <= at  # else it was visited meanwhile
            ]
            trust = read_trust(self._tables, {(visit.host, crawl_id) for _, visit in visits})
            for packed, visit in visits:
                host = trust.get((visit.host, crawl_id), HostTrust())
                found[visit.page_id] = _with_validators(visit, packed, host, at)
        return [found[page_id] for page_id in page_ids if page_id in found]


def _with_validators(visit: UrlRow, packed: bytes | None, host: HostTrust, at: int) -> UrlRow:
    """A due URL with the validators by which it may be asked: none where they are not to trust."""
    state = VisitState(VisitKind.ARTICLE) if packed is None else unpack_state(bytes(packed))
    may_condition = host.may_condition(at / SECOND_US, state.in_a_row)
    if may_condition and visit.state in (UrlState.RECORD, UrlState.SITEMAP):
        return visit
    return replace(visit, etag="", last_modified="")
