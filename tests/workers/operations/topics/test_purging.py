"""What a purge hands over to the topics that have adopted it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from crawlclean.cleaning.topics.stories import story_signature
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.workers.operations.topics.crawls import AT_ONCE, hand_over
from tests.storage.store.stories_contract import at, page, text, told, urls
from tests.storage.store.topics_contract import TOPIC, judged


def test_pages_that_are_handed_over_keep_their_story(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "records.sqlite")) as store:
        assert store.topics.create(replace(TOPIC, crawl_id="c2"))
        body = text(1)
        first, copy = page("/1", body, at=at(1)), page("/a", body[:500], host="b.example", at=at(2))
        judgements = judged("/1", 0.9).judgements
        store.save([replace(each, judgements=judgements) for each in (first, copy)])
        other = page("/b", body, host="c.example", crawl_id="c2", at=at(3))
        store.save([other])
        before = store.stories.of_page(other.queued.page_id)
        assert before is not None

        assert hand_over(store, "c1") == 2
        store.delete_crawl("c1")

        after = store.stories.of_page(first.queued.page_id)
        assert after is not None
        assert (after.story_id, after.earliest.url) == (before.story_id, first.queued.url)
        assert told(store, other) == urls(first, copy, other)
        assert {each.crawl_id for each in after.pages} == {"c2"}
        late = page("/c", body, host="d.example", at=at(9))
        store.save([replace(late, story=story_signature(body))])
        assert told(store, late) == urls(first, copy, other, late)


def test_pages_without_a_record_keep_none_of_the_others(tmp_path: Path) -> None:
    file = tmp_path / "records.sqlite"
    pages = [page(f"/{n}", text(n, 50), at=at(n)) for n in range(3 * AT_ONCE)]
    with closing(SqliteStore(file)) as store:
        assert store.topics.create(replace(TOPIC, crawl_id="c2"))
        judgements = judged("/1", 0.9).judgements
        store.save([replace(each, judgements=judgements) for each in pages])
    with closing(sqlite3.connect(file)) as db, db:
        db.execute(
            "DELETE FROM records WHERE page_id IN (SELECT page_id FROM records LIMIT ?)",
            (AT_ONCE + 1,),
        )
    with closing(SqliteStore(file)) as store:
        assert hand_over(store, "c1") == 2 * AT_ONCE - 1
        assert len(store.topics.adopted_from("c1", [TOPIC.name], 1000)) == AT_ONCE + 1
