"""What topics have found: from the judgements of pages in the store, and the queue if it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from msgspec import UNSET

from crawlclean.cleaning.errors import NotFound, QueueUnavailable
from crawlclean.cleaning.topics.topic import Topic
from crawlclean.storage.crawl_types import CrawlRow
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.topic_types import TopicRow
from crawlclean.workers.answers.making import answer_of
from crawlclean.workers.answers.stories import StoryLine
from crawlclean.workers.answers.topics import (
    CrawlOptions,
    LinkWeight,
    RelevantPage,
    TopicBudget,
    TopicDay,
    TopicHost,
    TopicLine,
    TopicReport,
)
from crawlclean.workers.config import Settings
from crawlclean.workers.jobs.topic_rows import examples_of, order_of
from crawlclean.workers.jobs.topics import stored_model
from crawlclean.workers.operations.backends import existing_store, queue_side
from crawlclean.workers.operations.topics.harvest import Harvest, harvest_of
from crawlclean.workers.operations.topics.images import count_images
from crawlclean.workers.operations.topics.receivers import receiver_lines
from crawlclean.workers.operations.topics.told_stories import story_line
from crawlclean.workers.operations.topics.topics import find_topic, seen_topics

MOST_STORIES = 20
MOST_STORY_PAGES = 20
_FIRST_DAY = datetime(1970, 1, 1, tzinfo=UTC)


def list_topics(settings: Settings) -> list[TopicLine]:
    """Returns every topic, by name.

    Raises:
        NotFound: The data folder holds no crawl.
    """
    with existing_store(settings) as store:
        rows = seen_topics(settings, store.topics.all())
        return [topic_line(store, row) for row in rows]


def show_topic(settings: Settings, name: str) -> TopicLine:
    """Returns one topic.

    Raises:
        NotFound: There is none of this name.
    """
    with existing_store(settings) as store:
        (row,) = seen_topics(settings, [find_topic(store, name)])
        return topic_line(store, row)


def topic_line(store: Store, row: TopicRow) -> TopicLine:
    """A topic as an answer."""
    order, counts = order_of(row), store.topics.counts(row.name, row.version)
    reading = store.topics.reading(row.name)
    return TopicLine(
        topic=row.name,
        version=row.version,
        state=row.state,
        note=row.note,
        crawl=row.crawl_id,
        query=order.spec.query,
        synonyms=order.spec.synonyms,
        excluded=order.spec.excluded,
        examples=tuple(sorted(each.url for each in examples_of(row) if each.weight > 0)),
        threshold=order.spec.threshold,
        pages=counts.pages,
        relevant=counts.relevant,
        marked=counts.marked,
        outdated=counts.outdated,
        unread=reading.left if reading else 0,
        created_at=row.created_at,
        receivers=receiver_lines(store, row.name),
        pages_per_hour=order.pages_per_hour,
        options=_options(store.crawls.get(row.name)),
    )


def _options(crawl: CrawlRow | None) -> CrawlOptions | None:
    if crawl is None:
        return None
    spec = crawl.spec
    return answer_of(
        CrawlOptions,
        spec,
        delay_s=None if spec.delay_ms is None else spec.delay_ms / 1000,
        politeness=spec.policy.politeness,
        delay_factor=spec.policy.delay_factor,
        hosts=spec.policy.hosts,
    )


def weights_of(settings: Settings, name: str) -> list[LinkWeight]:
    """Returns what the topic has learned of links, the largest weights first.

    Raises:
        NotFound: There is no such topic.
    """
    with existing_store(settings) as store:
        row = find_topic(store, name)
        model = stored_model(store, Topic.from_bytes(row.packed))
    return [
        LinkWeight(name=each.name, weight=round(each.weight, 3), sd=round(each.sd, 3))
        for each in model.weights()
    ]


def report_topic(settings: Settings, name: str) -> TopicReport:
    """Returns what a topic has found.

    Raises:
        NotFound: There is no such topic.
    """
    with existing_store(settings) as store:
        row = find_topic(store, name)
        story_of = store.stories.by_page()
        harvest = harvest_of(store.topics.in_order(name), row.crawl_id, story_of)
        return report_of(settings, store, row, (harvest, story_of))


def report_of(
    settings: Settings,
    store: Store,
    row: TopicRow,
    found: tuple[Harvest, Mapping[str, tuple[str, str]]],
) -> TopicReport:
    """As ``report_topic``, of a harvest that is summed up.

    Args:
        settings: Where the queue is.
        store: The store.
        row: The topic.
        found: Its harvest, and the (story, host) of every page that is not alone.
    """
    name, (harvest, story_of) = row.name, found
    model = store.topics.model(name)
    waiting = _waiting(settings, row)
    (seen,) = seen_topics(settings, [row])
    line = topic_line(store, seen)
    return TopicReport(
        topic=line,
        made_at=datetime.now(UTC),
        stories=harvest.stories,
        copies=harvest.copies,
        adopted=line.pages - harvest.own_pages,
        batches=model.version if model else 0,
        waiting=waiting,
        budget=_budget(store, row, harvest),
        harvest=harvest.steps,
        days=tuple(_days(harvest)),
        newest=tuple(_newest(store, name, harvest, story_of)),
        reprints=tuple(_reprints(store, harvest)),
        hosts=tuple(_hosts(store.topics.by_host(name), harvest)),
        images=count_images(store, row) or UNSET,
    )


def _waiting(settings: Settings, row: TopicRow) -> int | None:
    """The URLs of a topic's crawl that wait; None: no process runs the crawl.

    A queue at rest is left alone: who starts it has the data folder, and a crawl that begins in
    this second would be refused.
    """
    with suppress(NotFound, QueueUnavailable), queue_side(settings, at_rest=False) as side:
        if side.frontier is not None:
            return side.frontier.counts(row.crawl_id).pending
    return None


def _budget(store: Store, row: TopicRow, harvest: Harvest) -> TopicBudget:
    crawl = store.crawls.get(row.name)
    return TopicBudget(
        max_pages=crawl.spec.max_pages if crawl else None,
        pages=harvest.own_pages,
        pages_per_hour=order_of(row).pages_per_hour,
        last_hour=harvest.last_hour,
    )


def _days(harvest: Harvest) -> Iterator[TopicDay]:
    for day, each in harvest.days.items():
        text = f"{_FIRST_DAY + timedelta(days=day):%Y-%m-%d}"
        yield TopicDay(day=text, pages=each.pages, stories=each.stories, copies=each.copies)


def _newest(
    store: Store, name: str, harvest: Harvest, story_of: Mapping[str, tuple[str, str]]
) -> Iterator[RelevantPage]:
    found = {page.page_id: page for page in store.topics.pages(name, harvest.newest)}
    for page_id in harvest.newest:
        page = found.get(page_id)
        if page is None:  # purged meanwhile
            continue
        story, _ = story_of.get(page_id, (None, ""))
        yield answer_of(
            RelevantPage,
            page,
            relevance=page.judgement.relevance,
            story=story,
            copies=harvest.by_story.get(story or "", 1) - 1,
        )


def _reprints(store: Store, harvest: Harvest) -> Iterator[StoryLine]:
    by_size = sorted(harvest.by_story.items(), key=lambda item: (-item[1], item[0]))
    for story_id, _ in by_size[:MOST_STORIES]:
        story = store.stories.story(story_id)
        if story is not None:  # else purged meanwhile
            line = story_line(store, story, with_pages=True)
            pages = () if line.pages is UNSET else line.pages[:MOST_STORY_PAGES]
            yield replace(line, pages=pages)


def _hosts(sums: Mapping[str, tuple[int, int]], harvest: Harvest) -> Iterator[TopicHost]:
    hosts = []
    for host, (pages, relevant) in sums.items():
        copies = min(relevant, harvest.copies_of_host.get(host, 0))
        counts = {"pages": pages, "stories": relevant - copies, "copies": copies}
        hosts.append(TopicHost(host=host, **counts))
    yield from sorted(hosts, key=lambda each: (-each.stories, -each.copies, each.pages, each.host))
