"""What every store must do for the frontier: keep spills, and tell how URLs ended."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crawlclean.cleaning.records import Via
from crawlclean.storage.crawl_types import CrawlSpec, CrawlState, FailureReason, PageRole, UrlState
from crawlclean.storage.store.crawls import Spill
from crawlclean.storage.store.protocol import Store
from tests.kit.outcomes import HOST, T0, later, make_failure, make_outcome, with_queued
from tests.kit.some import some


def spill(name: str, crawl_id: str = "c1", host: str = HOST) -> Spill:
    return Spill(spill_id=name, crawl_id=crawl_id, host=host, urls=3, packed=name.encode() * 9)


class FrontierContract:
    """Needs a fixture ``store`` that gives an empty store."""

    def test_spills_are_kept_by_id(self, store: Store) -> None:
        store.spills.save([])
        store.spills.save([spill("p1"), spill("p2")])
        store.spills.save([replace(spill("p1"), packed=b"other"), spill("p3", host="b.example")])
        assert sorted(store.spills.ids("c1")) == ["p1", "p2", "p3"]
        assert store.spills.ids("c2") == []
        assert store.spills.get("p1") == spill("p1")
        assert store.spills.get("p4") is None
        assert store.spills.delete(["p1", "p4"]) == 1
        assert store.spills.delete([]) == 0
        assert sorted(store.spills.ids("c1")) == ["p2", "p3"]

    def test_spills_go_with_their_host_or_crawl(self, store: Store) -> None:
        spills = [spill("p1"), spill("p2", host="b.example"), spill("p3", "c2")]
        store.spills.save([*spills, spill("p4"), spill("p5", "c2")])
        store.crawls.put(CrawlSpec(crawl_id="c1", seeds=()), CrawlState.RUNNING)
        assert store.spills.forget("c1", "b.example") == 1
        assert sorted(store.spills.ids("c1")) == ["p1", "p4"]
        store.delete_host("c1", HOST)
        assert store.spills.ids("c1") == []
        assert store.spills.forget("c1") == 0
        store.delete_crawl("c2")
        assert store.spills.ids("c2") == []

    def test_ended_urls(self, store: Store) -> None:
        sitemap = make_failure("/map", reason=FailureReason.CONNECT)
        sitemap = with_queued(sitemap, role=PageRole.SITEMAP)
        other = with_queued(make_failure("/o"), host="o.example")
        robots = make_failure("/r", state=UrlState.EXCLUDED, reason=FailureReason.ROBOTS)
        records = [make_outcome(f"/{n}", links=0) for n in range(3)]
        store.save([*records, sitemap, other, robots, make_failure("/x", crawl_id="c2")])
        found = {row.url: row for row in store.urls.ended("c1")}
        assert list(found) == [row.url for row in sorted(found.values(), key=lambda r: r.page_id)]
        assert {url.rpartition("/")[2]: (row.state, row.reason) for url, row in found.items()} == {
            **{str(n): (UrlState.RECORD, None) for n in range(3)},
            "map": (UrlState.FAILED, FailureReason.CONNECT),
            "o": (UrlState.FAILED, FailureReason.TIMEOUT),
            "r": (UrlState.EXCLUDED, FailureReason.ROBOTS),
        }
        row = found[sitemap.queued.url]
        assert (row.role, row.depth, row.via, row.host) == (PageRole.SITEMAP, 2, Via.LINK, HOST)
        assert (row.referrer, row.link_text) == (f"https://{HOST}/", "下一页")
        assert row.discovered_at == sitemap.queued.provenance.discovered_at
        assert found[records[0].queued.url].status == 200
        failed = [row.url.rpartition("/")[2] for row in store.urls.ended("c1", failed=True)]
        assert sorted(failed) == ["map", "o", "r"]
        assert [row.url for row in store.urls.ended("c1", "o.example")] == [other.queued.url]
        assert list(store.urls.ended("nobody")) == []

    def test_many_ended_urls(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("crawlclean.storage.store.urls.READ_ENDS", 10)
        store.save([make_failure(f"/{n}") for n in range(40)])
        found = [row.page_id for row in store.urls.ended("c1")]
        assert (len(found), found) == (40, sorted(set(found)))

    def test_linked_pages(self, store: Store) -> None:
        outcomes = [make_outcome(f"/{n}", links=n % 5) for n in range(230)]
        store.save(outcomes)
        failed = make_failure("/7", at=later(5))
        store.save([failed, make_failure("/no"), make_outcome("/c2", crawl_id="c2")])
        assert list(store.records.linked("c1")) == [
            (each.queued.url, 2, each.record.outlinks) for each in outcomes if each.record
        ]
        newer = make_outcome("/0", at=later(9), text="又")
        store.save([newer])
        url, _, outlinks = list(store.records.linked("c1"))[-1]
        assert (url, outlinks) == (newer.queued.url, some(newer.record).outlinks)
        assert later(9) > T0
