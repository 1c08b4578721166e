"""Turns of receivers on a real store: order, retries, copies, what is given up, threads."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crawlclean.storage.config import StorageConfig
from crawlclean.storage.queue.entries import process_name
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.topic_types import Receiver, ReceiverKind
from crawlclean.workers.answers.topics import StoryMessage
from crawlclean.workers.config import Settings
from crawlclean.workers.sending import turns as module
from crawlclean.workers.sending.turns import (
    GIVE_UP_S,
    Sender,
    Turns,
    is_dead,
    is_free,
    pause_after,
)
from crawlclean.workers.sending.webhook import Result
from tests.kit.receiver import Receiver as WebReceiver, hanging_until
from tests.kit.timing import LIMIT_S, wait_until
from tests.storage.store.stories_contract import at, page, text
from tests.storage.store.topics_contract import judged, receiver as stored_receiver

KIND = ReceiverKind.WEBHOOK


class World:
    """A store, a clock, and a receiver that refuses some URLs."""

    def __init__(self, store: SqliteStore) -> None:
        self.store = store
        self.clock = datetime.now(UTC)
        self.told: list[str] = []
        self.refused: set[str] = set()
        self.is_down = False
        store.receivers.put(
            Receiver(
                topic="quake", kind=KIND, target="http://127.0.0.1/", since=self.clock,
                next_try=self.clock, owned_until=self.clock,
            )
        )  # fmt: skip

    def deliver(self, _: Receiver, message: StoryMessage) -> Result:
        url = message.data.url
        if self.is_down or url in self.refused:
            return Result("status 500")
        self.told.append(url.rpartition("/")[2])
        return Result()

    def save(self, path: str, body: str = "", minutes: int = 0) -> None:
        """Stores a relevant page."""
        made = page(f"/{path}", body or text(sum(map(ord, path))), at=at(minutes))
        judgements = judged(f"/{path}", 0.9, notify=(KIND,)).judgements
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
        world.store.receivers.remove("quake")
        return Result()

    Sender(world.store, deliver, lambda: world.clock).take_turn(world.receiver, "me.1")
    assert world.store.receivers.of("quake") == []


def test_pauses_grow_to_an_hour() -> None:
    assert [pause_after(tries) for tries in (1, 2, 3, 9, 10, 500)] == [10, 20, 40, 2560, 3600, 3600]


def save_waiting(store: SqliteStore, topic: str, url: str, stories: int) -> None:
    """Stores a receiver of a topic with stories that wait for it."""
    kept = replace(stored_receiver(), topic=topic, target=url, is_private=True)
    store.receivers.put(kept)
    for n in range(stories):
        judgements = judged(f"/{n}", 0.9, topic=topic, notify=(kept.kind,)).judgements
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


def test_the_receiver_of_a_dead_sender_is_free_at_once() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    now = datetime.now(UTC)
    held = replace(stored_receiver(), owned_until=now + timedelta(seconds=60))
    assert is_dead(process_name(ended.pid))
    assert is_free(replace(held, owner=process_name(ended.pid)), now)
    assert not is_free(replace(held, owner=process_name(os.getpid())), now)
    assert not is_free(replace(held, owner="another-machine.1"), now)
    assert is_free(replace(held, owner="another-machine.1"), now + timedelta(seconds=61))
