"""A host that changes: noticed, learned from what is new, and what is old keeps its records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from crawlclean.cleaning.drift.alarms import DriftSign
from crawlclean.cleaning.drift.watch import Watch
from crawlclean.cleaning.errors import StoreUnavailable
from crawlclean.cleaning.records import BodySource
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import KeepRaw, QueuedPage
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.queue.jobs import LEARN_JOBS, MOST_TRIES
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.journal import EventKind
from crawlclean.storage.store.models import DriftEvent, DriftOutcome, LearnReason
from crawlclean.workers.config import Settings
from crawlclean.workers.context import Context
from crawlclean.workers.jobs.learning import learn_host, roll_back
from crawlclean.workers.jobs.learning_schedule import (
    QUIET_PAGES,
    count_records,
    learn_now,
    pages_of_quiet,
)
from crawlclean.workers.jobs.outcomes import end_page
from crawlclean.workers.jobs.recleaning import (
    RecleaningCounts,
    older_records,
    reclean_now,
    reclean_records,
)
from crawlclean.workers.processes.sweeping import redo_learning
from crawlclean.workers.site_models import SiteModels, read_model
from tests.kit.archived_site import (
    HOST,
    T0,
    article_html,
    current,
    fetched,
    redesigned_html,
    store_site,
)
from tests.storage.queue.test_learning import lose

OLD = 24
NEW = 200  # the number of the first page after the change
WALL = (
    "<title>渔港见闻</title><div class=article id=a1><p>请登录后继续阅读全文。</p></div>".encode()
)


@dataclass
class Host:
    """A host that has been learned, and what comes of it."""

    context: Context
    client: Any

    @property
    def store(self) -> Any:
        return self.context.store

    def come(self, pages: Iterable[QueuedPage]) -> None:
        """Pages are cleaned as they come, four at a time."""
        waiting = list(pages)
        for start in range(0, len(waiting), 4):
            model = current(self.context.models, self.store, HOST)
            some = waiting[start : start + 4]
            ends = [end_page(page, KeepRaw.ALL, model).outcome for page in some]
            self.store.save(ends)
            records = [end.record for end in ends if end.record is not None]
            count_records(self.context.frontier.learning, HOST, records, model)

    def work(self) -> None:
        """Does the jobs of learning that were asked for."""
        queue = self.context.frontier.learning
        if queue.is_busy(HOST):
            learn_now(self.context, self.client.hget(LEARN_JOBS, HOST), HOST, 0)
        if queue.is_busy(HOST):
            version = self.store.models.newest(HOST)
            job = self.client.hget(LEARN_JOBS, HOST)
            reclean_now(self.context, job, HOST, version, _FRESH)
        assert not queue.is_busy(HOST)

    @property
    def watch(self) -> Watch:
        return Watch.from_text(self.context.frontier.learning.watch(HOST)[1])

    @property
    def drift(self) -> DriftEvent:
        (event,) = self.store.drifts.of(HOST)
        assert isinstance(event, DriftEvent)
        return event

    def record(self, n: int) -> Any:
        return self.store.records.get(fetched(n).page_id)


_FRESH = {"after": ["", ""], "tried": 0, "changed": 0, "by_class": {}, "cpu_ms": 0}


def with_html(n: int, html: bytes, *, days: int = 0) -> QueuedPage:
    page = fetched(n, after_s=86_400 * days)
    return replace(page, result=replace(page.result, body=html))


def redesigned(first: int = NEW, count: int = 20, *, days: int = 2) -> list[QueuedPage]:
    return [with_html(n, redesigned_html(n), days=days) for n in range(first, first + count)]


@pytest.fixture
def host(tmp_path: Path, frontier: Frontier, client: Any) -> Iterator[Host]:
    with closing(SqliteStore(tmp_path / "records.sqlite")) as store:
        store_site(store, OLD)
        model = learn_host(store, HOST, LearnReason.PAGES).model
        assert reclean_records(store, list(older_records(store, HOST, 1)), model).changed == OLD
        settings = Settings(storage=StorageConfig(data=tmp_path))
        context = Context(settings, frontier, store, SiteModels(store))
        frontier.learning.add_records(HOST, 4_000)  # far from the next learning by numbers
        frontier.learning.end(HOST, frontier.learning.begin(HOST, 4_000, 100))
        yield Host(context, client)


def test_a_redesign_is_learned_from_its_own_pages(host: Host) -> None:
    old = [host.record(n) for n in range(1, OLD + 1)]
    host.come(fetched(n) for n in range(100, 120))
    assert host.watch.runs == {}
    host.come(redesigned())
    assert host.context.frontier.learning.is_busy(HOST)
    host.come(redesigned(NEW + 20, 4))
    host.work()
    event = host.drift
    assert (event.outcome, event.model_version, event.new_version) == (DriftOutcome.LEARNED, 1, 2)
    assert event.alarm.sign is DriftSign.BODIES
    assert event.alarm.since == redesigned()[0].fetched_at
    assert event.alarm.pages == event.alarm.misfits <= 12
    assert event.alarm.examples[0] == fetched(NEW).url
    about = host.store.models.versions(HOST)[0]
    assert (about.reason, about.page_count) == (LearnReason.DRIFT, 24)
    for n in range(NEW, NEW + 24):
        record = host.record(n)
        assert (record.model_version, record.body_source) == (2, BodySource.SITE)
        assert "赞赏" not in record.body
    assert [host.record(n) for n in range(1, OLD + 1)] == old
    again = learn_host(host.store, HOST, LearnReason.ASKED)
    assert (again.is_new, again.model.page_count) == (False, 24), "the old layout is not learned"
    left: RecleaningCounts = reclean_records(
        host.store,
        list(older_records(host.store, HOST, 9)),
        read_model(host.store.models.get(HOST)),
    )
    assert (left.outdated, left.changed) == (OLD + 20, 0)


def test_another_kind_of_page_that_is_met_within_a_day_is_no_change(host: Host) -> None:
    host.come(redesigned(days=0))
    host.work()
    event = host.drift
    assert (event.alarm.sign, event.outcome) == (DriftSign.NEW_CLASSES, DriftOutcome.LEARNED)
    about = host.store.models.versions(HOST)[0]
    assert (about.version, about.page_count) == (2, OLD + 20), "both kinds are learned"
    assert not host.store.events.read(limit=9, kind=EventKind.DRIFT.value)
    host.come(redesigned(NEW + 20, 4, days=0))
    host.come(fetched(n) for n in range(300, 304))
    for n in (*range(NEW, NEW + 24), *range(300, 304)):
        assert host.record(n).body_source is BodySource.SITE
        assert "赞赏" not in host.record(n).body


def scattered(n: int, days: int) -> QueuedPage:
    """A page whose text is as long as before, at a depth that no other page has it at."""
    depth = n - NEW
    html = article_html(n).replace(b"<div class=article", b"<div>" * depth + b"<div data-x")
    beside = "<ul>" + "<li>潮汐表每天早上六点更新一次" * 9 + "</ul>"
    return with_html(n, html + b"</div>" * depth + beside.encode(), days=days)


@pytest.mark.parametrize(("days", "is_change"), [(0, False), (2, True)])
def test_pages_without_a_place_are_no_change_of_a_host_within_a_day(
    host: Host, days: int, *, is_change: bool
) -> None:
    host.come(scattered(n, days) for n in range(NEW, NEW + 16))
    host.work()
    assert host.drift.outcome is DriftOutcome.NOTHING_BETTER
    assert host.drift.is_change is is_change
    assert len(host.store.events.read(limit=9, kind=EventKind.DRIFT.value)) == is_change


@pytest.mark.parametrize(("hours", "is_change"), [(1, False), (23, False), (25, True), (900, True)])
def test_a_layout_can_change_when_it_was_in_use_for_a_day(
    host: Host, hours: int, is_change: bool
) -> None:
    learned_at = read_model(host.store.models.get(HOST)).learned_at
    later = timedelta(hours=hours)
    host.come(
        replace(page, fetched_at=learned_at + later + timedelta(seconds=n))
        for n, page in enumerate(redesigned(days=0))
    )
    host.work()
    assert host.drift.is_change is is_change
    assert host.drift.is_redesign is is_change
    assert len(host.store.events.read(limit=9, kind=EventKind.DRIFT.value)) == is_change


def test_a_wall_teaches_nothing_and_is_not_asked_about_again_at_once(host: Host) -> None:
    model = host.store.models.get(HOST)
    host.come(with_html(n, WALL) for n in range(NEW, NEW + 16))
    host.work()
    event = host.drift
    assert (event.outcome, event.new_version) == (DriftOutcome.NOTHING_BETTER, 0)
    assert "no place of bodies" in event.detail
    assert event.is_change, "a wall is told of, however young the model is"
    assert host.store.models.get(HOST) == model
    host.come(with_html(n, WALL) for n in range(300, 300 + QUIET_PAGES))
    assert not host.context.frontier.learning.is_busy(HOST)
    host.come(with_html(n, WALL) for n in range(400, 420))
    host.work()
    assert len(host.store.drifts.of(HOST)) == 2
    assert host.watch.quiet - host.context.frontier.learning.watch(HOST)[0] > QUIET_PAGES
    assert pages_of_quiet(3) == 8 * QUIET_PAGES
    host.come(fetched(n) for n in range(500, 520))
    assert host.record(510).body_source is BodySource.SITE, "the wall is gone"


def test_a_rollback_takes_the_change_back(host: Host) -> None:
    host.come(redesigned())
    host.work()
    assert roll_back(host.store, HOST, 1).version == 3
    assert host.drift.outcome is DriftOutcome.TAKEN_BACK
    assert learn_host(host.store, HOST, LearnReason.ASKED).model.page_count == OLD + 20


def test_a_job_that_dies_is_done_again_to_the_same_end(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.come(redesigned())
    saved = host.store.drifts.save
    calls = []

    def save(event: DriftEvent) -> None:
        calls.append(event)
        if len(calls) == 2:
            raise StoreUnavailable("gone")
        saved(event)

    monkeypatch.setattr(host.store.drifts, "save", save)
    with pytest.raises(StoreUnavailable):
        host.work()
    assert (host.drift.outcome, host.store.models.newest(HOST)) == (DriftOutcome.WAITS, 2)
    host.come(redesigned(NEW + 20, 8))
    assert host.watch.alarm is not None
    host.work()
    assert (host.drift.outcome, host.drift.new_version) == (DriftOutcome.LEARNED, 2)
    assert host.watch.alarm is None
    assert min(host.record(n).model_version for n in range(NEW, NEW + 28)) == 2


def test_jobs_that_die_again_and_again_leave_the_host_alone(host: Host) -> None:
    host.come(redesigned())
    for _ in range(MOST_TRIES + 1):
        lose_host(host.client)
        redo_learning(host.context)
    assert not host.context.frontier.learning.is_busy(HOST)
    assert host.watch.alarm is None
    host.come(redesigned(NEW + 20, 40))
    assert not host.context.frontier.learning.is_busy(HOST)


def lose_host(client: Any) -> None:
    lose(client)
    client.zrem("cc:learn", "a.example")
    client.zadd("cc:learn", {HOST: 1})


def test_new_sections_are_noticed_and_learned_when_it_is_cheap(host: Host) -> None:
    section = [
        replace(page, url=page.url.replace("/news/", "/blog/")) for page in redesigned(count=16)
    ]
    host.come(section)
    host.work()
    assert host.drift.alarm.sign is DriftSign.NEW_CLASSES
    assert host.drift.alarm.classes == (("/blog/*.html", host.drift.alarm.misfits),)
    assert host.drift.outcome is DriftOutcome.WAITS
    assert "more pages" in host.drift.detail
    assert host.store.models.newest(HOST) == 1


def test_an_old_model_is_renewed(host: Host) -> None:
    host.come(with_html(n, article_html(n), days=31) for n in range(100, 130))
    host.work()
    assert host.store.drifts.of(HOST) == []
    about = host.store.models.versions(HOST)[0]
    assert (about.version, about.reason) == (2, LearnReason.AGE)
    assert about.detail.startswith("31 days old, ")
    assert about.learned_at > T0 + timedelta(days=31)
    assert about.page_count == OLD + 30


def test_evidence_of_two_workers_counts_once_each(frontier: Frontier) -> None:
    queue = frontier.learning
    assert queue.replace_watch(HOST, "", "one")
    assert not queue.replace_watch(HOST, "", "two"), "another was first"
    assert queue.replace_watch(HOST, "one", "two")
    assert queue.watch(HOST) == (0, "two")
    queue.forget(HOST)
    assert queue.watch(HOST) == (0, "")
