"""Pending URLs and the seen set inside the server: nothing changes or is lost, both are small."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from crawlclean.cleaning.records import Via
from crawlclean.cleaning.urls.normal_form import host_of, page_id
from crawlclean.storage.crawl_types import Discovery, PageRole, QueuedPage
from crawlclean.storage.queue.entries import (
    fingerprint,
    pack_features,
    pending_pattern,
    read_pending,
    unpack_features,
)
from crawlclean.storage.queue.frontier import Frontier
from tests.kit.queues import A, Spider, begin, claim_all, spec, urls


def discovered_page(
    found: Discovery, frontier: Frontier, spider: Spider, client: Any
) -> QueuedPage:
    """What a worker hears of a URL that was offered."""
    begin(frontier, [found])
    for lease in spider.pages():
        assert lease.url == found.url
        spider.put(lease)
    ((page,),) = claim_all(frontier, client).values()
    return page


@pytest.mark.parametrize(
    ("url", "referrer"),
    [
        ("http://a.example/2026/1.html", "http://a.example/2026/list.html"),
        ("https://a.example/2026/1.html", "http://a.example/2026/1.html"),
        ("https://a.example:8443/?q=1&p=%E9", "https://a.example:8443/"),
        ("http://a.example/9", "http://a.example/"),
        ("http://a.example/", "http://a.example/123:4"),  # digits and a colon where it parts
        ("http://a.example/1", "http://b.example/2"),
        ("http://a.example/1", "http://a.example/1"),
        ("http://a.example/1", None),
        ("http://[::1]:81/1", "http://[::1]:81/2"),
        ("http://a.example", A),  # not in normal form, as are the next
        ("HTTP://A.example/x", "HTTP://A.example/y"),
        ("http://a.example/页", "http://a.example/頁"),  # their bytes part within a character
    ],
)
def test_where_a_url_was_found(
    url: str, referrer: str | None, frontier: Frontier, spider: Spider, client: Any
) -> None:
    found = Discovery(url=url, referrer=referrer, depth=12, hops=3, via=Via.META_REFRESH)
    page = discovered_page(found, frontier, spider, client)
    assert (page.url, page.page_id, page.host) == (url, page_id(url), host_of(url))
    assert (page.depth, page.hops) == (12, 3)
    assert page.provenance.referrer == referrer
    assert page.provenance.via is Via.META_REFRESH


@pytest.mark.parametrize("via", Via)
def test_every_way_of_finding(via: Via, frontier: Frontier, spider: Spider, client: Any) -> None:
    found = Discovery(url=A, via=via, role=PageRole.SITEMAP)
    page = discovered_page(found, frontier, spider, client)
    assert (page.provenance.via, page.role) == (via, PageRole.SITEMAP)


@pytest.mark.parametrize("text", ["", "下一页", "a\tb\n\x00c", "1:2\t3:x", "长" * 80])
def test_link_text(text: str, frontier: Frontier, spider: Spider, client: Any) -> None:
    found = Discovery(url=A, referrer=A, text=text)
    assert discovered_page(found, frontier, spider, client).provenance.link_text == text


@pytest.mark.parametrize("features", [(), (0,), (4095, 0, 63, 64), tuple(range(0, 4096, 256))])
def test_features_of_a_link(
    features: tuple[int, ...], frontier: Frontier, spider: Spider, client: Any
) -> None:
    found = Discovery(url=A + "=A_ x", text="=AA s/", features=features, rank=998, via=Via.LINK)
    begin(frontier, [found])
    ((entry, score),) = frontier._client.zrange("cc:q:c:a.example", 0, -1, withscores=True)
    assert read_pending("a.example", int(score), entry) == found
    (lease,) = spider.pages()
    spider.nack(lease)
    (lease,) = spider.pages()
    spider.put(lease)
    ((page,),) = claim_all(frontier, client).values()
    assert (page.features, page.provenance.link_text) == (features, found.text)


def test_features_that_are_none() -> None:
    for features in ((4096,), (-1,), tuple(range(17))):
        with pytest.raises(ValueError, match="features"):
            pack_features(features)
    with pytest.raises(ValueError, match="no features"):
        unpack_features(b"AA!A")


def test_tabs_are_no_part_of_a_url(frontier: Frontier, spider: Spider, client: Any) -> None:
    begin(frontier, [Discovery(url="http://a.example/x\ty", referrer=A + "\t", text="t")])
    (lease,) = spider.pages()
    assert (lease.url, lease.page_id) == ("http://a.example/xy", page_id("http://a.example/xy"))
    spider.put(lease)
    ((page,),) = claim_all(frontier, client).values()
    assert (page.provenance.referrer, page.provenance.link_text) == (A, "t")


def test_sitemaps_of_robots_txt_are_offered_whole(
    frontier: Frontier, spider: Spider, client: Any
) -> None:
    frontier.open_crawl(spec("c", A, slots=2))
    (robots,) = spider.lease()
    site = Discovery(
        url="http://b.example/sitemap.xml",
        role=PageRole.SITEMAP,
        via=Via.SITEMAP,
        referrer=robots.url,
        text="页",
    )
    assert spider.put_robots(robots, sitemaps=(site,))
    for lease in spider.pages():
        spider.put(lease)
    for lease in spider.pages():
        spider.put(lease)
    spider.flush()
    pages = {p.url: p for job in claim_all(frontier, client).values() for p in job}
    page = pages[site.url]
    assert (page.role, page.page_id) == (PageRole.SITEMAP, page_id(site.url))
    assert (page.provenance.referrer, page.provenance.link_text) == (robots.url, "页")


def test_pending_url_is_found_by_its_bytes(frontier: Frontier) -> None:
    """A page id's bytes may be what the server's patterns give a meaning."""
    special = set(b"*?[]\\")
    marked = [d for d in urls(2000) if special & set(bytes.fromhex(page_id(d.url)))][:40]
    assert {b for d in marked for b in bytes.fromhex(page_id(d.url)) if b in special} == special
    begin(frontier, marked[::2])
    for i, discovery in enumerate(marked):
        found = frontier.trace("c", page_id(discovery.url), "a.example")
        assert (found is not None) == (i % 2 == 0)
        if found:
            assert found[0] == "pending"
            assert [step.step for step in found[1]] == ["discovered"]
            assert found[1][0].at.year >= 2024
    assert pending_pattern("2a3f" + "00" * 14)[:4] == b"\\*\\?"


def test_no_url_is_lost_or_seen_twice_while_the_seen_set_grows(
    frontier: Frontier, client: Any
) -> None:
    frontier.open_crawl(spec("c"))
    offered = urls(20_000)
    for start in range(0, len(offered), 1000):
        assert frontier.add("c", offered[start : start + 1000]) == 1000
        assert frontier.add("c", offered[start // 2 : start // 2 + 300]) == 0
    assert frontier.add("c", offered) == 0
    keys = list(client.scan_iter("cc:seen:c:*"))
    assert len(keys) == len(offered) // 160
    assert sum(client.scard(key) for key in keys) == len(offered)
    assert {client.object("encoding", key) for key in keys} == {"intset"}
    assert all(frontier.has_seen("c", page_id(d.url)) for d in offered[::97])
    assert not any(frontier.has_seen("c", page_id(d.url)) for d in urls(20_500)[20_000:])
    frontier.purge("c")
    assert list(client.scan_iter("cc:seen:*")) == []


def test_fingerprints_of_few_digits(frontier: Frontier, client: Any) -> None:
    """A bucket is chosen by the last digits, and a small number has few of them."""
    begin(frontier, urls(1000))
    few = ["0" * 16, f"{7:016x}", "f" * 16, f"{2**64 - 12345:016x}"]
    assert [fingerprint(pid) for pid in few] == ["0", "7", "-1", "-12345"]
    for round_ in range(2):
        for pid in few:
            assert frontier.has_seen("c", pid) == (round_ == 1)
        args: list[str | int | bytes] = []
        for pid in few:
            args += [A, fingerprint(pid), pid + "0" * 16, "page", 50, b"seed 0 0 h/\t:\t"]
        added = frontier._scripts("add", "c", *args)
        assert added == (b"1" if round_ == 0 else b"0") * len(few)
    frontier.add("c", [replace(d, url=d.url + "-") for d in urls(3000)])
    assert all(frontier.has_seen("c", pid) for pid in few)
    assert int(client.hget("cc:c:c", "seen_buckets")) == -(-4004 // 160)


def test_pending_and_seen_urls_are_small(frontier: Frontier, client: Any) -> None:
    frontier.open_crawl(spec("c"))
    folder = "http://www.a.example/news/2026/11/20/"
    frontier.add(
        "c",
        [
            Discovery(
                url=f"{folder}{i:018d}.html",
                referrer="http://www.a.example/news/list_2.html",
                text="城市新闻联播今日要点回顾",
                via=Via.LINK,
                depth=3,
            )
            for i in range(4000)
        ],
    )
    pending = client.memory_usage("cc:q:c:www.a.example", samples=0)
    seen = sum(client.memory_usage(key, samples=0) for key in client.scan_iter("cc:seen:c:*"))
    assert len(f"{folder}{0:018d}.html") == 60
    assert pending / 4000 < 250
    assert seen / 4000 < 20
