"""What topics have found: from the judgements of pages in the store, and the queue if it runs."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache, partial

from msgspec import UNSET

from crawlclean.cleaning.errors import ConfigError, InvalidUrl, NotFound, QueueUnavailable
from crawlclean.cleaning.records import CleanRecord, Image
from crawlclean.cleaning.topics.topic import Topic
from crawlclean.cleaning.urls.normal_form import normal_form, page_id
from crawlclean.storage.crawl_types import CrawlRow, CrawlSpec, UrlRow
from crawlclean.storage.store.pictures import PictureGroup, PictureRow
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.rows import from_microseconds
from crawlclean.storage.topic_types import TopicRow
from crawlclean.workers.answers.making import answer_of
from crawlclean.workers.answers.topics import (
    CrawlOptions,
    HarvestStep,
    LinkWeight,
    RelevantPage,
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
from crawlclean.workers.operations.backends import existing_store, queue_side
from crawlclean.workers.operations.files.stored_images import split_by_kind
from crawlclean.workers.operations.topics.receivers import receiver_lines
from crawlclean.workers.operations.topics.told_stories import story_line
from crawlclean.workers.operations.topics.topics import find_topic, seen_topics
from crawlclean.workers.operations.watching.kept_backends import KeptBackends

# The harvest of a topic: which of its relevant pages tell a story first, and when they came.
#
# A page counts when it is relevant and no page before it, in order of fetching, tells its story.
# All others that are relevant are copies. One pass over the topic's pages finds all sums at once,
# so that they agree with each other, and a topic of a million pages takes seconds.

STEP_PAGES = 100
MOST_STEPS = 200
"""Points of a curve 1,000 pixels wide; 20,000 pages in steps of 100."""

NEWEST = 20
DAY_US = 86_400_000_000
HOUR_US = 3_600_000_000

_OTHER, _STORY, _COPY = 0, 1, 2

PageRow = tuple[int, str, str, int]
"""(end of the response in microseconds, page id, crawl, 1: relevant), as ``Topics.in_order``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Harvest:
    """The harvest of a topic.

    Attributes:
        stories: Relevant pages that tell a story first.
        copies: Relevant pages that tell a story again.
        own_pages: Judged pages of the topic's own crawl.
        last_hour: Own pages of the hour before the newest one.
        steps: Own pages in order, ``STEP_PAGES`` and more a step.
        days: Sums by day since 1970 UTC, oldest first.
        last_relevant: End of the response of the newest relevant page, microseconds since 1970
            UTC; None: no page is relevant.
        newest: Page ids of the stories that were found last, newest first, at most ``NEWEST``.
        by_story: Relevant pages by story, of stories with more than one.
        first_of_story: (end of the response in microseconds, page id) of the first page of each
            story in ``by_story``.
        copies_of_host: Copies by host.
    """

    stories: int
    copies: int
    own_pages: int
    last_hour: int
    steps: tuple[HarvestStep, ...]
    days: Mapping[int, HarvestStep]
    last_relevant: int | None
    newest: tuple[str, ...]
    by_story: Mapping[str, int]
    first_of_story: Mapping[str, tuple[int, str]]
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
    days: dict[int, list[int]] = {}
    newest: deque[str] = deque(maxlen=NEWEST)
    by_story: Counter[str] = Counter()
    first_of_story: dict[str, tuple[int, str]] = {}
    copies_of_host: Counter[str] = Counter()
    recent: deque[int] = deque()
    last_relevant = None
    for at, page, crawl, is_relevant in pages:
        what = _STORY if is_relevant else _OTHER
        last_relevant = at if is_relevant else last_relevant
        if is_relevant and page in story_of:
            story, host = story_of[page]
            by_story[story] += 1
            if by_story[story] > 1:
                what = _COPY
                copies_of_host[host] += 1
            else:
                first_of_story[story] = at, page
        if what == _STORY:
            newest.append(page)
        day = days.get(at // DAY_US)
        if day is None:
            day = days[at // DAY_US] = [0, 0, 0]
        day[what] += 1
        if crawl == crawl_id:
            own.append(what)
            recent.append(at)
            while recent[0] <= at - HOUR_US:
                recent.popleft()
    sums = {day: _step(*counts) for day, counts in sorted(days.items())}
    return Harvest(
        stories=sum(each.stories for each in sums.values()),
        copies=sum(each.copies for each in sums.values()),
        own_pages=len(own),
        last_hour=len(recent),
        steps=tuple(_steps(own)),
        days=sums,
        last_relevant=last_relevant,
        newest=tuple(reversed(newest)),
        by_story={story: pages for story, pages in by_story.items() if pages > 1},
        first_of_story={
            story: first for story, first in first_of_story.items() if by_story[story] > 1
        },
        copies_of_host=copies_of_host,
    )


def _step(others: int, stories: int, copies: int) -> HarvestStep:
    return HarvestStep(pages=others + stories + copies, stories=stories, copies=copies)


def _steps(own: bytearray) -> Iterator[HarvestStep]:
    size = STEP_PAGES * max(1, -(-len(own) // (STEP_PAGES * MOST_STEPS)))
    for start in range(0, len(own), size):
        part = own[start : start + size]
        yield _step(part.count(_OTHER), part.count(_STORY), part.count(_COPY))


# The images of topics: which were refused, which are stored, which are copies of each other.

CACHED_RECORDS = 64  # pages of images that follow each other in a listing


def list_pictures(
    settings: Settings, name: str, limit: int | None, *, copies: bool
) -> list[TopicPicture]:
    """Returns the pictures of a topic, those with the newest image first.

    Args:
        settings: Where the store is.
        name: Of the topic.
        limit: At most this many; None: all.
        copies: Whether each comes with its copies.

    Raises:
        NotFound: There is no such topic.
        ConfigError: The topic fetches no images.
    """
    with existing_store(settings) as store:
        row = find_topic(store, name)
        if _spec_with_images(store, row) is None:
            raise ConfigError(f"topic {name} fetches no images: `topic {name} --images` does")
        groups = store.pictures.groups(row.crawl_id)[:limit]
        reader = _Reader(store, row.crawl_id)
        return [reader.picture(name, group, copies=copies) for group in groups]


def count_images(store: Store, row: TopicRow) -> TopicImages | None:
    """Returns the numbers of a topic's images; None when its crawl fetches none."""
    spec = _spec_with_images(store, row)
    if spec is None:
        return None
    content, others = split_by_kind(
        image for page in wanted_pages(store, spec) for image in page.images
    )
    refused: dict[str, int] = {}
    for image in others.values():
        refused[image.kind.value] = refused.get(image.kind.value, 0) + 1
    groups = store.pictures.groups(row.crawl_id)
    return TopicImages(
        shown=len(content) + len(others),
        content=len(content),
        refused=dict(sorted(refused.items(), key=lambda each: -each[1])),
        stored=sum(group.images for group in groups),
        pictures=len(groups),
    )


def _spec_with_images(store: Store, row: TopicRow) -> CrawlSpec | None:
    crawl = store.crawls.get(row.name)
    return crawl.spec if crawl is not None and crawl.spec.images else None


class _Reader:
    """Reads images with what their pages say of them."""

    def __init__(self, store: Store, crawl_id: str) -> None:
        self._store = store
        self._crawl_id = crawl_id
        self._record = lru_cache(maxsize=CACHED_RECORDS)(self._read_record)

    def picture(self, topic: str, group: PictureGroup, *, copies: bool) -> TopicPicture:
        rows = self._store.pictures.copies(self._crawl_id, group.group)
        found = list(self._images(rows if copies else rows[:1]))
        return TopicPicture(
            topic=topic,
            picture=f"{group.group:015x}",
            copies=group.images,
            largest=found[0],
            others=tuple(found[1:]) if copies else UNSET,
        )

    def _images(self, rows: list[PictureRow]) -> Iterator[TopicImage]:
        for row in rows:
            for url in self._store.urls.rows(row.page_id):
                if url.crawl_id == self._crawl_id:
                    yield self._image(row, url)

    def _image(self, row: PictureRow, url: UrlRow) -> TopicImage:
        shown = self._shown(url)
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

    def _shown(self, url: UrlRow) -> Image | None:
        record = self._record(url.referrer or "")
        images = record.images if record else ()
        return next((image for image in images if normal_form(image.url) == url.url), None)

    def _read_record(self, page: str) -> CleanRecord | None:
        try:
            return self._store.records.get(page_id(page)) if page else None
        except InvalidUrl:
            return None


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
    for newest in harvest.newest:
        page = found.get(newest)
        if page is None:  # purged meanwhile
            continue
        story, _ = story_of.get(newest, (None, ""))
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


# The figures of a topic that are read from all its pages, as the console keeps them.
#
# A topic of 100,000 pages takes a fifth of a second (``make bench-console ARGS="--only topics"``):
# a screen shows the figures that were computed last, with their time, while a thread computes the
# next ones (``watching/remembering.py``).

MOST_TOLD_STORIES = 10_000
"""Stories that are kept of a topic in each order: a megabyte."""

LEAST_AGE_S = 30.0
"""Figures are not read anew before they are this old."""

FIRST_S = 0.05
"""A page waits this long for figures that were never read; those of small topics are there."""

MOST_WEIGHTS = 20
MOST_PICTURES = 20


class StoryOrder(StrEnum):
    """How the stories of a topic are sorted."""

    LARGEST = "largest"  # most relevant pages first
    NEWEST = "newest"  # found last first


@dataclass(frozen=True, slots=True)
class KeptStory:
    """A story that several relevant pages of a topic tell.

    Attributes:
        story_id: 15 hex digits.
        pages: Relevant pages that tell it.
        at: End of the response of the first of them, microseconds since 1970 UTC.
        page_id: The first of them.
    """

    story_id: str
    pages: int
    at: int
    page_id: str

    def place(self, order: StoryOrder) -> tuple[int, str]:
        """Its place in an order: smaller is earlier."""
        return -(self.pages if order is StoryOrder.LARGEST else self.at), self.story_id


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicFigures:
    """What is read from all pages of a topic.

    Attributes:
        report: The line of `topic NAME --report`.
        newest: Page ids of the stories that were found last, newest first.
        last_relevant: When the newest relevant page was fetched; None: there is none.
        stories: Stories of several relevant pages, in each order, at most ``MOST_TOLD_STORIES``.
        story_count: All of them.
        weights: What was learned of links, the largest weights first, at most ``MOST_WEIGHTS``.
        pictures: Its newest pictures, at most ``MOST_PICTURES``; none where images are not fetched.
    """

    report: TopicReport
    newest: Sequence[str]
    last_relevant: datetime | None
    stories: dict[StoryOrder, Sequence[KeptStory]]
    story_count: int
    weights: Sequence[LinkWeight]
    pictures: Sequence[TopicPicture]

    @property
    def as_of(self) -> datetime:
        """When they were read."""
        return self.report.made_at

    def part_of_stories(
        self, order: StoryOrder, after: tuple[int, str] | None, limit: int
    ) -> tuple[Sequence[KeptStory], str]:
        """(part of the stories, place behind it): ``"12~4f1193a0c27be51"``; at the end ``""``.

        Args:
            order: How they are sorted.
            after: Pages or time, and id of the story before; None: the first part.
            limit: At most this many.
        """
        stories = self.stories[order]
        start = 0
        if after is not None:
            behind = (-after[0], after[1])
            start = bisect_right(stories, behind, key=lambda each: each.place(order))
        part = stories[start : start + limit]
        if not part or start + limit >= len(stories):
            return part, ""
        value, key = part[-1].place(order)
        return part, f"{-value}~{key}"


def figures_question(
    backends: KeptBackends, name: str
) -> tuple[Hashable, Callable[[], TopicFigures], float]:
    """The question for the figures of a topic, as ``KeptBackends.computing`` takes it."""
    return ("topic", name), partial(read_figures, backends.settings, name), LEAST_AGE_S


def read_figures(settings: Settings, name: str) -> TopicFigures:
    """Reads the figures of a topic from all its pages, by connections of its own.

    Raises:
        NotFound: There is no such topic.
        StoreUnavailable: The database is away or locked.
    """
    with existing_store(settings) as store:
        row = find_topic(store, name)
        story_of = store.stories.by_page()
        harvest = harvest_of(store.topics.in_order(name), row.crawl_id, story_of)
        report = report_of(settings, store, row, (harvest, story_of))
        weights = stored_model(store, Topic.from_bytes(row.packed)).weights()[:MOST_WEIGHTS]
    pictures = [] if report.images is UNSET else list_pictures(
        settings, name, MOST_PICTURES, copies=False
    )  # fmt: skip
    last = harvest.last_relevant
    return TopicFigures(
        report=report,
        newest=harvest.newest,
        last_relevant=None if last is None else from_microseconds(last),
        stories={order: _sorted(harvest, order) for order in StoryOrder},
        story_count=len(harvest.by_story),
        weights=[
            LinkWeight(name=each.name, weight=round(each.weight, 3), sd=round(each.sd, 3))
            for each in weights
        ],
        pictures=pictures,
    )


def _sorted(harvest: Harvest, order: StoryOrder) -> list[KeptStory]:
    found = [
        KeptStory(story, pages, *harvest.first_of_story[story])
        for story, pages in harvest.by_story.items()
    ]
    return sorted(found, key=lambda each: each.place(order))[:MOST_TOLD_STORIES]
