"""A sender that is killed with a story on its way: the next one sends it again, and once."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from crawlclean.cleaning.topics.topic import TopicSpec
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.workers.jobs.topics import TopicOrder, first_version
from tests.kit.commands import DataFolder
from tests.kit.crawls import start
from tests.kit.receiver import Receiver, hanging_until
from tests.kit.timing import LIMIT_S, wait_until
from tests.storage.store.receivers_contract import put_receiver
from tests.storage.store.stories_contract import page, text
from tests.storage.store.topics_contract import judged

TOPIC = "储能.2"


def fill(data: Path, url: str) -> None:
    """Stores a topic with two stories that wait for a webhook."""
    data.mkdir()
    with closing(SqliteStore(data / "records.sqlite")) as store:
        order = TopicOrder(spec=TopicSpec(name=TOPIC, query="地震"))
        store.topics.create(first_version(order, []))
        name = put_receiver(store, topic=TOPIC, target=url).name
        for n in (1, 2):
            judgements = judged(f"/{n}", 0.9, topic=TOPIC, notify=(name,)).judgements
            store.save([replace(page(f"/{n}", text(n)), judgements=judgements)])


def test_what_a_killed_sender_sent_is_sent_again_with_its_id(tmp_path: Path) -> None:
    release = threading.Event()

    with Receiver(hanging_until(release)) as receiver:
        fill(tmp_path / "data", receiver.url)
        killed = start("topic", TOPIC, "--send", "--data", str(tmp_path / "data"))
        wait_until(lambda: len(receiver.got) == 1, LIMIT_S)
        os.killpg(killed.pid, signal.SIGKILL)
        killed.communicate()
        release.set()
        folder = DataFolder(tmp_path / "data")
        (topic,) = folder.rows("topic", TOPIC, "--send", "--json")
    (after,) = topic["receivers"]
    assert (after["sent"], after["waiting"], after["copies"]) == (2, 0, 0)
    first, again, second = [each.headers["webhook-id"] for each in receiver.got]
    assert first == again != second
    assert receiver.got[0].body == receiver.got[1].body
    told = receiver.got[2].data
    assert (told["topic"], told["url"].rpartition("/")[2]) == (TOPIC, "2")
    assert told["id"] == second
    assert second.isascii()
    assert "127.0.0.1" in after["target"]
