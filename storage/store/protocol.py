"""What a store may be asked; ``sqlite.py`` and ``mongo.py`` are the two.

Both pass one contract suite (``tests/storage/store/store_contract.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Protocol

from cleaning.document.raw_page import RawPage
from cleaning.records import CleanRecord, HostStats
from storage.crawl_types import (
    CrawlRow,
    CrawlSpec,
    CrawlState,
    FailureRow,
    Outcome,
    UrlRow,
    UrlState,
)
from storage.store.drifts import DriftStore
from storage.store.host_pages import SitePages
from storage.store.images import ImageStore
from storage.store.models import ModelStore
from storage.store.overflow_segments import ParcelStore
from storage.store.url_outcomes import EndReader


class Store(ParcelStore, EndReader, ImageStore, ModelStore, DriftStore, SitePages, Protocol):
    """All results, and what the queue may need of them.

    Every method raises ``StoreUnavailable``, ``StoreFull``, ``StoreDamaged`` or
    ``SchemaMismatch`` instead of its client's exceptions.
    """

    def save(self, outcomes: Sequence[Outcome]) -> int:
        """Stores all outcomes in one transaction; returns how many changed something.

        Saving the same outcome again changes nothing, and an older (fetched_at, model_version)
        never replaces a newer one. Raw pages with ``keep_raw``, urls rows, failures and the
        dirty marks of the hosts go in the same transaction.
        """

    def put_crawl(self, spec: CrawlSpec, state: CrawlState) -> None:
        """Creates or updates a crawl's row; ``created_at`` stays."""

    def crawls(self) -> list[CrawlRow]:
        """All crawls, oldest first."""

    def delete_crawl(self, crawl_id: str) -> int:
        """Forgets a crawl's row and all that is stored of it; returns records deleted."""

    def delete_host(self, crawl_id: str, host: str) -> int:
        """The same for one host of a crawl; the crawl's row stays."""

    def record(self, page_id: str, crawl_id: str | None = None) -> CleanRecord | None:
        """The newest record of a page, in one crawl or in all."""

    def find_page_ids(self, prefix: str, limit: int = 10) -> list[str]:
        """Page ids of records or urls that begin with a hex prefix, at most ``limit``."""

    def url_rows(self, page_id: str) -> list[UrlRow]:
        """What every crawl knows about a URL, newest first."""

    def records(
        self, crawl_id: str | None = None, since: datetime | None = None
    ) -> Iterator[CleanRecord]:
        """Records in the order they were saved, each once, read in pages of bounded size.

        ``since`` keeps those saved at or after it.
        """

    def sample_records(self, crawl_id: str, host: str, limit: int) -> list[CleanRecord]:
        """Records of a host of a crawl, those with the smallest page ids, at most ``limit``.

        Page ids are hashes: the sample grows with ``limit`` and does not depend on order.
        """

    def sample_url_rows(
        self, crawl_id: str, host: str, state: UrlState, limit: int
    ) -> list[UrlRow]:
        """The same of URLs that reached a state."""

    def count_records(self, crawl_id: str | None = None) -> int:
        """How many records are stored."""

    def failures(
        self, crawl_id: str | None = None, host: str | None = None, limit: int = 1000
    ) -> list[FailureRow]:
        """Newest first."""

    def raw_page(self, page_id: str, crawl_id: str | None = None) -> RawPage | None:
        """The archived page, decoded, or None when the archive does not hold it."""

    def hosts(self, crawl_id: str | None = None) -> list[HostStats]:
        """Statistics of all hosts, most pages first; dirty ones are recomputed first."""

    def host_stats(self, host: str, crawl_id: str | None = None) -> HostStats | None:
        """Statistics of one host, recomputed when dirty; None for an unknown host."""

    def refresh_statistics(self) -> int:
        """Recomputes the statistics of all dirty hosts; returns how many."""

    def close(self) -> None:
        """Releases files and connections; the store is not used afterwards."""
