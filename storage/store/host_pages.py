"""What a store tells of one host's pages in all crawls: what is archived, which model made what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


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


class SitePages(Protocol):
    """What a store tells of a host; lists are read in steps of bounded size, by page id."""

    def archived_pages(self, host: str) -> Iterator[ArchivedPage]:
        """The newest answer of every page of every crawl that is archived."""

    def record_versions(
        self, host: str, after: tuple[str, str] = ("", "")
    ) -> Iterator[RecordVersion]:
        """Every record of the host behind a (page id, crawl).

        One that is saved anew meanwhile is here once, as it was or as it is.
        """

    def records_by_model(self, host: str) -> Mapping[int, int]:
        """Records of the host, by the version of the model that made them; 0: none did."""
