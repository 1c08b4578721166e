"""The learner of a topic: learns from judged pages in batches, publishes the weights.

Whoever acknowledged pages learns one batch, if one is due:

1. publishes the newest model and marks its pages, if a killed learner has not;
2. takes pages that no model has learned, in order of their ids;
3. stores the next version of the model with their ids, by compare and set;
4. publishes its weights to the queue, and marks the pages.

Killed before 3, nothing has happened; after 3, the next learner begins with 1. So no batch is
learned twice. Of two learners at once one stores a version, the other has worked in vain. The model
after a batch depends on the pages of the batch alone, not on their order.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from crawlclean.cleaning.topics.learner import (
    FIRST_RANK,
    HUB_CHILDREN,
    HUB_LABEL,
    HUB_RELEVANT,
    LAST_RANK,
    LinkExample,
    LinkModel,
    rank_line,
)
from crawlclean.cleaning.topics.links import NAMED_IDS, bucket_of, place_names
from crawlclean.cleaning.topics.topic import Topic
from crawlclean.cleaning.url_classes.rules import UrlRules, class_of
from crawlclean.cleaning.words import default_segmenter
from crawlclean.storage.crawl_types import CrawlSpec
from crawlclean.storage.queue.entries import unpack_features
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.queue.overflow import TopicModel
from crawlclean.storage.queue.topic_ranks import Score, TopicRanks
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.records import search_text
from crawlclean.storage.topic_types import JudgedPage, StoredLinkModel, TopicRow
from crawlclean.workers.jobs.topics import order_of, stored_model
from crawlclean.workers.jobs.url_classes import unpacked_rules

log = logging.getLogger(__name__)

LARGEST_BATCH = 200  # pages: those that waited for a killed learner are no reason for a long job
# {examples so far: pages of a batch}. The first pages teach most, and each batch changes the order
# of all links; later a batch costs more than it teaches.
BATCHES = {0: 5, 40: 20, 1_000: 100}
MARK_WEIGHT = 5.0  # of a page with the user's word, in pages


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """A batch that was learned.

    Attributes:
        topic: Name of the topic.
        version: Of the stored model.
        after: The model after the batch.
        links: The features of the batch's links.
    """

    topic: str
    version: int
    after: LinkModel
    links: tuple[tuple[int, ...], ...]


def is_batch_due(waiting: int, examples: int) -> bool:
    """Whether a batch is learned, with so many pages waiting and so many examples learned."""
    return waiting >= next(size for least, size in reversed(BATCHES.items()) if examples >= least)


def learn_batch(
    store: Store, ranks: TopicRanks, topic: Topic, crawl_id: str, *, at_once: bool = False
) -> Learned | None:
    """Learns one batch of a topic if one is due; returns None when nothing was learned.

    Another process that learns the same batch at the same time makes this one return None.

    Args:
        store: The store.
        ranks: Gets the weights.
        topic: The topic.
        crawl_id: Its crawl.
        at_once: Learns from the pages there are: their user has changed what they teach.
    """
    name = topic.name
    newest = store.topics.model(name)
    if newest is not None and not newest.is_marked:
        _complete(store, ranks, newest, crawl_id)
    before = stored_model(store, topic)
    waiting = store.topics.waiting_to_learn(name)
    if not waiting or not (at_once or is_batch_due(waiting, before.examples)):
        return None
    pages = store.topics.to_learn(name, LARGEST_BATCH)
    hubs = _hubs(store, name, pages)
    names = feature_names(store, crawl_id, pages, before.names)
    examples = [_example(store, page, names.get(page.page_id, ())) for page in pages]
    after = before.learn([*examples, *map(_hub_example, hubs)])
    stored = StoredLinkModel(
        topic=name,
        version=(newest.version if newest else 0) + 1,
        learned_at=datetime.now(UTC),
        packed=after.to_bytes(),
        page_ids=tuple(page.page_id for page in pages),
        hub_ids=tuple(hub.page_id for hub in hubs),
    )
    if not store.topics.add_model(stored):
        return None
    _complete(store, ranks, stored, crawl_id)
    extra = {"topic": name, "version": stored.version, "pages": len(pages), "hubs": len(hubs)}
    log.info("topic learned", extra=extra)
    links = tuple(page.judgement.features for page in pages)
    return Learned(topic=name, version=stored.version, after=after, links=links)


def _complete(store: Store, ranks: TopicRanks, model: StoredLinkModel, crawl_id: str) -> None:
    ranks.publish_weights(crawl_id, model.packed, model.version)
    store.topics.mark_learned(model)


def _hubs(store: Store, name: str, pages: Sequence[JudgedPage]) -> list[JudgedPage]:
    """The pages that relevant pages of the batch were found on, and that now count as hubs.

    A page that is more relevant itself has taught more: as a hub it would lower links like its own.
    """
    parents = {
        page.judgement.parent
        for page in pages
        if page.judgement.is_relevant and page.judgement.parent
    }
    hubs = store.topics.hubs(name, parents, HUB_CHILDREN, HUB_RELEVANT)
    return [hub for hub in store.topics.pages(name, hubs) if hub.judgement.label < HUB_LABEL]


def feature_names(
    store: Store, crawl_id: str, pages: Sequence[JudgedPage], known: Mapping[int, str]
) -> dict[str, tuple[str, ...]]:
    """Returns the names of the features that the links to some pages had, by page id.

    Only of pages with a feature that has no name yet: finders are read from the store, classes
    from the rules of their hosts, as the worker had them that ranked the link.

    Args:
        store: The store.
        crawl_id: The crawl of the topic.
        pages: Judged pages.
        known: Name by feature id.
    """
    new = [
        page
        for page in pages
        if any(n in NAMED_IDS and n not in known for n in page.judgement.features)
    ]
    if not new:
        return {}
    parents = {page.judgement.parent for page in new if page.judgement.parent}
    urls = {page.page_id: page.url for page in store.topics.pages(new[0].judgement.topic, parents)}
    rules: dict[str, UrlRules] = {}
    found = {}
    for page in new:
        if page.host not in rules:
            kept = store.rules.get(crawl_id, page.host)
            rules[page.host] = unpacked_rules(page.host, kept).rules if kept else UrlRules()
        classes = dict.fromkeys((class_of(page.url), class_of(page.url, rules[page.host])))
        names = [name for each in classes for name in place_names(page.url, each)]
        finder = urls.get(page.judgement.parent)
        if finder:
            names.append(f"from:{finder}")
        ids = frozenset(page.judgement.features)
        found[page.page_id] = tuple(dict.fromkeys(n for n in names if bucket_of(n) in ids))
    return found


def _example(store: Store, page: JudgedPage, names: tuple[str, ...]) -> LinkExample:
    record = store.records.get(page.page_id, page.crawl_id)
    return LinkExample(
        page_id=page.page_id,
        ids=page.judgement.features,
        label=page.judgement.label,
        weight=1.0 if page.mark is None else MARK_WEIGHT,
        words=tuple(_title_words(page)),
        text=search_text(record.title, record.body) if record is not None else "",
        names=names,
    )


def _hub_example(page: JudgedPage) -> LinkExample:
    return LinkExample(page_id=page.page_id, ids=page.judgement.features, label=HUB_LABEL)


def _title_words(page: JudgedPage) -> Iterator[str]:
    """Words of a page's title that may enter the vocabulary: no digits, no single letters."""
    for word in default_segmenter().words(page.title):
        if len(word) > 1 and not word.isdigit():
            yield word


# Ranking anew: when a topic's link model has changed enough, all waiting URLs get its ranks.
#
# The worker that learned does it, in its job: ranking stops for no page of other workers, and a
# killed ranking is taken up at its cursor by the next one (``storage/queue/topic_ranks.py``).


LEAST_CHANGE = 0.3
"""Mean change of scores, in logits, from which the order is worth a ranking: 15 ranks."""
EVERY_PAGES = 2_000
"""Learned pages after which the waiting URLs are ranked anew in any case, because they age."""
CHEAP_URLS = 50
"""Waiting URLs for each page learned that are always ranked: .6 ms a page, 3 % of cleaning."""
COMPARED_PAGES = 200  # the newest ones: their mean says enough, and they are read in milliseconds
KNOWN_FEATURES = 50_000  # sets of features whose ranks are kept: 10 MB
LONGEST_S = 60.0
"""Of a job, which RQ ends after 180 s; a million URLs take 33 s of CPU time, half of it the
server's, and the next job goes on at the cursor."""


def score_of(model: LinkModel) -> Score:
    """Returns what ranks links by a model, as ``rank_of`` does; links often share all features."""
    known: dict[bytes, tuple[float, float]] = {}

    def score(links: Sequence[tuple[bytes, bytes]]) -> list[int]:
        ranks = []
        for page, packed in links:
            line = known.get(packed)
            if line is None:
                if len(known) >= KNOWN_FEATURES:
                    known.clear()
                line = known[packed] = rank_line(*model.score(unpack_features(packed)))
            rank = round(line[0] + line[1] * (page[0] << 8 | page[1]))
            ranks.append(min(LAST_RANK, max(FIRST_RANK, rank)))
        return ranks

    return score


class TopicModels:
    """Ranks of links by the newest published models, for the URLs that wait in the store."""

    def __init__(self, ranks: TopicRanks) -> None:
        """Keeps the model of a crawl until a newer one is published."""
        self._ranks = ranks
        self._known: dict[str, TopicModel] = {}

    def of(self, crawl_id: str) -> TopicModel | None:
        """Returns the (version, ranks) of a crawl's newest model; None: there is none."""
        packed, version = self._ranks.weights(crawl_id)
        if not packed:
            return None
        known = self._known.get(crawl_id)
        if known is None or known[0] != version:
            known = self._known[crawl_id] = version, score_of(LinkModel.from_bytes(packed))
        return known


def steer(store: Store, frontier: Frontier, spec: CrawlSpec) -> None:
    """Moves the floor of a topic crawl towards the pages an hour of its order, if it has any."""
    row = store.topics.get(spec.topic) if spec.topic else None
    wanted = order_of(row).pages_per_hour if row else None
    if wanted is not None:
        frontier.topics.steer(spec.crawl_id, wanted)


def rank_anew(store: Store, frontier: Frontier, crawl_id: str, learned: Learned) -> int:
    """Ranks the waiting URLs of a topic crawl if the model has changed enough; returns how many.

    Args:
        store: Holds the model of the last ranking.
        frontier: The queue.
        crawl_id: The topic's crawl.
        learned: The batch that was learned.
    """
    if not _is_due(store, frontier, crawl_id, learned):
        return 0
    end = time.monotonic() + LONGEST_S
    done = frontier.topics.rerank(
        crawl_id, score_of(learned.after), learned.version, lambda: time.monotonic() > end
    )
    extra = {"crawl": crawl_id, "version": learned.version, "urls": done.urls, "moved": done.moved}
    log.info("topic ranked", extra=extra)
    return done.urls


def reach_queue(store: Store, frontier: Frontier, row: TopicRow) -> None:
    """Lets a mark or an edit of a topic change what waits: learns from it, ranks anew.

    Repeating it changes nothing; a run does it for what was changed while the queue was at rest.

    Args:
        store: The store.
        frontier: The queue.
        row: The topic; its stored pages are judged by this version.
    """
    ranks, crawl_id = frontier.topics, row.crawl_id
    if ranks.reached_by(crawl_id) >= row.version:
        return
    topic = Topic.from_bytes(row.packed)
    while learn_batch(store, ranks, topic, crawl_id, at_once=True):
        pass
    newest = store.topics.model(row.name)
    if newest is not None:
        ranks.publish_weights(crawl_id, newest.packed, newest.version)
        model = LinkModel.from_bytes(newest.packed)
        ranks.rerank(crawl_id, score_of(model), newest.version)
    ranks.note_reached(crawl_id, row.version)


def _is_due(store: Store, frontier: Frontier, crawl_id: str, learned: Learned) -> bool:
    waiting = frontier.topics.waiting(crawl_id)
    if waiting <= CHEAP_URLS * len(learned.links):
        return waiting > 0
    ranked = frontier.topics.ranked_version(crawl_id)
    stored = store.topics.model(learned.topic, ranked) if ranked else None
    if stored is None:
        return True  # never ranked, or so long ago that the model is gone
    before = LinkModel.from_bytes(stored.packed)
    if learned.after.examples - before.examples >= EVERY_PAGES:
        return True
    newest = store.topics.newest(learned.topic, COMPARED_PAGES, by="fetched_at")
    links = [page.judgement.features for page in newest if page.judgement.features]
    return learned.after.change_since(before, links) > LEAST_CHANGE
