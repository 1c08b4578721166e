"""What every ``Store`` must do: subclass ``StoreContract`` beside a fixture named ``store``.

More than 400 lines: one class with a short test for each promise of a store.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from itertools import permutations

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from crawlclean.cleaning.page_warnings import PageWarning, WarningKind
from crawlclean.cleaning.records import CleanRecord, ImageKind, LinkKind, PageKind, Via
from crawlclean.storage.crawl_types import (
    CertificateFault,
    CrawlSpec,
    CrawlState,
    FailureReason,
    KeepRaw,
    Scope,
    UrlState,
)
from crawlclean.storage.store.protocol import Store
from tests.kit.outcomes import (
    HOST,
    T0,
    changed_outcome,
    later,
    make_failure,
    make_outcome,
    with_certificate,
    with_queued,
    with_record,
)
from tests.kit.recount import check_overview, counted, recount
from tests.kit.some import some

OTHER = "other.example"
Event = tuple[str, str, int, int, int]
EVENTS = st.tuples(
    st.sampled_from(["record"] * 4 + ["again"] * 4 + ["failure", "excluded", "refresh", "delete"]),
    st.sampled_from(["c1", "c1", "c2"]),
    st.integers(0, 9),
    st.integers(0, 5),
    st.integers(1, 3),
)
"""What happens, in which crawl, to which page, fetched when, which version of the model."""


def everything(store: Store) -> object:
    """All a store shows, apart from times of saving: equal for equal stores."""
    return (
        sorted(repr(record) for record in store.records.scan()),
        [store.urls.rows(page_id) for page_id in store.urls.find_ids("", limit=10_000)],
        sorted(map(repr, store.urls.failures())),
        counted(store).all(),
    )


class StoreContract:
    """Needs a fixture ``store`` that gives an empty store."""

    def test_empty_store(self, store: Store) -> None:
        assert store.save([]) == 0
        assert store.crawls.all() == []
        assert list(store.records.scan()) == []
        assert store.records.get("0" * 32) is None
        assert store.urls.rows("0" * 32) == []
        assert store.answers.page("0" * 32) is None
        assert counted(store).get(HOST) is None
        assert counted(store).all() == []
        assert store.statistics.refresh() == 0
        assert store.delete_crawl("nobody") == 0

    def test_record_comes_back_equal(self, store: Store) -> None:
        outcome = make_outcome(links=40)
        assert store.save([outcome]) == 1
        page_id = outcome.queued.page_id
        assert store.records.get(page_id) == outcome.record
        assert store.records.get(page_id, "c1") == outcome.record
        assert store.records.get(page_id, "c2") is None
        assert list(store.records.scan()) == [outcome.record]
        assert list(store.records.scan("c2")) == []
        assert (store.records.count(), store.records.count("c2")) == (1, 0)

    def test_samples_of_a_host_are_its_smallest_page_ids(self, store: Store) -> None:
        outcomes = [make_outcome(f"/t/{n}") for n in range(9)]
        failures = [make_failure(f"/f/{n}") for n in range(5)]
        store.save([*outcomes, *failures])
        ids = sorted(outcome.queued.page_id for outcome in outcomes)
        assert [r.page_id for r in store.records.sample("c1", HOST, 4)] == ids[:4]
        assert store.records.sample("c2", HOST, 4) == []
        rows = store.urls.sample("c1", HOST, UrlState.FAILED, 3)
        assert [r.page_id for r in rows] == sorted(f.queued.page_id for f in failures)[:3]
        assert len(store.urls.sample("c1", HOST, UrlState.RECORD, 100)) == 9

    def test_url_row(self, store: Store) -> None:
        outcome = make_outcome()
        store.save([outcome])
        (row,) = store.urls.rows(outcome.queued.page_id)
        assert (row.url, row.host, row.state) == (outcome.queued.url, HOST, UrlState.RECORD)
        assert (row.depth, row.via, row.link_text) == (2, Via.LINK, "下一页")
        assert row.referrer == f"https://{HOST}/"
        assert row.discovered_at == T0 - timedelta(seconds=2)
        assert (row.finished_at, row.status, row.etag) == (T0, 200, '"a1"')
        assert row.last_modified == "Sun, 01 Mar 2026 11:00:00 GMT"
        assert row.log == outcome.log

    def test_saving_again_changes_nothing(self, store: Store) -> None:
        outcomes = [make_outcome("/t/1", keep_raw=True), make_failure("/t/2")]
        assert store.save(outcomes) == 2
        before = everything(store)
        assert store.save(outcomes) == 0
        assert store.save([outcomes[1], outcomes[0]]) == 0
        assert store.statistics.refresh() == 0
        assert everything(store) == before

    def test_newer_replaces_older_and_not_the_reverse(self, store: Store) -> None:
        old, new = make_outcome(text="旧"), make_outcome(at=later(9), text="新")
        learned = make_outcome(at=later(9), model_version=3, text="再")
        page_id = old.queued.page_id
        for outcome in (old, new, learned):
            assert store.save([outcome]) == 1
            assert store.records.get(page_id) == outcome.record
        for stale in (old, new):
            assert store.save([stale]) == 0
        assert store.records.get(page_id) == learned.record
        assert store.records.count() == 1
        assert store.urls.rows(page_id)[0].log == learned.log

    def test_same_version_with_other_content_replaces(self, store: Store) -> None:
        store.save([make_outcome(text="旧")])
        again = make_outcome(text="新")
        assert store.save([again]) == 1
        assert store.records.get(again.queued.page_id) == again.record

    def test_record_clears_the_failure_before_it(self, store: Store) -> None:
        store.save([make_failure()])
        assert [row.reason for row in store.urls.failures()] == [FailureReason.TIMEOUT]
        store.save([make_outcome(at=later(1))])
        assert not list(store.urls.failures())
        assert store.save([make_failure()]) == 0
        assert not list(store.urls.failures())

    def test_failure_after_a_record_keeps_the_record(self, store: Store) -> None:
        outcome = make_outcome()
        store.save([outcome])
        assert store.save([make_failure(at=later(1))]) == 1
        page_id = outcome.queued.page_id
        assert store.records.get(page_id) == outcome.record
        assert store.urls.rows(page_id)[0].state is UrlState.FAILED
        (row,) = store.urls.failures("c1", HOST)
        assert (row.url, row.attempts, row.finished_at) == (outcome.queued.url, 3, later(1))
        assert row.detail == "no answer in 30 s"

    def test_record_beats_a_failure_of_the_same_fetch(self, store: Store) -> None:
        outcome = make_outcome()
        store.save([outcome])
        assert store.save([make_failure(reason=FailureReason.POISON)]) == 0
        assert store.urls.rows(outcome.queued.page_id)[0].state is UrlState.RECORD

    def test_order_of_arrival_does_not_matter(self, store: Store) -> None:
        ends = [
            make_outcome(at=later(1), text="一"),
            make_failure(at=later(2)),
            make_outcome(at=later(3), text="三"),
            make_failure(at=later(4), reason=FailureReason.DNS),
        ]
        seen = []
        for order in permutations(ends):
            store.save([order[0], order[1]])
            store.save([order[2]])
            store.save([order[3]])
            seen.append(everything(store))
            store.delete_crawl("c1")
        assert all(each == seen[0] for each in seen)

    def test_excluded_is_listed_and_is_no_error(self, store: Store) -> None:
        store.save([make_failure(state=UrlState.EXCLUDED, reason=FailureReason.ROBOTS)])
        assert [row.reason for row in store.urls.failures()] == [FailureReason.ROBOTS]
        stats = some(counted(store).get(HOST))
        assert stats.pages_by_state == {"excluded": 1}
        assert stats.errors_by_reason == {}

    def test_failures_of_one_time_are_read_once_in_steps(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("crawlclean.storage.store.urls.READ_FAILURES", 2)
        store.save([make_failure(f"/{n}", at=later(n // 4)) for n in range(9)])
        store.save([make_failure("/other", at=later(1), crawl_id="c2")])
        read = [row.url for row in store.urls.failures("c1")]
        assert len(set(read)) == len(read) == 9
        times = [row.finished_at for row in store.urls.failures()]
        assert times == sorted(times, reverse=True)
        assert len(times) == 10
        assert len(list(store.urls.failures("c1", HOST, limit=3))) == 3

    def test_failures_newest_first(self, store: Store) -> None:
        store.save([make_failure(f"/{n}", at=later(n)) for n in (2, 5, 1)])
        store.save([make_failure("/9", at=later(9), crawl_id="c2")])
        assert [row.finished_at for row in store.urls.failures()] == [
            later(n) for n in (9, 5, 2, 1)
        ]
        assert [row.finished_at for row in store.urls.failures("c1", limit=2)] == [
            later(5),
            later(2),
        ]
        assert not list(store.urls.failures(host="other.example"))

    def test_records_in_the_order_saved(self, store: Store) -> None:
        paths = [f"/t/{n * 37 % 451}" for n in range(451)]
        for start in range(0, 451, 50):
            store.save([make_outcome(path, links=1) for path in paths[start : start + 50]])
        urls = [record.url for record in store.records.scan("c1")]
        assert urls == [f"https://{HOST}{path}" for path in paths]
        store.save([make_outcome(paths[0], at=later(1), links=1, text="又")])
        assert list(store.records.lines()) == [*map(CleanRecord.to_json, store.records.scan())]
        urls = [record.url for record in store.records.scan()]
        assert urls[-1] == f"https://{HOST}{paths[0]}"
        assert len(urls) == 451

    def test_a_record_that_is_saved_anew_while_all_are_read_comes_once(self, store: Store) -> None:
        paths = [f"/{n}" for n in range(450)]
        store.save([make_outcome(path) for path in paths])
        reading = store.records.scan()
        urls = [next(reading).url for _ in range(300)]
        store.save([make_outcome(path, at=later(1)) for path in (*paths[:9], *paths[-9:], "/new")])
        urls += [record.url for record in reading]
        assert sorted(urls) == sorted(f"https://{HOST}{path}" for path in (*paths, "/new"))

    def test_records_since(self, store: Store) -> None:
        before = datetime.now(UTC)
        store.save([make_outcome("/1")])
        # the next clock tick: what is saved from here on is saved at or after it
        between = datetime.now(UTC) + timedelta(microseconds=1)
        while datetime.now(UTC) < between:
            pass
        store.save([make_outcome("/2")])
        assert len(list(store.records.scan(since=before))) == 2
        assert [record.url[-2:] for record in store.records.scan("c1", since=between)] == ["/2"]
        store.save([make_outcome("/1", at=later(1)), make_outcome("/3")])
        since = [record.url[-2:] for record in store.records.scan("c1", since=between)]
        assert since == ["/2", "/3"], "/1 was fetched again, and has not changed"
        whole = list(store.records.scan("c1"))
        assert [record.url[-2:] for record in whole] == ["/1", "/2", "/3"]
        assert whole[0].fetched_at == later(1)
        store.save([make_outcome("/1", at=later(2), text="又")])
        since = [record.url[-2:] for record in store.records.scan("c1", since=between)]
        assert since == ["/2", "/3", "/1"]
        assert list(store.records.scan(since=datetime.now(UTC) + timedelta(days=1))) == []

    def test_crawls_share_nothing(self, store: Store) -> None:
        one, two = make_outcome(text="一"), make_outcome(crawl_id="c2", at=later(5), text="二")
        store.save([one, two])
        page_id = one.queued.page_id
        assert store.records.get(page_id, "c1") == one.record
        assert store.records.get(page_id) == two.record
        assert [row.crawl_id for row in store.urls.rows(page_id)] == ["c2", "c1"]
        assert store.urls.find_ids(page_id[:6].upper()) == [page_id]
        both, first = counted(store).get(HOST), counted(store).get(HOST, "c1")
        assert both is not None
        assert first is not None
        assert (both.pages_by_state, first.pages_by_state) == ({"record": 2}, {"record": 1})
        assert store.delete_crawl("c2") == 1
        assert store.records.get(page_id) == one.record

    def test_find_page_ids(self, store: Store) -> None:
        outcomes = [make_outcome(f"/{n}", links=0) for n in range(40)]
        store.save([*outcomes, make_failure("/failed")])
        ids = sorted(
            [each.queued.page_id for each in outcomes] + [make_failure("/failed").queued.page_id]
        )
        assert store.urls.find_ids("", limit=100) == ids
        assert store.urls.find_ids("") == ids[:10]
        assert store.urls.find_ids(ids[5]) == [ids[5]]
        assert store.urls.find_ids("f", limit=100) == [each for each in ids if each[0] == "f"]
        assert store.urls.find_ids("%") == []

    def test_crawl_rows(self, store: Store) -> None:
        spec = CrawlSpec(
            crawl_id="c1",
            seeds=(f"https://{HOST}/",),
            scope=Scope.DOMAIN,
            max_pages=9,
            keep_raw=KeepRaw.SAMPLE,
            delay_ms=0,
            include=("/新闻/",),
            exclude=(r"\.pdf$",),
            topic="storms",
        )
        store.crawls.put(spec, CrawlState.RUNNING)
        store.crawls.put(replace(spec, crawl_id="c0"), CrawlState.PAUSED)
        store.save([make_outcome("/1"), make_outcome("/2"), make_failure("/3")])
        store.statistics.refresh()
        first, second = store.crawls.all()
        assert (first.spec, first.state) == (spec, CrawlState.RUNNING)
        assert first.pages == {UrlState.RECORD: 2, UrlState.FAILED: 1}
        assert second.pages == {}
        store.crawls.put(replace(spec, max_pages=10), CrawlState.FINISHED)
        again = store.crawls.all()[0]
        assert (again.spec.max_pages, again.state) == (10, CrawlState.FINISHED)
        assert again.created_at == first.created_at
        assert store.delete_crawl("c1") == 2
        assert [row.spec.crawl_id for row in store.crawls.all()] == ["c0"]
        assert store.urls.find_ids("") == []
        assert not list(store.urls.failures())
        assert counted(store).all() == []

    def test_delete_host(self, store: Store) -> None:
        store.crawls.put(CrawlSpec(crawl_id="c1", seeds=()), CrawlState.RUNNING)
        store.save(
            [make_outcome("/1"), with_queued(make_outcome("/2"), host=OTHER), make_failure("/3")]
        )
        assert store.delete_host("c1", HOST) == 1
        assert [stats.host for stats in counted(store).all()] == ["other.example"]
        assert store.records.count() == 1
        assert not list(store.urls.failures())
        assert len(store.crawls.all()) == 1

    def test_raw_page(self, store: Store) -> None:
        body = "<title>页</title>\r\n".encode() * 50
        outcome = make_outcome(body=body, keep_raw=True)
        assert store.save([outcome, make_outcome("/2")]) == 2
        page = some(store.answers.page(outcome.queued.page_id))
        assert page.html == body.decode()
        assert (page.url, page.host, page.status) == (outcome.queued.url, HOST, 200)
        assert page.headers == outcome.queued.result.headers
        assert (page.fetched_at, page.depth) == (T0, 2)
        assert page.provenance == outcome.queued.provenance
        assert page.referrer == f"https://{HOST}/"
        assert store.answers.page(outcome.queued.page_id, "c2") is None
        assert store.answers.page(make_outcome("/2").queued.page_id) is None

    def test_raw_page_is_fenced(self, store: Store) -> None:
        new = make_outcome(at=later(1), body=b"new", keep_raw=True)
        store.save([new])
        assert store.save([make_outcome(body=b"old", keep_raw=True)]) == 0
        page = some(store.answers.page(new.queued.page_id))
        assert page.html == "new"
        assert store.save([make_outcome(at=later(2), body=b"newer", keep_raw=True)]) == 1
        page = some(store.answers.page(new.queued.page_id))
        assert page.html == "newer"

    def test_cleaning_again_keeps_what_only_the_fetch_knows(self, store: Store) -> None:
        store.save([with_certificate(make_outcome(body=b"x" * 500), CertificateFault.EXPIRED)])
        store.save([make_outcome(body=b"", model_version=1)])
        stats = some(counted(store).get(HOST))
        assert (stats.fetched_bytes, stats.model_version) == (500, 1)
        assert stats.certificate_faults == {"expired": 1}

    def test_wrong_certificates_are_counted_by_fault(self, store: Store) -> None:
        expired, misnamed = CertificateFault.EXPIRED, CertificateFault.WRONG_NAME
        store.save(
            [
                with_certificate(make_outcome("/1"), expired),
                with_certificate(make_failure("/2"), expired),
                with_certificate(make_outcome("/3", crawl_id="c2"), misnamed),
                make_outcome("/4"),
            ]
        )
        [of_host] = counted(store).all()
        assert of_host.certificate_faults == {"expired": 2, "wrong_name": 1}
        store.save([make_outcome("/1", at=later(1))])
        of_crawl = some(counted(store).get(HOST, "c1"))
        assert of_crawl.certificate_faults == {"expired": 1}, "the newest answer counts"

    def test_statistics(self, store: Store) -> None:
        same = replace(make_outcome("/3", at=later(3)), html_chars=30)
        record = some(same.record)
        twin = with_record(make_outcome("/4", at=later(4)), signature=record.signature)
        store.save([make_outcome("/1"), make_failure("/2", at=later(9)), same, twin])
        stats = some(counted(store).get(HOST))
        assert stats.pages_by_state == {"record": 3, "failed": 1}
        assert stats.pages_by_kind == {PageKind.THREAD: 3}
        assert stats.links_by_kind == {LinkKind.BODY: 12, LinkKind.RELATED: 6}
        assert stats.images_by_kind == {ImageKind.CONTENT: 3}
        assert stats.errors_by_reason == {"timeout": 1}
        assert stats.fetched_bytes == 3 * len(b"<p>x</p>")
        assert stats.html_chars == 8 + 30 + 8
        assert stats.body_chars == 3 * len(record.body)
        assert stats.near_duplicates == 1, "the first of them is no copy"
        assert stats.wait_ms == 2000 + 11000 + 5000 + 6000
        assert (stats.first_seen, stats.last_seen) == (T0, later(9))
        assert stats.exact
        assert counted(store).all() == [stats]
        assert store.statistics.refresh() == 0

    def test_statistics_of_what_needs_a_look(self, store: Store) -> None:
        scripts = PageWarning(kind=WarningKind.NEEDS_JAVASCRIPT)
        links = PageWarning(kind=WarningKind.BAD_LINKS, count=3)
        outcomes = [
            changed_outcome("/0", warnings=(scripts, links), body=""),
            changed_outcome("/1", warnings=(links, links)),
            changed_outcome("/2", body="", kind=PageKind.INDEX, warnings=()),
            make_failure("/away", at=later(9)),
        ]
        outcomes += [
            make_failure(f"/{status}/{n}", reason=FailureReason.HTTP_STATUS, status=status)
            for n, status in enumerate((403, 403, 404))
        ]
        store.save(outcomes)
        stats = some(counted(store).get(HOST))
        warned = {WarningKind.NEEDS_JAVASCRIPT: 1, WarningKind.BAD_LINKS: 2}
        assert stats.pages_by_warning == warned
        assert stats.empty_bodies == 1, "index pages often have none"
        assert stats.errors_by_status == {"403": 2, "404": 1}
        assert stats.errors_by_reason == {"http_status": 3, "timeout": 1}
        store.save([make_failure("/0", at=later(60))])
        stats = some(counted(store).get(HOST))
        assert stats.pages_by_warning == {WarningKind.BAD_LINKS: 1}
        assert stats.empty_bodies == 0
        assert stats.kept_records == 1
        assert stats.pages_by_state["record"] + stats.kept_records == store.records.count("c1")

    @settings(
        max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    @given(st.lists(EVENTS, min_size=25, max_size=40))
    def test_statistics_equal_a_recount(self, store: Store, events: list[Event]) -> None:
        for crawl_id in ("c1", "c2"):
            store.delete_crawl(crawl_id)
        for number, (kind, crawl_id, page, second, version) in enumerate(events):
            path, at = f"/{page}", later(second)
            if kind == "failure":
                store.save([make_failure(path, crawl_id=crawl_id, at=at)])
            elif kind == "excluded":
                store.save([make_failure(path, crawl_id=crawl_id, at=at, state=UrlState.EXCLUDED)])
            elif kind == "delete":
                store.delete_host(crawl_id, HOST)
            elif kind == "refresh":
                store.statistics.refresh()
            else:
                body = f"<p>{page * second}".encode()
                text = f"第{page % 2}版{second % 3}。"  # some pages say the same
                outcome = make_outcome(
                    path, crawl_id=crawl_id, at=at, links=page, body=body, text=text, keep_raw=True
                )
                signature = blake2b(text.encode(), digest_size=8).hexdigest()
                record = replace(some(outcome.record), signature=signature)
                store.save([replace(outcome, record=record)])
                if kind == "again":  # cleaned from the archive, with a newer model
                    result = replace(outcome.queued.result, body=b"")
                    queued = replace(outcome.queued, result=result)
                    record = replace(record, model_version=version, links=record.links[version:])
                    store.save([replace(outcome, queued=queued, record=record, keep_raw=False)])
            if number % 16 == 0 or number == len(events) - 1:
                for each in ("c1", "c2"):
                    assert counted(store).get(HOST, each) == recount(store, each, HOST)
                check_overview(store)

    def test_a_record_that_comes_after_a_newer_outcome_is_counted(self, store: Store) -> None:
        """Two workers may end two visits of a page in the other order."""
        store.save([make_failure("/1", at=later(5), state=UrlState.EXCLUDED)])
        assert counted(store).get(HOST) == recount(store, "c1", HOST)
        store.save([make_outcome("/1", at=later(3))])
        stats = counted(store).get(HOST)
        assert stats == recount(store, "c1", HOST)
        assert stats is not None
        assert (stats.kept_records, stats.pages_by_state) == (1, {"excluded": 1})

    def test_figures_are_kept_until_they_are_refreshed(self, store: Store) -> None:
        for crawl_id in ("c1", "c2"):
            store.crawls.put(CrawlSpec(crawl_id=crawl_id, seeds=()), CrawlState.RUNNING)
        store.save(
            [make_outcome("/1"), make_failure("/2"), with_queued(make_failure("/3"), host=OTHER)]
        )
        store.save([make_failure("/1", crawl_id="c2"), with_queued(make_failure("/4"), host=OTHER)])
        assert store.overview.hosts() == []
        assert store.overview.as_of() is not None
        check_overview(store)
        most, least = store.overview.hosts("failed")
        assert (most.failed, least.failed) == (2, 2)
        assert most.host > least.host, "ties by name"
        assert store.overview.hosts("failed", after=(2, most.host)) == [least]
        assert store.overview.host(HOST) == least
        assert store.overview.host("nobody.example") is None
        store.save([make_outcome("/2", at=later(5))])
        assert store.overview.host(HOST) == least, "reading recomputes nothing"
        assert store.overview.as_of() == max(most.updated_at, least.updated_at)
        check_overview(store)
        [group] = store.overview.failure_groups("c1")
        assert (group.host, group.count) == ("other.example", 2)
        [cause] = store.overview.causes("c2")
        assert (cause.urls, cause.hosts) == (1, 1)
        store.delete_host("c1", "other.example")
        check_overview(store)
        assert store.overview.causes("c1") == []
        store.delete_crawl("c2")
        check_overview(store)
        assert [row.crawls for row in store.overview.hosts()] == [1]

    def test_text_no_utf8_can_carry(self, store: Store) -> None:
        outcome = changed_outcome("/t/1", title="a\ud800b", author="\U0001f600")
        store.save([outcome])
        found = some(store.records.get(outcome.queued.page_id))
        assert (found.title, found.author) == ("a\ufffdb", "\U0001f600")
