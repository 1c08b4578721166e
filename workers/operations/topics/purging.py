"""Hands pages over before their crawl is purged: topics of other crawls have adopted them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from crawlclean.cleaning.records import CleanRecord
from crawlclean.cleaning.topics.stories import record_signature
from crawlclean.storage.crawl_types import FetchResult, Outcome, UrlRow, UrlState
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.topic_types import JudgedPage
from crawlclean.workers.jobs.outcomes import stored_page

AT_ONCE = 100


def hand_over(store: Store, crawl_id: str) -> int:
    """Copies the pages of a crawl that other topics have judged into the crawls of these topics.

    A copy is saved with the judgement, so an interrupted call can be repeated.

    Returns:
        How many pages were copied.
    """
    crawls = {name: crawl for name, (_, crawl) in store.topics.versions().items()}
    others = [name for name, crawl in crawls.items() if crawl != crawl_id]
    done = without = 0
    tried: set[tuple[str, str]] = set()
    while True:
        # Pages without a record, of a deletion that was killed, are found each time.
        found = store.topics.adopted_from(crawl_id, others, AT_ONCE + without)
        pages = [page for page in found if (page.judgement.topic, page.page_id) not in tried]
        if not pages and len(found) < AT_ONCE + without:
            return done
        without = len(found) - len(pages)
        tried |= {(page.judgement.topic, page.page_id) for page in pages}
        copies = [
            copy for page in pages for copy in _copies(store, page, crawls[page.judgement.topic])
        ]
        store.save(copies)
        done += len(copies)


def _copies(store: Store, page: JudgedPage, crawl_id: str) -> Iterator[Outcome]:
    record = store.records.get(page.page_id, page.crawl_id)
    rows = [row for row in store.urls.rows(page.page_id) if row.crawl_id == page.crawl_id]
    if record is not None and rows:
        yield _outcome(store, record, rows[0], page, crawl_id)


def _outcome(
    store: Store, record: CleanRecord, row: UrlRow, page: JudgedPage, crawl_id: str
) -> Outcome:
    raw = store.answers.page(page.page_id, page.crawl_id)
    body = store.answers.body(page.page_id, page.crawl_id) or b""
    headers = raw.headers if raw else ()
    result = FetchResult(status=row.status, headers=headers, body=body)
    queued = replace(stored_page(row, crawl_id, record.fetched_at, result), log=row.log)
    return Outcome(
        queued=queued,
        state=UrlState.RECORD,
        record=record,
        html_chars=len(raw.html) if raw else 0,
        keep_raw=raw is not None,
        log=row.log,
        story=record_signature(record),
        judgements=(replace(page.judgement, features=(), is_example=False),),
    )
