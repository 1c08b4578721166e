"""What every store must do with visits: schedules, unchanged pages, older versions.

Subclass ``RevisitsContract`` beside a fixture named ``store``.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from crawlclean.cleaning.errors import NotFound
from crawlclean.cleaning.records import CleanRecord, LinkKind, Outlink, PageKind, Via
from crawlclean.cleaning.revisits import HostTrust, VisitClass, VisitKind
from crawlclean.cleaning.urls.normal_form import page_id as page_id_of
from crawlclean.storage.crawl_types import Failure, FailureReason, Outcome, UrlState
from crawlclean.storage.store.hosts import read_trust
from crawlclean.storage.store.ports import Scan
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.visits import MOST_VERSIONS, difference
from tests.kit.outcomes import (
    HOST,
    T0,
    make_failure,
    make_outcome,
    make_queued,
    with_queued,
    with_record,
)
from tests.kit.some import some

THREADS = VisitClass(VisitKind.THREAD, "/t/*")
DAY = timedelta(days=1)


def visited(path: str, at: datetime, text: str = "正文。", **more: object) -> Outcome:
    made = make_outcome(path, at=at, text=text, **more)  # type: ignore[arg-type]
    return replace(made, visit=THREADS)


def not_modified(path: str, at: datetime) -> Outcome:
    queued = make_queued(path, at=at, body=b"", status=304)
    return Outcome(queued=queued, state=UrlState.RECORD, unchanged=True, visit=THREADS)


def missed(path: str, at: datetime, state: UrlState = UrlState.RECORD) -> Outcome:
    """A visit whose host gave no answer about the page."""
    headers = (("ETag", '"of the error"'),)
    queued = make_queued(path, at=at, body=b"", status=503)
    queued = replace(queued, result=replace(queued.result, headers=headers))
    failure = Failure(reason=FailureReason.HTTP_STATUS, detail="status 503")
    return Outcome(queued=queued, state=state, unchanged=True, failure=failure, visit=THREADS)


def gone(path: str, at: datetime, status: int = 404) -> Outcome:
    made = make_failure(path, at=at, reason=FailureReason.HTTP_STATUS, status=status)
    return replace(made, visit=THREADS)


def page_id(outcome: Outcome) -> str:
    return outcome.queued.page_id


def record(store: Store, outcome: Outcome) -> CleanRecord:
    return some(store.records.get(page_id(outcome), "c1"))


def sums(store: Store, crawl: str = "c1") -> list[tuple[int, int, int]]:
    """(visits, changed, not modified) of each URL class of a crawl."""
    columns = ("visits", "changed", "not_modified")
    rows = store._ports.tables.scan(Scan("visit_classes", columns, {"crawl_id": crawl}))
    return [(row[0], row[1], row[2]) for row in rows]


def trust_of(store: Store) -> HostTrust:
    return read_trust(store._ports.tables, [(HOST, "c1")])[HOST, "c1"]


def a_list(path: str, at: datetime, *targets: str) -> Outcome:
    outlinks = tuple(
        Outlink(url=f"https://{HOST}{each}", via=Via.LINK, kind=LinkKind.BODY) for each in targets
    )
    made = make_outcome(path, at=at)
    made = with_record(made, kind=PageKind.INDEX, outlinks=outlinks, body="", posts=())
    return replace(made, visit=VisitClass(VisitKind.LIST, "/"))


class RevisitsContract:
    """Needs a fixture ``store`` that gives an empty store."""

    def test_a_crawl_that_does_not_keep_fresh_has_no_schedule(self, store: Store) -> None:
        store.save([make_outcome("/t/1"), make_failure("/t/2")])
        assert store.revisits.due("c1", T0 + 999 * DAY) == []
        assert store.revisits.next_due("c1") is None
        assert store.revisits.schedule(page_id(make_outcome("/t/1")), "c1") is None

    def test_a_missed_visit_leaves_the_page_and_comes_later(self, store: Store) -> None:
        first = visited("/t/1", T0)
        store.save([first])
        before = store.urls.rows(page_id(first))
        at = T0 + 2 * DAY
        assert store.save([missed("/t/1", at)]) == 1
        assert store.urls.rows(page_id(first)) == before
        assert list(store.urls.failures("c1")) == []
        assert record(store, first).fetched_at == T0
        known = some(store.revisits.schedule(page_id(first), "c1"))
        assert known[0] is not None
        assert known[0] > at
        assert (known[1].failures, known[1].visits) == (1, 0)
        store.save([gone("/t/1", at + DAY)])
        assert store.save([missed("/t/1", at + 2 * DAY, UrlState.FAILED)]) == 1
        (row,) = store.urls.rows(page_id(first))
        assert (row.state, row.status) == (UrlState.FAILED, 404)
        next_due = some(store.revisits.next_due("c1"))
        assert next_due > at + 2 * DAY  # else it would be due for ever

    def test_a_page_is_due_after_its_interval_and_until_its_visit_is_saved(
        self, store: Store
    ) -> None:
        first = visited("/t/1", T0)
        store.save([first])
        assert store.revisits.due("c1", T0 + DAY - timedelta(seconds=1)) == []
        (due,) = store.revisits.due("c1", T0 + DAY)
        assert due == store.revisits.due("c1", T0 + DAY + DAY)[0]
        assert (due.url, due.host) == (first.queued.url, HOST)
        assert (due.etag, due.last_modified) == ('"a1"', "Sun, 01 Mar 2026 11:00:00 GMT")
        assert store.revisits.next_due("c1") == T0 + DAY
        assert store.revisits.due("c2", T0 + DAY) == []
        assert store.save([not_modified("/t/1", T0 + DAY)]) == 1
        assert store.revisits.due("c1", T0 + 2 * DAY - timedelta(seconds=1)) == []

    def test_an_unchanged_visit_keeps_record_and_row(self, store: Store) -> None:
        first = visited("/t/1", T0)
        store.save([first])
        before = store.urls.rows(page_id(first))
        same = visited("/t/1", T0 + DAY)
        for outcome in (not_modified("/t/1", T0 + 2 * DAY), same):
            store.save([outcome])
        assert store.urls.rows(page_id(first)) == before
        assert record(store, first) == first.record
        assert len(store.versions.history(page_id(first), "c1")) == 1
        # the store is not older than a queue that has the visit
        times = store.urls.response_times("c1", [page_id(first)])
        assert times[page_id(first)] == int((T0 + 2 * DAY).timestamp() * 1000)
        assert sums(store) == [(1, 0, 1)]

    def test_a_visit_that_is_saved_again_or_late_changes_nothing(self, store: Store) -> None:
        visits = [visited("/t/1", T0), not_modified("/t/1", T0 + DAY)]
        visits.append(visited("/t/1", T0 + 2 * DAY, "另外的正文。"))
        for outcome in visits:
            assert store.save([outcome]) == 1
        found = store.revisits.schedule(page_id(visits[0]), "c1")
        assert sums(store) == [(2, 1, 1)]
        for outcome in visits:
            store.save([outcome])
        store.save([not_modified("/t/1", T0 + 1.5 * DAY), gone("/t/1", T0 + 1.5 * DAY)])
        assert store.revisits.schedule(page_id(visits[0]), "c1") == found
        assert sums(store) == [(2, 1, 1)]

    def test_pages_that_change_are_visited_sooner(self, store: Store) -> None:
        for number in range(8):
            at = T0 + number * DAY
            store.save([visited("/t/busy", at, f"第{'一二三四五六七八'[number]}次。")])
            store.save([visited("/t/calm", at)])
        (busy, _), (calm, _) = (
            store.revisits.schedule(page_id(make_outcome(path)), "c1") or (None, None)
            for path in ("/t/busy", "/t/calm")
        )
        assert busy is not None
        assert calm is not None
        assert busy + timedelta(hours=6) < calm
        (first, *_) = store.revisits.due("c1", T0 + 99 * DAY)
        assert first.url.endswith("/t/busy")

    def test_dead_pages_are_visited_twice_more(self, store: Store) -> None:
        page = visited("/t/1", T0)
        store.save([page])
        store.save([gone("/t/1", T0 + DAY)])
        assert store.revisits.next_due("c1") == T0 + 2 * DAY
        store.save([gone("/t/1", T0 + 2 * DAY, 410)])
        assert store.revisits.next_due("c1") == T0 + 32 * DAY
        store.save([gone("/t/1", T0 + 32 * DAY)])
        assert store.revisits.next_due("c1") is None
        assert record(store, page) == page.record
        store.save([visited("/t/1", T0 + 40 * DAY)])  # retried, and it lives again
        (row,) = store.urls.rows(page_id(page))
        assert row.state is UrlState.RECORD
        assert store.revisits.next_due("c1") is not None

    def test_some_visits_have_no_condition(self, store: Store) -> None:
        """Every second until the host's ETags are proven, then every eighth."""
        conditions = []
        store.save([visited("/t/1", T0)])
        for number in range(1, 13):
            at = T0 + number * 60 * DAY
            (due,) = store.revisits.due("c1", at)
            conditions.append(due.etag != "")
            store.save([not_modified("/t/1", at)])
            if number == 4:
                others = [visited(f"/t/{n}", at, crawl_id="c1") for n in range(10, 60)]
                store.save(others)
                store.save([visited(f"/t/{n}", at + DAY) for n in range(10, 60)])
                for n in range(10, 60):
                    store.save([gone(f"/t/{n}", at + (2 + m) * DAY) for m in range(3)])
        assert conditions == [True, False] * 2 + [True] * 3 + [False] + [True] * 4

    def test_due_urls_of_many_hosts_are_bounded(self, store: Store) -> None:
        outcomes = []
        for host in ("a.example", "b.example", "c.example"):
            for number in range(5):
                outcomes.append(with_queued(visited(f"/{host}/{number}", T0), host=host))
        store.save(outcomes)
        found = store.revisits.due("c1", T0 + 2 * DAY, per_host=2)
        assert sorted(each.host for each in found) == [f"{name}.example" for name in "aabbcc"]
        assert len(store.revisits.due("c1", T0 + 2 * DAY, per_host=2, limit=3)) == 3
        rest = store.revisits.due("c1", T0 + 2 * DAY, without={"a.example", "b.example"})
        assert {each.host for each in rest} == {"c.example"}

    def test_a_list_changes_by_an_address_that_the_crawl_has_not_visited(
        self, store: Store
    ) -> None:
        store.save([make_outcome("/t/1"), make_outcome("/t/2")])
        first = a_list("/", T0, "/t/1")
        store.save([first])
        store.save([a_list("/", T0 + DAY, "/t/2", "/t/1")])  # /t/2 moved here from another list
        assert record(store, first) == first.record
        store.save([a_list("/", T0 + 2 * DAY, "/t/3", "/t/2", "/t/1")])
        assert len(record(store, first).outlinks) == 3
        assert [changed for _, changed, _ in sums(store)] == [1]

    def test_versions_come_back(self, store: Store) -> None:
        made = [
            visited("/t/1", T0 + n * DAY, f"共有的一行。\n第{'零一二三四五'[n]}行。\n")
            for n in range(6)
        ]
        for outcome in made:
            store.save([outcome])
        history = store.versions.history(page_id(made[0]), "c1")
        assert [at for at, _, _ in history] == [T0 + n * DAY for n in range(5, -1, -1)]
        assert history[0][1] > 0
        assert history[-1][1:] == (0, 0)
        for outcome in made:
            old = store.versions.restore(page_id(outcome), "c1", outcome.queued.fetched_at)
            kept = (old.title, old.author, old.published_at, old.body, old.posts, old.outlinks)
            new = some(outcome.record)
            assert kept == (
                new.title, new.author, new.published_at, new.body, new.posts, new.outlinks,
            )  # fmt: skip
        first, last = (store.versions.restore(page_id(made[0]), "c1", T0 + n * DAY) for n in (0, 5))
        lines = difference(first, last)
        assert "-第零行。" in lines
        assert "+第五行。" in lines
        with pytest.raises(NotFound):
            store.versions.restore(page_id(made[0]), "c1", T0 + timedelta(hours=1))

    def test_versions_survive_a_new_model(self, store: Store) -> None:
        old = visited("/t/1", T0, "旧的。")
        store.save([old])
        store.save([visited("/t/1", T0 + DAY, "新的。")])
        again = make_outcome("/t/1", at=T0 + DAY, text="新的,另外读过。", model_version=3, body=b"")
        store.save([again])
        assert record(store, old) == again.record
        assert len(store.versions.history(page_id(old), "c1")) == 2
        assert store.versions.restore(page_id(old), "c1", T0).body == some(old.record).body
        assert store.revisits.schedule(page_id(old), "c1") is not None

    def test_versions_are_thinned(self, store: Store) -> None:
        texts = [f"字{chr(0x4E00 + n)}。" for n in range(MOST_VERSIONS + 3)]
        for number, text in enumerate(texts):
            store.save([visited("/t/1", T0 + number * DAY, text, links=2)])
        page = page_id(make_outcome("/t/1"))
        history = store.versions.history(page, "c1")
        assert MOST_VERSIONS // 2 <= len(history) <= MOST_VERSIONS
        assert history[-1][0] == T0
        for at, _, _ in history:
            number = (at - T0).days
            assert store.versions.restore(page, "c1", at).body == texts[number] * 20

    def test_begin_schedules_what_a_crawl_had_before(self, store: Store) -> None:
        store.save([make_outcome(f"/t/{n}") for n in range(3)] + [make_failure("/t/9")])
        assert store.revisits.begin("c1") == ""
        assert store.revisits.next_due("c1") == T0 + DAY
        assert len(store.revisits.due("c1", T0 + DAY)) == 3
        store.save([not_modified("/t/1", T0 + DAY)])
        assert store.revisits.begin("c1") == ""
        assert len(store.revisits.due("c1", T0 + DAY)) == 2

    def test_true_dates_of_a_sitemap_hurry_and_skip_visits(self, store: Store) -> None:
        pages = [f"/t/{n}" for n in range(30)]
        url_of = {path: make_outcome(path).queued.url for path in pages}
        ids = {page_id(make_outcome(path)): path for path in pages}
        assert all(each == page_id_of(url_of[path]) for each, path in ids.items())
        dates: dict[str, str | None] = {
            url_of[path]: f"2026-02-{n % 27 + 1:02}T01:00:00Z" for n, path in enumerate(pages)
        }
        store.save([visited(path, T0) for path in pages])
        store.revisits.announce("c1", HOST, dates, T0)
        at = T0 + DAY
        for path in pages[:6]:
            dates[url_of[path]] = "2026-03-02T11:00:00Z"
        store.revisits.announce("c1", HOST, dates, at)
        trust = trust_of(store)
        assert (trust.hurried, trust.skipped, trust.liar_until) == (0, 0, 0)  # nothing proven yet
        store.save(
            [visited(path, at, "新的。" if n < 6 else "正文。") for n, path in enumerate(pages)]
        )
        trust = trust_of(store)
        assert (trust.moved_changed, trust.still_same, trust.still_changed) == (6, 24, 0)
        dates[url_of[pages[29]]] = "2026-03-02T20:00:00Z"
        later = at + 0.5 * DAY  # the six are due within half a day after it, the others later
        store.revisits.announce("c1", HOST, dates, later)
        trust = trust_of(store)
        assert (trust.hurried, trust.skipped) == (1, 6)
        assert [each.url for each in store.revisits.due("c1", later)] == [url_of[pages[29]]]
        # four intervals after its last visit a page is visited whatever its date is
        assert len(store.revisits.due("c1", at + 4 * 6 * DAY)) == 30

    def test_true_dates_of_a_feed_hurry_visits_and_put_none_off(self, store: Store) -> None:
        pages = [f"/t/{n}" for n in range(12)]
        urls = [make_outcome(path).queued.url for path in pages]
        before = [f"Mon, {n + 2:02} Feb 2026 01:00:00 GMT" for n in range(12)]
        dates: dict[str, str | None] = dict(zip(urls, before, strict=True))
        store.save([visited(path, T0) for path in pages])
        store.revisits.announce("c1", HOST, dates, T0, is_feed=True)
        at = T0 + DAY
        for url in urls[:6]:
            dates[url] = "Mon, 02 Mar 2026 12:00:00 +0100"
        store.revisits.announce("c1", HOST, dates, at, is_feed=True)
        feeds = some(trust_of(store).feeds)
        assert feeds.hurried == 0, "nothing proven yet"
        store.save(
            [visited(path, at, "新的。" if n < 6 else "正文。") for n, path in enumerate(pages)]
        )
        trust = trust_of(store)
        assert trust.feeds is not None
        assert (trust.feeds.moved_changed, trust.feeds.still_same) == (6, 6)
        assert (trust.moved_changed, trust.still_same, trust.sample) == (0, 0, {})
        later = at + 0.5 * DAY
        dates[urls[11]] = "Mon, 02 Mar 2026 20:00:00 GMT"
        store.revisits.announce("c1", HOST, dates, later, is_feed=True)
        feeds = some(trust_of(store).feeds)
        assert (feeds.hurried, feeds.skipped) == (1, 0)
        assert [each.url for each in store.revisits.due("c1", later)] == urls[11:]

    def test_dates_that_are_made_for_the_sitemap_are_lies(self, store: Store) -> None:
        dates: dict[str, str | None] = {f"https://{HOST}/t/{n}": "2026-03-01" for n in range(20)}
        store.revisits.announce("c1", HOST, dates, T0)
        assert trust_of(store).liar_until > T0.timestamp()

    def test_a_host_with_false_etags_is_asked_without_conditions(self, store: Store) -> None:
        store.save([visited("/t/1", T0), visited("/t/2", T0)])
        store.save([visited("/t/1", T0 + DAY, "其他的。")])  # under the same ETag
        assert {each.etag for each in store.revisits.due("c1", T0 + 20 * DAY)} == {""}
        assert {each.etag for each in store.revisits.due("c1", T0 + 40 * DAY)} == {'"a1"', ""}

    @pytest.mark.parametrize("body", [b"<p>other</p>", b"<p>equal</p>"])
    def test_other_bytes_of_equal_length_under_an_equal_etag_are_noticed(
        self, store: Store, body: bytes
    ) -> None:
        first = visited("/t/1", T0, "旧文。", body=b"<p>equal</p>")
        store.save([first])
        store.save([visited("/t/1", T0 + DAY, "新文。", body=body, model_version=3)])
        is_other = body != b"<p>equal</p>"
        assert record(store, first).body.startswith("新文。") is is_other
        assert bool(trust_of(store).unconditional_until) is is_other

    def test_purging_deletes_schedules_and_versions(self, store: Store) -> None:
        for crawl in ("c1", "c2"):
            for n, text in enumerate(("一", "二", "三")):
                store.save([visited("/t/1", T0 + n * DAY, text, crawl_id=crawl)])
        page = page_id(make_outcome("/t/1"))
        store.delete_crawl("c1")
        store.delete_host("c2", HOST)
        for crawl in ("c1", "c2"):
            assert store.versions.history(page, crawl) == []
            assert sums(store, crawl) == []
        store.save([visited("/t/1", T0 + 9 * DAY, "四")])
        assert len(store.versions.history(page, "c1")) == 1
