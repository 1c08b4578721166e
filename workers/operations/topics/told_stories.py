"""The story of a stored page, as the commands print it."""

from __future__ import annotations

import re

from msgspec import UNSET

from crawlclean.cleaning.errors import NotFound
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.stories import NUMBER_DIGITS, Story, StoryPage
from crawlclean.workers.answers.topics import StoryLine, ToldBy

STORY_ID = re.compile(rf"[0-9a-f]{{{NUMBER_DIGITS}}}")


def story_of(store: Store, page_id: str) -> StoryLine | None:
    """Returns the story of a page with its pages; None when no other page tells it."""
    found = store.stories.of_page(page_id)
    return story_line(store, found, with_pages=True) if found else None


def story_of_id(store: Store, story: str) -> Story:
    """Returns a story.

    Raises:
        NotFound: None has this id.
    """
    found = store.stories.story(story) if STORY_ID.fullmatch(story) else None
    if found is None:
        raise NotFound(f"no story has the id {story}")
    return found


def story_line(store: Store, story: Story, *, with_pages: bool) -> StoryLine:
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


def _told_by(page: StoryPage) -> ToldBy:
    return ToldBy(url=page.url, host=page.host, at=page.at, body_chars=page.chars)
