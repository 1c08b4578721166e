"""Adoption: a page that one crawl fetches is judged for every running topic that may want it.

So a page that two topics want is fetched once. A topic adopts a page that has a word of its query,
or that waits in its own queue. The judgement is saved with the page; then its outlinks are offered
to the topic's crawl, and the page is marked as done there. All of it comes before the page is
acknowledged, and doing it twice changes nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from zlib import crc32

import msgspec

from crawlclean.cleaning.errors import NotFound
from crawlclean.cleaning.json_values import dump
from crawlclean.cleaning.records import CleanRecord
from crawlclean.cleaning.topics.relevance import judge_record
from crawlclean.cleaning.topics.topic import Topic
from crawlclean.storage.crawl_types import (
    CrawlSpec,
    FetchResult,
    Outcome,
    Scope,
    UrlState,
)
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.topics import judged_pages
from crawlclean.storage.topic_types import StoredReading
from crawlclean.workers.jobs.images import images_of
from crawlclean.workers.jobs.outcomes import Ending, stored_page
from crawlclean.workers.jobs.topics import CrawlTopic, judgement_of, load_crawl_topic
from crawlclean.workers.jobs.url_classes import HostUrlRules, host_rules
from crawlclean.workers.jobs.url_filter import Chosen, Ranker, UrlFilter, unknown

Allows = Callable[[str, str], bool]


@dataclass(frozen=True, slots=True)
class _Other:
    """A running topic that may adopt pages of this job."""

    spec: CrawlSpec
    topic: CrawlTopic
    rules: HostUrlRules
    url_filter: UrlFilter


class Adopter:
    """The running topics beside a crawl's own, for the pages of one job."""

    def __init__(
        self,
        store: Store,
        frontier: Frontier,
        host: str,
        topics: Mapping[str, str],
        allows: Allows,
        own_crawl: str = "",
    ) -> None:
        """Loads those of some topics whose scope has the host.

        Args:
            store: The store.
            frontier: The queue.
            host: Host of the pages.
            topics: Crawls of topics by name.
            allows: The robots rules known so far.
            own_crawl: The crawl that fetches the pages; ``""``: they are stored already.
        """
        self._store = store
        self._frontier = frontier
        self._own_crawl = own_crawl
        self._host = host
        self._allows = allows
        self._others = {
            name: other
            for name, crawl_id in topics.items()
            if (other := self._other(crawl_id)) and other.url_filter.in_scope(host)
        }

    def _other(self, crawl_id: str) -> _Other | None:
        try:
            spec = self._frontier.spec(crawl_id)
        except NotFound:  # purged, or its queue was lost
            return None
        topic = load_crawl_topic(self._store, self._frontier.topics, spec)
        if topic is None:
            return None
        rules = host_rules(self._frontier, crawl_id, self._host)
        url_filter = UrlFilter(
            spec,
            self._frontier.more_hosts(crawl_id),
            self._allows,
            rules,
            gate=self._frontier.topics,
        )
        return _Other(spec, topic, rules, url_filter)

    def with_judgements(self, outcome: Outcome) -> Outcome:
        """Returns the outcome with the judgements of the topics that adopt its page."""
        for other in self._others.values():
            if outcome.record is not None and self._wants(other, outcome):
                judgement = judgement_of(other.topic.topic, outcome.record)
                judgement = replace(judgement, notify=other.topic.notify)
                outcome = replace(outcome, judgements=(*outcome.judgements, judgement))
        return outcome

    def _wants(self, other: _Other, outcome: Outcome) -> bool:
        record, queued = outcome.record, outcome.queued
        if record is None or other.url_filter.refusal(queued.url, queued.depth) is not None:
            return False
        known = self._store.topics.page(other.spec.topic, queued.page_id)
        if known is not None and known.crawl_id != queued.crawl_id:
            return False  # the topic has the page by a fetch of its own, or of a third crawl
        # The query alone: comparing with the examples costs five times as much.
        by_query = msgspec.structs.replace(other.topic.topic, terms={})
        if judge_record(by_query, record).query_part > 0:
            return True
        return self._frontier.has_seen(other.spec.crawl_id, queued.page_id)

    def adopt(self, endings: Sequence[Ending]) -> int:
        """Offers the outlinks of adopted pages to the crawls of their topics; ends the pages there.

        The content images of relevant pages are offered too, to crawls that fetch images.

        Returns:
            How many pages were adopted.
        """
        adopted = 0
        for name, other in self._others.items():
            mine = [
                each
                for each in endings
                if any(judged.topic == name for judged in each.outcome.judgements)
            ]
            if not mine:
                continue
            adopted += len(mine)
            crawl_id = other.spec.crawl_id
            found: dict[str, tuple[Chosen, Ranker]] = {}
            for each in mine:
                page = each.outcome.queued
                chosen, _ = other.url_filter.choose(each.outlinks, page.url, page.depth, page.hops)
                ranker = other.topic.ranker(each.outcome, other.rules)
                for link in chosen:
                    found.setdefault(link.outlink.url, (link, ranker))
            new = [
                other.url_filter.discovery(link, ranker)
                for link, ranker in unknown(self._frontier, crawl_id, found)
            ]
            # In this order: a crawl without an open URL is over.
            self._frontier.offer(crawl_id, new)
            if other.spec.images:
                images, _ = images_of(mine, self._allows, other.topic.is_relevant)
                self._frontier.add(crawl_id, images)
            pages = [(each.outcome.queued.page_id, self._host) for each in mine]
            self._frontier.topics.adopt(crawl_id, self._own_crawl, pages)
        return adopted


# Stored pages for a topic: what other crawls have stored is judged for a new topic, once.
#
# Pages that are saved while a topic runs are adopted as they come (``topic_adoption.py``). Those
# that were stored before the topic had its words are read here, in slices, by the workers of the
# topic's own crawl: a slice at a time and a pause between two, so that the pages of the crawl
# hardly wait. A crawl that has few URLs left reads without a pause, for it may end.
#
# How far it has come stands with the topic in the store. A slice that was read by a killed worker
# is read again, which changes nothing. Other words begin anew; marks and examples do not.

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
    gate, crawl_id = frontier.topics, spec.crawl_id
    for host, records in sorted(wanted.items()):
        # A relevant page brings its host into the crawl, as a link to the page would.
        if spec.scope is Scope.TOPIC and not gate.known_hosts(crawl_id, [host]):
            judged = (judge_record(topic, record) for _, record in records)
            if any(each.relevance >= topic.threshold for each in judged):
                gate.take_hosts(crawl_id, [host])
        adopter = Adopter(store, frontier, host, {topic.name: crawl_id}, allows)
        endings = list(_endings(store, adopter, records))
        store.topics.judge([page for each in endings for page in judged_pages(each.outcome)])
        adopted += adopter.adopt(endings)
    return adopted


def _endings(
    store: Store, adopter: Adopter, records: Sequence[tuple[str, CleanRecord]]
) -> Iterator[Ending]:
    """The endings of those stored pages that the topic wants, with its judgement."""
    for crawl_id, record in records:
        row = next(iter(store.urls.rows(record.page_id, [crawl_id])), None)
        if row is not None:  # else purged since
            queued = stored_page(row, crawl_id, record.fetched_at, FetchResult())
            outcome = Outcome(queued=queued, state=UrlState.RECORD, record=record)
            judged = adopter.with_judgements(outcome)
            if judged.judgements:
                yield Ending(outcome=judged, outlinks=record.outlinks)
