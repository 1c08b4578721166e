"""What every store must do with the pauses of hosts; see ``store_contract.py``."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from crawlclean.storage.store.hosts import Pause, Slowdown
from crawlclean.storage.store.protocol import Store
from tests.kit.outcomes import HOST

SINCE = datetime(2026, 1, 31, 12, tzinfo=UTC)
PAUSE = Pause(host=HOST, since=SINCE, crawls=("c1", "c2"))


class PausesContract:
    """Needs a fixture ``store`` that gives an empty store."""

    def test_pauses_come_back_equal_and_keep_their_time(self, store: Store) -> None:
        assert store.pauses.all() == []
        other = Pause(host="a.example", since=SINCE)
        for each in (PAUSE, other):
            store.pauses.put(each)
        store.pauses.put(Pause(host=HOST, since=SINCE + timedelta(hours=1), crawls=("c1", "c2")))
        assert store.pauses.all() == sorted([other, PAUSE], key=lambda pause: pause.host)
        assert store.pauses.delete(HOST)
        assert not store.pauses.delete(HOST)
        assert store.pauses.all() == [other]

    def test_slowdowns_come_back_equal_and_are_events(self, store: Store) -> None:
        first = Slowdown(host=HOST, delay_ms=2500, slots=None, since=SINCE, who="root", why="slow")
        other = Slowdown(host="a.example", delay_ms=None, slots=2, since=SINCE)
        for each in (first, other):
            store.slowdowns.put(each)
        assert store.slowdowns.all() == [other, first]
        assert store.slowdowns.get(HOST) == first
        store.slowdowns.delete(HOST, "root")
        store.slowdowns.delete(HOST, "root")
        assert store.slowdowns.get(HOST) is None
        assert [str(each.text) for each in store.events.read(limit=9)] == [
            "no longer slowed down, by root",
            "at most 2 requests at a time",
            "at least 2.5 s between requests, by root",
        ]
