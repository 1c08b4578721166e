"""The kept figures of a topic are those of its report, and its stories are read in parts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest

from crawlclean.storage.config import StorageConfig
from crawlclean.storage.opening import open_store
from crawlclean.storage.topic_types import JudgedPage
from crawlclean.workers.config import Settings
from crawlclean.workers.operations.topics.reports import (
    StoryOrder,
    TopicFigures,
    read_figures,
)
from crawlclean.workers.operations.topics.watching import (
    Which,
    find_topic_details,
    list_entries,
    list_topic_pages,
    list_topic_stories,
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


@pytest.fixture(scope="module")
def figures(settings: Settings) -> TopicFigures:
    return read_figures(settings, TOPIC)


def test_stories_have_their_pages_and_their_first_page(figures: TopicFigures) -> None:
    assert figures.story_count == 5
    by_size = figures.stories["largest"]
    assert [each.pages for each in by_size] == [7, 6, 5, 4, 3]
    by_time = figures.stories["newest"]
    assert sorted(by_time, key=lambda each: -each.at) == list(by_time)
    assert set(by_time) == set(by_size)


@pytest.mark.parametrize("order", ["largest", "newest"])
@pytest.mark.parametrize("limit", [1, 2, 5, 6])
def test_stories_come_in_parts(figures: TopicFigures, order: StoryOrder, limit: int) -> None:
    part = figures.part_of_stories(order, None, limit)
    seen = list(part.items)
    while part.after:
        value, _, key = part.after.partition("~")
        part = figures.part_of_stories(order, (int(value), key), limit)
        assert 0 < len(part.items) <= limit
        seen += part.items
    assert seen == list(figures.stories[order])
    behind = figures.part_of_stories(order, (-(1 << 62), ""), limit)
    assert (behind.items, behind.after) == ([], "")


def test_the_console_reads_both_stores(settings: Settings) -> None:
    with closing(KeptBackends(settings)) as backends:
        assert [row.name for row, *_ in list_entries(backends, None, 5).items] == [TOPIC]
        report = topic_report(backends, TOPIC)
        details = find_topic_details(backends, TOPIC)
        assert [page.url for page in details.newest] == [
            f"https://h0.example/{story}/0" for story in (4, 3, 2, 1, 0)
        ]
        _, whole = list_topic_pages(backends, TOPIC, Which.RELEVANT, None, 200)
        assert details.figures
        assert details.figures.last_relevant == whole.items[0].fetched_at
        assert (len(whole.items), whole.after) == (25, "")
        seen: list[JudgedPage] = []
        after: tuple[int, str] | None = None
        while True:
            _, part = list_topic_pages(backends, TOPIC, Which.RELEVANT, after, 4)
            seen += part.items
            if not part.after:
                break
            value, _, key = part.after.partition("~")
            after = (int(value), key)
        assert seen == list(whole.items)
        stories = list_topic_stories(backends, TOPIC, "largest", None, 2)
        assert [each.pages for each in stories.items] == [7, 6]
        assert stories.as_of == report.made_at
        assert stories.items[0].url == report.reprints[0].earliest.url
