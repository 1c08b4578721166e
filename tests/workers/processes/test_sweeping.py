"""The rounds of sweeping on a real queue and a real store."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from crawlclean.cleaning.records import Image, ImageKind
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState
from crawlclean.storage.live_state import ProcessRole
from crawlclean.storage.queue.entries import process_name
from crawlclean.storage.store.journal import MINUTE_S, QUARTER_S, EventKind, Gauge, OfCrawl
from crawlclean.workers.context import Context
from crawlclean.workers.processes.sweeping import Sampler, note_silent, sweep_once, update_crawls
from tests.kit.queues import spec
from tests.kit.worker_bench import Bench
from tests.storage.store.images_contract import cleaned_again


@pytest.fixture
def context(bench: Bench) -> Iterator[Context]:
    with bench.context() as opened:
        yield opened


def test_a_round_redoes_what_the_dead_left_and_counts_it(bench: Bench, context: Context) -> None:
    bench.fetch("http://a.example/1", "http://a.example/2")
    [job] = bench.client.zrange("cc:jobs", 0, -1)
    assert len(bench.frontier.claim(job.decode(), "dead")) == 2
    bench.frontier.break_claim(job.decode())
    sweep_once(context)
    counters = bench.frontier.counters()
    assert (counters["claims_lost"], counters["sweeps"]) == (1, 1)
    assert bench.frontier.counts("c").queued == 2
    sweep_once(context)
    assert bench.frontier.counters()["claims_lost"] == 1
    (event,) = context.store.events.read()
    assert (event.kind, event.text) == (
        EventKind.DIED, "jobs of dead workers given to others: 1",
    )  # fmt: skip

    spec = bench.frontier.spec("c")
    context.store.crawls.put(spec, CrawlState.RUNNING)
    update_crawls(context)
    assert context.store.crawls.all()[0].state is CrawlState.RUNNING
    bench.frontier.set_state("c", CrawlState.FINISHED)
    update_crawls(context)
    assert context.store.crawls.all()[0].state is CrawlState.STOPPED, "it has URLs left"


def test_a_silent_process_is_an_event_once(bench: Bench, context: Context) -> None:
    store = context.store
    bench.frontier.processes.beat(ProcessRole.WORKER)
    note_silent(context)
    assert store.events.read() == []
    bench.frontier.expire_process(process_name())
    for _ in range(2):
        note_silent(context)
    (event,) = store.events.read()
    assert (event.kind, event.link) == (EventKind.DIED, process_name())
    assert event.text == f"worker {process_name()} is not heard any more"


def test_two_housekeepers_store_one_sample_a_minute(bench: Bench, context: Context) -> None:
    bench.fetch("http://a.example/1", "http://a.example/2")
    bench.frontier.count({"records": 7})
    store = context.store
    begun = bench.frontier.now().at
    first, second = Sampler(context), Sampler(context)
    assert first.round()
    assert not first.round() or bench.frontier.now().at.minute != begun.minute
    stored = [first.round(), second.round()]
    names = ["records", *map(str, Gauge)]
    found = store.samples.read(names, MINUTE_S, begun, begun + timedelta(minutes=1))
    if bench.frontier.now().at.minute == begun.minute:  # else a minute began meanwhile
        assert stored == [False, False]
    assert found.values["records"][0] == 7
    assert found.values[Gauge.PAGES_IN_FLIGHT][0] == 2
    assert found.values[Gauge.JOBS][0] == 1
    assert found.values[Gauge.RUNNING_CRAWLS][0] == 1
    assert found.values[Gauge.FREE_BYTES][0] > 0


def test_images_that_became_content_are_offered_to_crawls_that_go_on(
    bench: Bench, context: Context
) -> None:
    store = context.store
    shown = Image(src="/1.png", url="http://a.example/1.png", kind=ImageKind.CONTENT)
    for crawl_id, state, images in (
        ("running", CrawlState.RUNNING, True),
        ("paused", CrawlState.PAUSED, True),
        ("unasked", CrawlState.RUNNING, False),
        ("finished", CrawlState.FINISHED, True),
        ("stopped", CrawlState.STOPPED, True),
        ("purged", CrawlState.PURGED, True),
        ("lost", CrawlState.RUNNING, True),
    ):
        spec = CrawlSpec(crawl_id=crawl_id, seeds=(), images=images)
        if crawl_id != "lost":
            bench.frontier.open_crawl(spec)
            bench.frontier.set_state(crawl_id, state)
        store.crawls.put(spec, state)
        store.save([cleaned_again(shown, path="/a", crawl_id=crawl_id)])
    for _ in range(2):
        update_crawls(context)
    for crawl_id in bench.frontier.crawl_ids():
        is_offered = crawl_id in ("running", "paused")
        assert bench.frontier.counts(crawl_id).images == is_offered, crawl_id
        assert bool(store.images.due(crawl_id)) is not is_offered, crawl_id
    assert bench.frontier.counters()["images_new"] == 2


def test_a_minute_keeps_how_far_each_running_crawl_is(context: Context) -> None:
    context.frontier.open_crawl(spec("runs", "http://a.example/", "http://a.example/2"))
    context.frontier.open_crawl(spec("rests", "http://b.example/"))
    context.frontier.set_state("rests", CrawlState.PAUSED)
    assert Sampler(context).round()
    at = datetime.now(UTC)
    names = [f"{figure}{crawl}" for figure in OfCrawl for crawl in ("runs", "rests")]
    kept = context.store.samples.read(names, MINUTE_S, at - timedelta(minutes=1), at)
    known = {name for name in names if any(not math.isnan(each) for each in kept.values[name])}
    assert known == {"fetched:runs", "pending:runs"}
    assert max(each for each in kept.values["pending:runs"] if not math.isnan(each)) == 2


def test_figures_of_crawls_are_kept_for_two_days_only(context: Context) -> None:
    """Longer steps would collect the names of all crawls of a month, or of years."""
    quarter = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
    for minute in range(16):
        values = {"records": float(minute), f"{OfCrawl.FETCHED}c": float(minute)}
        assert context.store.samples.add(quarter + timedelta(minutes=minute), values)
    names = ("records", f"{OfCrawl.FETCHED}c")
    kept = context.store.samples.read(
        names, QUARTER_S, quarter, quarter + timedelta(seconds=QUARTER_S)
    )
    assert kept.values["records"][0] == 14.0
    assert math.isnan(kept.values[f"{OfCrawl.FETCHED}c"][0])
