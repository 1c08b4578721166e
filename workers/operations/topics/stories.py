"""Finds stories: the newest, the largest, the one that a page tells; rebuilds their index."""

from __future__ import annotations

from collections.abc import Callable

from crawlclean.cleaning.errors import NotFound
from crawlclean.storage.store.stories import RebuildProgress
from crawlclean.workers.answers.topics import StoryLine
from crawlclean.workers.config import Settings
from crawlclean.workers.operations.backends import existing_store
from crawlclean.workers.operations.reading import find_page, is_page_id
from crawlclean.workers.operations.topics.told_stories import STORY_ID, story_line
from crawlclean.workers.operations.urls.near_matches import with_scheme


def list_stories(settings: Settings, limit: int, *, by_size: bool) -> list[StoryLine]:
    """Returns the newest stories, or the largest ones.

    Args:
        settings: Where the store is.
        limit: At most this many.
        by_size: Whether those with the most pages come first, else those that began last.
    """
    with existing_store(settings) as store:
        member = store.stories
        found = member.largest(limit) if by_size else member.newest(limit)
        return [story_line(store, story, with_pages=False) for story in found]


def rebuild_stories(
    settings: Settings, progress: Callable[[RebuildProgress], None]
) -> tuple[RebuildProgress, bool]:
    """Builds the index of stories anew; returns (what was done, whether all was).

    Ctrl-C ends the work in order; it goes on there, as after a kill. Crawls may go on meanwhile.

    Args:
        settings: Where the store is.
        progress: Called after some records.

    Raises:
        StoreUnavailable: Another process rebuilds the same index.
    """
    done = RebuildProgress()
    with existing_store(settings) as store:
        try:
            for done in store.story_rebuild.steps():
                progress(done)
        except KeyboardInterrupt:
            return done, False
        return done, True


def is_rebuild_unfinished(settings: Settings) -> bool:
    """Whether a rebuild has begun and has not ended: stories are incomplete."""
    with existing_store(settings) as store:
        return store.story_rebuild.is_unfinished()


def find_story(settings: Settings, target: str) -> StoryLine:
    """Returns a story with all its pages.

    Args:
        settings: Where the store is.
        target: Its id, a URL that tells it, or the beginning of a page id.

    Raises:
        NotFound: No other page tells what this page tells, or no story has the id.
    """
    with existing_store(settings) as store:
        found = store.stories.story(target) if STORY_ID.fullmatch(target) else None
        if found is None:
            url = target if is_page_id(target) else with_scheme(store, target)
            found = store.stories.of_page(find_page(store, url))
        if found is None:
            raise NotFound(f"no other page tells the story of {target}; `stories` lists stories")
        return story_line(store, found, with_pages=True)
