"""Stored pages for a topic: what other crawls have stored is judged for a new topic, once.

Pages that are saved while a topic runs are adopted as they come (``topic_adoption.py``). Those that
were stored before the topic had its words are read here, in slices, by the workers of the topic's
own crawl: a slice at a time and a pause between two, so that the pages of the crawl hardly wait. A
crawl that has few URLs left reads without a pause, for it may end.

How far it has come stands with the topic in the store. A slice that was read by a killed worker is
read again, which changes nothing. Other words begin anew; marks and examples do not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from zlib import crc32

import msgspec

from crawlclean.cleaning.json_values import dump
from crawlclean.cleaning.records import CleanRecord
from crawlclean.cleaning.topics.relevance import judge_record
from crawlclean.cleaning.topics.topic import Topic
from crawlclean.storage.crawl_types import CrawlSpec, FetchResult, Outcome, Scope, UrlState
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.topics import judged_pages
from crawlclean.storage.topic_types import StoredReading
from crawlclean.workers.jobs.outcomes import Ending, stored_page
from crawlclean.workers.jobs.topic_adoption import Adopter, Allows

AT_ONCE = 100
"""Records of a slice: .1 s of work."""
PAUSE_S = 5
"""Between two slices of a topic, over all workers: 72,000 records an hour at 2 % of a processor."""
FEW_URLS = 50
"""Waiting URLs below which slices are read without a pause."""
HURRIED_SLICES = 20
"""Slices of one job without a pause: 2 s."""
MOST_RECORDS = 100_000
"""The newest records that a topic reads: an hour and a half of slices."""


def read_stored(
    store: Store, frontier: Frontier, topic: Topic, spec: CrawlSpec, allows: Allows
) -> int:
    """Judges stored records for a topic, as far as its turn has come; returns how many it adopts.

    Args:
        store: The store.
        frontier: The queue.
        topic: The topic.
        spec: Order of its crawl.
        allows: The robots rules known so far.
    """
    place = _place(store, topic)
    adopted = 0
    for _ in range(HURRIED_SLICES):
        if place is None or not place.left:
            break
        is_short = frontier.counts(spec.crawl_id).pending < FEW_URLS
        if not is_short and not frontier.is_first(f"read for {topic.name}", PAUSE_S):
            break
        found, after = store.records.after(place.after, AT_ONCE)
        adopted += _adopt(store, frontier, topic, spec, found, allows)
        behind = replace(place, after=min(after or place.end, place.end))
        place = behind if store.topics.read_on(topic.name, place, behind) else None
        if not is_short:
            break
    return adopted


def words_of(topic: Topic) -> str:
    """Names the words that decide which pages a topic adopts: ``"9a0364b9"``."""
    return f"{crc32(dump((topic.concepts, topic.excluded))):08x}"


def _place(store: Store, topic: Topic) -> StoredReading | None:
    """How far the topic has come; None when another worker has begun anew at this moment."""
    known, words = store.topics.reading(topic.name), words_of(topic)
    if known is not None and known.words == words:
        return known
    end = store.records.last_number()
    begun = StoredReading(words=words, after=max(0, end - MOST_RECORDS), end=end)
    return begun if store.topics.read_on(topic.name, known, begun) else None


def _adopt(
    store: Store,
    frontier: Frontier,
    topic: Topic,
    spec: CrawlSpec,
    found: Sequence[tuple[str, CleanRecord]],
    allows: Allows,
) -> int:
    """Adopts the records of a slice that the topic wants; returns how many."""
    pages = store.topics.pages(topic.name, {record.page_id for _, record in found})
    fetched_in = {page.page_id: page.crawl_id for page in pages}
    by_query = msgspec.structs.replace(topic, terms={}, taught=type(topic.taught)())
    wanted: dict[str, list[tuple[str, CleanRecord]]] = defaultdict(list)
    for crawl_id, record in found:
        # One that is judged as a page of the same crawl may be left by a killed worker.
        is_own = crawl_id == spec.crawl_id
        is_other = fetched_in.get(record.page_id, crawl_id) != crawl_id
        if not is_own and not is_other and judge_record(by_query, record).query_part > 0:
            wanted[record.host].append((crawl_id, record))
    adopted = 0
    for host, records in sorted(wanted.items()):
        if spec.scope is Scope.TOPIC:
            _take_host(frontier, topic, spec, host, records)
        adopter = Adopter(store, frontier, "", host)
        adopter.load(allows, topic.name)
        endings = [
            ending
            for crawl_id, record in records
            for ending in [_ending(store, adopter, crawl_id, record)]
            if ending is not None
        ]
        store.topics.judge([page for each in endings for page in judged_pages(each.outcome)])
        adopted += adopter.adopt(endings)
    return adopted


def _take_host(
    frontier: Frontier,
    topic: Topic,
    spec: CrawlSpec,
    host: str,
    records: Sequence[tuple[str, CleanRecord]],
) -> None:
    """Brings the host of a relevant page into the crawl, as a link to the page would."""
    gate = frontier.topics.hosts(spec.crawl_id)
    if not gate.known([host]) and any(
        judge_record(topic, record).relevance >= topic.threshold for _, record in records
    ):
        gate.take([host])


def _ending(store: Store, adopter: Adopter, crawl_id: str, record: CleanRecord) -> Ending | None:
    """The ending of a stored page with the topic's judgement; None: the topic does not want it."""
    row = next((row for row in store.urls.rows(record.page_id) if row.crawl_id == crawl_id), None)
    if row is None:  # purged since
        return None
    queued = stored_page(row, crawl_id, record.fetched_at, FetchResult())
    outcome = adopter.with_judgements(Outcome(queued=queued, state=UrlState.RECORD, record=record))
    return Ending(outcome=outcome, outlinks=record.outlinks) if outcome.judgements else None
