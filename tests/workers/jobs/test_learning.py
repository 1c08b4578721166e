"""Hosts learned from the archive, versions in the store, and workers that use them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from crawlclean.cleaning.document.document import RawPage
from crawlclean.cleaning.errors import ConfigError, DatabaseDamaged, NotFound
from crawlclean.cleaning.model.overrides import Override
from crawlclean.cleaning.records import BodySource
from crawlclean.cleaning.site import learn_site
from crawlclean.cleaning.urls.normal_form import normalize, page_id
from crawlclean.storage.crawl_types import FetchResult, KeepRaw, UrlState
from crawlclean.storage.sqlite.store import SqliteStore
from crawlclean.storage.store.models import LearnReason, StoredModel
from crawlclean.workers.jobs.learning import keep_overrides, learn_host, roll_back
from crawlclean.workers.jobs.recleaning import older_records, reclean_records
from crawlclean.workers.site_models import SiteModels, read_model
from tests.kit.archived_site import (
    HOST,
    article_html,
    article_url,
    current,
    fetched,
    store_pages,
    store_site,
)
from tests.kit.timing import wait_until
from tests.kit.worker_bench import Waiting
from tests.storage.store.models_contract import make_model


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "records.sqlite")
    yield opened
    opened.close()


def test_a_host_is_learned_from_its_archive(store: SqliteStore) -> None:
    store_site(store)
    learned = learn_host(store, HOST, LearnReason.ASKED)
    assert learned.is_new
    assert learned.model.page_count == learned.about.page_count == 8
    assert learned.about.version == 1
    assert learned.model.body_rule.places[0].path == "html/body/div.article.a#"
    stored = store.models.get(HOST)
    assert stored is not None
    assert read_model(stored) == learned.model
    assert stored.about.size_bytes == len(stored.text.encode())


def test_what_says_the_same_is_no_new_version(store: SqliteStore) -> None:
    store_site(store)
    learn_host(store, HOST, LearnReason.ASKED)
    again = learn_host(store, HOST, LearnReason.AGE)
    assert not again.is_new
    assert again.about.reason is LearnReason.ASKED
    store_pages(store, [fetched(n) for n in range(9, 13)])
    more = learn_host(store, HOST, LearnReason.PAGES, "12 pages")
    assert (more.about.version, more.is_new, more.model.page_count) == (2, True, 12)


def test_at_most_a_hundred_pages_and_the_newest_answer_of_each(store: SqliteStore) -> None:
    store_pages(store, [fetched(n) for n in range(120)])
    store_pages(store, [fetched(1, crawl_id="c2", after_s=3600)])
    assert learn_host(store, HOST, LearnReason.ASKED).model.page_count == 100


def test_without_an_archive_nothing_is_learned(store: SqliteStore) -> None:
    store_site(store, keep_raw=KeepRaw.NONE)
    with pytest.raises(NotFound, match="the archive holds no page"):
        learn_host(store, HOST, LearnReason.ASKED)
    assert store.models.newest(HOST) == 0


def test_what_a_cut_archive_has_lost_is_left_out(
    store: SqliteStore, caplog: pytest.LogCaptureFixture
) -> None:
    store_site(store)
    [segment] = (store.path.parent / "raw").glob("*.warc.gz")
    os.truncate(segment, segment.stat().st_size // 2)
    learned = learn_host(store, HOST, LearnReason.PAGES)
    assert 0 < learned.model.page_count < 8
    assert caplog.messages == ["page not learned from"]
    segment.unlink()
    with pytest.raises(NotFound, match=r"the archive holds no page .* is gone: restore it"):
        learn_host(store, HOST, LearnReason.PAGES)


def test_a_damaged_database_is_no_page_that_is_left_out(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store_site(store)

    def page(*_: object) -> None:
        raise DatabaseDamaged("records.sqlite is damaged")

    monkeypatch.setattr(store.answers, "page", page)
    with pytest.raises(DatabaseDamaged):
        learn_host(store, HOST, LearnReason.PAGES)
    older = list(older_records(store, HOST, 1))
    with pytest.raises(DatabaseDamaged):
        reclean_records(store, older, None)


def test_an_older_version_is_taken_up_again_as_a_newer_one(store: SqliteStore) -> None:
    store_site(store)
    first = learn_host(store, HOST, LearnReason.ASKED).model
    store_pages(store, [fetched(n) for n in range(9, 15)])
    learn_host(store, HOST, LearnReason.ASKED)
    about = roll_back(store, HOST, 1)
    assert (about.version, about.reason, about.detail) == (3, LearnReason.ROLLBACK, "to version 1")
    assert current(SiteModels(store), store, HOST) == structs.replace(first, version=3)
    with pytest.raises(NotFound, match="has no version 9"):
        roll_back(store, HOST, 9)


def test_an_older_format_is_learned_anew(
    store: SqliteStore, caplog: pytest.LogCaptureFixture
) -> None:
    store_site(store)
    store.models.save(make_model(1, HOST, '{"format": 1}'))
    models = SiteModels(store)
    assert current(models, store, HOST) is None
    assert len(caplog.records) == 1
    assert "format 1" in caplog.records[0].__dict__["reason"]
    with pytest.raises(ConfigError, match="learn it anew"):
        roll_back(store, HOST, 1)
    assert learn_host(store, HOST, LearnReason.ASKED).about.version == 2
    assert current(models, store, HOST) is not None


def test_a_model_of_another_host_is_not_used(store: SqliteStore) -> None:
    store_site(store)
    learned = learn_host(store, HOST, LearnReason.ASKED)
    about = replace(learned.about, host="other.example")
    store.models.save(StoredModel(about=about, text=learned.model.to_json()))
    assert current(SiteModels(store), store, "other.example") is None


def test_models_in_memory_are_bounded(store: SqliteStore) -> None:
    store_site(store)
    text = learn_host(store, HOST, LearnReason.ASKED).model.to_json()
    for n in range(4):
        host = f"{n}.example"
        store.models.save(make_model(1, host, text.replace(HOST, host)))
    models = SiteModels(store, most=2)
    assert all(current(models, store, f"{n}.example") for n in range(4))
    assert models._read.cache_info().currsize == 2


def test_the_first_version_of_a_host_that_begins_anew_is_another_model(store: SqliteStore) -> None:
    store_site(store)
    first = learn_host(store, HOST, LearnReason.ASKED).model
    models = SiteModels(store)
    assert current(models, store, HOST) == first
    store.models.delete(HOST)
    store.models.save(make_model(1, HOST, structs.replace(first, page_count=3).to_json()))
    assert current(models, store, HOST) == structs.replace(first, page_count=3)


def test_workers_clean_with_the_model_in_use_when_they_save(tmp_path: Path) -> None:
    with Waiting(tmp_path) as bench:
        store = bench.store()
        store_site(store)
        model = learn_host(store, HOST, LearnReason.ASKED).model
        page = FetchResult(
            status=200, headers=(("Content-Type", "text/html"),), body=article_html(50)
        )
        answers = {"50.html": page, "wait": page}
        wait = f"http://{HOST}/wait"
        bench.fetch(article_url(50), "http://a.example/1", wait, crawl_id="c", **answers)
        bench.start_worker()
        wait_until(lambda: bench.waited == 1)
        newer = roll_back(store, HOST, model.version)
        store.close()
        bench.go()
        bench.sweep_until(bench.is_done)
        store = bench.store()
        record = store.records.get(page_id(normalize(article_url(50))))
        waited = store.records.get(page_id(wait))
        other = store.records.get(page_id("http://a.example/1"))
        store.close()
    assert record is not None
    assert waited is not None
    assert other is not None
    assert (record.model_version, record.body_source) == (newer.version, BodySource.SITE)
    assert record.title == "渔港见闻之350"
    assert waited.model_version == newer.version, "another was in use when its cleaning began"
    assert other.model_version == 0


def site_answers(numbers: range) -> dict[str, FetchResult]:
    """The articles of a site by the last part of their URL."""
    headers = (("Content-Type", "text/html"),)
    return {
        f"{n}.html": FetchResult(status=200, headers=headers, body=article_html(n)) for n in numbers
    }


def test_a_new_host_is_learned_before_its_pages_are_cleaned(tmp_path: Path) -> None:
    with Waiting(tmp_path) as bench:
        for numbers in (range(1), range(1, 10)):
            answers = site_answers(numbers)
            bench.fetch(*map(article_url, numbers), crawl_id="c", **answers)
            if not numbers[0]:
                bench.start_worker()
            bench.sweep_until(bench.is_done)
        bench.sweep_until(lambda: bench.frontier.learning.count() == 0)
        store = bench.store()
        records = [store.records.get(page_id(normalize(article_url(n)))) for n in range(10)]
        [about] = store.models.versions(HOST)
        stored = store.models.get(HOST)
        assert stored is not None
        model = read_model(stored)
        again = reclean_records(store, list(store.hosts.versions(HOST)), model)
        store.close()
    assert (about.version, about.page_count, about.reason) == (1, 8, LearnReason.PAGES)
    assert [each and each.model_version for each in records] == [1] * 10
    assert all(each and each.body_source is BodySource.SITE for each in records)
    assert (again.cleaned, again.changed) == (10, 0)
    assert bench.log.count(" learned host=") == 1


def test_no_new_host_is_learned_from_a_page_with_noindex(tmp_path: Path) -> None:
    with Waiting(tmp_path) as bench:
        answers = site_answers(range(9))
        hidden = b"<meta name=robots content=noindex>" + article_html(8)
        answers["8.html"] = replace(answers["8.html"], body=hidden)
        bench.fetch(*map(article_url, range(9)), crawl_id="c", **answers)
        bench.start_worker()
        bench.sweep_until(bench.is_done)
        bench.sweep_until(lambda: bench.frontier.learning.count() == 0)
        store = bench.store()
        stored = store.models.get(HOST)
        assert stored is not None
        sample = read_model(stored).sample
        ended = store.urls.rows(page_id(normalize(article_url(8))))
        store.close()
    assert set(sample) == {normalize(article_url(n)) for n in range(8)}
    assert [each.state for each in ended] == [UrlState.EXCLUDED]


def test_of_two_workers_that_learn_a_new_host_the_quicker_one_counts(tmp_path: Path) -> None:
    with Waiting(tmp_path) as bench:
        wait = f"http://{HOST}/wait"
        answers = site_answers(range(8)) | {"wait": site_answers(range(8, 9))["8.html"]}
        bench.fetch(*map(article_url, range(8)), wait, crawl_id="c", **answers)
        bench.start_worker()
        wait_until(lambda: bench.waited == 1)
        store = bench.store()
        quicker = learn_site(
            RawPage.from_bytes(article_url(n), article_html(n)) for n in range(20, 23)
        )
        assert store.models.save(make_model(1, HOST, quicker.to_json()))
        store.close()
        bench.go()
        bench.sweep_until(bench.is_done)
        bench.sweep_until(lambda: bench.frontier.learning.count() == 0)
        store = bench.store()
        first = store.models.get(HOST, 1)
        versions = {each.version for each in store.models.versions(HOST)}
        records = [store.records.get(page_id(normalize(article_url(n)))) for n in range(8)]
        store.close()
    assert first is not None
    assert read_model(first) == quicker
    assert {each.model_version for each in records if each} <= versions
    assert all(each and each.body_source is BodySource.SITE for each in records)
    assert bench.waited == 2, "cleaned once more, with the other model"


def test_overrides_stay_when_a_host_is_learned(store: SqliteStore) -> None:
    said = (Override(drop=("p.note",)),)
    alone = keep_overrides(store, HOST, lambda _: said, "crawl.toml")
    assert alone is not None
    assert (alone.version, alone.page_count, alone.reason) == (1, 0, LearnReason.OVERRIDES)
    store_site(store)
    learned = learn_host(store, HOST, LearnReason.PAGES)
    assert (learned.about.version, learned.model.overrides) == (2, said)
    assert not learn_host(store, HOST, LearnReason.ASKED).is_new
    assert keep_overrides(store, HOST, lambda before: before) is None
    assert keep_overrides(store, HOST, lambda _: ()) is not None
    assert learn_host(store, HOST, LearnReason.ASKED).model.overrides == ()
    assert roll_back(store, HOST, 2).version == 4
    stored = store.models.get(HOST)
    assert stored is not None
    assert read_model(stored).overrides == said
    with pytest.raises(ConfigError):
        keep_overrides(store, HOST, lambda _: [Override(body=("p[",))])
