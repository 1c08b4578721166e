"""Explains what topics hold of a page: which words, which example, the link, the user's mark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import exp

from crawlclean.cleaning.topics.learner import LinkModel
from crawlclean.cleaning.topics.relevance import text_of
from crawlclean.cleaning.topics.topic import Topic, plain
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.topic_types import JudgedPage
from crawlclean.workers.answers.found_stories import parts_of, words_of
from crawlclean.workers.answers.topics import FoundConcept, LinkPart, TopicVerdict
from crawlclean.workers.jobs.topics import stored_model

MOST_PARTS = 6
"""Features of a link that are named; of its 16 most add next to nothing."""


def topic_verdicts(store: Store, page_ids: Iterable[str]) -> Iterator[TopicVerdict]:
    """Yields what each topic that has judged a page holds of the page.

    Raises:
        StoreDamaged: A stored judgement cannot be read.
    """
    for page_id in page_ids:
        for page in store.topics.of_page(page_id):
            row = store.topics.get(page.judgement.topic)
            if row is not None:
                topic = Topic.from_bytes(row.packed)
                yield _verdict(store, page, topic, stored_model(store, topic))


def _verdict(store: Store, page: JudgedPage, topic: Topic, model: LinkModel) -> TopicVerdict:
    judgement, parts = page.judgement, parts_of(page.judgement)
    record = store.records.get(page.page_id, page.crawl_id)
    whole = plain(f"{record.title}\n{text_of(record)}") if record else ""
    names = {name.text: name.words for concept in topic.concepts for name in concept.names}
    concepts = tuple(
        FoundConcept(
            name=" ".join(words_of(hit, names, whole)) if hit.share else hit.name,
            share=hit.share, in_title=hit.in_title, count=hit.count,
        )
        for hit in parts.concepts
    )  # fmt: skip
    features = judgement.features
    weights = model.explain(features)[:MOST_PARTS]
    return TopicVerdict(
        url=page.url,
        topic=topic.name,
        version=judgement.version,
        relevance=judgement.relevance,
        threshold=topic.threshold,
        is_relevant=judgement.is_relevant,
        mark=page.mark,
        query=parts.q,
        examples=parts.e,
        marks=parts.taught,
        concepts=concepts,
        terms=parts.terms,
        nearest=parts.nearest,
        excluded=parts.excluded,
        is_list=parts.is_list,
        link=round(1 / (1 + exp(-model.score(features)[0])), 3) if features else None,
        link_parts=tuple(
            LinkPart(name=name, weight=rounded)
            for name, weight, _ in weights
            if (rounded := round(weight, 2))
        ),
        learned_in=page.learned_in,
        fetched_by=page.crawl_id,
    )
