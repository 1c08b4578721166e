"""Archived HTTP responses, read as decoded pages or as bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from crawlclean.cleaning.errors import DatabaseDamaged, StoreDamaged
from crawlclean.cleaning.records import Provenance, Via
from crawlclean.storage.crawl_types import FailureReason
from crawlclean.storage.store.ports import PAGE_KEY, Answer, Member, Scan, of, steps
from crawlclean.storage.store.records import Once
from crawlclean.storage.store.rows import from_microseconds, to_microseconds
from crawlclean.storage.store.urls import time_or_none

if TYPE_CHECKING:
    from crawlclean.cleaning.document.document import RawPage

READ_ROWS = 200  # held in memory at once: a row has a whole answer
_FOUND_BY = ("crawl_id", "depth", "referrer", "via", "link_text", "discovered_at", "reason")


class Answers(Member):
    """The member ``answers``. A response whose URL has no row of ``urls`` yet is not returned."""

    def page(self, page_id: str, crawl_id: str | None = None) -> RawPage | None:
        """The newest archived response of a page, decoded; None without one.

        Nor of a page on which workers died: who decodes and parses it may die, too.

        Args:
            page_id: 32 hex digits.
            crawl_id: Only of this crawl; None: of any.
        """
        from crawlclean.cleaning.document.document import RawPage  # charsets and their words: 13 ms

        found = self._newest(page_id, crawl_id)
        if found is None or found[1][-1] == FailureReason.POISON:
            return None
        answer, found_by = found
        _, depth, referrer, *_ = found_by
        return RawPage.from_bytes(
            answer.url,
            answer.body,
            fetched_at=answer.fetched_at,
            status=answer.status,
            headers=answer.headers,
            referrer=referrer,
            depth=depth,
            provenance=_provenance(found_by),
        )

    def body(self, page_id: str, crawl_id: str | None = None) -> bytes | None:
        """The body of the newest archived response of a page or an image; None without one."""
        found = self._newest(page_id, crawl_id)
        return found[0].body if found else None

    def fetched_at(self, page_ids: Sequence[str], crawl_id: str) -> dict[str, datetime]:
        """When the archived answers of a crawl's pages were fetched, by page id; absent: not kept.

        Args:
            page_ids: At most 10,000, each 32 hex digits.
            crawl_id: Their crawl.
        """
        keys = [(page_id, crawl_id) for page_id in page_ids]
        found = self._tables.get("raw", keys, ("fetched_at",))
        return {key[0]: from_microseconds(values[0]) for key, values in found.items()}

    def scan(
        self,
        crawl_id: str | None = None,
        host: str | None = None,
        since: datetime | None = None,
        once: Once | None = None,
        on_damage: Callable[[StoreDamaged], None] | None = None,
    ) -> Iterator[tuple[Answer, Provenance, int]]:
        """Yields (archived response, how its URL was found, its depth) by page id.

        One response is in memory at a time.

        Args:
            crawl_id: Only of this crawl.
            host: Only of this host.
            since: Only responses that ended at this time or later.
            once: Only responses whose keys it has not, to which they are added; None: all.
            on_damage: Called for each response that cannot be read, and is left out.

        Raises:
            StoreDamaged: A response cannot be read, and ``on_damage`` is None.
        """
        first = 0 if since is None else to_microseconds(since)
        wanted = Scan("raw", (*PAGE_KEY, "fetched_at"), of(crawl_id, host), PAGE_KEY)
        for rows in steps(self._tables, wanted, READ_ROWS):
            keys = [(page, crawl) for page, crawl, fetched_at in rows if fetched_at >= first]
            found_by = self._tables.get("urls", keys, _FOUND_BY)
            for key in keys:
                if key not in found_by or (once and not once.is_first(":".join(key))):
                    continue
                try:
                    answer = self._blobs.answer(*key)
                except DatabaseDamaged:
                    raise
                except StoreDamaged as error:
                    if on_damage is None:
                        raise
                    on_damage(error)
                    continue
                if answer is not None:
                    yield answer, _provenance(found_by[key]), found_by[key][1]

    def _newest(self, page_id: str, crawl_id: str | None) -> tuple[Answer, Sequence[Any]] | None:
        """The response, and the values of ``_FOUND_BY`` of its URL."""
        where = {"page_id": page_id, **of(crawl_id)}
        while True:
            found_by = {row[0]: row for row in self._tables.scan(Scan("urls", _FOUND_BY, where))}
            crawl: str | None = crawl_id if crawl_id in found_by else None
            if crawl_id is None and found_by:
                times = self._tables.scan(Scan("raw", ("fetched_at", "crawl_id"), where))
                known = [(row[0], row[1]) for row in times if row[1] in found_by]
                crawl = max(known)[1] if known else None
            answer = self._blobs.answer(page_id, crawl) if crawl else None
            if answer and crawl:
                return answer, found_by[crawl]
            if crawl_id or not crawl:
                return None  # else it was deleted between the two reads: read again


def _provenance(found_by: Sequence[Any]) -> Provenance:
    """How a URL was found, from the values of ``_FOUND_BY``."""
    crawl_id, _, referrer, via, link_text, discovered_at, _ = found_by
    return Provenance(
        crawl_id=crawl_id,
        referrer=referrer,
        via=Via(via),
        link_text=link_text,
        discovered_at=time_or_none(discovered_at),
    )
