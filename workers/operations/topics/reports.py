"""What topics have found: from the judgements of pages in the store, and the queue if it runs."""

from __future__ import annotations

import sys
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache, partial

from msgspec import UNSET, UnsetType, structs

from crawlclean.cleaning.errors import ConfigError, InvalidUrl, NotFound, QueueUnavailable
from crawlclean.cleaning.records import Image
from crawlclean.cleaning.topics.topic import Topic
from crawlclean.cleaning.urls.normal_form import normal_form, page_id
from crawlclean.storage.crawl_types import CrawlRow, UrlRow
from crawlclean.storage.store.pictures import PictureRow
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.rows import from_microseconds
from crawlclean.storage.topic_types import TopicRow
from crawlclean.workers.answers.making import answer_of
from crawlclean.workers.answers.topics import (
    CrawlOptions,
    HarvestStep,
    LinkWeight,
    StoryLine,
    TopicBudget,
    TopicDay,
    TopicHost,
    TopicImage,
    TopicImages,
    TopicLine,
    TopicPicture,
    TopicReport,
)
from crawlclean.workers.config import Settings
from crawlclean.workers.jobs.images import wanted_pages
from crawlclean.workers.jobs.topics import examples_of, order_of, stored_model
from crawlclean.workers.operations.alerting.receivers import receiver_lines
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.files.stored_images import split_by_kind
from crawlclean.workers.operations.parts import Part, Place, part_of
from crawlclean.workers.operations.topics.reading import DAY_US, list_topic_stories
from crawlclean.workers.operations.topics.stories import story_line
from crawlclean.workers.operations.topics.topics import find_topic, seen_topics
from crawlclean.workers.operations.watching.kept_backends import KeptBackends

# The harvest of a topic: which of its relevant pages tell a story first, and when they came.
#
# A page counts when it is relevant and no page before it, in order of fetching, tells its story.
# All others that are relevant are copies. One pass over the topic's pages finds all sums at once,
# so that they agree with each other, and a topic of a million pages takes seconds.

STEP_PAGES = 100
"""Pages of a step: of fewer, the share of stories is chance."""
MOST_STEPS = 200
"""Points of a curve 1,000 pixels wide; 20,000 pages in steps of 100."""

NEWEST, OF_DAY = 20, 1_000
"""Stories of a report, and of the report of a day: a screen of a terminal, a long read."""
HOUR_US = 3_600_000_000  # an hour

_OTHER, _STORY, _COPY = 0, 1, 2  # what a page was, as a place in a list of counts

PageRow = tuple[int, str, str, int, int]
"""(end of the response in microseconds, page id, crawl, 1: relevant, publication in microseconds),
as ``Topics.in_order``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Harvest:
    """The harvest of a topic.

    Attributes:
        stories: Relevant pages that tell a story first.
        copies: Relevant pages that tell a story again.
        own_pages: Judged pages of the topic's own crawl.
        last_hour: Own pages of the hour before the newest one.
        steps: Own pages in order, ``STEP_PAGES`` and more a step.
        days: Sums by day of publication in UTC, oldest first.
        last_relevant: End of the response of the newest relevant page; None: no page is relevant.
        told: Relevant pages of each story that more than one tells, by its id.
        copies_of_host: Copies by host.
    """

    stories: int
    copies: int
    own_pages: int
    last_hour: int
    steps: tuple[HarvestStep, ...]
    days: tuple[TopicDay, ...]
    last_relevant: datetime | None
    told: Mapping[str, int]
    copies_of_host: Mapping[str, int]


def harvest_of(
    pages: Iterable[PageRow], crawl_id: str, story_of: Mapping[str, tuple[str, str]]
) -> Harvest:
    """Returns the harvest of a topic.

    Args:
        pages: Its judged pages, in order of fetching.
        crawl_id: The topic's own crawl.
        story_of: (story, host) by page id, of pages that are not alone.
    """
    own = bytearray()  # a byte a page: a million pages take 1 MB
    counts_of_day: dict[int, list[int]] = {}
    pages_of_story: Counter[str] = Counter()
    copies_of_host: Counter[str] = Counter()
    recent: deque[int] = deque()
    last_relevant = None
    for at, page, crawl, is_relevant, published in pages:
        what = _STORY if is_relevant else _OTHER
        last_relevant = at if is_relevant else last_relevant
        if is_relevant and page in story_of:
            story, host = story_of[page]
            pages_of_story[story] += 1
            if pages_of_story[story] > 1:
                what = _COPY
                copies_of_host[host] += 1
        counts_of_day.setdefault(published // DAY_US, [0, 0, 0])[what] += 1
        if crawl == crawl_id:
            own.append(what)
            recent.append(at)
            while recent[0] <= at - HOUR_US:
                recent.popleft()
    days = tuple(
        TopicDay(day=f"{from_microseconds(day * DAY_US):%Y-%m-%d}", **_sums(*counts))
        for day, counts in sorted(counts_of_day.items())
    )
    return Harvest(
        stories=sum(each.stories for each in days),
        copies=sum(each.copies for each in days),
        own_pages=len(own),
        last_hour=len(recent),
        steps=tuple(_steps(own)),
        days=days,
        last_relevant=None if last_relevant is None else from_microseconds(last_relevant),
        told={story: count for story, count in pages_of_story.items() if count > 1},
        copies_of_host=copies_of_host,
    )


def _sums(others: int, stories: int, copies: int) -> dict[str, int]:
    return {"pages": others + stories + copies, "stories": stories, "copies": copies}


def _steps(own: bytearray) -> Iterator[HarvestStep]:
    size = STEP_PAGES * max(1, -(-len(own) // (STEP_PAGES * MOST_STEPS)))
    for start in range(0, len(own), size):
        part = own[start : start + size]
        yield HarvestStep(**_sums(*map(part.count, (_OTHER, _STORY, _COPY))))


# The images of topics: which were refused, which are stored, which are copies of each other.

CACHED_RECORDS = 64  # pages of images that follow each other in a listing


def list_pictures(
    backends: Backends, name: str, limit: int, *, copies: bool
) -> Sequence[TopicPicture]:
    """Returns the pictures of a topic, those with the newest image first.

    Args:
        backends: The store.
        name: Of the topic.
        limit: At most this many.
        copies: Whether each comes with its copies.

    Raises:
        NotFound: There is no such topic.
        ConfigError: The topic fetches no images.
    """
    with backends.store() as store:
        row = find_topic(store, name)
        crawl = store.crawls.get(name)
        if crawl is None or not crawl.spec.images:
            raise ConfigError(f"topic {name} fetches no images: `topic {name} --images` does")
        return list(_pictures(store, row, limit, copies=copies))


def count_images(store: Store, row: TopicRow) -> TopicImages | UnsetType:
    """Returns the numbers of a topic's images; ``UNSET`` when its crawl fetches none."""
    crawl = store.crawls.get(row.name)
    if crawl is None or not crawl.spec.images:
        return UNSET
    content, others = split_by_kind(
        image for page in wanted_pages(store, crawl.spec) for image in page.images
    )
    refused = Counter(image.kind.value for image in others.values())
    groups = store.pictures.groups(row.crawl_id)
    return TopicImages(
        shown=len(content) + len(others),
        content=len(content),
        refused=dict(refused.most_common()),
        stored=sum(images for _, images in groups),
        pictures=len(groups),
    )


def _pictures(store: Store, row: TopicRow, limit: int, *, copies: bool) -> Iterator[TopicPicture]:
    @lru_cache(maxsize=CACHED_RECORDS)
    def images_of(page: str) -> Sequence[Image]:
        """The images of a page as its record has them."""
        try:
            record = store.records.get(page_id(page))
        except InvalidUrl:
            return ()
        return record.images if record else ()

    for group, copies_count in store.pictures.groups(row.crawl_id)[:limit]:
        rows = store.pictures.copies(row.crawl_id, group)
        images = [
            _image(each, url, images_of(url.referrer or ""))
            for each in (rows if copies else rows[:1])
            for url in store.urls.rows(each.page_id, [row.crawl_id])
        ]
        yield TopicPicture(
            topic=row.name,
            picture=f"{group:015x}",
            copies=copies_count,
            largest=images[0],
            others=tuple(images[1:]) if copies else UNSET,
        )


def _image(row: PictureRow, url: UrlRow, images: Sequence[Image]) -> TopicImage:
    """A stored image with what the page that shows it says of it."""
    shown = next((image for image in images if normal_form(image.url) == url.url), None)
    return TopicImage(
        url=url.url,
        page=url.referrer or "",
        # Of a redirected image, the page names another URL: the offer's text is left.
        caption=shown.caption if shown else url.link_text,
        alt=shown.alt if shown else "",
        media_type=url.media_type,
        width=row.width or None,
        height=row.height or None,
        bytes=row.file_bytes,
        sha256=row.sha256,
        fetched_at=url.finished_at,
    )


MOST_STORIES = MOST_STORY_PAGES = 20
"""Of a report, which is read as a whole; `stories` lists them all."""
MOST_DAYS = 90
"""Days of a chart of bars: on a telephone a finger still meets one."""


def list_topics(
    backends: Backends, after: Place | None = None, limit: int = sys.maxsize
) -> Part[TopicLine]:
    """Every topic, by name.

    Args:
        backends: Queue and store.
        after: 0 and the name of the topic before; None: the first part.
        limit: At most this many.

    Raises:
        NotFound: The data folder holds no crawl.
    """
    with backends.store() as store:
        rows = part_of_topics(backends, store, after, limit)
        return Part(items=[topic_line(store, row) for row in rows.items], after=rows.after)


def part_of_topics(
    backends: Backends, store: Store, after: Place | None, limit: int
) -> Part[TopicRow]:
    """A part of the stored topics, by name, as ``list_topics``."""
    names = [name for name in store.topics.crawls() if after is None or name > after[1]]
    part = part_of(names, limit, lambda name: (0, name))
    rows = filter(None, map(store.topics.get, part.items))
    return Part(items=seen_topics(backends, rows), after=part.after)


def show_topic(backends: Backends, name: str) -> TopicLine:
    """Returns one topic.

    Raises:
        NotFound: There is none of this name.
    """
    with backends.store() as store:
        (row,) = seen_topics(backends, [find_topic(store, name)])
        return topic_line(store, row)


def topic_line(store: Store, row: TopicRow) -> TopicLine:
    """A topic as an answer."""
    order = order_of(row)
    pages, relevant, marked, outdated = store.topics.counts(row.name, row.version)
    reading = store.topics.reading(row.name)
    return answer_of(
        TopicLine,
        row,
        pages=pages,
        relevant=relevant,
        marked=marked,
        outdated=outdated,
        topic=row.name,
        crawl=row.crawl_id,
        query=order.spec.query,
        synonyms=order.spec.synonyms,
        excluded=order.spec.excluded,
        examples=tuple(sorted(each.url for each in examples_of(row) if each.weight > 0)),
        threshold=order.spec.threshold,
        unread=reading.left if reading else 0,
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


def weights_of(backends: Backends, name: str) -> list[LinkWeight]:
    """Returns what the topic has learned of links, the largest weights first.

    Raises:
        NotFound: There is no such topic.
    """
    with backends.store() as store:
        model = stored_model(store, Topic.from_bytes(find_topic(store, name).packed))
    return [
        LinkWeight(name=feature, weight=round(weight, 3), sd=round(sd, 3))
        for feature, weight, sd in model.weights()
    ]


def last_days(report: TopicReport) -> list[TopicDay]:
    """The harvest of ``MOST_DAYS`` days, the last one with a page, also of days without any."""
    if not report.days:
        return []
    known = {each.day: each for each in report.days}
    last = date.fromisoformat(report.days[-1].day)
    names = [f"{last - timedelta(days=n)}" for n in reversed(range(MOST_DAYS))]
    empty = TopicDay(day="", pages=0, stories=0, copies=0)
    return [known.get(name) or replace(empty, day=name) for name in names]


def _waiting(backends: Backends, row: TopicRow) -> int | None:
    """The URLs of a topic's crawl that wait; None: no process runs the crawl.

    A queue at rest is left alone: who starts it has the data folder, and a crawl that begins in
    this second would be refused.
    """
    with suppress(NotFound, QueueUnavailable), backends.queue_side() as side:
        if side.frontier is not None:
            return side.frontier.counts(row.crawl_id).pending
    return None


def _reprints(store: Store, harvest: Harvest) -> Iterator[StoryLine]:
    largest = sorted(harvest.told, key=lambda story: (-harvest.told[story], story))
    for story_id in largest[:MOST_STORIES]:
        story = store.stories.story(story_id)
        if story is not None:  # else purged meanwhile
            line = story_line(store, story)
            pages = () if line.pages is UNSET else line.pages[:MOST_STORY_PAGES]
            yield structs.replace(line, pages=pages)


def _hosts(sums: Mapping[str, tuple[int, int]], harvest: Harvest) -> Iterator[TopicHost]:
    hosts = []
    for host, (pages, relevant) in sums.items():
        copies = min(relevant, harvest.copies_of_host.get(host, 0))
        counts = {"pages": pages, "stories": relevant - copies, "copies": copies}
        hosts.append(TopicHost(host=host, **counts))
    yield from sorted(hosts, key=lambda each: (-each.stories, -each.copies, each.pages, each.host))


# The figures of a topic that are read from all its pages, as the console keeps them.
#
# A topic of 100,000 pages takes a fifth of a second (``make bench-console ARGS="--only topics"``):
# a screen shows the figures that were computed last, with their time, while a thread computes the
# next ones (``watching/remembering.py``).

LEAST_AGE_S = 30.0
"""Figures are not read anew before they are this old."""

FIRST_S = 0.05
"""A page waits this long for figures that were never read; those of small topics are there."""

MOST_WEIGHTS = MOST_PICTURES = 20
"""Rows of one panel beside others; the commands print more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicFigures:
    """What is read from all pages of a topic.

    Attributes:
        report: The line of `topic NAME --report`.
        last_relevant: When the newest relevant page was fetched; None: there is none.
        weights: What was learned of links, the largest weights first, at most ``MOST_WEIGHTS``.
        pictures: Its newest pictures, at most ``MOST_PICTURES``; none where images are not fetched.
    """

    report: TopicReport
    last_relevant: datetime | None
    weights: Sequence[LinkWeight]
    pictures: Sequence[TopicPicture]

    @property
    def as_of(self) -> datetime:
        """When they were read."""
        return self.report.made_at


def figures_question(
    backends: KeptBackends, name: str
) -> tuple[Hashable, Callable[[], TopicFigures], float]:
    """The question for the figures of a topic, as ``KeptBackends.computing`` takes it."""
    return ("topic", name), partial(read_figures, backends.settings, name), LEAST_AGE_S


def read_figures(settings: Settings, name: str, day: date | None = None) -> TopicFigures:
    """Reads the figures of a topic from all its pages, by connections of its own.

    Args:
        settings: Where the store is.
        name: Of the topic.
        day: The newest stories of its report are those published on this day.

    Raises:
        NotFound: There is no such topic.
        StoreUnavailable: The database is away or locked.
    """
    with Backends(settings) as backends, backends.store() as store:
        row = find_topic(store, name)
        story_of = store.stories.by_page()
        harvest = harvest_of(store.topics.in_order(name), row.crawl_id, story_of)
        crawl, model = store.crawls.get(name), store.topics.model(name)
        waiting = _waiting(backends, row)
        line = topic_line(store, *seen_topics(backends, [row]))
        stories = list_topic_stories(backends, name, day=day, limit=OF_DAY if day else NEWEST)
        report = TopicReport(
            topic=line,
            made_at=datetime.now(UTC),
            stories=harvest.stories,
            copies=harvest.copies,
            adopted=line.pages - harvest.own_pages,
            batches=model.version if model else 0,
            waiting=waiting,
            budget=TopicBudget(
                max_pages=crawl.spec.max_pages if crawl else None,
                pages=harvest.own_pages,
                pages_per_hour=line.pages_per_hour,
                last_hour=harvest.last_hour,
            ),
            harvest=harvest.steps,
            days=harvest.days,
            newest=tuple(stories.items),
            reprints=tuple(_reprints(store, harvest)),
            hosts=tuple(_hosts(store.topics.by_host(name), harvest)),
            images=count_images(store, row),
        )
        has_images = report.images is not UNSET
        return TopicFigures(
            report=report,
            last_relevant=harvest.last_relevant,
            weights=weights_of(backends, name)[:MOST_WEIGHTS],
            pictures=list(_pictures(store, row, MOST_PICTURES * has_images, copies=False)),
        )
