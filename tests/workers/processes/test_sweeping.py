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
from crawlclean.storage.store.journal import MINUTE_S, MOST_KEPT, EventKind, Gauge, OfCrawl
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
    minute, at = timedelta(minutes=1), datetime.now(UTC)
    names = [f"{figure}{crawl}" for figure in OfCrawl for crawl in ("runs", "rests")]
    kept = context.store.samples.read(names, MINUTE_S, at - minute, at + minute)
    known = {name for name in names if any(not math.isnan(each) for each in kept.values[name])}
    assert known == {"fetched:runs", "pending_urls:runs"}
    assert max(each for each in kept.values["pending_urls:runs"] if not math.isnan(each)) == 2


def test_a_minute_keeps_what_was_fetched_at_each_host(bench: Bench, context: Context) -> None:
    """Spiders and workers count by crawl and host; whoever is first in a minute takes it all."""
    bench.fetch("http://a.example/1", "http://a.example/2", "http://b.example/1")
    frontier, number = bench.frontier, 28_000_000
    frontier.count({}, {"news a.example answers_2xx": 2, "news a.example response_ms": 80})
    frontier.count({}, {"news b.example answers_5xx": 1})
    for _ in range(2):  # a housekeeper that cannot store them finds them again
        taken = frontier.tallies.take(number)
        assert taken[""] == {"answers_2xx": 2, "response_ms": 80, "answers_5xx": 1}
        assert taken["@a.example"] == {"answers_2xx": 2, "response_ms": 80}
    frontier.count({}, {"news a.example answers_2xx": 1})
    assert frontier.tallies.take(number + 1) == {
        "": {"answers_2xx": 1}, ":news": {"answers_2xx": 1}, "@a.example": {"answers_2xx": 1},
        "@b.example": {},
    }  # fmt: skip
    assert frontier.tallies.totals()[":news"]["answers_2xx"] == 3
    assert Sampler(context).round()
    minute, at = timedelta(minutes=1), datetime.now(UTC)
    names = ["pending_urls@a.example", "pages_in_flight:c"]
    kept = context.store.samples.read(names, MINUTE_S, at - minute, at + minute)
    assert all(math.isnan(each) for each in kept.values["pending_urls@a.example"]), "it rests"
    assert 3 in kept.values["pages_in_flight:c"]


def test_the_busiest_hosts_are_kept(bench: Bench) -> None:
    frontier, most = bench.frontier, MOST_KEPT["@"]
    for host in range(most + 20):
        frontier.count({}, {f"news h{host}.example answers_2xx": 1 + host})
    kept = frontier.tallies.take(28_000_000).keys() - {"", ":news"}
    assert kept == {f"@h{host}.example" for host in range(20, most + 20)}
    assert frontier.tallies.totals().keys() - {"", ":news"} == kept
