"""Answers of the console's API: as the commands print them, without refreshing a figure."""

from __future__ import annotations

from crawlclean.cleaning.errors import NotFound
from crawlclean.cleaning.records import CleanRecord
from crawlclean.workers.answers.topics import StoryLine
from crawlclean.workers.operations.reading import find_page, is_page_id
from crawlclean.workers.operations.topics.told_stories import story_line, story_of_id
from crawlclean.workers.operations.urls.near_matches import with_scheme
from crawlclean.workers.operations.watching.kept_backends import KeptBackends

STORIES_S = 30.0
"""How old a list of stories may be: it reads every member."""


def record_answer(backends: KeptBackends, target: str) -> CleanRecord:
    """The newest record of a page.

    Args:
        backends: Queue and store.
        target: Its URL, or the beginning of its id.

    Raises:
        NotFound: None is stored.
        InvalidUrl: It is no http(s) URL.
    """
    with backends.store() as store:
        url = target if is_page_id(target) else with_scheme(store, target)
        record = store.records.get(find_page(store, url))
    if record is None:
        raise NotFound(f"no record of {target}")
    return record


def story_answers(backends: KeptBackends, limit: int, *, by_size: bool) -> list[StoryLine]:
    """The newest or the largest stories, as they were half a minute ago at most."""

    def ask() -> list[StoryLine]:
        with backends.store() as store:
            member = store.stories
            found = member.largest(limit) if by_size else member.newest(limit)
            return [story_line(store, each, with_pages=False) for each in found]

    return backends.remembered(("stories", limit, by_size), STORIES_S, ask)


def story_answer(backends: KeptBackends, story: str) -> StoryLine:
    """One story with its pages.

    Raises:
        NotFound: There is none of this id.
    """
    with backends.store() as store:
        return story_line(store, story_of_id(store, story), with_pages=True)
