"""The rounds of revisiting on a real queue and a real store; time is moved by what rows are due."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crawlclean.cleaning.revisits import VisitClass, VisitKind
from crawlclean.storage.config import StorageConfig
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, Outcome, UrlState
from crawlclean.storage.queue.revisits import MOST_OF_A_HOST
from crawlclean.workers.config import Settings
from crawlclean.workers.context import Context
from crawlclean.workers.processes import revisiting as module
from crawlclean.workers.processes.revisiting import Revisiting
from crawlclean.workers.site_models import SiteModels
from tests.kit.outcomes import HOST, make_outcome, make_queued
from tests.kit.private_queue import PrivateQueue

THREADS = VisitClass(VisitKind.THREAD, "/t/*")
LONG_AGO = datetime.now(UTC) - timedelta(days=40)


@pytest.fixture(scope="module")
def queue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateQueue]:
    with PrivateQueue(tmp_path_factory.mktemp("revisiting") / "data") as started:
        yield started


@pytest.fixture
def context(queue: PrivateQueue, tmp_path: Path) -> Iterator[Context]:
    queue.client.flushall()
    from crawlclean.storage.sqlite.store import SqliteStore

    settings = replace(Settings(), storage=StorageConfig(data=queue.data))
    with closing(SqliteStore(tmp_path / "records.sqlite")) as store:
        yield Context(
            settings=settings, frontier=queue.frontier, store=store, models=SiteModels(store)
        )


def open_crawl(context: Context, crawl_id: str = "c1", *, keep_fresh: bool = True) -> None:
    seeds = (f"https://{HOST}/",)
    context.frontier.open_crawl(
        CrawlSpec(crawl_id=crawl_id, seeds=seeds, keep_fresh=keep_fresh, delay_ms=0)
    )


def save_due(context: Context, pages: int, crawl_id: str = "c1") -> None:
    """Stores pages that were visited so long ago that all are due."""
    made = [make_outcome(f"/t/{n}", crawl_id=crawl_id, at=LONG_AGO) for n in range(pages)]
    context.store.save([replace(each, visit=THREADS) for each in made])


def waiting(context: Context, crawl_id: str = "c1") -> int:
    return context.frontier.counts(crawl_id).revisits


def test_the_queue_never_holds_more_than_its_share_of_what_is_due(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_crawl(context)
    save_due(context, 2 * MOST_OF_A_HOST)
    revisiting = Revisiting(context)
    assert revisiting.round() == waiting(context) == MOST_OF_A_HOST
    assert revisiting.round() == 0  # the host has as many as it may
    assert context.frontier.counters()["revisits_due"] == MOST_OF_A_HOST
    context.frontier.revisits.forget("c1")  # what the queue loses is due in the store
    monkeypatch.setattr(module, "MOST_QUEUED", 25)
    assert revisiting.round() == 25
    assert revisiting.round() == 0


def test_one_of_several_processes_works(context: Context) -> None:
    open_crawl(context)
    save_due(context, 3)
    first, second = Revisiting(context), Revisiting(context)
    assert first.round() == 3
    save_due(context, 5)
    assert second.round() == 0
    first.release()
    assert second.round() == 2
    assert first.round() == 0


def test_only_running_crawls_that_keep_fresh_are_kept(context: Context) -> None:
    for name in ("c1", "paused", "ends"):
        open_crawl(context, name, keep_fresh=name != "ends")
        save_due(context, 2, name)
    context.frontier.set_state("paused", CrawlState.PAUSED)
    assert Revisiting(context).round() == 2
    assert [waiting(context, name) for name in ("c1", "paused", "ends")] == [2, 0, 0]


def test_pages_from_before_the_crawl_kept_fresh_get_a_schedule(context: Context) -> None:
    """They count as visited when they were fetched, so what is due since then comes first."""
    at = [LONG_AGO, datetime.now(UTC)]
    context.store.save([make_outcome(f"/t/{n}", at=each) for n, each in enumerate(at)])
    open_crawl(context)
    revisiting = Revisiting(context)
    assert revisiting.round() == 1  # a thread is due after a day; the other page is fresh
    assert context.store.revisits.next_due("c1") is not None
    assert revisiting.round() == 0


def test_a_month_of_rounds_leaves_nothing_in_memory(
    context: Context, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Crawls come and go, pages become due; the objects of the process do not grow."""
    clock = datetime.now(UTC)
    revisits = context.frontier.revisits
    monkeypatch.setattr(revisits, "server_time", lambda: clock)
    open_crawl(context)
    save_due(context, 20)
    revisiting = Revisiting(context)
    objects: list[int] = []
    visited = 0
    request.addfinalizer(gc.unfreeze)
    gc.freeze()  # of what all other tests have made, the collector would look through each day
    for day in range(30):
        open_crawl(context, f"d{day}")
        for _ in range(2):
            revisiting.round()
        due = context.store.revisits.due("c1", clock)
        visited += len(due)
        revisits.forget("c1")
        context.store.save([not_modified(each.url, clock) for each in due])
        context.frontier.purge(f"d{day}")
        clock = max(clock + timedelta(days=1), context.store.revisits.next_due("c1") or clock)
        gc.collect()
        objects.append(len(gc.get_objects()))
    assert visited >= 60
    assert max(objects[20:]) - min(objects[8:12]) < 300, objects
    assert len(revisiting._begun | set(revisiting._scheduled)) <= 2


def not_modified(url: str, at: datetime) -> Outcome:
    queued = make_queued(url.removeprefix(f"https://{HOST}"), at=at, body=b"", status=304)
    return Outcome(queued=queued, state=UrlState.RECORD, unchanged=True, visit=THREADS)
