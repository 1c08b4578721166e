"""Turns of receivers on a real store: order, retries, copies, what is given up, threads."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from crawlclean.storage.config import StorageConfig
from crawlclean.storage.queue.entries import process_name
from crawlclean.storage.receiver_types import Receiver, ReceiverKind, ReceiverOrder
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.workers.answers.notices import Notice
from crawlclean.workers.answers.topics import StoryMessage
from crawlclean.workers.config import Settings
from crawlclean.workers.sending import turns as module
from crawlclean.workers.sending.delivering import Item
from crawlclean.workers.sending.turns import (
    GIVE_UP_S,
    Sender,
    Turns,
    is_dead,
    is_free,
    notice_row,
    pause_after,
)
from crawlclean.workers.sending.webhook import Result
from tests.kit.receiver import Receiver as WebReceiver, hanging_until
from tests.kit.some import some
from tests.kit.timing import LIMIT_S, wait_until
from tests.storage.store.receivers_contract import HOOK, put_receiver
from tests.storage.store.stories_contract import at, page, text
from tests.storage.store.topics_contract import judged


class World:
    """A store, a clock, and a receiver that refuses some URLs."""

    def __init__(self, store: SqliteStore) -> None:
        self.store = store
        self.clock = datetime.now(UTC)
        self.told: list[str] = []
        self.refused: set[str] = set()
        self.is_down = False
        put_receiver(store, at=self.clock)

    def deliver(self, _: Receiver, items: Sequence[Item], message_id: str) -> Result:
        (message,) = items
        assert isinstance(message, StoryMessage)
        assert message.data.id == message_id
        url = message.data.url
        if self.is_down or url in self.refused:
            return Result("status 500")
        self.told.append(url.rpartition("/")[2])
        return Result()

    def save(self, path: str, body: str = "", minutes: int = 0) -> None:
        """Stores a relevant page."""
        made = page(f"/{path}", body or text(sum(map(ord, path))), at=at(minutes))
        judgements = judged(f"/{path}", 0.9, notify=(HOOK,)).judgements
        self.store.save([replace(made, judgements=judgements)])

    @property
    def receiver(self) -> Receiver:
        (found,) = self.store.receivers.of("quake")
        return found

    def turn(self, after_s: float = 0) -> Receiver:
        self.clock += timedelta(seconds=after_s)
        sender = Sender(self.store, self.deliver, lambda: self.clock)
        sender.take_turn(self.receiver, "me.1")
        assert self.receiver.owner == ""
        return self.receiver

    def waiting(self) -> int:
        return self.store.receivers.count_waiting(self.receiver)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with closing(SqliteStore(tmp_path / "records.sqlite")) as store:
        yield World(store)


def test_stories_are_sent_once_and_in_order(world: World) -> None:
    for name in ("a", "b", "c"):
        world.save(name)
    assert world.turn().sent == 3
    assert world.told == ["a", "b", "c"]
    world.save("b")  # visited again
    after = world.turn()
    assert (after.sent, after.copies, world.waiting()) == (3, 0, 0)
    assert world.told == ["a", "b", "c"]


def test_a_reprint_is_not_sent_even_when_the_story_gets_another_number(world: World) -> None:
    body = text(7, 900)
    world.save("first", body)
    world.turn()
    for n in range(8):  # the story has the least number of its pages
        world.save(f"copy{n}", body, n)
        world.turn()
    assert world.told == ["first"]
    assert (world.receiver.sent, world.receiver.copies) == (1, 8)


@pytest.mark.parametrize("least", ["first", "copy"])
@pytest.mark.parametrize("leaves", ["first", "copy"])
def test_a_copy_that_tells_another_story_later_is_sent(
    world: World, least: str, leaves: str
) -> None:
    """The story has the number of one of its pages, whichever of them leaves it."""
    names = sorted(("p0", "p1"), key=lambda each: page(f"/{each}", "").queued.page_id)
    first, copy = names if least == "first" else reversed(names)
    for minutes, name in enumerate((first, copy)):
        world.save(name, text(7, 900), minutes)
    assert (world.turn().copies, world.told) == (1, [first])
    world.save(first if leaves == "first" else copy, text(8, 900), 5)
    world.save(copy, text(7 if leaves == "first" else 8, 900), 6)
    for _ in range(2):
        world.turn()
        world.save(copy, text(7 if leaves == "first" else 8, 900), 7)
    assert world.told == [first, copy]
    assert world.turn().sent == 2


def test_what_fails_holds_the_order_and_is_tried_again(world: World) -> None:
    for name in ("a", "b"):
        world.save(name)
    world.is_down = True
    failed = world.turn()
    assert (failed.tries, failed.last_error, world.waiting()) == (1, "status 500", 2)
    assert failed.next_try - world.clock == timedelta(seconds=10)
    assert failed.failing_since == world.clock
    world.is_down = False
    after = world.turn(10)
    assert world.told == ["a", "b"]
    assert (after.tries, after.failing_since, after.last_error) == (0, None, "")


def test_a_story_that_alone_is_refused_does_not_stop_the_others(world: World) -> None:
    for name in ("bad", "b", "c"):
        world.save(name)
    world.refused = {page("/bad", "").queued.url}
    for _ in range(module.STUCK_TRIES - 1):
        world.turn(3600)
    assert world.told == []
    after = world.turn(3600)
    assert world.told == ["b", "c"]
    assert (after.sent, after.given_up, after.tries) == (2, 1, 0)


def test_a_receiver_that_is_down_loses_nothing_until_a_week_is_over(world: World) -> None:
    for name in ("a", "b"):
        world.save(name)
    world.is_down = True
    for _ in range(20):
        assert world.turn(7200).given_up == 0
    assert world.waiting() == 2
    after = world.turn(GIVE_UP_S)
    assert (after.given_up, world.waiting()) == (2, 0)


def test_too_many_drop_the_oldest(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 2)
    for name in ("a", "b", "c"):
        world.save(name)
    assert world.turn().given_up == 1
    assert world.told == ["b", "c"]


def test_a_page_that_the_user_refused_is_not_sent(world: World) -> None:
    world.save("a")
    assert world.store.topics.mark("quake", page("/a", "").queued.page_id, mark=False)
    assert world.turn().sent == 0
    assert (world.told, world.waiting()) == ([], 0)


def test_of_two_senders_one_sends(world: World) -> None:
    world.save("a")
    read = world.receiver
    sender = Sender(world.store, world.deliver, lambda: world.clock)
    assert world.store.receivers.take(read, "other.1", world.clock + timedelta(seconds=60))
    assert sender.take_turn(read, "me.1") is None
    assert world.told == []


def test_a_removed_receiver_stays_removed(world: World) -> None:
    world.save("a")

    def deliver(*_: object) -> Result:
        world.store.receivers.remove(HOOK)
        return Result()

    Sender(world.store, deliver, lambda: world.clock).take_turn(world.receiver, "me.1")
    assert world.store.receivers.of("quake") == []


class People(World):
    """A receiver of people's messages: they gather, wait for quiet hours, and are bounded."""

    def __init__(self, store: SqliteStore, **wants: Any) -> None:
        super().__init__(store)
        self.store.receivers.remove(HOOK)
        self.messages: list[Sequence[Item]] = []
        self.clock = datetime.now(UTC)
        order = {"kind": ReceiverKind.FEISHU, "target": "http://127.0.0.1/", "stories": ("quake",)}
        store.receivers.put("team", ReceiverOrder(**(order | wants)), at=self.clock)

    def deliver(self, _: Receiver, items: Sequence[Item], message_id: str) -> Result:
        if any(isinstance(each, Notice) and each.id in self.refused for each in items):
            return Result("code 9499: bad request")
        self.messages.append(items)
        self.told.append(message_id)
        return Result()

    def notice(self, name: str, level: str = "bad") -> None:
        made = Notice(id=name, type="sign", at=self.clock, level=level, title=name)
        self.store.receivers.tell([notice_row("team", made)])

    @property
    def receiver(self) -> Receiver:
        return some(self.store.receivers.get("team"))

    def titles(self) -> list[list[str]]:
        """The titles of what each message tells."""
        return [
            [each.title if isinstance(each, Notice) else each.data.title for each in message]
            for message in self.messages
        ]


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(tmp_path / "records.sqlite")) as store:
        yield store


def test_what_waits_for_people_is_one_message(kept: SqliteStore) -> None:
    people = People(kept)
    for n in range(module.MOST_IN_ONE + 2):
        people.notice(f"sign:{n:02}")
    after = people.turn()
    assert [len(each) for each in people.messages] == [module.MOST_IN_ONE, 2]
    assert (after.sent, people.waiting()) == (module.MOST_IN_ONE + 2, 0)
    (newest, first) = kept.messages.read(receiver="team")
    assert (first.n, newest.n, first.message_id) == (module.MOST_IN_ONE, 2, people.told[0])
    assert first.text == "20 messages, the first: 🔴 sign:00"


def test_two_pages_of_one_story_are_told_once_in_a_message_for_people(kept: SqliteStore) -> None:
    people = People(kept)
    for name, body in (("a", text(7, 900)), ("b", text(7, 900)), ("c", text(8))):
        made = page(f"/{name}", body)
        judgements = judged(f"/{name}", 0.9, notify=("team",)).judgements
        kept.save([replace(made, judgements=judgements)])
    after = people.turn()
    assert (after.sent, after.copies, people.waiting()) == (2, 1, 0)
    assert [len(each) for each in people.messages] == [2]


def test_quiet_hours_hold_what_is_told_until_they_end(kept: SqliteStore) -> None:
    people = People(kept, quiet="22:00-07:00", zone="Asia/Shanghai")
    people.clock = people.clock.replace(hour=14, minute=30)  # 22:30 in Shanghai
    people.notice("sign:1")
    assert (people.turn().sent, people.turn(3600).sent) == (0, 0)
    people.notice("sign:2", "warn")
    assert people.turn(7 * 3600).sent == 0  # 06:30
    assert people.turn(1800).sent == 2
    assert people.titles() == [["sign:1", "sign:2"]]


def test_red_signs_pass_quiet_hours_where_that_is_asked(kept: SqliteStore) -> None:
    people = People(kept, quiet="00:00-23:59", red_passes=True)
    people.clock = people.clock.replace(hour=12)
    for n in range(module.BATCH + 5):
        people.notice(f"sign:{n:02}", "warn")
    people.notice("sign:red")
    assert people.turn().sent == 1
    assert people.titles() == [["sign:red"]]


def test_no_more_messages_an_hour_than_asked_and_nothing_is_lost(kept: SqliteStore) -> None:
    people = People(kept, most_an_hour=2)
    people.clock = datetime.now(UTC)
    for n in range(5):
        people.notice(f"sign:{n}")
        people.turn(1)
    assert people.titles() == [["sign:0"], ["sign:1"]]
    assert people.turn(1800).sent == 2
    assert people.turn(1900).sent == 5
    assert people.titles()[2:] == [["sign:2", "sign:3", "sign:4"]]


def test_a_thing_that_alone_is_refused_does_not_stop_the_others(kept: SqliteStore) -> None:
    people = People(kept)
    for n in range(3):
        people.notice(f"sign:{n}")
    people.refused = {"sign:0"}
    for _ in range(module.STUCK_TRIES):
        after = people.turn(3600)
    assert (after.sent, after.given_up, people.waiting()) == (2, 1, 0)
    errors = [each.error for each in kept.messages.read(receiver="team") if each.error]
    assert errors == ["code 9499: bad request"] * module.STUCK_TRIES


def test_messages_for_people_wait_a_moment_for_others_and_a_test_does_not(
    kept: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with WebReceiver(lambda _: 200) as web:
        web.text = '{"code":0}'
        people = People(kept, target=web.url, private=True)
        monkeypatch.setattr(module, "GATHER_S", 3600.0)
        turns = Turns(kept, Settings())
        people.notice("sign:1")
        turns.begin()
        made = Notice(id="test:1", type="test", at=people.clock, level="info", title="test")
        assert web.got == []
        kept.receivers.remove("team")
        people = People(kept, target=web.url, private=True, quiet="00:00-23:59")
        kept.receivers.tell([notice_row("team", made)])
        turns.begin()
        wait_until(lambda: len(web.got) == 1, LIMIT_S)
        turns.finish()


def test_pauses_grow_to_an_hour() -> None:
    assert [pause_after(tries) for tries in (1, 2, 3, 9, 10, 500)] == [10, 20, 40, 2560, 3600, 3600]


def save_waiting(store: SqliteStore, topic: str, url: str, stories: int) -> None:
    """Stores a receiver of a topic with stories that wait for it."""
    kept = put_receiver(store, topic=topic, target=url)
    for n in range(stories):
        judgements = judged(f"/{n}", 0.9, topic=topic, notify=(kept.name,)).judgements
        store.save([replace(page(f"/{n}", text(n)), judgements=judgements)])


def test_a_receiver_that_hangs_holds_up_no_other(tmp_path: Path) -> None:
    release = threading.Event()
    settings = Settings(storage=StorageConfig(data=tmp_path))
    with (
        closing(SqliteStore(tmp_path / "records.sqlite")) as store,
        WebReceiver(hanging_until(release)) as slow,
        WebReceiver() as quick,
    ):
        save_waiting(store, "a", slow.url, 1)
        save_waiting(store, "b", quick.url, 3)
        turns = Turns(store, settings)
        turns.begin()
        wait_until(lambda: len(quick.got) == 3, LIMIT_S)
        assert len(slow.got) == 1
        turns.begin()  # another round begins no second turn of the receiver that hangs
        release.set()
        turns.finish(LIMIT_S)
        assert len(slow.got) == 1
        assert [each.sent for each in store.receivers.all()] == [1, 3]
        assert [each.owner for each in store.receivers.all()] == ["", ""]


def test_a_process_that_ends_waits_for_one_message_at_most(tmp_path: Path) -> None:
    release = threading.Event()
    settings = Settings(storage=StorageConfig(data=tmp_path))
    with (
        closing(SqliteStore(tmp_path / "records.sqlite")) as store,
        WebReceiver(hanging_until(release)) as slow,
    ):
        save_waiting(store, "a", slow.url, 3)
        turns = Turns(store, settings)
        turns.begin()
        wait_until(lambda: len(slow.got) == 1, LIMIT_S)
        turns.hurry()
        release.set()
        turns.finish()
        assert len(slow.got) == 1
        assert [each.owner for each in store.receivers.all()] == [""], "the next one goes on"


def test_a_sender_goes_on_with_the_receiver_of_its_namesake(tmp_path: Path) -> None:
    """In a container that is started again, the process has the name that the killed one had."""
    settings = Settings(storage=StorageConfig(data=tmp_path))
    with closing(SqliteStore(tmp_path / "records.sqlite")) as store, WebReceiver() as told:
        save_waiting(store, "a", told.url, 1)
        (kept,) = store.receivers.all()
        until = datetime.now(UTC) + timedelta(seconds=150)
        assert store.receivers.take(kept, process_name(os.getpid()), until)
        turns = Turns(store, settings)
        turns.begin()
        turns.finish(LIMIT_S)
        assert len(told.got) == 1


def test_the_receiver_of_a_dead_sender_is_free_at_once(world: World) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    now = datetime.now(UTC)
    held = structs.replace(world.receiver, owned_until=now + timedelta(seconds=60))
    assert is_dead(process_name(ended.pid))
    assert is_free(structs.replace(held, owner=process_name(ended.pid)), now)
    assert not is_free(structs.replace(held, owner=process_name(os.getpid())), now)
    assert not is_free(structs.replace(held, owner="another-machine.1"), now)
    assert is_free(structs.replace(held, owner="another-machine.1"), now + timedelta(seconds=61))
