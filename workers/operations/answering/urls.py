"""URLs as answers: `failures`, and the API."""

from __future__ import annotations

from crawlclean.storage.crawl_types import FailureRow
from crawlclean.workers.answers.crawls import FailedUrl
from crawlclean.workers.answers.making import answer_of


def failed_url(row: FailureRow) -> FailedUrl:
    """A failure as an answer."""
    return answer_of(FailedUrl, row, crawl=row.crawl_id)
