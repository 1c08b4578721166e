"""Stories: near-duplicates of all crawls, listed or one of them; their index is built anew."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from msgspec import UNSET

from crawlclean.cleaning.errors import NotFound
from crawlclean.cleaning.messages import Message
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.rows import from_microseconds
from crawlclean.storage.store.stories import NUMBER_DIGITS, Story, StoryMember
from crawlclean.workers.answers.topics import StoriesRebuilt, StoryLine, ToldBy
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.parts import Part

STORY_ID = re.compile(rf"[0-9a-f]{{{NUMBER_DIGITS}}}")

STORIES_S = 30.0
"""How old a list of stories may be: it reads every member."""


def list_stories(
    backends: Backends, order: Literal["newest", "largest"] = "newest", limit: int = 50
) -> Part[StoryLine]:
    """Stories that several pages tell, as they were half a minute ago at most; in one part.

    Args:
        backends: The store.
        order: ``newest``: those that began last come first; ``largest``: those with most URLs.
        limit: At most this many.
    """

    def ask() -> list[StoryLine]:
        with backends.store() as store:
            member = store.stories
            found = member.largest(limit) if order == "largest" else member.newest(limit)
            return [story_line(store, story, with_pages=False) for story in found]

    return Part(items=backends.remembered(("stories", limit, order), STORIES_S, ask))


def find_story(backends: Backends, story: str) -> StoryLine:
    """One story with all its pages.

    Args:
        backends: The store.
        story: Its id.

    Raises:
        NotFound: None has this id.
    """
    with backends.store() as store:
        found = store.stories.story(story) if STORY_ID.fullmatch(story) else None
        if found is None:
            raise NotFound(Message("no_story", story))
        return story_line(store, found)


def story_of(store: Store, page_id: str) -> StoryLine | None:
    """Returns the story of a page with its pages; None when no other page tells it."""
    found = store.stories.of_page(page_id)
    return story_line(store, found) if found else None


def story_line(store: Store, story: Story, *, with_pages: bool = True) -> StoryLine:
    """Returns the line of a story, with its pages or without."""
    first = story.earliest
    record = store.records.get(first.page_id, first.crawl_id)
    return StoryLine(
        story=story.story_id,
        title=record.title if record else "",
        url_count=len(story.pages),
        host_count=len({page.host for page in story.pages}),
        earliest=_told_by(first),
        longest=_told_by(story.longest),
        pages=tuple(map(_told_by, story.pages)) if with_pages else UNSET,
    )


def _told_by(page: StoryMember) -> ToldBy:
    at = from_microseconds(page.at)
    return ToldBy(url=page.url, host=page.host, at=at, body_chars=page.chars)


def rebuild_stories(backends: Backends, progress: Callable[[int], None]) -> StoriesRebuilt:
    """Builds the index of stories anew; returns what was done.

    Ctrl-C ends the work in order; it goes on there, as after a kill. Crawls may go on meanwhile.

    Args:
        backends: The store.
        progress: Called after some records with the number of all that were read.

    Raises:
        StoreUnavailable: Another process rebuilds the same index.
    """
    done, interrupted = (0, 0), False
    with backends.store() as store:
        try:
            for done in store.story_rebuild.steps():
                progress(done[0])
        except KeyboardInterrupt:
            interrupted = True
    return StoriesRebuilt(records=done[0], texts=done[1], interrupted=interrupted)


def is_rebuild_unfinished(backends: Backends) -> bool:
    """Whether a rebuild has begun and has not ended: stories are incomplete."""
    with backends.store() as store:
        return store.story_rebuild.is_unfinished()
