"""What every store must do with lists of failures in parts; see ``store_contract.py``."""

from __future__ import annotations

from crawlclean.storage.crawl_types import FailureReason, UrlState
from crawlclean.storage.store.overview import TEXT_CHARS, FailureGroup
from crawlclean.storage.store.protocol import Store
from crawlclean.storage.store.rows import to_microseconds
from crawlclean.storage.store.urls import MOST_CRAWLS
from tests.kit.outcomes import HOST, later, make_failure, make_outcome, page_id_of
from tests.kit.some import some

TIMEOUTS = ("c1", HOST, FailureReason.TIMEOUT, 0)


def fail(store: Store) -> None:
    """Three timeouts and a page of poison in one crawl, a timeout in another."""
    store.save([make_failure(f"/f/{n}", at=later(n)) for n in range(3)])
    store.save([make_failure("/p", reason=FailureReason.POISON)])
    store.save([make_failure("/f/0", crawl_id="c2")])
    excluded = make_failure("/x", reason=FailureReason.ROBOTS, state=UrlState.EXCLUDED)
    store.save([excluded])
    store.statistics.refresh()


class FailuresContract:
    """Needs a fixture ``store`` that gives an empty store."""

    def test_groups_come_in_parts_the_largest_first(self, store: Store) -> None:
        fail(store)
        every = store.overview.failure_groups()
        assert [each.count for each in every] == [3, 1, 1]
        found: list[FailureGroup] = []
        while True:
            after = found[-1].place if found else None
            part = store.overview.failure_groups(limit=1, after=after)
            if not part:
                break
            found += part
        assert found == every
        (first, second) = store.overview.failure_groups("c1", HOST)
        assert [first.count, second.count] == [3, 1]
        assert store.overview.failure_groups("c1", HOST, after=first.place) == [second]

    def test_groups_of_one_size_and_sample_come_once_each(self, store: Store) -> None:
        for crawl in ("c1", "c2", "c3"):
            store.save([make_failure("/f/0", crawl_id=crawl)])
        store.statistics.refresh()
        found: list[FailureGroup] = []
        while part := store.overview.failure_groups(
            limit=1, after=found[-1].place if found else None
        ):
            found += part
        assert [each.crawl_id for each in found] == ["c3", "c2", "c1"]
        assert len({each.sample for each in found}) == 1

    def test_groups_of_one_reason(self, store: Store) -> None:
        fail(store)
        groups = store.overview.failure_groups
        assert [each.crawl_id for each in groups(reason=FailureReason.TIMEOUT)] == ["c1", "c2"]
        assert groups("c2", reason=FailureReason.POISON) == []
        assert [each.count for each in groups("c1", HOST, reason=FailureReason.POISON)] == [1]

    def test_urls_of_a_group_come_in_parts_newest_first(self, store: Store) -> None:
        fail(store)
        every = store.urls.failures_of(*TIMEOUTS)
        assert [each.url.rpartition("/")[2] for each in every] == ["2", "1", "0"]
        first = store.urls.failures_of(*TIMEOUTS, limit=2)
        assert first == every[:2]
        place = (to_microseconds(first[-1].finished_at), first[-1].page_id)
        for are_few in (True, False):
            assert store.urls.failures_of(*TIMEOUTS, limit=2, are_few=are_few) == first
            assert store.urls.failures_of(*TIMEOUTS, place, are_few=are_few) == every[2:]
        none = store.urls.failures_of("c1", HOST, FailureReason.ROBOTS, 0)
        assert none == [], "URLs that are left out have not failed"

    def test_rows_of_some_crawls_are_those_of_all(self, store: Store) -> None:
        fail(store)
        page = page_id_of(f"https://{HOST}/f/0")
        every = store.urls.rows(page)
        assert {row.crawl_id for row in every} == {"c1", "c2"}
        assert store.urls.rows(page, ["c2", "c1", "none"]) == every
        assert store.urls.rows(page, ["c1"]) == [row for row in every if row.crawl_id == "c1"]
        many = [f"none{n}" for n in range(MOST_CRAWLS)]
        assert store.urls.rows(page, [*many, "c2"]) == [r for r in every if r.crawl_id == "c2"]

    def test_every_figure_is_told_at_once(self, store: Store) -> None:
        fail(store)
        groups = some(store.overview.every_failure_group(3))
        largest = sorted(groups, key=lambda each: each.place, reverse=True)
        assert largest == store.overview.failure_groups()
        assert store.overview.every_failure_group(2) is None
        assert store.overview.every_host(1) == store.overview.hosts()
        assert store.overview.every_host(0) is None

    def test_the_newest_pages_are_read_with_what_they_repeat(self, store: Store) -> None:
        store.save(
            [make_outcome(f"/t/{n}", at=later(n), text=f"第{n}段正文很长。") for n in range(3)]
        )
        store.save([make_outcome("/t/0", crawl_id="c2", at=later(9))])
        store.statistics.refresh()
        pages = store.overview.recent_pages(later(1), 10)
        assert [(each.crawl_id, each.url[-4:]) for each in pages] == [
            ("c2", "/t/0"), ("c1", "/t/2"), ("c1", "/t/1"),
        ]  # fmt: skip
        assert all(each.has_text or each.body_chars < TEXT_CHARS for each in pages)
        assert len(store.overview.recent_pages(later(0), 2)) == 2
        assert store.overview.newest_page("c1") == later(2)
        assert store.overview.newest_page("none") is None
        assert set(store.overview.rows_of([HOST, "none.example"])) == {HOST}
        keys = [(page_id_of(f"https://{HOST}/t/0"), crawl) for crawl in ("c1", "c2", "c3")]
        assert {row.crawl_id for row in store.urls.ends(keys)} == {"c1", "c2"}
