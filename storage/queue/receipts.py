"""Receipts: by them a store that is older than its queue is noticed (ADR 28).

A page is stored before its acknowledgement. So every page that ended in the queue has a row in the
store whose response is not older, after a kill at any moment as well. The queue keeps the last
pages of each crawl that ended, one for each acknowledgement, as receipts. A store that was put back
lacks the pages that were stored last, and these are the pages of the receipts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from crawlclean.cleaning.errors import StorageError
from crawlclean.storage.store.urls import Urls

if TYPE_CHECKING:
    from crawlclean.storage.queue.frontier import Frontier


class Receipt(NamedTuple):
    """A page that ended: its id, and the end of its response as stored, ms since 1970 UTC."""

    page_id: str
    stored_ms: int


def read_receipts(lines: Sequence[bytes]) -> list[Receipt]:
    """Decodes receipts, ``[b"4f11... 1700000000000"]``.

    Raises:
        ValueError: Another program wrote the lines.
    """
    pairs = (line.decode().split(" ") for line in lines)
    return [Receipt(page_id, int(stored_ms)) for page_id, stored_ms in pairs]


def find_gap(frontier: Frontier, urls: Urls, crawl_id: str) -> int:
    """Returns how many of a crawl's receipts the store lacks; 0 unless the store is older.

    It lacks a receipt when the page is not there, or only with an older response.

    A page that is purged meanwhile is not missing: its receipt is deleted first.

    Raises:
        StorageError: Queue or store failed.
    """
    receipts = frontier.receipts(crawl_id)
    stored = urls.response_times(crawl_id, {receipt.page_id for receipt in receipts})
    missing = {each for each in receipts if stored.get(each.page_id, -1) < each.stored_ms}
    if missing:
        missing &= set(frontier.receipts(crawl_id))
    return len(missing)


def check_store(frontier: Frontier, urls: Urls, crawl_id: str) -> None:
    """Checks that the store is not older than the queue of a crawl.

    Raises:
        StorageError: The store is older; or queue or store failed.
    """
    missing = find_gap(frontier, urls, crawl_id)
    if missing:
        raise StorageError(
            f"the store is older than its queue: it lacks at least {missing} finished URLs of "
            f"crawl {crawl_id}; put the newer store back, or run `crawl recover {crawl_id}`: then "
            "`run` fetches them again"
        )
