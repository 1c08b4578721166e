"""Which stored pages a user should mark: those that the topic is least sure about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.topics.relevance import Parts
from crawlclean.storage.topic_types import JudgedPage
from crawlclean.workers.answers.topics import PageToMark
from crawlclean.workers.config import Settings
from crawlclean.workers.jobs.topic_rows import order_of
from crawlclean.workers.operations.backends import existing_store
from crawlclean.workers.operations.topics.topics import find_topic

MOST_PAGES = 500
"""As many marks as teach at once; more than a person marks in a sitting."""
CANDIDATES = 10
"""Pages that are looked at for each page that is listed: most sites hold many pages alike."""
HOST_SHARE = 0.2
"""Of the listed pages that one host may have while other hosts have pages."""

_PARTS = msgspec.json.Decoder(Parts)


def pages_to_mark(settings: Settings, name: str, limit: int) -> list[PageToMark]:
    """Returns the pages whose relevance is nearest to the topic's threshold.

    Index pages are left out, because a list teaches nothing; of pages that tell one story one is
    taken, and a host has a fifth of the pages unless others have too few.

    Args:
        settings: Where the store is.
        name: Of the topic.
        limit: At most so many pages, 1..500.

    Raises:
        ConfigError: The number is out of range.
        NotFound: There is no such topic.
    """
    if not 1 <= limit <= MOST_PAGES:
        raise ConfigError(f"--to-mark {limit}: a number from 1 to {MOST_PAGES}")
    with existing_store(settings) as store:
        threshold = order_of(find_topic(store, name)).spec.threshold
        nearest = store.topics.nearest(name, threshold, CANDIDATES * limit)
        pages = spread(nearest, limit, lambda page: store.stories.id_of(page.page_id))
    return [
        PageToMark(
            url=page.url,
            title=page.title,
            host=page.host,
            relevance=page.judgement.relevance,
        )
        for page in pages
    ]


def spread(
    nearest: Sequence[JudgedPage], limit: int, story_of: Callable[[JudgedPage], str | None]
) -> list[JudgedPage]:
    """Returns the first pages of a list, spread over hosts and stories, in the list's order.

    Args:
        nearest: Pages without a mark, the least sure one first.
        limit: At most so many are returned.
        story_of: Returns the story of a page; None: it is alone.
    """
    most = max(1, round(HOST_SHARE * limit))
    hosts: Counter[str] = Counter()
    stories: set[str] = set()
    taken: list[int] = []
    others: list[int] = []
    for place, page in enumerate(nearest):
        if len(taken) == limit:
            break
        if _is_list(page):
            continue
        story = story_of(page)
        if story is not None and story in stories:
            continue
        if story is not None:
            stories.add(story)
        (taken if hosts[page.host] < most else others).append(place)
        hosts[page.host] += 1
    chosen = sorted(taken + others[: limit - len(taken)])
    return [nearest[place] for place in chosen]


def _is_list(page: JudgedPage) -> bool:
    parts = page.judgement.parts
    try:
        return bool(parts) and _PARTS.decode(parts).is_list
    except msgspec.DecodeError:  # of another version of this program
        return False
