"""What a person reads of a topic: its stories, newest by publication, also as an Atom feed.

One query for the console's screen, `topic --feed`, `topic --report`, and the API.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Annotated, Literal
from uuid import NAMESPACE_URL, uuid5
from xml.etree.ElementTree import Element, SubElement, tostring

from msgspec import Meta

from crawlclean.cleaning.errors import ConfigError, NotFound
from crawlclean.cleaning.topics.topic import UNSPACED, is_unspaced
from crawlclean.storage.search import has_all, phrases_of
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.rows import to_microseconds
from crawlclean.storage.store.stories import Story
from crawlclean.storage.topic_types import JudgedPage
from crawlclean.workers.answers.found_stories import RASTER, found_story
from crawlclean.workers.answers.topics import FoundStory
from crawlclean.workers.control_characters import printable
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.operations.parts import Part, Place, part_of
from crawlclean.workers.operations.topics.topics import find_topic, pages_to_mark

Shown = Literal["stories", "to_mark", "marked", "other"]
"""Which pages: relevant ones, one of each story; those whose mark teaches most; those with a mark;
those that are not relevant."""

Days = Annotated[int, Meta(ge=0, le=36_500)]

STEP = 60
"""Pages of a read: a part of a list, and the copies and read pages that are passed over."""

EXAMINED = 120
"""Stories more than it has that a part may look at, for words in their texts: 40 ms."""

DAY_US = 86_400_000_000  # a day

Told = tuple[Story | None, Sequence[str]]
"""A story, and the relevant pages of a topic that tell it in the order of fetching."""
ALONE: Told = (None, ())

TOLD_S = 30.0
"""How old may be who tells a story: one of a thousand pages takes 40 ms to read."""

MOST_TO_MARK = 20
"""Pages that are marked in one sitting."""

FEED_STORIES = 100
"""Of a feed: a reader that asks once a day misses none of a busy topic."""


def list_topic_stories(
    backends: Backends,
    topic: str,
    show: Shown = "stories",
    host: str = "",
    day: date | None = None,
    days: Days = 0,
    words: str = "",
    unread: bool = False,
    after: Place | None = None,
    limit: int = 50,
) -> Part[FoundStory]:
    """Stories of a topic, those published last first; each as its page that was fetched first.

    A part may have fewer stories than `limit`, even none, before the end.

    Args:
        backends: Queue and store.
        topic: Its name.
        show: ``stories``; ``to_mark``: pages whose mark teaches most, in one part; ``marked``;
            ``other``: pages that are not relevant.
        host: Only of this host.
        day: Only those published on this day in UTC.
        days: Only those published in the last so many days; 0: of any time.
        words: Only those with these words, or phrases in quotation marks.
        unread: Only those that nobody has read.
        after: Time of publication in microseconds, and page id of the story before; None: the
            first part.
        limit: At most this many.

    Raises:
        NotFound: There is no such topic.
    """
    since, until = _times(day, days)
    if until is not None and (after is None or after[0] > until):
        after = (until, "")
    phrases, found, last = phrases_of(words), list[tuple[JudgedPage, FoundStory]](), None
    with backends.store() as store:
        row = find_topic(store, topic)
        pages = _pages(backends, store, topic, show, host, since, unread, after)
        for examined, (page, (told, relevant)) in enumerate(pages):
            if len(found) > limit or examined >= limit + EXAMINED:
                break
            last = page
            if phrases and not has_all(_text(store, page), phrases):
                continue
            copies = max(0, len(relevant) - 1) if show == "stories" else 0
            if story := found_story(store, page, row, told, copies):
                found.append((page, story))
        else:
            last = None
    part = part_of(found, limit, lambda each: _place(each[0]))
    further = "~".join(map(str, _place(last))) if last and not part.after else part.after
    return Part(items=[story for _, story in part.items], after=further)


def read_day(text: str) -> date | None:
    """The day of ``2026-11-23``; None of ``""``.

    Raises:
        ConfigError: It is none.
    """
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise ConfigError(f"{text} is not a day: 2026-11-23") from error


def _times(day: date | None, days: int) -> tuple[int, int | None]:
    """The first and the last moment of publication that are asked for."""
    first = day or datetime.now(UTC).date() - timedelta(days - 1)
    begin = to_microseconds(datetime(first.year, first.month, first.day, tzinfo=UTC))
    if day:
        return begin, begin + DAY_US
    return (begin if days > 0 else -1 << 62), None


def _place(page: JudgedPage) -> Place:
    return to_microseconds(page.at), page.page_id


def _text(store: Store, page: JudgedPage) -> str:
    record = store.records.get(page.page_id, page.crawl_id)
    return f"{record.title}\n{record.body}" if record else ""


def _pages(
    backends: Backends, store: Store, topic: str, show: Shown, host: str, since: int,
    unread: bool, after: Place | None,
) -> Iterator[tuple[JudgedPage, Told]]:  # fmt: skip
    """Yields pages with who else tells their story; of relevant ones no copies."""
    if show == "to_mark":
        yield from ((page, ALONE) for page in pages_to_mark(backends, topic, MOST_TO_MARK))
        return
    while True:
        found = store.topics.newest(
            topic, STEP, relevant={"stories": True, "other": False}.get(show), host=host,
            unread=unread, marked=show == "marked", after=after,
        )  # fmt: skip
        stories = store.stories.ids_of([page.page_id for page in found])
        for page in found:
            if to_microseconds(page.at) < since:
                return
            told, relevant = ALONE
            if story := stories.get(page.page_id):
                ask = partial(who_tells, backends, topic, story)
                told, relevant = backends.remembered(("told", topic, story), TOLD_S, ask)
            if show != "stories" or not relevant or relevant[0] == page.page_id:
                yield page, (told, relevant)
        if len(found) < STEP:
            return
        after = _place(found[-1])


def who_tells(backends: Backends, topic: str, story_id: str) -> Told:
    """A story, and the relevant pages of a topic that tell it in the order of fetching."""
    with backends.store() as store:
        story = store.stories.story(story_id)
        if story is None:  # deleted meanwhile
            return ALONE
        pages = store.topics.pages(topic, [page.page_id for page in story.pages])
    first = sorted((page.fetched_at, page.page_id) for page in pages if page.judgement.is_relevant)
    return story, [page_id for _, page_id in first]


def find_topic_page(backends: Backends, topic: str, page_id: str) -> FoundStory | None:
    """One judged page of a topic, relevant or not; None: there is none of this id.

    Raises:
        NotFound: There is no such topic.
    """
    with backends.store() as store:
        row = find_topic(store, topic)
        page = store.topics.page(topic, page_id)
        told = store.stories.of_page(page_id)
        return found_story(store, page, row, told) if page else None


def note_read(backends: Backends, topic: str, page_ids: Collection[str]) -> None:
    """Notes that a person has read pages of a topic."""
    with backends.store() as store:
        store.topics.read(topic, page_ids, datetime.now(UTC))


def highlighted(text: str, words: Sequence[str]) -> list[tuple[str, bool]]:
    """A text in parts, each with whether it is one of some words; none of them inside another."""
    either = "|".join(
        word if is_unspaced(word) else rf"(?<![^\W{UNSPACED}]){word}(?![^\W\d{UNSPACED}]|\+\+|#)"
        for word in map(re.escape, sorted(words, key=len, reverse=True))
    )
    parts = re.split(f"({either})", text, flags=re.IGNORECASE) if words else [text]
    return [(part, bool(place % 2)) for place, part in enumerate(parts) if part]


def find_picture(backends: Backends, topic: str, image: str) -> tuple[bytes, str]:
    """The bytes and the media type of a stored image of a topic's crawl.

    Raises:
        NotFound: None is stored, or it is no picture that is shown.
    """
    with backends.store() as store:
        crawl = find_topic(store, topic).crawl_id
        row = next(iter(store.urls.rows(image, [crawl])), None)
        body = store.answers.body(image, crawl) if row and row.media_type in RASTER else None
    if row is None or body is None:
        raise NotFound(f"no picture {image} is stored")
    return body, row.media_type


# Stories as an Atom feed (RFC 4287).

ATOM = "http://www.w3.org/2005/Atom"


def feed_of(
    backends: Backends, name: str, stories: Sequence[FoundStory], address: str = ""
) -> bytes:
    """Returns stories of a topic as an Atom feed, in UTF-8.

    Args:
        backends: The store.
        name: Of the topic.
        stories: Its entries, newest first.
        address: Where the feed is served; ``""``: nowhere.

    Raises:
        NotFound: There is no such topic.
    """
    with backends.store() as store:
        row = find_topic(store, name)
    own = f"{name} {row.created_at.isoformat()}"
    feed = Element("feed", xmlns=ATOM)
    updated = max((story.fetched_at for story in stories), default=row.created_at)
    _head(feed, own, name, updated)
    if address:
        SubElement(feed, "link", rel="self", type="application/atom+xml", href=address)
    for story in stories:
        entry = SubElement(feed, "entry")
        _head(entry, f"{own} {story.page_id}", story.title or story.url, story.fetched_at)
        if story.published_at:
            SubElement(entry, "published").text = _rfc3339(story.published_at)
        SubElement(entry, "link", rel="alternate", href=_written(story.url))
        SubElement(SubElement(entry, "author"), "name").text = _written(story.author or story.host)
        for word in story.words:
            SubElement(entry, "category", term=_written(word))
        content = SubElement(entry, "content", type="text")
        content.text = _written(story.excerpt, keep_lines=True)
    document: bytes = tostring(feed, encoding="utf-8", xml_declaration=True)
    return document


def _head(element: Element, named: str, title: str, updated: datetime) -> None:
    SubElement(element, "id").text = uuid5(NAMESPACE_URL, named).urn
    SubElement(element, "title").text = _written(title)
    SubElement(element, "updated").text = _rfc3339(updated)


def _written(text: str, *, keep_lines: bool = False) -> str:
    """A text without the characters that no XML may have."""
    return re.sub("[\ufffe\uffff]", " ", printable(text, keep_lines=keep_lines))


def _rfc3339(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
