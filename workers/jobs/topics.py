"""What a topic does in a job of pages: judges the pages, ranks the links on them.

The judgement of a page is saved with its outcome. Links are ranked by the link model that the
learner published last (``topic_learning.py``); the features of a link go with its URL, so that the
learner and a ranking anew know them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import msgspec

from crawlclean.cleaning.errors import InvalidUrl
from crawlclean.cleaning.json_values import dump, dump_versioned, load_versioned
from crawlclean.cleaning.page_warnings import WarningKind
from crawlclean.cleaning.records import CleanRecord, Outlink, PageKind
from crawlclean.cleaning.topics.learner import (
    FIRST_RANK,
    HUB_LABEL,
    HUB_RELEVANT,
    LinkModel,
    rank_of,
)
from crawlclean.cleaning.topics.links import (
    AnchorWords,
    FoundLink,
    feature_groups,
    is_same_host,
    neighbours,
)
from crawlclean.cleaning.topics.relevance import build_topic, judge_record, text_of
from crawlclean.cleaning.topics.stories import is_same_story, record_signature
from crawlclean.cleaning.topics.topic import ExampleText, Topic, TopicSpec
from crawlclean.cleaning.url_classes.rules import class_of
from crawlclean.cleaning.urls.normal_form import normal_page_id, page_id
from crawlclean.storage.crawl_types import CrawlSpec, Outcome, PageRole, QueuedPage, UrlState
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.topics import dated
from crawlclean.storage.topic_types import (
    JudgedPage,
    TopicJudgement,
    TopicRow,
    TopicState,
)

if TYPE_CHECKING:
    from crawlclean.storage.queue.topic_ranks import TopicRanks
    from crawlclean.workers.jobs.url_classes import HostUrlRules
    from crawlclean.workers.jobs.url_filter import Ranker


FIRST_LINK_RANK = 100
"""Of a seed's first link to another host: behind seeds and images, before whatever a model ranks.
A home page says nothing in its anchor text, and all that its host has lies behind it."""
DIGITS = 4  # of a relevance: more would differ between two machines and mean nothing


class CrawlTopic:
    """The topic of one crawl, for the pages of one job."""

    def __init__(self, topic: Topic, model: LinkModel, notify: tuple[str, ...] = ()) -> None:
        """Prepares the words that are looked for in anchor texts.

        Args:
            topic: What judges pages.
            model: What ranks links.
            notify: Names of receivers that are told of relevant pages.
        """
        self.topic = topic
        self.notify = notify
        self._model = model
        concepts = [[name.words for name in concept.names] for concept in topic.concepts]
        self._words = AnchorWords(concepts, topic.vocabulary, model.words)
        self._ranked: dict[str, tuple[int, tuple[int, ...]]] = {}

    def with_judgement(self, outcome: Outcome) -> Outcome:
        """Returns the outcome with the topic's judgement of its record, if there is one."""
        queued = outcome.queued
        if outcome.record is None:
            return outcome
        judgement = replace(
            judgement_of(self.topic, outcome.record),
            features=queued.features,
            is_example=bool(queued.features) and not needs_scripts(outcome.record),
            parent=_parent_of(queued),
            notify=self.notify,
        )
        return replace(outcome, judgements=(*outcome.judgements, judgement))

    def named_links(self, outcome: Outcome) -> dict[str, str]:
        """Returns the links of an index page whose texts name the topic, by their URL."""
        record = outcome.record
        if record is None or record.kind is not PageKind.INDEX:
            return {}
        named = (each.url for each in record.outlinks if self._words.names_topic(each.text))
        return {url: url for url in named}

    def with_new_links(self, outcome: Outcome, links: int) -> Outcome:
        """Returns the outcome of a list, whose label says what it leads to.

        The text of a list says nothing; the sections that it stands for are judged by its links.

        Args:
            outcome: With the topic's judgement.
            links: Links on it that name the topic and that no page had before.
        """
        label = HUB_LABEL * min(1.0, links / HUB_RELEVANT)
        judgements = (
            replace(each, label=max(each.label, label)) if each.topic == self.topic.name else each
            for each in outcome.judgements
        )
        return replace(outcome, judgements=tuple(judgements))

    def is_relevant(self, outcome: Outcome) -> bool:
        """Whether the topic has judged the outcome's record relevant."""
        name = self.topic.name
        return any(each.is_relevant for each in outcome.judgements if each.topic == name)

    def harvest(self, outcomes: Iterable[Outcome]) -> dict[str, bool]:
        """Returns whether pages are relevant, by page id, of those that count in the harvest.

        A record counts, and a page that could not be had; a revisit does not: its page was counted.
        """
        return {
            each.queued.page_id: self.is_relevant(each)
            for each in outcomes
            if each.queued.role is PageRole.PAGE
            and each.queued.was is None
            and each.state in (UrlState.RECORD, UrlState.FAILED)
        }

    def ranker(self, outcome: Outcome, own: HostUrlRules) -> Ranker:
        """Returns what ranks the outlinks of a page.

        Args:
            outcome: Of the page, with the topic's judgement.
            own: URL rules of the page's host.
        """
        queued, name = outcome.queued, self.topic.name
        if outcome.state is UrlState.REDIRECT:
            return partial(self._inherited, queued.features)
        label = next((each.label for each in outcome.judgements if each.topic == name), 0.0)
        outlinks = outcome.record.outlinks if outcome.record else ()
        # Of a seed, or of what a seed redirects to.
        is_first = queued.depth == 0 and not queued.features
        firsts = first_links(queued.url, outlinks) if is_first else frozenset()
        texts = [outlink.text for outlink in outlinks]
        places = {text: place for place, text in reversed([*enumerate(texts)]) if text}

        def rank(outlink: Outlink) -> tuple[int, tuple[int, ...]]:
            if outlink.url in firsts:  # without features it keeps its rank when others get new ones
                return FIRST_LINK_RANK, ()
            # A URL keeps the features of its first finder; pages of a host repeat most links.
            if outlink.url not in self._ranked:
                is_own = outlink.url.split("/", 3)[2] == own.host
                rule = own.find(outlink.url) if is_own else None
                place = places.get(outlink.text)
                found = FoundLink(
                    url=outlink.url,
                    url_class=rule.template if rule is not None else class_of(outlink.url),
                    finder=queued.url,
                    finder_label=label,
                    text=outlink.text,
                    near=() if place is None else neighbours(texts, place),
                    kind=outlink.kind,
                    via=outlink.via,
                )
                features = self._model.ids(feature_groups(found, self._words))
                self._ranked[outlink.url] = self._inherited(features, outlink)
            return self._ranked[outlink.url]

        return rank

    def _inherited(
        self, features: tuple[int, ...], outlink: Outlink
    ) -> tuple[int, tuple[int, ...]]:
        """The rank of a URL by its features; a redirect leads where its own link was to lead."""
        if not features:  # of a seed
            return FIRST_RANK, ()
        rank = rank_of(*self._model.score(features), normal_page_id(outlink.url))
        return rank, features


def first_links(finder: str, outlinks: Iterable[Outlink]) -> frozenset[str]:
    """Returns a page's links to other hosts, one each: the home page, or the nearest to it."""
    found: dict[str, str] = {}
    for url in (outlink.url for outlink in outlinks if not is_same_host(outlink.url, finder)):
        host = url.split("/", 3)[2]
        if host not in found or _folders(url) < _folders(found[host]):
            found[host] = url
    return frozenset(found.values())


def _folders(url: str) -> int:
    return url.rstrip("/").count("/")


def load_crawl_topic(store: Store, ranks: TopicRanks, spec: CrawlSpec) -> CrawlTopic | None:
    """Returns the topic of a crawl; None: the crawl has none, or the topic was deleted."""
    row = store.topics.get(spec.topic) if spec.topic else None
    if row is None:
        return None
    topic = Topic.from_bytes(row.packed)
    packed, _ = ranks.weights(spec.crawl_id)
    model = LinkModel.from_bytes(packed) if packed else stored_model(store, topic)
    return CrawlTopic(topic, model, tuple(each.name for each in store.receivers.of(topic.name)))


def stored_model(store: Store, topic: Topic) -> LinkModel:
    """Returns the newest link model of a topic; the model before any example if there is none."""
    stored = store.topics.model(topic.name)
    return LinkModel.from_bytes(stored.packed) if stored else first_model(topic)


def first_model(topic: Topic) -> LinkModel:
    """Returns the link model of a topic before any page was fetched."""
    return LinkModel().with_words(topic.vocabulary)


def judgement_of(topic: Topic, record: CleanRecord) -> TopicJudgement:
    """Returns what a topic holds of a record, without the link that led to it."""
    judged = judge_record(topic, record)
    return TopicJudgement(
        topic=topic.name,
        version=topic.version,
        relevance=round(judged.relevance, DIGITS),
        label=round(judged.label, DIGITS),
        is_relevant=judged.relevance >= topic.threshold,
        parts=dump(judged.parts).decode(),
    )


def judged_again(store: Store, before: CleanRecord, outcome: Outcome) -> Outcome:
    """Returns the outcome of a re-cleaned page with the judgements of the topics that judged it.

    A page that was not relevant by its old record, or told another story, is new to receivers that
    were there when it was fetched: what is read of a host before its model is known may be its
    template, or lack a title.
    """
    record, queued, judgements = outcome.record, outcome.queued, []
    pages = store.topics.of_page(queued.page_id)
    if record is None or not pages:
        return outcome
    old, chars = record_signature(before), len(before.body)
    is_other = not is_same_story(old, chars, outcome.story, len(record.body), same_host=True)
    for page in pages:
        row = store.topics.get(page.judgement.topic)
        if row is None or page.crawl_id != queued.crawl_id:
            continue
        judgement = judgement_of(_unpacked(row.packed), record)
        if is_other or not page.judgement.is_relevant:
            told = [r.name for r in store.receivers.of(row.name) if r.since <= page.fetched_at]
            judgement = replace(judgement, notify=tuple(told))
        becomes = judgement.is_relevant and not page.judgement.is_relevant
        outcome = replace(outcome, images_due=outcome.images_due or becomes)
        judgements.append(judgement)
    return replace(outcome, judgements=tuple(judgements))


@lru_cache(maxsize=8)
def _unpacked(packed: bytes) -> Topic:
    return Topic.from_bytes(packed)


def needs_scripts(record: CleanRecord) -> bool:
    """Whether a browser would fill the page by scripts: its relevance is not known."""
    return any(each.kind is WarningKind.NEEDS_JAVASCRIPT for each in record.warnings)


def _parent_of(queued: QueuedPage) -> str:
    """The page id of the page that has the link; ``""`` for a seed."""
    try:
        return page_id(queued.provenance.referrer or "")
    except InvalidUrl:  # a stored text of another program
        return ""


# Rows of ``topics`` as workers read and write them: the user's order, examples, what judges pages.
#
# A new version of a topic is made of its order and examples by ``next_version``; the part that
# judges pages is kept with them, because making it takes a second.

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
            yield msgspec.structs.replace(
                page, judgement=replace(page.judgement, version=topic.version)
            )
        else:
            judgement = judgement_of(topic, record)
            yield msgspec.structs.replace(page, judgement=judgement, at=dated(record))


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
