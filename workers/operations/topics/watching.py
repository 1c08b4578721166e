"""Topics as the console shows them: a list, one topic, its pages, its stories.

Nothing here reads all pages of a topic: what needs them comes from ``figures.py``, with its time.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

from crawlclean.cleaning.errors import NotFound
from crawlclean.storage.store.rows import to_microseconds
from crawlclean.storage.topic_types import JudgedPage, TopicRow
from crawlclean.workers.answers.topics import ReceiverLine, TopicReport, TopicStoryLine
from crawlclean.workers.jobs.topics import TopicOrder, order_of
from crawlclean.workers.operations.parts import Part, Place, part_of
from crawlclean.workers.operations.topics.receivers import receiver_lines
from crawlclean.workers.operations.topics.reports import (
    FIRST_S,
    StoryOrder,
    TopicFigures,
    figures_question,
    part_of_topics,
)
from crawlclean.workers.operations.topics.topics import find_topic, pages_to_mark, seen_topics
from crawlclean.workers.operations.watching.kept_backends import KeptBackends

NEWEST_PAGES = 10
"""Pages of a panel; the list of relevant pages has the others."""
MOST_TO_MARK = 20
"""Pages that are marked in one sitting."""
MOST_MARKED = 200
"""As many as the longest part of a list: marks have no next part."""


class Which(StrEnum):
    """Which pages of a topic."""

    RELEVANT = "relevant"
    OTHER = "other"
    TO_MARK = "to_mark"  # those whose mark teaches most
    MARKED = "marked"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicDetails:
    """One topic.

    Attributes:
        row: The topic, with the state that it has now.
        order: What its user asked.
        figures: What was read from all its pages; None: not yet.
        receivers: Who is told of new stories.
        max_pages: Records at which its crawl ends; None: no limit, or not begun.
        newest: Pages of the stories that were found last, newest first.
    """

    row: TopicRow
    order: TopicOrder
    figures: TopicFigures | None
    receivers: Sequence[ReceiverLine]
    max_pages: int | None
    newest: Sequence[JudgedPage]


def list_entries(
    backends: KeptBackends, after: Place | None, limit: int
) -> Part[tuple[TopicRow, TopicOrder, TopicFigures | None]]:
    """Topics by name with the states that they have now, what was asked, and figures once read.

    Args:
        backends: Queue and store.
        after: 0 and the name of the topic before; None: the first part.
        limit: At most this many.
    """
    try:
        with backends.store() as store:
            part = part_of_topics(backends, store, after, limit)
    except NotFound:  # no crawl yet
        return Part(items=())
    wait_s = FIRST_S / max(1, len(part.items))
    entries = [(row, order_of(row), _figures(backends, row.name, wait_s)) for row in part.items]
    return Part(items=entries, after=part.after)


def find_topic_details(backends: KeptBackends, name: str) -> TopicDetails:
    """Returns one topic.

    Raises:
        NotFound: There is none of this name.
    """
    with backends.store() as store:
        (row,) = seen_topics(backends, [find_topic(store, name)])
        crawl = store.crawls.get(name)
        figures = _figures(backends, name)
        ids = figures.newest[:NEWEST_PAGES] if figures else ()
        pages = {page.page_id: page for page in store.topics.pages(name, ids)}
        return TopicDetails(
            row=row,
            order=order_of(row),
            figures=figures,
            receivers=receiver_lines(store, name),
            max_pages=crawl.spec.max_pages if crawl else None,
            newest=[pages[each] for each in ids if each in pages],
        )


def _figures(backends: KeptBackends, name: str, wait_s: float = FIRST_S) -> TopicFigures | None:
    with suppress(NotFound):  # deleted meanwhile
        return newest_figures(backends, name, wait_s)
    return None


def newest_figures(
    backends: KeptBackends, name: str, wait_s: float = FIRST_S
) -> TopicFigures | None:
    """The figures of a topic that were read last; None: they are being read for the first time.

    Raises:
        NotFound: There is no such topic.
    """
    return backends.computing.newest(*figures_question(backends, name), wait_s)


def list_topic_pages(
    backends: KeptBackends, name: str, which: Which, after: Place | None, limit: int
) -> tuple[float, Part[JudgedPage]]:
    """Returns (threshold, judged pages) of a topic, newest or least sure first.

    Args:
        backends: Queue and store.
        name: Of the topic.
        which: Which pages; those to mark come in one part, and marked ones too.
        after: Time in microseconds and id of the page before; None: the first part.
        limit: At most this many.

    Raises:
        NotFound: There is no such topic.
    """
    with backends.store() as store:
        threshold = order_of(find_topic(store, name)).spec.threshold
        if which is Which.TO_MARK:
            return threshold, Part(items=pages_to_mark(backends, name, min(limit, MOST_TO_MARK)))
        if which is Which.MARKED:
            marked = sorted(store.topics.marked(name), key=lambda page: page.fetched_at)
            return threshold, Part(items=marked[: -MOST_MARKED - 1 : -1])
        wanted = which is Which.RELEVANT
        found = store.topics.newest(name, limit + 1, relevant=wanted, after=after)
    return threshold, part_of(
        found, limit, lambda page: (to_microseconds(page.fetched_at), page.page_id)
    )


# What the console's API answers of a topic, from kept figures; the first reading is waited for.


def topic_report(backends: KeptBackends, topic: str) -> TopicReport:
    """What a topic has found, when it was read last (`made_at`).

    Raises:
        NotFound: There is no such topic.
    """
    with backends.store() as store:
        find_topic(store, topic)
    return backends.computing.ask(*figures_question(backends, topic)).report


def list_topic_stories(
    backends: KeptBackends,
    topic: str,
    order: StoryOrder = "largest",
    after: Place | None = None,
    limit: int = 50,
) -> Part[TopicStoryLine]:
    """Stories that several relevant pages of a topic tell, at most 10,000 in each order.

    Args:
        backends: Queue and store.
        topic: Its name.
        order: ``largest``: those with most relevant pages come first; ``newest``: those found last.
        after: Pages or time, and id of the story before; None: the first part.
        limit: At most this many.

    Raises:
        NotFound: There is no such topic.
    """
    with backends.store() as store:
        find_topic(store, topic)
        figures = backends.computing.ask(*figures_question(backends, topic))
        part = figures.part_of_stories(order, after, limit)
        ids = [each.page_id for each in part.items]
        first = {page.page_id: page for page in store.topics.pages(topic, ids)}
    stories = [
        TopicStoryLine(
            story=each.story_id,
            pages=each.pages,
            title=page.title if page else "",
            url=page.url if page else "",
            host=page.host if page else "",
            fetched_at=page.fetched_at if page else None,
        )
        for each in part.items
        for page in (first.get(each.page_id),)
    ]
    return Part(items=stories, after=part.after, as_of=part.as_of)
