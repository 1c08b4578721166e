"""The sender: turns on threads, receivers of dead senders, what waits when a crawl ends."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from crawlclean.storage.config import StorageConfig
from crawlclean.storage.queue.entries import process_name
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.workers.config import Settings
from crawlclean.workers.processes.sender import Turns, is_dead, is_free
from tests.kit.receiver import Delivered, Receiver
from tests.kit.timing import LIMIT_S, wait_until
from tests.storage.store.stories_contract import page, text
from tests.storage.store.topics_contract import judged, receiver


def save(store: SqliteStore, topic: str, url: str, stories: int) -> None:
    """Stores a receiver of a topic with stories that wait for it."""
    kept = replace(receiver(), topic=topic, target=url, is_private=True)
    store.receivers.put(kept)
    for n in range(stories):
        judgements = judged(f"/{n}", 0.9, topic=topic, notify=(kept.kind,)).judgements
        store.save([replace(page(f"/{n}", text(n)), judgements=judgements)])


def test_a_receiver_that_hangs_holds_up_no_other(tmp_path: Path) -> None:
    release = threading.Event()

    def hang(_: Delivered) -> int:
        release.wait(LIMIT_S)
        return 204

    settings = Settings(storage=StorageConfig(data=tmp_path))
    with (
        closing(SqliteStore(tmp_path / "records.sqlite")) as store,
        Receiver(hang) as slow,
        Receiver() as quick,
    ):
        save(store, "a", slow.url, 1)
        save(store, "b", quick.url, 3)
        turns = Turns(store, settings, lambda: False)
        turns.begin()
        wait_until(lambda: len(quick.got) == 3, LIMIT_S)
        assert len(slow.got) == 1
        turns.begin()  # another round begins no second turn of the receiver that hangs
        release.set()
        turns.finish()
        assert len(slow.got) == 1
        assert [each.sent for each in store.receivers.all()] == [1, 3]
        assert [each.owner for each in store.receivers.all()] == ["", ""]


def test_a_sender_goes_on_with_the_receiver_of_its_namesake(tmp_path: Path) -> None:
    """In a container that is started again, the process has the name that the killed one had."""
    settings = Settings(storage=StorageConfig(data=tmp_path))
    with closing(SqliteStore(tmp_path / "records.sqlite")) as store, Receiver() as told:
        save(store, "a", told.url, 1)
        (kept,) = store.receivers.all()
        until = datetime.now(UTC) + timedelta(seconds=150)
        assert store.receivers.take(kept, process_name(os.getpid()), until)
        turns = Turns(store, settings, lambda: False)
        turns.begin()
        turns.finish()
        assert len(told.got) == 1


def test_the_receiver_of_a_dead_sender_is_free_at_once() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    now = datetime.now(UTC)
    held = replace(receiver(), owned_until=now + timedelta(seconds=60))
    assert is_dead(process_name(ended.pid))
    assert is_free(replace(held, owner=process_name(ended.pid)), now)
    assert not is_free(replace(held, owner=process_name(os.getpid())), now)
    assert not is_free(replace(held, owner="another-machine.1"), now)
    assert is_free(replace(held, owner="another-machine.1"), now + timedelta(seconds=61))
