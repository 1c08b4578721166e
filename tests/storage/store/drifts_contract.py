"""What every store must do with drift events: subclass beside a fixture named ``store``."""

from __future__ import annotations

from dataclasses import replace

from crawlclean.cleaning.drift.alarms import Alarm, DriftSign
from crawlclean.storage.store.models import (
    KEPT_DRIFTS,
    DriftEvent,
    DriftOutcome,
    take_back,
)
from crawlclean.storage.store.protocol import Store
from tests.kit.outcomes import HOST, T0, later

OTHER = "other.example"


def make_drift(n: int = 1, host: str = HOST, **changed: object) -> DriftEvent:
    alarm = Alarm(
        sign=DriftSign.BODIES,
        url_class="/新闻/*.html",
        since=T0,
        at=later(n),
        pages=20,
        misfits=15,
        empty=3,
        expected=0.95,
        classes=(("/新闻/*.html", 12), ("", 3)),
        examples=("http://a.example/1", "http://a.example/2"),
    )
    event = DriftEvent(host=host, model_version=n, alarm=alarm, outcome=DriftOutcome.WAITS)
    return replace(event, **changed)  # type: ignore[arg-type]


class DriftsContract:
    """Needs a fixture ``store`` that gives an empty store."""

    def test_no_drift(self, store: Store) -> None:
        assert store.drifts.of(HOST) == []
        assert store.drifts.delete(HOST) == 0

    def test_an_event_comes_back_equal_and_newest_first(self, store: Store) -> None:
        first, second = make_drift(1), make_drift(2, detail="13 页")
        store.drifts.save(second)
        store.drifts.save(first)
        store.drifts.save(make_drift(3, OTHER))
        assert store.drifts.of(HOST) == [second, first]

    def test_what_was_done_replaces_what_was_found(self, store: Store) -> None:
        found = make_drift(1)
        done = replace(found, outcome=DriftOutcome.LEARNED, new_version=2)
        for event in (found, done, done):
            store.drifts.save(event)
        assert store.drifts.of(HOST) == [done]
        take_back(store.drifts, HOST, 2)
        assert store.drifts.of(HOST) == [done]
        take_back(store.drifts, HOST, 1)
        assert [event.outcome for event in store.drifts.of(HOST)] == [DriftOutcome.TAKEN_BACK]

    def test_old_events_go_and_a_host_is_forgotten_alone(self, store: Store) -> None:
        store.drifts.save(make_drift(1, OTHER))
        for n in range(KEPT_DRIFTS + 3):
            store.drifts.save(make_drift(n))
        assert [event.model_version for event in store.drifts.of(HOST)] == list(
            range(KEPT_DRIFTS + 2, 2, -1)
        )
        assert store.drifts.delete(HOST) == KEPT_DRIFTS
        assert store.drifts.of(HOST) == []
        assert len(store.drifts.of(OTHER)) == 1
