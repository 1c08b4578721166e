"""The kept figures of a topic are those of its report, and its stories are read in parts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import date, timedelta
from typing import Any

import pytest

from crawlclean.storage.config import StorageConfig
from crawlclean.storage.opening import open_store
from crawlclean.workers.answers.topics import FoundStory
from crawlclean.workers.config import Settings
from crawlclean.workers.operations.topics.reading import (
    find_topic_page,
    list_topic_stories,
    note_read,
)
from crawlclean.workers.operations.topics.watching import (
    find_topic_details,
    list_entries,
    topic_report,
)
from crawlclean.workers.operations.watching.kept_backends import KeptBackends
from tests.kit.mongo_server import running
from tests.kit.stored_topics import TOPIC, store_topic


@pytest.fixture(scope="module", params=["sqlite", "mongo"])
def settings(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, queue_url: str
) -> Iterator[Settings]:
    """A store with a topic, in SQLite and in MongoDB."""
    with ExitStack() as stack:
        storage = StorageConfig(data=tmp_path_factory.mktemp("topic"))
        if request.param == "mongo":
            server = stack.enter_context(running(tmp_path_factory.mktemp("mongo")))
            url = server.url("figures")
            storage = StorageConfig(data=storage.data, redis_url=queue_url, mongodb_url=url)
        with closing(open_store(storage, create=True)) as store:
            store_topic(store, stories=5)
        yield Settings(storage=storage)


def parts_of(backends: KeptBackends, limit: int, **asked: Any) -> list[FoundStory]:
    """The stories of a topic, read in parts."""
    part = list_topic_stories(backends, TOPIC, limit=limit, **asked)
    seen = list(part.items)
    while part.after:
        value, _, key = part.after.partition("~")
        part = list_topic_stories(backends, TOPIC, after=(int(value), key), limit=limit, **asked)
        assert len(part.items) <= limit
        seen += part.items
    return seen


@pytest.mark.parametrize("limit", [1, 2, 5, 6])
def test_stories_come_in_parts_without_their_copies(settings: Settings, limit: int) -> None:
    with closing(KeptBackends(settings)) as backends:
        report = topic_report(backends, TOPIC)
        found = parts_of(backends, limit)
        assert [each.url for each in found] == [
            f"https://h0.example/{story}/0" for story in (4, 3, 2, 1, 0)
        ]
        assert [each.copies for each in found] == [6, 5, 4, 3, 2]
        assert report.newest == tuple(found)
        assert {each.story for each in report.reprints} == {each.story for each in found}
        assert len(parts_of(backends, limit, show="other")) == 4


def test_stories_are_found_by_host_day_words_and_whether_they_were_read(settings: Settings) -> None:
    with closing(KeptBackends(settings)) as backends:
        found = parts_of(backends, 9)
        day = found[0].fetched_at.date()
        for asked in ({"host": "h0.example"}, {"day": day}, {"words": "地震"}, {"unread": True}):
            assert parts_of(backends, 2, **asked) == found
        nobody: tuple[dict[str, Any], ...] = (
            {"host": "h1.example"}, {"day": date(2026, 2, 28)}, {"words": "海啸"}, {"days": 1},
        )  # fmt: skip
        for asked in nobody:
            assert parts_of(backends, 2, **asked) == []
        text = found[2].excerpt[:9]
        assert [each.url for each in parts_of(backends, 9, words=text)] == [found[2].url]
        note_read(backends, TOPIC, [found[1].page_id])
        assert parts_of(backends, 2, unread=True) == [found[0], *found[2:]]
        assert find_topic_page(backends, TOPIC, found[1].page_id) is not None
        assert find_topic_page(backends, TOPIC, "0" * 32) is None


def test_the_console_reads_both_stores(settings: Settings) -> None:
    with closing(KeptBackends(settings)) as backends:
        assert [row.name for row, *_ in list_entries(backends, None, 5).items] == [TOPIC]
        details = find_topic_details(backends, TOPIC)
        while details.figures is None:
            details = find_topic_details(backends, TOPIC)
        assert details.figures.last_relevant == details.figures.report.newest[0].fetched_at + (
            timedelta(minutes=6)  # of its last copy
        )
