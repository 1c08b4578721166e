"""One host's pages in all crawls: what is archived, and which model made what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from storage.crawl_types import PageRole
from storage.store.codec import from_microseconds
from storage.store.tables import PAGE_KEY, Scan, Tables, steps

READ_PAGES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedPage:
    """A page whose answer the archive holds: enough to choose a sample without reading it."""

    page_id: str
    crawl_id: str
    url: str
    fetched_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordVersion:
    """A record: its page, its fence, and whether the archive holds the answer it was made of."""

    page_id: str
    crawl_id: str
    fetched_at: datetime
    model_version: int
    is_archived: bool


class HostPages:
    """Pages of a host over all crawls; lists are read in steps of bounded size, by page id."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def archived(self, host: str) -> Iterator[ArchivedPage]:
        """The newest answer of every page of every crawl that is archived; images are no pages."""
        wanted = Scan("raw", (*PAGE_KEY, "fetched_at"), {"host": host}, PAGE_KEY)
        for rows in steps(self._tables, wanted, READ_PAGES):
            urls = self._tables.get("urls", [(row[0], row[1]) for row in rows], ("url", "role"))
            for page_id, crawl_id, fetched_at in rows:
                url, role = urls.get((page_id, crawl_id), (None, None))
                if url and role != PageRole.IMAGE:  # without a URL it is being saved, or deleted
                    yield ArchivedPage(
                        page_id=page_id,
                        crawl_id=crawl_id,
                        url=url,
                        fetched_at=from_microseconds(fetched_at),
                    )

    def versions(self, host: str, after: tuple[str, str] = ("", "")) -> Iterator[RecordVersion]:
        """Every record of the host behind a (page id, crawl).

        One that is saved anew meanwhile comes once, as it was or as it is.
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

    def by_model(self, host: str) -> Mapping[int, int]:
        """Records of the host, by the version of the model that made them; 0: none did."""
        return self._tables.count_by("records", "model_version", {"host": host})
