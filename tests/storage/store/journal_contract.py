"""What every store must do with events, audit, operations, samples: see ``store_contract.py``."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from unittest.mock import patch

from crawlclean.storage.crawl_types import CrawlSpec, CrawlState
from crawlclean.storage.store import rows as numbered
from crawlclean.storage.store.hosts import Pause
from crawlclean.storage.store.journal import (
    DAY_S,
    MINUTE_S,
    MOST_KEPT,
    QUARTER_S,
    REPEATS,
    Action,
    Event,
    EventKind,
    Gauge,
    Operation,
    OperationState,
)
from crawlclean.storage.store.models import DriftOutcome, LearnReason, ModelLine, StoredModel
from crawlclean.storage.store.protocol import Store
from tests.kit.outcomes import HOST, T0
from tests.kit.some import some
from tests.storage.store.drifts_contract import make_drift

MIDNIGHT = datetime(2026, 2, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
JOBS, RECORDS = str(Gauge.JOBS), "records"


def add_minutes(store: Store, first: datetime, count: int) -> None:
    """A sample a minute; ``jobs`` is 0..14 in each quarter, ``records`` rises by 10."""
    for n in range(count):
        assert store.samples.add(first + n * MINUTE, {JOBS: n % 15, RECORDS: 10.0 * n})


class JournalContract:
    """Needs a fixture ``store`` that gives an empty store."""

    def test_events_are_numbered_and_come_back_newest_first(self, store: Store) -> None:
        assert store.events.read() == []
        added = [
            Event(kind=EventKind.DIED, text=f"{n}", host=f"{n % 2}.example", crawl_id="c", link="l")
            for n in range(5)
        ]
        assert [store.events.add(each) for each in added] == [1, 2, 3, 4, 5]
        found = store.events.read(limit=3)
        assert [each.text for each in found] == ["4", "3", "2"]
        assert (found[0].seq, found[0].host, found[0].link) == (5, "0.example", "l")
        assert found[0].at is not None
        assert [each.text for each in store.events.read(before=3)] == ["1", "0"]
        odd = store.events.read(host="1.example")
        assert [each.text for each in odd] == ["3", "1"]
        assert [each.seq for each in store.events.read(odd[0].seq, host="1.example")] == [2]
        assert store.events.read(kind=EventKind.CRAWL) == []
        assert len(store.events.read(kind=EventKind.DIED, crawl_id="c", limit=2)) == 2

    def test_a_dated_event_is_stored_once(self, store: Store) -> None:
        event = Event(kind=EventKind.DRIFT, text="bodies", host=HOST, at=T0)
        assert store.events.add(event) == store.events.add(event) == 1
        for n in range(REPEATS):
            store.events.add(Event(kind=event.kind, text="bodies", host=f"{n}.example", at=T0))
        assert store.events.add(event) == 1
        assert store.events.newest() == REPEATS + 1

    def test_processes_that_add_at_once_lose_no_event(self, store: Store) -> None:
        def add(n: int) -> int:
            return store.events.add(Event(kind=EventKind.DIED, text=f"{n}"))

        with ThreadPoolExecutor(4) as pool:
            numbers = list(pool.map(add, range(20)))
        assert sorted(numbers) == list(range(1, 21))
        assert {each.text for each in store.events.read()} == {f"{n}" for n in range(20)}

    def test_only_the_newest_rows_stay(self, store: Store) -> None:
        with patch.object(store.events, "kept", 3), patch.object(numbered, "LOOK_BEHIND", 2):
            for n in range(6):
                store.events.add(Event(kind=EventKind.DIED, text=f"{n}"))
            assert [each.text for each in store.events.read()] == ["5", "4", "3"]

    def test_a_number_behind_the_stored_one_is_found(self, store: Store) -> None:
        for n in range(4):
            store.events.add(Event(kind=EventKind.DIED, text=f"{n}"))
        store.events._tables.put("numbers", {"what": "events", "n": 1})
        assert store.events.newest() == 4
        assert [each.text for each in store.events.read(limit=2)] == ["3", "2"]
        assert store.events.add(Event(kind=EventKind.DIED, text="4")) == 5

    def test_states_models_drifts_and_pauses_are_events(self, store: Store) -> None:
        spec = CrawlSpec(crawl_id="c", seeds=(f"http://{HOST}/",))
        for state in (CrawlState.RUNNING, CrawlState.RUNNING, CrawlState.FINISHED):
            store.crawls.put(spec, state)
        for _ in range(2):
            store.drifts.save(make_drift(2, outcome=DriftOutcome.LEARNED, new_version=3))
        about = ModelLine(
            host=HOST, version=3, learned_at=T0, saved_at=T0, page_count=1, size_bytes=2,
            reason=LearnReason.DRIFT,
        )  # fmt: skip
        assert store.models.save(StoredModel(about=about, text="{}"))
        assert not store.models.save(StoredModel(about=about, text="{}"))
        for _ in range(2):
            store.pauses.put(Pause(host=HOST, since=T0, who="root@m", why="too slow"))
        assert [(each.who, each.why) for each in store.pauses.all()] == [("root@m", "too slow")]
        store.pauses.delete(HOST, "me@m")
        store.pauses.delete(HOST)
        found = [(each.kind, each.text, each.link) for each in reversed(store.events.read())]
        assert found == [
            (EventKind.CRAWL, "running, new", "running"),
            (EventKind.CRAWL, "finished, was running", "finished"),
            (EventKind.DRIFT, "bodies: learned version 3", "3"),
            (EventKind.MODEL, "version 3 of its model, from 1 page (drift)", "3"),
            (EventKind.PAUSED, "paused by root@m: too slow", ""),
            (EventKind.RESUMED, "resumed by me@m", ""),
        ]
        assert [each.kind for each in store.events.read(crawl_id="c")] == [EventKind.CRAWL] * 2

    def test_who_paused_a_crawl_is_known_while_it_is_paused(self, store: Store) -> None:
        spec = CrawlSpec(crawl_id="c", seeds=(f"http://{HOST}/",))
        assert store.crawls.state_since("c", CrawlState.PAUSED) is None
        store.crawls.put(spec, CrawlState.RUNNING)
        store.crawls.put(replace(spec, crawl_id="d"), CrawlState.PAUSED)
        store.crawls.put(spec, CrawlState.PAUSED, "root@m", "too slow, by far: wait")
        store.crawls.put(spec, CrawlState.PAUSED)
        found = some(store.crawls.state_since("c", CrawlState.PAUSED))
        assert found[1:] == ("root@m", "too slow, by far: wait")
        assert store.crawls.state_since("c", CrawlState.RUNNING) is None
        unknown = some(store.crawls.state_since("d", CrawlState.PAUSED))
        assert unknown[1:] == ("", "")
        store.crawls.put(spec, CrawlState.RUNNING)
        assert store.crawls.state_since("c", CrawlState.PAUSED) is None

    def test_an_action_is_completed_once(self, store: Store) -> None:
        asked = Action(
            who="password", place="127.0.0.1", action="pause_host", target=HOST, asked="1 host"
        )
        assert (store.audit.begin(asked), store.audit.begin(asked)) == (1, 2)
        assert [each.did for each in store.audit.read()] == [None, None]
        assert store.audit.end(1, "paused", undo=f"resume_host {HOST}")
        assert not store.audit.end(1, "again")
        assert not store.audit.end(9, "nothing")
        found = some(store.audit.get(1))
        assert (found.did, found.undo, found.asked) == ("paused", f"resume_host {HOST}", "1 host")
        assert store.audit.get(9) is None
        assert [each.seq for each in store.audit.read(before=2)] == [1]

    def test_an_operation_runs_to_its_end(self, store: Store) -> None:
        seq = store.operations.add(Operation(kind="retry", target="c", who="password", total=10))
        assert store.operations.advance(seq, 4, 10, "4 of 10")
        found = some(store.operations.get(seq))
        assert (found.state, found.done, found.detail) == (OperationState.RUNNING, 4, "4 of 10")
        assert store.operations.end(seq, OperationState.DONE, "10 URLs wait")
        assert not store.operations.stop(seq)
        assert not store.operations.end(seq, OperationState.FAILED, "late")
        (found,) = store.operations.read()
        assert (found.state, found.detail) == (OperationState.DONE, "10 URLs wait")
        assert found.state.has_ended

    def test_an_operation_stops_on_request(self, store: Store) -> None:
        waits, runs = (
            store.operations.add(Operation(kind="purge", target=name, who="x")) for name in "ab"
        )
        assert store.operations.stop(waits)
        assert not store.operations.advance(waits, 1, 2), "it has not begun, and never will"
        assert store.operations.advance(runs, 1, 2)
        assert store.operations.stop(runs)
        assert not store.operations.advance(runs, 2, 2)
        running, stopped = store.operations.read()
        assert (stopped.state, running.state) == (OperationState.STOPPED, OperationState.RUNNING)
        assert running.is_stopping
        assert store.operations.end(runs, OperationState.STOPPED, "1 of 2")

    def test_a_minute_is_sampled_once(self, store: Store) -> None:
        first = MIDNIGHT + timedelta(seconds=7)
        assert store.samples.add(first, {JOBS: 1, RECORDS: 5})
        assert not store.samples.add(first + timedelta(seconds=40), {JOBS: 2, RECORDS: 6})
        found = store.samples.read([JOBS, "no"], MINUTE_S, first, first + 2 * MINUTE)
        assert (found.start, found.step_s) == (MIDNIGHT, MINUTE_S)
        assert found.values[JOBS][0] == 1
        assert all(map(math.isnan, [found.values[JOBS][1], *found.values["no"]]))

    def test_hours_become_blocks_and_read_as_before(self, store: Store) -> None:
        first = MIDNIGHT - 70 * MINUTE
        add_minutes(store, first, 140)
        found = store.samples.read([RECORDS], MINUTE_S, first, first + 140 * MINUTE)
        assert list(found.values[RECORDS]) == [10.0 * n for n in range(140)]
        part = store.samples.read([JOBS], MINUTE_S, first + 3 * MINUTE, first + 5 * MINUTE)
        assert list(part.values[JOBS]) == [3, 4]
        assert found.per_second(RECORDS) == [10 / 60] * 139

    def test_longer_steps_have_mean_and_most_of_gauges_and_totals(self, store: Store) -> None:
        first = MIDNIGHT - 30 * MINUTE
        add_minutes(store, first, 31)
        names = [JOBS, f"{JOBS}.most", RECORDS]
        quarters = store.samples.read(names, QUARTER_S, first, MIDNIGHT)
        assert [list(quarters.values[name]) for name in names] == [[7, 7], [14, 14], [140, 290]]
        days = store.samples.read(names, DAY_S, first, MIDNIGHT)
        assert [list(days.values[name]) for name in names] == [[7], [14], [290]]

    def test_a_pause_of_all_housekeepers_is_a_gap_and_a_new_queue_no_fall(
        self, store: Store
    ) -> None:
        for n, total in ((0, 100.0), (1, 160.0), (20, 180.0), (21, 30.0), (22, 90.0), (30, 90.0)):
            store.samples.add(MIDNIGHT + n * MINUTE, {RECORDS: total})
        found = store.samples.read([RECORDS], MINUTE_S, MIDNIGHT, MIDNIGHT + 23 * MINUTE)
        rates = found.per_second(RECORDS)
        assert (rates[0], rates[21]) == (1.0, 1.0)
        assert all(map(math.isnan, [*rates[1:20], rates[20]]))
        quarters = store.samples.read([RECORDS], QUARTER_S, MIDNIGHT, MIDNIGHT + 30 * MINUTE)
        assert list(quarters.values[RECORDS]) == [160, 90], "the quarter without a first minute"

    def test_crawls_and_hosts_have_figures_of_their_own(self, store: Store) -> None:
        """Counts of a step add up in longer ones, gauges have their mean and their most."""
        first = MIDNIGHT - 75 * MINUTE
        for n in range(76):
            values = {f"{name}{of}": float(n % 15)
                      for of in ("", ":news", "@a.example:8080")
                      for name in ("answers_2xx", "pending_urls")}  # fmt: skip
            assert store.samples.add(first + n * MINUTE, values)
        names = [f"{name}@a.example:8080" for name in ("answers_2xx", "pending_urls")]
        minutes = store.samples.read(names, MINUTE_S, first, MIDNIGHT)
        assert [list(minutes.values[name]) for name in names] == [[n % 15 for n in range(75)]] * 2
        assert minutes.values.keys() == set(names)
        most = "pending_urls.most@a.example:8080"
        quarters = store.samples.read([*names, most], QUARTER_S, first, MIDNIGHT)
        assert [quarters.values[each][-1] for each in (*names, most)] == [105, 7, 14]
        days = store.samples.read(["answers_2xx:news", most], DAY_S, first, MIDNIGHT)
        assert [days.values[each][0] for each in ("answers_2xx:news", most)] == [525, 14]

    def test_a_row_keeps_the_busiest_hosts(self, store: Store) -> None:
        most = MOST_KEPT["@"]
        values = {f"answers_2xx@h{n}.example": float(n) for n in range(most + 5)}
        assert store.samples.add(MIDNIGHT, values)
        found = store.samples.read(values, MINUTE_S, MIDNIGHT, MIDNIGHT + MINUTE).values
        known = [name for name in values if not math.isnan(found[name][0])]
        assert known == [f"answers_2xx@h{n}.example" for n in range(5, most + 5)]

    def test_old_blocks_go(self, store: Store) -> None:
        for n in (0, 60, 3 * 24 * 60):
            store.samples.add(MIDNIGHT + n * MINUTE, {RECORDS: 1.0})
        kept = store.samples.read([RECORDS], MINUTE_S, MIDNIGHT, MIDNIGHT + 61 * MINUTE)
        assert all(map(math.isnan, kept.values[RECORDS]))
