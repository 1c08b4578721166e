"""URLs at rest: the newest outcome of each URL of a crawl, with the reason of a failure.

The columns ``reason``, ``detail`` and ``attempts`` have a value exactly while the outcome has a
failure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from crawlclean.storage.crawl_types import (
    FailureReason,
    UrlRow,
    UrlState,
)
from crawlclean.storage.store.ports import PAGE_KEY, PRESENT, Key, Member, Scan, Where, of, steps
from crawlclean.storage.store.rows import RowType, from_microseconds, to_microseconds

READ_ENDS = 1000  # held in memory at once
READ_FAILURES = 1000  # held in memory at once
READ_IDS = 100  # held in memory at once: its caller stops early as a rule
READ_KEYS = 5000  # keys of one read: bounds its statement and its answer
MOST_CRAWLS = 200  # above it a URL is looked for in all of them at once

_AT = ("fetched_at", *PAGE_KEY)  # failures are read in this order
_URL = RowType(UrlRow, "URL", line="detail", finished_at="fetched_at")
_RESPONSE = ("etag", "last_modified", "log", "fetched_bytes", "media_type", "sha256")
_END = RowType(UrlRow, "URL", but=(*_RESPONSE, "detail", "attempts"), finished_at="fetched_at")
_FOUND = ("role", "depth", "via", "referrer", "link_text", "discovered_at")
_FAILURE = RowType(
    UrlRow, "failure", but=(*_RESPONSE, *_FOUND), line="detail", finished_at="fetched_at"
)


class Urls(Member):
    """The member ``urls``."""

    def rows(self, page_id: str, crawl_ids: Collection[str] = ()) -> list[UrlRow]:
        """The rows of a URL, newest first; ``finished_at`` is the response's end.

        Args:
            page_id: 32 hex digits.
            crawl_ids: Only of these crawls; none: of all. Rows of a few crawls are read by key.
        """
        found: Collection[Sequence[Any]]
        if 0 < len(crawl_ids) <= MOST_CRAWLS:
            keys = [(page_id, crawl_id) for crawl_id in crawl_ids]
            found = self._tables.get("urls", keys, _URL.columns).values()
        else:
            found = self._tables.scan(Scan("urls", _URL.columns, {"page_id": page_id}))
        rows = [row for row in map(_URL.read, found) if not crawl_ids or row.crawl_id in crawl_ids]
        rows.sort(key=lambda row: row.crawl_id)
        return sorted(rows, key=lambda row: row.finished_at, reverse=True)

    def response_times(self, crawl_id: str, page_ids: Collection[str]) -> dict[str, int]:
        """End of the newest response of each URL of a crawl that is stored, ms since 1970 UTC.

        A visit that found its page unchanged counts.

        Args:
            crawl_id: The crawl.
            page_ids: At most 10,000; a page without a row is not in the result.
        """
        keys = [(page_id, crawl_id) for page_id in page_ids]
        found = self._tables.get("urls", keys, ("fetched_at", "checked_at"))
        return {key[0]: max(at, checked or 0) // 1000 for key, (at, checked) in found.items()}

    def find_ids(self, prefix: str, limit: int = 10) -> list[str]:
        """Page ids with a prefix, e.g. ``"4f1"``, in order, at most ``limit``."""
        prefix = prefix.lower()
        if not set(prefix) <= set("0123456789abcdef"):
            return []
        found: dict[str, None] = {}
        wanted = Scan("urls", PAGE_KEY, order=PAGE_KEY, after=(prefix, ""))
        for rows in steps(self._tables, wanted, READ_IDS):
            for page_id, _ in rows:
                if len(found) >= limit or not page_id.startswith(prefix):
                    return list(found)
                found[page_id] = None
        return list(found)[:limit]

    def known(self, page_ids: Collection[str], crawl_ids: Collection[str]) -> dict[str, str]:
        """URL by page id, of those page ids that some of the crawls know.

        ``{"4f11...": "https://example.com/"}``
        """
        keys = [(page_id, crawl_id) for page_id in page_ids for crawl_id in crawl_ids]
        found: dict[str, str] = {}
        for start in range(0, len(keys), READ_KEYS):
            rows = self._tables.get("urls", keys[start : start + READ_KEYS], ("url",))
            found.update({key[0]: row[0] for key, row in rows.items()})
        return found

    def sample(self, crawl_id: str, host: str, state: UrlState, limit: int) -> list[UrlRow]:
        """A sample of a host's URLs with a final state: the ``limit`` smallest page ids.

        Page ids are hashes, so the sample is random, repeatable, and part of a larger sample.
        """
        where = {"crawl_id": crawl_id, "host": host, "state": state.value}
        rows = self._tables.scan(Scan("urls", _URL.columns, where, PAGE_KEY, limit=limit))
        return list(map(_URL.read, rows))

    def ended(
        self, crawl_id: str, host: str | None = None, *, failed: bool = False, after: str = ""
    ) -> Iterator[UrlRow]:
        """Returns every ended URL of a crawl (of one host), ordered by page id, read in steps.

        A URL that ends again meanwhile is yielded once, with its old or its new outcome.

        Args:
            crawl_id: The crawl.
            host: Only of this host.
            failed: Only URLs with a failure.
            after: Only URLs behind this page id.
        """
        where = of(crawl_id, host) | ({"reason": PRESENT} if failed else {})
        return self._by_page(_END, where, (after, crawl_id) if after else ())

    def _by_page(self, rows: RowType[UrlRow], where: Where, after: Key = ()) -> Iterator[UrlRow]:
        wanted = Scan("urls", (*PAGE_KEY, *rows.columns), where, PAGE_KEY, after=after)
        for some in steps(self._tables, wanted, READ_ENDS):
            yield from (rows.read(row[2:]) for row in some)

    def end(self, page_id: str, crawl_id: str) -> UrlRow | None:
        """How one URL of a crawl ended; None: it has not."""
        found = self._tables.get("urls", [(page_id, crawl_id)], _END.columns)
        return next(map(_END.read, found.values()), None)

    def ends(self, keys: Collection[tuple[str, str]]) -> list[UrlRow]:
        """How URLs ended, of (page id, crawl) at most 10,000; in any order."""
        return list(map(_END.read, self._tables.get("urls", keys, _END.columns).values()))

    def redirects(self, crawl_id: str) -> Iterator[UrlRow]:
        """Returns the redirecting URLs of a crawl with their logs, ordered by page id."""
        return self._by_page(_URL, {"crawl_id": crawl_id, "state": UrlState.REDIRECT.value})

    def failures(
        self, crawl_id: str | None = None, host: str | None = None, limit: int | None = None
    ) -> Iterator[UrlRow]:
        """Yields URLs with a failure, newest first, read in steps.

        Failures that are saved meanwhile are not in it: neither is a URL that fails again before
        its row is read.

        Args:
            crawl_id: Only of this crawl.
            host: Only of this host.
            limit: At most this many; None is all.
        """
        where = of(crawl_id, host) | {"reason": PRESENT}
        wanted = Scan("urls", (*_AT, *_FAILURE.columns), where, _AT, backwards=True)
        at_once = READ_FAILURES if limit is None else max(1, min(limit, READ_FAILURES))
        found = (row[3:] for rows in steps(self._tables, wanted, at_once) for row in rows)
        yield from map(_FAILURE.read, islice(found, limit))

    def failures_of(
        self,
        crawl_id: str,
        host: str,
        reason: FailureReason,
        status: int,
        after: tuple[int, str] | None = None,
        limit: int = 50,
        *,
        are_few: bool = False,
    ) -> list[UrlRow]:
        """The failed URLs of a host in a crawl with one cause, newest first, at most ``limit``.

        Args:
            crawl_id: The crawl.
            host: The host.
            reason: Why they failed.
            status: Their HTTP status; 0 without a response.
            after: Only URLs behind this (microseconds since 1970 UTC of the failure, page id).
            limit: At most this many, >= 1.
            are_few: Whether the failures of the host in the crawl, of all causes, are at most
                ``READ_FAILURES``: these are found by a whole index key and sorted here, which no
                database does slowly.
        """
        of_host = {**of(crawl_id, host), "state": UrlState.FAILED.value}

        def place(row: UrlRow) -> tuple[int, str]:
            return to_microseconds(row.finished_at), row.page_id

        if are_few:
            found = map(_FAILURE.read, self._tables.scan(Scan("urls", _FAILURE.columns, of_host)))
            mine = [row for row in found if (row.reason, row.status) == (reason, status)]
            behind = [row for row in mine if after is None or place(row) < after]
            return sorted(behind, key=place, reverse=True)[:limit]
        where = {**of_host, "reason": reason.value, "status": status}
        last = (*after, crawl_id) if after else ()
        wanted = Scan("urls", _FAILURE.columns, where, _AT, True, last, limit=limit)
        return list(map(_FAILURE.read, self._tables.scan(wanted)))


def time_or_none(microseconds: int | None) -> datetime | None:
    """The time of a column of microseconds since 1970 UTC; None without a value."""
    return None if microseconds is None else from_microseconds(microseconds)
