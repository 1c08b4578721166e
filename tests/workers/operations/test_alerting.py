"""What receivers are told, and when: signs and their end, crawls that ended, digests; a clock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace as other
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from crawlclean.cleaning.errors import QueueUnavailable
from crawlclean.cleaning.topics.topic import TopicSpec
from crawlclean.storage.crawl_types import CrawlState
from crawlclean.storage.receiver_types import OutboxRow, ReceiverKind, ReceiverOrder
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.workers.answers.moments import LookedAt
from crawlclean.workers.answers.notices import Notice
from crawlclean.workers.config import Settings, WorkerConfig
from crawlclean.workers.jobs.topics import TopicOrder, first_version
from crawlclean.workers.operations.alerting import alerts as module
from crawlclean.workers.operations.alerting.alerts import Alerting
from crawlclean.workers.operations.watching.signs.judging import Sign, SignKind
from crawlclean.workers.sending.turns import read_notice
from tests.kit.console import settings_of
from tests.kit.queues import spec
from tests.kit.some import some
from tests.kit.worker_bench import Bench
from tests.storage.store.stories_contract import page, text
from tests.storage.store.topics_contract import judged

NIGHT = datetime(2026, 11, 29, 15, 30, tzinfo=UTC)  # 23:30 in Shanghai
REFUSES = Sign(
    kind=SignKind.REFUSES, host="a.example", crawl_id="news", n=12, why="status", status=503,
    since=NIGHT,
)  # fmt: skip
SILENT = Sign(kind=SignKind.SILENT, target="machine.4711", lasts_s=30.0, why="worker")
PAUSED = Sign(kind=SignKind.PAUSED, host="b.example", who="password")


class World:
    """A store with receivers, signs as a test wants them, and a clock."""

    def __init__(self, bench: Bench, store: SqliteStore) -> None:
        self.store, self.now, self.signs = store, NIGHT, list[Sign]()
        self._settings = replace_config(settings_of(bench.data), mended_after_s=300.0)
        self.alerting = self.started_again()

    def started_again(self) -> Alerting:
        """A housekeeper that took the place of one that was killed."""
        self.alerting = Alerting(self._settings, lambda: self.now)
        return self.alerting

    def receiver(self, name: str = "oncall", **wants: Any) -> None:
        target = "http://127.0.0.1:9/"
        order = ReceiverOrder(kind=ReceiverKind.WEBHOOK, target=target, **wants)
        self.store.receivers.put(name, order, at=self.now)

    def look(self, *signs: Sign, after_s: float = 15.0) -> list[Notice]:
        """Looks at signs after a time; returns what is new for every receiver."""
        self.now += timedelta(seconds=after_s)
        self.signs = list(signs)
        before = {(each.receiver, each.id) for each in self.waiting()}
        self.alerting.look()
        new = [row for row in self.waiting() if (row.receiver, row.id) not in before]
        return [read_notice(row) for row in new]

    def waiting(self, name: str = "") -> list[OutboxRow]:
        found = [each for each in self.store.receivers.all() if name in ("", each.name)]
        return [row for each in found for row in self.store.receivers.waiting(each, 99)]


def replace_config(settings: Settings, **values: Any) -> Settings:
    return other(settings, workers=WorkerConfig(**values))


@pytest.fixture
def world(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with closing(bench.store()) as store:
        made = World(bench, store)
        monkeypatch.setattr(module, "all_signs", lambda _: (made.signs, LookedAt(oldest_s=0.0)))
        yield made
        made.alerting.close()


def test_a_sign_is_told_once_and_once_more_when_it_is_mended(world: World) -> None:
    world.receiver(signs="warn")
    (told,) = world.look(REFUSES, PAUSED)
    assert (told.type, told.level, told.kind) == ("sign", "warn", "refuses")
    assert told.title == "a.example: requests fail"
    assert told.text.startswith("12 requests answered with status 503, for ")
    assert told.text.endswith("\nCrawl news")
    for n in range(9):
        assert world.look(replace(REFUSES, n=13 + n)) == []
    assert world.look() == []
    assert world.look(after_s=200) == []
    (mended,) = world.look(after_s=100)
    assert (mended.type, mended.level) == ("mended", "ok")
    assert mended.title == "Mended: a.example: requests fail"
    assert mended.text == "It was there for 2 min."
    assert mended.id.partition(":")[2] == told.id.partition(":")[2]
    assert world.look() == []
    (again,) = world.look(REFUSES)
    assert again.id != told.id


def test_a_sign_that_comes_and_goes_is_one(world: World) -> None:
    world.receiver(signs="warn")
    assert len(world.look(REFUSES)) == 1
    for _ in range(9):
        assert world.look(after_s=200) == []
        assert world.look(REFUSES, after_s=200) == []


def test_a_housekeeper_that_is_killed_forgets_nothing(world: World) -> None:
    world.receiver(signs="warn")
    assert len(world.look(REFUSES)) == 1
    world.alerting.close()
    world.started_again()
    assert world.look(REFUSES) == []
    assert world.look() == []
    world.alerting.close()
    world.started_again()
    assert [each.type for each in world.look(after_s=300)] == ["mended"]


def test_levels_are_wished_and_a_sign_may_become_worse(world: World) -> None:
    world.receiver("red", signs="bad", lang="zh")
    world.receiver("all", signs="warn")
    world.receiver("none")
    world.look(REFUSES, SILENT)
    seed = Sign(kind=SignKind.SEED, host="c.example", crawl_id="n", n=1, of=2, why="http_status")
    world.look(REFUSES, SILENT, seed)
    world.look(REFUSES, SILENT, replace(seed, n=2))
    titles = {name: [read_notice(row).title for row in world.waiting(name)]
              for name in ("red", "all", "none")}  # fmt: skip
    assert titles["red"] == ["machine.4711：进程无响应", "c.example：种子失败"]
    assert sorted(titles["all"]) == [
        "a.example: requests fail", "c.example: seed failed", "machine.4711: process is silent",
    ]  # fmt: skip
    assert titles["none"] == []


def test_who_is_new_is_told_what_stands_and_nobody_of_itself(world: World) -> None:
    away = Sign(kind=SignKind.RECEIVER, target="oncall", n=3, lasts_s=90.0, why="status 500")
    world.receiver(signs="warn")
    assert world.look(away) == []
    world.receiver("team", signs="warn")
    (told,) = world.look(away)
    assert told.title == "oncall: messages do not arrive"
    assert told.text == "not reached for 90 s, 3 messages wait: status 500"
    assert {row.receiver for row in world.waiting()} == {"team"}


def test_what_has_happened_lapses_and_is_not_mended(world: World) -> None:
    world.receiver(signs="warn")
    poison = Sign(kind=SignKind.POISON, host="a.example", crawl_id="news", n=1)
    assert len(world.look(poison)) == 1
    world.look()
    assert world.look(after_s=3600) == []
    assert world.store.alerts.all() == {}


def test_while_the_queue_is_away_nothing_is_mended(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.receiver(signs="warn")
    world.look(REFUSES)

    def away() -> None:
        raise QueueUnavailable("away")

    with world.alerting._backends.queue() as frontier:
        monkeypatch.setattr(frontier, "ping", away)
        for _ in range(2):
            with pytest.raises(QueueUnavailable):
                world.look(after_s=600)
    assert [each.gone_since for each in world.store.alerts.all().values()] == [None]


def test_a_crawl_that_ended_is_told_from_when_the_receiver_is_there(
    world: World, bench: Bench
) -> None:
    world.store.crawls.put(spec("old"), CrawlState.FINISHED)
    world.receiver(ended=True, lang="zh")
    bench.frontier.open_crawl(spec("news", "http://a.example/"))
    world.store.crawls.put(spec("news"), CrawlState.RUNNING)
    assert world.look() == []
    world.store.crawls.put(spec("news"), CrawlState.FINISHED)
    (told,) = world.look()
    assert (told.type, told.crawl, told.title) == ("ended", "news", "任务 news：已完成")
    assert told.text == "0 个页面，0 个失败，1 个剩余"
    assert world.look() == []


def test_a_digest_comes_once_a_day_at_its_hour_with_new_stories_alone(world: World) -> None:
    world.store.topics.create(
        first_version(TopicOrder(spec=TopicSpec(name="quake", query="地震")), [])
    )
    asked: dict[str, Any] = {"digest": ("quake",), "digest_at": "07:00", "zone": "Asia/Shanghai"}
    asked["lang"] = "zh"
    world.receiver(**asked)
    world.receiver("late", **(asked | {"digest_at": "23:00"}))

    def save(path: str, seed: int, hours_ago: float) -> None:
        at = world.now - timedelta(hours=hours_ago)
        story = page(f"/{path}", text(seed), at=at)
        world.store.save([other(story, judgements=judged(f"/{path}", 0.9).judgements)])

    assert world.look() == [], "of today's hour it was not there"
    save("before", 1, 30)
    save("reprint", 1, 1)
    save("new", 2, 1)
    (told,) = world.look(after_s=8 * 3600)
    assert told.title == "quake：1 条新报道，2026-11-30"
    assert "/new" in told.text
    assert "/reprint" not in told.text
    assert world.look(after_s=3600) == []
    assert [each.title for each in world.look(after_s=23 * 3600)][:1] == [
        "quake：0 条新报道，2026-12-01"
    ]
    assert some(world.store.receivers.get("oncall")).digest_day == "2026-12-01"
