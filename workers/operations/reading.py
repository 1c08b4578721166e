"""Reads the store: one record or image, and the failed URLs; reads times of arguments."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated

import msgspec
from msgspec import Struct

from crawlclean.cleaning.errors import ConfigError, NotFound
from crawlclean.cleaning.records import CleanRecord
from crawlclean.cleaning.urls.normal_form import page_id
from crawlclean.storage.crawl_types import UrlRow
from crawlclean.storage.store.protocol import Store
from crawlclean.workers.answers.topics import StoryLine
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.files.stored_images import find_image, stored_images
from crawlclean.workers.operations.topics.stories import STORY_ID, story_line, story_of
from crawlclean.workers.operations.urls.near_matches import (
    did_you_mean,
    near_urls,
    with_scheme,
)

MOST_CHARS = 4096
"""The longest URL that is crawled."""

UrlOrId = Annotated[
    str,
    msgspec.Meta(
        min_length=1, max_length=MOST_CHARS, extra_json_schema={"format": "url-or-page-id"}
    ),
]
"""A URL, with or without ``http://``, or the first digits of a page id, at least six."""

PAGE_ID = re.compile(r"[0-9a-f]{6,32}")


class StoredRecord(Struct, frozen=True, kw_only=True):
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


def find_record(backends: Backends, url: UrlOrId) -> CleanRecord:
    """The newest record of a page, as `show --json` prints it.

    Args:
        backends: Queue and store.
        url: Its URL, with or without ``http://``, or the first digits of its page id, at least
            six: ``4f1193``.

    Raises:
        NotFound: None is stored.
        InvalidUrl: It is no http(s) URL.
    """
    with backends.store() as store:
        record = store.records.get(find_page(store, url))
        if record is None:
            raise no_record(backends, store, url)
        return record


def no_record(backends: Backends, store: Store, target: str) -> NotFound:
    """The error that a page has no record, with the URLs that are like it."""
    is_wanted = backends.names_near and not is_page_id(target)
    near = did_you_mean(near_urls(store, with_scheme(store, target))) if is_wanted else ""
    return NotFound(f"no record of {target}; `why {target}` shows its steps{near}")


def find_stored(backends: Backends, target: str) -> StoredRecord | UrlRow:
    """Returns the record of a page, or the row of an image.

    Args:
        backends: Queue and store.
        target: A URL, or the beginning of a page id.

    Raises:
        NotFound: Neither is stored.
    """
    with backends.store() as store:
        record = store.records.get(find_page(store, target))
        if record is not None:
            return StoredRecord(
                record=record,
                images=tuple(stored_images(store, record)),
                story=story_of(store, record.page_id),
            )
        image = find_image(store, target)
        if image is None:
            raise no_record(backends, store, target)
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
