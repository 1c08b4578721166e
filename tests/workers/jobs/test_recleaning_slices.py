"""Learning in a crawl: when, and how re-cleaning comes to an end."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from crawlclean.cleaning.errors import StoreUnavailable
from crawlclean.cleaning.records import BodySource
from crawlclean.storage.crawl_types import CrawlState, KeepRaw, QueuedPage
from crawlclean.storage.queue.frontier import Frontier
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.models import LearnReason
from crawlclean.workers.jobs.images import filter_images
from crawlclean.workers.jobs.learning import learn_host
from crawlclean.workers.jobs.learning_schedule import LEARN_AT, count_records, pages_to_learn
from crawlclean.workers.jobs.recleaning import (
    PORTION,
    TRIED_OF_CLASS,
    RecleaningProgress,
    RecleaningSlice,
)
from crawlclean.workers.site_models import SiteModels
from tests.flow.test_images import picture, png
from tests.kit.archived_site import HOST, album_html, current, fetched, store_pages
from tests.kit.crawls import run_crawl
from tests.kit.recount import counted
from tests.kit.web import Page, Web
from tests.storage.store.models_contract import make_model


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(tmp_path / "records.sqlite")) as opened:
        yield opened


def test_a_host_is_learned_when_its_records_have_become_many_more() -> None:
    assert [n for n in range(1, 300) if pages_to_learn(n - 1, n)] == [8, 60]
    assert pages_to_learn(0, 7) == 0
    assert pages_to_learn(0, 150) == 40
    assert pages_to_learn(90, 2_500) == 100
    learned = 0.0
    for records in range(1, 20_000):
        learned += pages_to_learn(records - 1, records)
        assert records < 500 or learned <= records / 10
    assert max(LEARN_AT) > 1_000_000


def test_a_model_of_an_older_program_is_learned_anew(
    frontier: Frontier, store: SqliteStore
) -> None:
    store_pages(store, [fetched(n) for n in range(1, 4)])
    models = SiteModels(store)
    assert not models.is_unreadable(HOST)
    store.models.save(make_model(1, HOST, '{"format": 1}'))
    assert current(models, store, HOST) is None
    assert models.is_unreadable(HOST)
    records = list(store.records.scan())
    count_records(frontier.learning, HOST, records, None)
    assert not frontier.learning.is_busy(HOST)
    count_records(frontier.learning, HOST, records, None, is_unreadable=True)
    assert frontier.learning.is_busy(HOST)
    assert learn_host(store, HOST, LearnReason.PAGES).about.version == 2
    assert not models.is_unreadable(HOST)


def test_a_model_of_more_pages_is_not_replaced_by_one_of_few(
    frontier: Frontier, store: SqliteStore
) -> None:
    store_pages(store, [fetched(n) for n in range(1, 13)])
    model = learn_host(store, HOST, LearnReason.PAGES).model
    records = list(store.records.scan())
    assert count_records(frontier.learning, HOST, records, model) is None
    assert count_records(frontier.learning, HOST, records[:1], None) is not None


def test_slices_end_and_only_changed_records_are_saved(store: SqliteStore) -> None:
    store_pages(store, [fetched(n) for n in range(1, 31)])
    model = learn_host(store, HOST, LearnReason.PAGES, most_pages=8).model
    assert model.page_count == 8
    trials, slices = RecleaningProgress(), 0
    while not RecleaningSlice(store, model, trials).run(
        until=time.monotonic() - 1 if slices % 2 else 9e9
    ):
        slices += 1
    assert trials.tried == trials.changed == 30
    assert {record.model_version for record in store.records.scan()} == {1}
    assert {record.body_source for record in store.records.scan()} == {BodySource.SITE}
    again = learn_host(store, HOST, LearnReason.PAGES, most_pages=30).model
    trials = RecleaningProgress()
    assert RecleaningSlice(store, again, trials).run(until=9e9)
    assert (trials.tried, trials.changed) == (TRIED_OF_CLASS, 0), "the class is left alone"
    assert {record.model_version for record in store.records.scan()} == {1}


def test_what_one_model_made_says_nothing_of_what_another_made(store: SqliteStore) -> None:
    store_pages(store, [fetched(n) for n in range(1, 41)])
    first = learn_host(store, HOST, LearnReason.PAGES, most_pages=8).model
    ids = sorted(record.page_id for record in store.records.scan())
    late = {page_id for place, page_id in enumerate(ids) if place % 8 == 7}
    pages = [fetched(n) for n in range(1, 41)]
    store_pages(store, [page for page in pages if page.page_id not in late], first)
    again = learn_host(store, HOST, LearnReason.PAGES, most_pages=30).model
    assert RecleaningSlice(store, again, RecleaningProgress()).run(until=9e9)
    made_by = {record.page_id: record.model_version for record in store.records.scan()}
    assert {made_by[page_id] for page_id in late} == {again.version}
    assert {made_by[page_id] for page_id in ids if page_id not in late} == {first.version}


def test_records_of_models_of_many_pages_are_tried_again_within_a_bound(
    store: SqliteStore,
) -> None:
    pages = [fetched(n) for n in range(1, 41)]
    store_pages(store, pages)
    first = learn_host(store, HOST, LearnReason.PAGES, most_pages=30).model
    store_pages(store, pages[:20], first)
    second = learn_host(store, HOST, LearnReason.PAGES, most_pages=40).model
    assert second.version == 2
    trials = RecleaningProgress()
    assert RecleaningSlice(store, second, trials, budget=2).run(9e9)
    assert (trials.well_taught, trials.skipped) == (2, 18), "well taught"
    assert trials.tried == 22, "all that no model made"
    made_by = [record.model_version for record in store.records.scan()]
    assert made_by.count(2) >= 20
    assert 0 not in made_by
    on = RecleaningProgress.from_args(
        json.loads(json.dumps(replace(trials, after=("", "")).to_args()))
    )
    assert RecleaningSlice(store, second, on, budget=1).run(9e9)
    assert (on.well_taught, on.skipped) == (3, 18 + 19), (
        "the count travels; those that stay are tried"
    )


def test_a_slice_that_has_no_time_goes_on_where_it_was(store: SqliteStore) -> None:
    store_pages(store, [fetched(n) for n in range(1, 11)])
    model = learn_host(store, HOST, LearnReason.PAGES).model
    trials = RecleaningProgress()
    assert not RecleaningSlice(store, model, trials).run(until=0.0)
    assert trials.tried == 1, "even a slow store gets on"
    assert RecleaningSlice(
        store, model, RecleaningProgress.from_args(json.loads(json.dumps(trials.to_args())))
    ).run(9e9)
    assert {record.model_version for record in store.records.scan()} == {1}


def test_a_slice_that_dies_goes_on_with_what_it_has_tried(store: SqliteStore) -> None:
    store_pages(store, [fetched(n) for n in range(1, PORTION + 11)])
    model = learn_host(store, HOST, LearnReason.PAGES).model
    places: list[str] = []
    trials = RecleaningProgress()

    def save_progress(reached: RecleaningProgress) -> None:
        places.append(json.dumps(reached.to_args()))
        if len(places) == 2:
            raise StoreUnavailable("killed")

    with pytest.raises(StoreUnavailable):
        RecleaningSlice(store, model, trials, save_progress).run(9e9)
    assert store.hosts.by_model(HOST) == {0: 10, 1: PORTION}
    first, last = (RecleaningProgress.from_args(json.loads(place)) for place in places)
    assert (first.after, first.changed) == (("", ""), PORTION), "not saved, and known to change"
    assert last.changed == PORTION + 10
    assert RecleaningSlice(store, model, last).run(9e9)
    assert store.hosts.by_model(HOST) == {1: PORTION + 10}


def test_pages_that_are_not_archived_stay(store: SqliteStore) -> None:
    store_pages(store, [fetched(n) for n in range(1, 9)])
    store_pages(store, [fetched(n) for n in range(20, 25)], keep_raw=KeepRaw.NONE)
    model = learn_host(store, HOST, LearnReason.PAGES).model
    trials = RecleaningProgress()
    assert RecleaningSlice(store, model, trials).run(9e9)
    assert trials.tried == 8
    assert sorted(record.model_version for record in store.records.scan()) == [0] * 5 + [1] * 8


def test_images_that_a_slice_finds_to_be_content_are_due(store: SqliteStore) -> None:
    store_pages(store, [album(n) for n in range(1, 9)])
    model = learn_host(store, HOST, LearnReason.PAGES).model
    assert store.images.due("c1") == []
    assert RecleaningSlice(store, model, RecleaningProgress()).run(9e9)
    due = store.images.due("c1")
    found = {
        each.url for page in due for each in filter_images(page.images, page.url, page.depth)[0]
    }
    assert found == {f"http://{HOST}/photo/{n}.png" for n in range(1, 9)}
    again = learn_host(store, HOST, LearnReason.PAGES).model
    assert RecleaningSlice(store, again, RecleaningProgress()).run(9e9)
    assert len(store.images.due("c1")) == 8


def album(n: int) -> QueuedPage:
    page = fetched(n)
    return replace(page, result=replace(page.result, body=album_html(n)))


def test_a_crawl_cleans_its_first_pages_again_and_fetches_their_images(tmp_path: Path) -> None:
    count = 30
    pages: dict[str, Page] = {
        "/": {"body": "".join(f"<a href=/news/{n}.html>{n}</a>" for n in range(count))},
        **{f"/news/{n}.html": {"body": album_html(n).decode()} for n in range(count)},
        **{f"/photo/{n}.png": picture(png(n)) for n in range(count)},
        "/img/foot.png": picture(png(count)),
    }
    data = tmp_path / "data"
    with Web(tmp_path / "web", pages) as web:
        summary = run_crawl(data, web.url(), "--images")
        asked = web.requests()
    assert (summary["records"], summary["images"]) == (count + 1, count)
    assert "/img/foot.png" not in asked
    assert set(asked.values()) == {1}
    with closing(SqliteStore(data / "records.sqlite")) as store:
        records = [record for record in store.records.scan() if "/news/" in record.url]
        assert {record.body_source for record in records} == {BodySource.SITE}
        assert {record.model_version for record in records} == {1}
        (stats,) = counted(store).all()
        assert sum(stats.pages_by_kind.values()) == stats.pages_by_state["record"] == count + 1
        assert store.crawls.all()[0].state is CrawlState.FINISHED
