"""Which pages a user should mark."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crawlclean.cleaning.errors import ConfigError
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.opening import open_store
from crawlclean.storage.topic_types import JudgedPage, TopicJudgement
from crawlclean.workers.config import Settings
from crawlclean.workers.operations.topics.topics import spread
from tests.kit.commands import call
from tests.kit.stored_topics import TOPIC, store_topic


def page(number: int, host: str, parts: str = "") -> JudgedPage:
    judgement = TopicJudgement(
        topic="quake", version=1, relevance=0.5, label=0.5, is_relevant=True, parts=parts
    )
    return JudgedPage(
        page_id=f"{number:032x}",
        crawl_id="quake",
        url=f"http://{host}/{number}",
        host=host,
        title="t",
        fetched_at=datetime(2026, 1, 1, tzinfo=UTC),
        at=datetime(2026, 1, 1, tzinfo=UTC),
        judgement=judgement,
    )


def test_pages_to_mark_are_spread_over_hosts_and_stories() -> None:
    pages = [page(n, "big.example") for n in range(20)] + [page(20, "small.example")]
    pages[1:1] = [page(30, "news.example"), page(31, "copy.example")]
    copies = {pages[1].page_id, pages[2].page_id}

    def story_of(one: JudgedPage) -> str | None:
        return "one" if one.page_id in copies else None

    chosen = spread(pages, 10, story_of)
    assert chosen[:3] == [pages[0], pages[1], pages[3]], "the least sure first, one of a story"
    assert pages[-1] in chosen
    assert len(chosen) == 10, "a host fills the list when there are no others"
    assert len(spread(pages, 5, story_of)) == 5


@pytest.mark.parametrize("number", ["0", "501"])
def test_a_sitting_has_some_pages(tmp_path: Path, number: str) -> None:
    settings = Settings(storage=StorageConfig(data=tmp_path))
    with closing(open_store(settings.storage, create=True)) as store:
        store_topic(store, stories=1)
    with pytest.raises(ConfigError, match=f"--to-mark {number}: a number from 1 to 500"):
        call(settings, "topic", TOPIC, "--to-mark", number)


def test_lists_are_not_marked() -> None:
    pages = [page(1, "a.example", '{"is_list":true}'), page(2, "a.example", "no JSON")]
    assert spread(pages, 9, lambda _: None) == pages[1:]
