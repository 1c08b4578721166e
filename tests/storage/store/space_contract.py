"""What every store must do with space and with dropping responses; see ``store_contract.py``."""

from __future__ import annotations

from dataclasses import replace

from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, Outcome
from crawlclean.storage.store.overview import SpaceKind
from crawlclean.storage.store.protocol import Store
from tests.kit.outcomes import changed_outcome, make_outcome


def kept(path: str, crawl_id: str = "c1") -> Outcome:
    return replace(make_outcome(path, crawl_id=crawl_id), keep_raw=True)


class SpaceContract:
    """Needs a fixture ``store`` that gives an empty store."""

    def test_space_of_crawls_by_kind(self, store: Store) -> None:
        assert store.space() == []
        for crawl in ("c1", "c2"):
            store.crawls.put(CrawlSpec(crawl_id=crawl, seeds=()), CrawlState.FINISHED)
        store.save([kept("/1"), kept("/2"), make_outcome("/3")])
        store.save([kept("/1", "c2")])
        found = {(each.crawl_id, each.kind): each for each in store.space()}
        items = {key: each.items for key, each in found.items()}
        assert items == {
            ("c1", SpaceKind.RAW): 2,
            ("c1", SpaceKind.RECORDS): 3,
            ("c2", SpaceKind.RAW): 1,
            ("c2", SpaceKind.RECORDS): 1,
        }
        assert all(each.stored_bytes > 0 and not each.is_estimate for each in found.values())

    def test_a_host_is_sampled(self, store: Store) -> None:
        assert store.sample_host("nobody.example") == (0, 0, 0)
        store.save([kept("/1"), kept("/2"), make_outcome("/3"), kept("/1", "c2")])
        host = kept("/1").queued.host
        responses, response_bytes, record_bytes = store.sample_host(host)
        assert responses == 3
        assert response_bytes > 0 < record_bytes
        store.drop_raw("c1")
        assert store.sample_host(host)[0] == 1

    def test_dropping_responses_leaves_records(self, store: Store) -> None:
        pages = [kept(f"/{n}") for n in range(3)]
        other = kept("/0", "c2")
        store.save([*pages, other])
        page_id = pages[0].queued.page_id
        assert store.answers.body(page_id, "c1") is not None
        assert store.drop_raw("c1", "nobody.example") == 0
        assert store.drop_raw("c1") == 3
        assert store.drop_raw("c1") == 0
        assert store.answers.body(page_id, "c1") is None
        assert store.answers.body(page_id, "c2") is not None
        assert store.records.get(page_id) is not None
        assert store.save([kept("/9")]) == 1, "new responses are archived as before"
        assert store.drop_raw("c1", pages[0].queued.host) == 1

    def test_space_that_a_drop_would_free(self, store: Store) -> None:
        store.save([kept("/1"), kept("/2"), kept("/1", "c2")])
        host = make_outcome("/1").queued.host
        responses, stored_bytes, _ = store.raw_space("c1")
        assert responses == 2
        assert stored_bytes > 0
        assert store.raw_space(None, host)[0] == 3
        assert store.raw_space("c3")[0] == 0
        assert [store.drop_raw("c1", limit=1) for _ in range(3)] == [1, 1, 0]
        assert store.drop_raw(None, host) == 1

    def test_pages_without_a_body(self, store: Store) -> None:
        bodies = {"/full": "字" * 30, "/empty": "", "/short": "字" * 29, "/login": "Please log in"}
        outcomes = [changed_outcome(path, body=body) for path, body in bodies.items()]
        store.save(outcomes)
        ids = [each.queued.page_id for each in outcomes]
        assert store.records.without_body("c1", [*ids, "0" * 32]) == set(ids[1:])
