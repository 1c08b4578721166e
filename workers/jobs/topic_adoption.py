"""Adoption: a page that one crawl fetches is judged for every running topic that may want it.

So a page that two topics want is fetched once. A topic adopts a page that has a word of its query,
or that waits in its own queue. The judgement is saved with the page; then its outlinks are offered
to the topic's crawl, and the page is marked as done there. All of it comes before the page is
acknowledged, and doing it twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import msgspec

from crawlclean.cleaning.errors import NotFound
from crawlclean.cleaning.topics.relevance import judge_record
from crawlclean.storage.crawl_types import CrawlSpec, Discovery, Outcome
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.topic_types import TopicState
from crawlclean.workers.jobs.images import filter_images
from crawlclean.workers.jobs.outcomes import Ending
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

    def __init__(self, store: Store, frontier: Frontier, own_crawl: str, host: str) -> None:
        """Knows no topic yet.

        Args:
            store: The store.
            frontier: The queue.
            own_crawl: The crawl that fetches the pages.
            host: Host of the pages.
        """
        self._store = store
        self._frontier = frontier
        self._own_crawl = own_crawl
        self._host = host
        self._others: dict[str, _Other] = {}
        self._allows: Allows = lambda _host, _url: True

    def load(self, allows: Allows, only: str = "") -> None:
        """Loads the topics whose scope has the host.

        Without another running topic this is one small query.

        Args:
            allows: The robots rules known so far.
            only: Name of the one topic that is loaded; ``""``: all.
        """
        self._allows = allows
        self._others = {}
        for name, (_, crawl_id) in self._store.topics.versions(state=TopicState.RUNNING).items():
            if crawl_id != self._own_crawl and only in ("", name):
                other = self._other(crawl_id, allows)
                if other is not None and other.url_filter.in_scope(self._host):
                    self._others[name] = other

    def _other(self, crawl_id: str, allows: Allows) -> _Other | None:
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
            allows,
            rules,
            gate=self._frontier.topics.hosts(crawl_id),
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
                self._frontier.add(crawl_id, self._images(other, mine))
            pages = [(each.outcome.queued.page_id, self._host) for each in mine]
            self._frontier.topics.adopt(crawl_id, self._own_crawl, pages)
        return adopted

    def _images(self, other: _Other, endings: Sequence[Ending]) -> list[Discovery]:
        """The content images of the pages that the topic finds relevant."""
        found: dict[str, Discovery] = {}
        for each in endings:
            page, record = each.outcome.queued, each.outcome.record
            if record is not None and other.topic.is_relevant(each.outcome):
                taken, _ = filter_images(record.images, page.url, page.depth, self._allows)
                for discovery in taken:
                    found.setdefault(discovery.url, discovery)
        return list(found.values())
