"""Rows of ``topics`` as workers read and write them: the user's order, examples, what judges pages.

A new version of a topic is made of its order and examples by ``next_version``; the part that judges
pages is kept with them, because making it takes a second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import msgspec

from crawlclean.cleaning.json_values import dump_versioned, load_versioned
from crawlclean.cleaning.records import CleanRecord, PageKind
from crawlclean.cleaning.topics.relevance import build_topic, text_of
from crawlclean.cleaning.topics.topic import ExampleText, Topic, TopicSpec
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.topic_types import JudgedPage, TopicRow, TopicState
from crawlclean.workers.jobs.topics import judgement_of

SLICE_PAGES = 200
"""Pages judged anew between two writes: a second of work, which is what a kill costs."""

MARK_WEIGHTS = {True: 1.0, False: -0.25}
"""Weight of a page that the user marked: its sign is the user's word."""


MOVED_LABEL = 0.25
"""Change of a page's label from which links are learned from it again: the share of one of two
concepts of a query. Less would teach links the noise of every mark."""


class TopicOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked of a topic.

    Attributes:
        spec: Words, threshold, version.
        pages_per_hour: How many pages an hour the crawl shall spend; None: as its default.
    """

    spec: TopicSpec
    pages_per_hour: float | None = None


class _Examples(msgspec.Struct, frozen=True):
    examples: tuple[ExampleText, ...]


_ORDER = msgspec.json.Decoder(TopicOrder)
_EXAMPLES = msgspec.json.Decoder(_Examples)


def order_of(row: TopicRow) -> TopicOrder:
    """Returns the user's order of a stored topic.

    Raises:
        StoreDamaged: This program never wrote it.
    """
    return load_versioned(row.spec, _ORDER, "topic")


def examples_of(row: TopicRow) -> tuple[ExampleText, ...]:
    """Returns the example pages of a stored topic, and the pages that the user marked.

    Raises:
        StoreDamaged: This program never wrote them.
    """
    return load_versioned(row.examples, _EXAMPLES, "topic").examples


def first_version(order: TopicOrder, examples: Sequence[ExampleText]) -> TopicRow:
    """Returns the row of a new topic.

    Raises:
        ConfigError: The query cannot be read.
    """
    empty = TopicRow(
        name=order.spec.name,
        version=0,
        spec="",
        state=TopicState.RUNNING,
        crawl_id=order.spec.name,
        examples=b"",
        packed=b"",
        created_at=datetime.now(UTC),
    )
    return next_version(empty, order, examples)


def next_version(row: TopicRow, order: TopicOrder, examples: Sequence[ExampleText]) -> TopicRow:
    """Returns the row of the version after a stored one.

    Raises:
        ConfigError: The query cannot be read.
    """
    version = row.version + 1
    order = msgspec.structs.replace(
        order, spec=msgspec.structs.replace(order.spec, version=version)
    )
    return replace(
        row,
        version=version,
        spec=dump_versioned(order).decode(),
        examples=dump_versioned(_Examples(tuple(examples))),
        packed=build_topic(order.spec, examples).to_bytes(),
    )


def with_order(row: TopicRow, order: TopicOrder) -> TopicRow:
    """Returns the row of the same version with another order, whose words are the same."""
    return replace(row, spec=dump_versioned(order).decode())


def judge_anew(store: Store, topic: Topic) -> int:
    """Judges ``SLICE_PAGES`` that older versions of a topic judged, newest first; returns how many.

    Args:
        store: The store.
        topic: The newest version.
    """
    pages = store.topics.outdated(topic.name, topic.version, SLICE_PAGES)
    judged = list(_judged_anew(store, topic, pages))
    store.topics.judge(judged)
    moved = [
        new.page_id
        for old, new in zip(pages, judged, strict=True)
        if new.mark is None
        and new.judgement.features
        and abs(new.judgement.label - old.judgement.label) >= MOVED_LABEL
    ]
    store.topics.learn_again(topic.name, moved)
    were = {page.page_id for page in pages if page.judgement.is_relevant}
    now = [page for page in judged if page.judgement.is_relevant and page.page_id not in were]
    ask_for_images(store, topic.name, now)
    return len(pages)


def ask_for_images(store: Store, topic: str, pages: Sequence[JudgedPage]) -> None:
    """Marks the images of newly relevant pages as due, if the topic's crawl fetches images."""
    row = store.topics.get(topic)
    crawl = store.crawls.get(row.crawl_id) if row else None
    if pages and row and crawl and crawl.spec.images:
        store.images.make_due(row.crawl_id, [(page.page_id, page.crawl_id) for page in pages])


def _judged_anew(store: Store, topic: Topic, pages: Sequence[JudgedPage]) -> Iterator[JudgedPage]:
    for page in pages:
        record = store.records.get(page.page_id, page.crawl_id)
        if record is None:  # purged since: the page keeps what the older version found
            yield replace(page, judgement=replace(page.judgement, version=topic.version))
        else:
            yield replace(page, judgement=judgement_of(topic, record))


def marked_example(record: CleanRecord, *, is_relevant: bool) -> ExampleText:
    """Returns a page that the user marked, as an example."""
    return ExampleText(
        title=record.title,
        text=text_of(record),
        weight=MARK_WEIGHTS[is_relevant],
        url=record.url,
        marked=True,
        is_list=record.kind is PageKind.INDEX,
    )
