"""The harvest of a topic: which of its relevant pages tell a story first, and when they came.

A page counts when it is relevant and no page before it, in order of fetching, tells its story. All
others that are relevant are copies. One pass over the topic's pages finds all sums at once, so that
they agree with each other, and a topic of a million pages takes seconds.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from crawlclean.workers.answers.topics import HarvestStep

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
    for at, page_id, crawl, is_relevant in pages:
        what = _STORY if is_relevant else _OTHER
        last_relevant = at if is_relevant else last_relevant
        if is_relevant and page_id in story_of:
            story, host = story_of[page_id]
            by_story[story] += 1
            if by_story[story] > 1:
                what = _COPY
                copies_of_host[host] += 1
            else:
                first_of_story[story] = at, page_id
        if what == _STORY:
            newest.append(page_id)
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
