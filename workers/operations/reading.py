"""Reads the store: one record or image, and the failed URLs; reads times of arguments."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from crawlclean.cleaning.errors import ConfigError, NotFound
from crawlclean.cleaning.records import CleanRecord
from crawlclean.cleaning.urls.normal_form import normalize, page_id
from crawlclean.storage.crawl_types import UrlRow
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.answers.topics import StoryLine
from crawlclean.workers.config import Settings
from crawlclean.workers.operations.backends import Backends, existing_store
from crawlclean.workers.operations.files.stored_images import find_image, stored_images
from crawlclean.workers.operations.topics.stories import STORY_ID, story_line, story_of
from crawlclean.workers.operations.urls.near_matches import (
    did_you_mean,
    near_urls,
    with_scheme,
)

PAGE_ID = re.compile(r"[0-9a-f]{6,32}")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRecord:
    """A record with its stored images.

    Attributes:
        record: The newest record of the page.
        images: (image URL on the page, row) of its content images that are stored.
        story: Its story, when other pages tell it too.
    """

    record: CleanRecord
    images: tuple[tuple[str, UrlRow], ...]
    story: StoryLine | None = None


def is_page_id(text: str) -> bool:
    """Whether a text looks like a page id or its beginning: ``4f1193``."""
    return PAGE_ID.fullmatch(text) is not None


def find_page(store: Store, target: str) -> str:
    """Returns the page id of a URL, with or without scheme, or of the id that begins so.

    Raises:
        NotFound: No page id begins so, or several do.
    """
    if is_page_id(target):
        found = store.urls.find_ids(target, limit=2)
        if len(found) > 1:
            raise NotFound(f"several page ids begin with {target}: give more digits")
        if not found:
            raise NotFound(f"no page has the id {target}")
        return found[0]
    return page_id(with_scheme(store, target))


def find_stored(settings: Settings, target: str) -> StoredRecord | UrlRow:
    """Returns the record of a page, or the row of an image.

    Args:
        settings: Where the store is.
        target: A URL, or the beginning of a page id.

    Raises:
        NotFound: Neither is stored.
    """
    with existing_store(settings) as store:
        record = store.records.get(find_page(store, target))
        if record is not None:
            return StoredRecord(
                record=record,
                images=tuple(stored_images(store, record)),
                story=story_of(store, record.page_id),
            )
        image = find_image(store, target)
        near = near_urls(store, normalize(target)) if image is None else []
    if image is None:
        raise NotFound(f"no record of {target}; `why {target}` shows its steps{did_you_mean(near)}")
    return image


def find_told_story(backends: Backends, target: str) -> StoryLine:
    """Returns a story with all its pages.

    Args:
        backends: The store.
        target: Its id, a URL that tells it, or the beginning of a page id.

    Raises:
        NotFound: No other page tells what this page tells, or no story has the id.
    """
    with backends.store() as store:
        found = store.stories.story(target) if STORY_ID.fullmatch(target) else None
        found = found or store.stories.of_page(find_page(store, target))
        if found is None:
            raise NotFound(f"no other page tells the story of {target}; `stories` lists stories")
        return story_line(store, found)


def read_time(text: str) -> datetime:
    """Parses an ISO date or time (``2026-01-31T12:00:00+08:00``); without a zone it is UTC.

    Raises:
        ConfigError: The text is neither.
    """
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(
            f"{text!r} is not a time: write 2026-01-31 or 2026-01-31T12:00:00+08:00"
        ) from None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
