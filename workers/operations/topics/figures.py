"""The figures of a topic that are read from all its pages, as the console keeps them.

A topic of 100,000 pages takes a fifth of a second (``make bench-console ARGS="--only topics"``): a
screen shows the figures that were computed last, with their time, while a thread computes the next
ones (``watching/remembering.py``).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial

from msgspec import UNSET

from crawlclean.cleaning.topics.topic import Topic
from crawlclean.storage.store.rows import from_microseconds
from crawlclean.workers.answers.images import TopicPicture
from crawlclean.workers.answers.topics import LinkWeight, TopicReport
from crawlclean.workers.config import Settings
from crawlclean.workers.jobs.topics import stored_model
from crawlclean.workers.operations.backends import existing_store
from crawlclean.workers.operations.topics.harvest import Harvest, harvest_of
from crawlclean.workers.operations.topics.images import list_pictures
from crawlclean.workers.operations.topics.reports import report_of
from crawlclean.workers.operations.topics.topics import find_topic
from crawlclean.workers.operations.watching.kept_backends import KeptBackends

MOST_STORIES = 10_000
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
        stories: Stories that several relevant pages tell, in each order, at most ``MOST_STORIES``.
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
    return sorted(found, key=lambda each: each.place(order))[:MOST_STORIES]
