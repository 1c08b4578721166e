"""What every store must do with the pauses of hosts; see ``store_contract.py``."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from crawlclean.storage.store.hosts import Pause
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
