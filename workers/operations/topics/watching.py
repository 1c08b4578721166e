"""Topics as the console shows them: a list, one topic, its pages, its stories.

Nothing here reads all pages of a topic: what needs them comes from ``figures.py``, with its time.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

import msgspec

from crawlclean.cleaning.errors import NotFound, StoreDamaged
from crawlclean.cleaning.json_values import DAMAGE
from crawlclean.cleaning.topics.relevance import Parts
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.rows import to_microseconds
from crawlclean.storage.store.stories import Story, StoryPage
from crawlclean.storage.topic_types import JudgedPage, TopicRow, TopicState
from crawlclean.workers.answers.topics import (
    ReceiverLine,
    StoryLine,
    TopicLine,
    TopicReport,
    TopicStoryLine,
)
from crawlclean.workers.jobs.topics import TopicOrder, order_of
from crawlclean.workers.operations.topics.receivers import receiver_lines
from crawlclean.workers.operations.topics.reports import (
    FIRST_S,
    StoryOrder,
    TopicFigures,
    figures_question,
    topic_line,
)
from crawlclean.workers.operations.topics.told_stories import story_line, story_of_id
from crawlclean.workers.operations.topics.topics import CANDIDATES, find_topic, seen_topics, spread
from crawlclean.workers.operations.watching.kept_backends import KeptBackends

NEWEST_PAGES = 10
MOST_TO_MARK = 20
MOST_MARKED = 200
STORY_PAGES = 50
STORY_S = 30.0
"""How old a story may be: one of a thousand pages takes 40 ms to read."""

_PARTS = msgspec.json.Decoder(Parts)


class Which(StrEnum):
    """Which pages of a topic."""

    RELEVANT = "relevant"
    OTHER = "other"
    TO_MARK = "to_mark"  # those whose mark teaches most
    MARKED = "marked"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicEntry:
    """A topic in a list.

    Attributes:
        name: Its name.
        state: Whether it judges pages.
        note: Why it waits or ended; may be empty.
        crawl: Its crawl.
        order: What the user asked.
        figures: What was read from all its pages; None: not yet.
    """

    name: str
    state: TopicState
    note: str
    crawl: str
    order: TopicOrder
    figures: TopicFigures | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicList:
    """A part of the list of topics.

    Attributes:
        topics: By name.
        after: The place behind the last one; ``""`` at the end.
    """

    topics: Sequence[TopicEntry]
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicPage:
    """A page that a topic has judged.

    Attributes:
        page: The judgement.
        why: The reasons of its relevance.
    """

    page: JudgedPage
    why: Parts


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicDetails:
    """One topic.

    Attributes:
        entry: As in the list.
        receivers: Who is told of new stories.
        max_pages: Records at which its crawl ends; None: no limit, or not begun.
        newest: Pages of the stories that were found last, newest first.
    """

    entry: TopicEntry
    receivers: Sequence[ReceiverLine]
    max_pages: int | None
    newest: Sequence[TopicPage]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicPages:
    """A part of the pages of a topic.

    Attributes:
        threshold: Relevance from which a page is relevant.
        pages: The pages.
        after: The place behind the last one; ``""`` at the end.
    """

    threshold: float
    pages: Sequence[TopicPage]
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicStories:
    """A part of the stories of a topic.

    Attributes:
        stories: The stories.
        count: Stories that several relevant pages tell.
        as_of: When they were read; None: they are being read for the first time.
        after: The place behind the last one; ``""`` at the end.
    """

    stories: Sequence[TopicStoryLine]
    count: int
    as_of: datetime | None
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryDetails:
    """A part of the pages of one story.

    Attributes:
        line: The story, without its pages.
        pages: The part, the earliest first.
        after: The place behind the last one; ``""`` at the end.
    """

    line: StoryLine
    pages: Sequence[StoryPage]
    after: str


def list_topics(backends: KeptBackends, after: str, limit: int) -> TopicList:
    """Returns topics by name.

    Args:
        backends: Queue and store.
        after: Name of the topic before; ``""``: the first part.
        limit: At most this many.
    """
    try:
        with backends.store() as store:
            rows, following = part_of_topics(backends, store, after, limit)
            wait_s = FIRST_S / max(1, len(rows))
            entries = [_entry(backends, row, wait_s) for row in rows]
    except NotFound:  # no crawl yet
        return TopicList(topics=(), after="")
    return TopicList(topics=entries, after=following)


def part_of_topics(
    backends: KeptBackends, store: Store, after: str, limit: int
) -> tuple[list[TopicRow], str]:
    """Returns (topics by name, the name behind which the next part begins or ``""``)."""
    names = [name for name in store.topics.versions() if name > after]
    rows = filter(None, map(store.topics.get, names[:limit]))
    seen = seen_topics(backends.settings, rows, backends.queue)
    return seen, names[limit - 1] if len(names) > limit else ""


def find_topic_details(backends: KeptBackends, name: str) -> TopicDetails:
    """Returns one topic.

    Raises:
        NotFound: There is none of this name.
    """
    with backends.store() as store:
        (row,) = seen_topics(backends.settings, [find_topic(store, name)], backends.queue)
        crawl = store.crawls.get(name)
        entry = _entry(backends, row)
        ids = entry.figures.newest[:NEWEST_PAGES] if entry.figures else ()
        pages = {page.page_id: page for page in store.topics.pages(name, ids)}
        return TopicDetails(
            entry=entry,
            receivers=receiver_lines(store, name),
            max_pages=crawl.spec.max_pages if crawl else None,
            newest=[_page(pages[each]) for each in ids if each in pages],
        )


def list_topic_pages(
    backends: KeptBackends, name: str, which: Which, after: tuple[int, str] | None, limit: int
) -> TopicPages:
    """Returns judged pages of a topic: newest first, those to mark by how unsure the topic is.

    Args:
        backends: Queue and store.
        name: Of the topic.
        which: Which pages; those to mark come in one part, and marked ones too.
        after: Time in microseconds and id of the page before; None: the first part.
        limit: At most this many.

    Raises:
        NotFound: There is no such topic.
    """
    following = ""
    with backends.store() as store:
        threshold = order_of(find_topic(store, name)).spec.threshold
        if which is Which.TO_MARK:
            most = min(limit, MOST_TO_MARK)
            nearest = store.topics.nearest(name, threshold, CANDIDATES * most)
            found = spread(nearest, most, lambda page: store.stories.id_of(page.page_id))
        elif which is Which.MARKED:
            marked = sorted(store.topics.marked(name), key=lambda page: page.fetched_at)
            found = marked[: -MOST_MARKED - 1 : -1]
        else:
            wanted = which is Which.RELEVANT
            found = store.topics.newest(name, limit + 1, relevant=wanted, after=after)
            if len(found) > limit:
                last = found[limit - 1]
                following = f"{to_microseconds(last.fetched_at)}~{last.page_id}"
    return TopicPages(
        threshold=threshold,
        pages=list(map(_page, found if which is Which.MARKED else found[:limit])),
        after=following,
    )


def list_topic_stories(
    backends: KeptBackends,
    name: str,
    order: StoryOrder,
    after: tuple[int, str] | None,
    limit: int,
) -> TopicStories:
    """Returns stories that several relevant pages of a topic tell.

    Args:
        backends: Queue and store.
        name: Of the topic.
        order: How they are sorted.
        after: Pages or time, and id of the story before; None: the first part.
        limit: At most this many.

    Raises:
        NotFound: There is no such topic.
    """
    with backends.store() as store:
        find_topic(store, name)
        figures = backends.computing.newest(*figures_question(backends, name), FIRST_S)
        if figures is None:
            return TopicStories(stories=(), count=0, as_of=None, after="")
        part, following = figures.part_of_stories(order, after, limit)
        first = {
            page.page_id: page for page in store.topics.pages(name, [each.page_id for each in part])
        }
    stories = [
        TopicStoryLine(
            story=each.story_id,
            pages=each.pages,
            title=page.title if page else "",
            url=page.url if page else "",
            host=page.host if page else "",
            fetched_at=page.fetched_at if page else None,
        )
        for each in part
        for page in (first.get(each.page_id),)
    ]
    return TopicStories(
        stories=stories, count=figures.story_count, as_of=figures.as_of, after=following
    )


def find_topic_story(backends: KeptBackends, name: str, story: str, start: int) -> StoryDetails:
    """Returns a story with a part of its pages.

    Args:
        backends: Queue and store.
        name: A topic.
        story: Its id.
        start: Pages before the part.

    Raises:
        NotFound: There is no such topic, or no such story.
    """
    with backends.store() as store:
        find_topic(store, name)
    found, line = backends.remembered(("story", story), STORY_S, lambda: _story(backends, story))
    pages = found.pages[start : start + STORY_PAGES]
    is_more = len(found.pages) > start + STORY_PAGES
    return StoryDetails(line=line, pages=pages, after=str(start + len(pages)) if is_more else "")


def _story(backends: KeptBackends, story: str) -> tuple[Story, StoryLine]:
    with backends.store() as store:
        found = story_of_id(store, story)
        return found, story_line(store, found, with_pages=False)


def _entry(backends: KeptBackends, row: TopicRow, wait_s: float = FIRST_S) -> TopicEntry:
    figures = None
    with suppress(NotFound):  # deleted meanwhile
        figures = backends.computing.newest(*figures_question(backends, row.name), wait_s)
    return TopicEntry(
        name=row.name,
        state=row.state,
        note=row.note,
        crawl=row.crawl_id,
        order=order_of(row),
        figures=figures,
    )


def _page(page: JudgedPage) -> TopicPage:
    """A page with its reasons.

    Raises:
        StoreDamaged: They cannot be read.
    """
    try:
        why = _PARTS.decode(page.judgement.parts) if page.judgement.parts else Parts()
    except DAMAGE as error:
        raise StoreDamaged(f"a stored judgement cannot be read: {error}") from error
    return TopicPage(page=page, why=why)


# Topics as the console's API answers them: as the commands print them, from kept figures.


def topic_answers(
    backends: KeptBackends, after: str, limit: int
) -> tuple[Sequence[TopicLine], str]:
    """Returns (lines of topics by name, the name behind which the next part begins or ``""``)."""
    with backends.store() as store:
        rows, following = part_of_topics(backends, store, after, limit)
        return [topic_line(store, row) for row in rows], following


def topic_report(backends: KeptBackends, name: str) -> TopicReport:
    """Returns what a topic has found, as it was read last; waits for the first reading.

    Raises:
        NotFound: There is no such topic.
    """
    with backends.store() as store:
        find_topic(store, name)
    return backends.computing.ask(*figures_question(backends, name)).report


def topic_story_lines(
    backends: KeptBackends,
    name: str,
    order: StoryOrder,
    after: tuple[int, str] | None,
    limit: int,
) -> tuple[Sequence[TopicStoryLine], str, datetime]:
    """Returns stories of a topic as answers, the place behind them, and when they were read.

    Raises:
        NotFound: There is no such topic.
    """
    topic_report(backends, name)
    found = list_topic_stories(backends, name, order, after, limit)
    return found.stories, found.after, found.as_of or datetime.now(UTC)
