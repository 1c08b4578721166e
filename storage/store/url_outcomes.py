"""How URLs of a crawl ended, as the frontier is rebuilt or asked again from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from cleaning.errors import StoreDamaged
from cleaning.records import Outlink, Via
from storage.crawl_types import FailureReason, PageRole, UrlState
from storage.store.codec import DAMAGE, from_microseconds

END_COLUMNS = (
    "page_id, url, host, state, role, depth, via, referrer, link_text, discovered_at, status"
)
"""The values of ``ended_url`` but for the last, the failure's reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedUrl:
    """One URL of a crawl: how it was found, and how it ended last."""

    page_id: str
    url: str
    host: str
    state: UrlState
    role: PageRole
    depth: int
    via: Via
    referrer: str | None
    link_text: str
    discovered_at: datetime | None
    status: int
    reason: FailureReason | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedPage:
    """A page that has a record: where it is, how deep, and what it leads to."""

    url: str
    depth: int
    outlinks: Sequence[Outlink]


class EndReader(Protocol):
    """What a store tells of ended URLs; both read in steps of bounded size."""

    def ended_urls(
        self, crawl_id: str, host: str | None = None, *, failed: bool = False
    ) -> Iterator[EndedUrl]:
        """Every ended URL of a crawl (of one host), by page id; ``failed``: only the failures.

        One that ends anew meanwhile is here once, as it was or as it is.
        """

    def linked_pages(self, crawl_id: str) -> Iterator[LinkedPage]:
        """Every page with a record, in the order they were saved.

        One that is saved anew meanwhile may come twice.
        """


def ended_url(row: Sequence[Any]) -> EndedUrl:
    """What the values of ``END_COLUMNS`` and a reason say.

    Raises:
        StoreDamaged: Nothing that was written by us.
    """
    try:
        return EndedUrl(
            page_id=row[0],
            url=row[1],
            host=row[2],
            state=UrlState(row[3]),
            role=PageRole(row[4]),
            depth=row[5],
            via=Via(row[6]),
            referrer=row[7],
            link_text=row[8],
            discovered_at=None if row[9] is None else from_microseconds(row[9]),
            status=row[10],
            reason=FailureReason(row[11]) if row[11] else None,
        )
    except DAMAGE as error:
        raise StoreDamaged(f"a stored end cannot be read: {error}") from error
