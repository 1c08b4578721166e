"""What every store must do with the queues that share it: see ``store_contract.py``."""

from __future__ import annotations

from unittest.mock import patch

from crawlclean.storage.crawl_types import CrawlSpec, CrawlState
from crawlclean.storage.store.crawls import KEPT_S, LIFE_S
from crawlclean.storage.store.protocol import Store

SPEC = CrawlSpec(crawl_id="c", seeds=("https://a.example/",))


def age(store: Store, queue_id: str, seconds: float) -> None:
    """Lets a queue have been heard so long ago."""
    tables = store.queues._tables
    then = tables.now_us() - int(seconds * 1e6)
    assert tables.change("queues", {"queue_id": queue_id}, {"heard_at": then}) == 1


class QueuesContract:
    """Needs a fixture ``store`` that gives an empty store."""

    def test_a_queue_lives_while_it_is_heard(self, store: Store) -> None:
        assert store.queues.all() == []
        store.queues.hear("q2", "redis://db2:6379/0", "run2")
        store.queues.hear("q1", "redis://db1:6379/0", "run1")
        first, second = store.queues.all()
        assert (first.queue_id, first.place, first.server) == ("q1", "redis://db1:6379/0", "run1")
        assert first.is_alive
        assert second.is_alive
        age(store, "q1", LIFE_S + 1)
        first, second = store.queues.all()
        assert (first.is_alive, second.is_alive) == (False, True)
        store.queues.hear("q1", "redis://db1:6379/0", "run3")
        assert store.queues.all()[0].is_alive
        assert store.queues.all()[0].server == "run3"
        store.queues.forget("q1")
        assert [row.queue_id for row in store.queues.all()] == ["q2"]

    def test_the_machine_s_clock_does_not_matter_but_to_an_own_file(self, store: Store) -> None:
        store.queues.hear("q1", "redis://db1:6379/0", "run1")
        with patch("time.time", return_value=0.0):
            (row,) = store.queues.all()
        assert row.is_alive

    def test_only_what_is_long_gone_and_not_named_is_forgotten(self, store: Store) -> None:
        for name in ("new", "old", "named"):
            store.queues.hear(name, "", "")
        for name in ("old", "named"):
            age(store, name, KEPT_S + 1)
        store.queues.forget_gone({"named"})
        assert [row.queue_id for row in store.queues.all()] == ["named", "new"]

    def test_a_crawl_s_row_names_its_queue(self, store: Store) -> None:
        store.crawls.give_to("c", "q1")
        assert store.crawls.all() == []
        store.crawls.put(SPEC, CrawlState.RUNNING)
        assert store.crawls.all()[0].queue == ""
        store.crawls.give_to("c", "q1")
        store.crawls.put(SPEC, CrawlState.STOPPED)
        assert store.crawls.all()[0].queue == "q1", "a new state keeps it"
        texts = [event.text for event in store.events.read()]
        assert not [text for text in texts if "taken over" in text]
        store.crawls.give_to("c", "q2")
        store.crawls.give_to("c", "q2")
        assert store.crawls.all()[0].queue == "q2"
        texts = [event.text for event in store.events.read()]
        assert texts[0] == "taken over by the queue q2, was run by the queue q1"
        assert len([text for text in texts if "taken over" in text]) == 1
        store.crawls.put(SPEC, CrawlState.RUNNING, queue="q3")
        assert store.crawls.all()[0].queue == "q3"
