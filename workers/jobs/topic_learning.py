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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from crawlclean.cleaning.topics.learner import (
    HUB_CHILDREN,
    HUB_LABEL,
    HUB_RELEVANT,
    LinkExample,
    LinkModel,
)
from crawlclean.cleaning.topics.links import NAMED_IDS, bucket_of, place_names
from crawlclean.cleaning.topics.topic import Topic
from crawlclean.cleaning.url_classes.rules import UrlRules, class_of
from crawlclean.cleaning.words import default_segmenter
from crawlclean.storage.queue.topic_ranks import TopicRanks
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.records import search_text
from crawlclean.storage.topic_types import JudgedPage, StoredLinkModel
from crawlclean.workers.jobs.topics import stored_model
from crawlclean.workers.jobs.url_classes import unpacked_rules

log = logging.getLogger(__name__)

LARGEST_BATCH = 200
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
