"""robots.txt: what an answer means, and what its rules say."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from crawlclean.cleaning.records import Via
from crawlclean.crawler.robots import (
    CACHED_HOSTS,
    FORBID_ALL,
    LONGEST_CRAWL_DELAY_MS,
    MAX_SITEMAPS,
    RobotsRules,
    product_token,
    read_robots,
)
from crawlclean.storage.crawl_types import PageRole
from crawlclean.storage.queue.fetch_queue import ROBOTS_TTL_MS, RobotsVerdict

URL = "http://a.example/robots.txt"
AGENT = "crawlclean/0.1.0 (+https://example.com/bot)"


def read(text: str | bytes, status: int = 200) -> RobotsVerdict:
    return read_robots(URL, status, text if isinstance(text, bytes) else text.encode(), AGENT)


def allows(rules: str, path: str) -> bool:
    cache = RobotsRules(AGENT)
    cache.learn("a.example", 1, rules)
    return cache.allow("a.example", 1, f"http://a.example{path}")


@pytest.mark.parametrize(
    ("status", "forbids"),
    [
        (200, True),
        (206, True),
        (301, False),  # a chain of redirects that never ended
        (400, False),
        (401, False),
        (403, False),
        (404, False),
        (410, False),
        (429, False),
    ],
)
def test_what_an_answer_means(status: int, forbids: bool) -> None:
    verdict = read(FORBID_ALL, status)
    assert allows(verdict.rules, "/x") is not forbids
    assert verdict.ttl_ms == ROBOTS_TTL_MS


@pytest.mark.parametrize(
    ("delay", "ms"),
    [
        ("2", 2_000),
        ("0.5", 500),
        ("0", 0),
        ("-3", 0),
        ("abc", 0),
        ("", 0),
        ("nan", 0),
        ("inf", 0),
        ("1e400", 0),
        ("1e308", LONGEST_CRAWL_DELAY_MS),
        ("86400", LONGEST_CRAWL_DELAY_MS),
    ],
)
def test_crawl_delay(delay: str, ms: int) -> None:
    assert read(f"User-agent: *\nCrawl-delay: {delay}\n").crawl_delay_ms == ms


def test_a_group_of_our_name_wins_and_the_contact_is_no_name() -> None:
    rules = (
        "User-agent: *\nDisallow: /\n\nUser-agent: CrawlClean\nDisallow: /own\nCrawl-delay: 7\n"
        "\nUser-agent: bot\nDisallow: /free\nCrawl-delay: 9\n"
    )
    assert allows(rules, "/free")
    assert not allows(rules, "/own")
    assert read(rules).crawl_delay_ms == 7_000
    assert product_token(AGENT) == "crawlclean"
    assert product_token("crawlclean (+https://example.com/bot)") == "crawlclean"


@pytest.mark.parametrize(
    ("rules", "path", "allowed"),
    [
        ("", "/x", True),
        ("User-agent: *\nDisallow:\n", "/x", True),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b\n", "/a/b/c", True),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b\n", "/a/c", False),
        ("User-agent: *\nDisallow: /*.php$\n", "/x.php", False),
        ("User-agent: *\nDisallow: /*.php$\n", "/x.php?a=1", True),
        ("User-agent: *\nDisallow: /文\n", "/%E6%96%87", False),
        ("\ufeffUser-agent: *\nDisallow: /a\n", "/a", False),
        ("User-agent: *\r\nDisallow: /a\r\n", "/a", False),
        ("User-agent: *\rDisallow: /a\r", "/a", False),
        ("<html><body>404</body></html>", "/x", True),
        ("User-agent: x\nDisallow: /\n", "/a", True),
    ],
)
def test_rules(rules: str, path: str, allowed: bool) -> None:
    assert allows(read(rules).rules, path) is allowed


def test_a_refusal_says_whose_rules_it_is() -> None:
    rules = RobotsRules(AGENT)
    rules.learn("a.example", 1, "User-agent: *\nDisallow: /a\n")
    rules.learn("a.example", 2, FORBID_ALL)
    assert rules.refusal("a.example", 1, "http://a.example/a") == "robots.txt forbids it"
    assert rules.refusal("a.example", 1, "http://a.example/b") == ""
    assert rules.refusal("a.example", 2, "http://a.example/b") == "robots.txt cannot be had"
    assert rules.refusal("a.example", 3, "http://a.example/a") == ""


def test_other_codings_than_utf_8_do_not_hide_rules() -> None:
    text = "# 注释\nUser-agent: *\nDisallow: /a\n"
    assert not allows(read(text.encode("gb18030")).rules, "/a")


def test_sitemaps() -> None:
    lines = [
        "Sitemap: /map.xml",
        "sitemap: http://a.example/map.xml",
        "Sitemap: https://cdn.example/other.xml.gz",
        "Sitemap: map2.xml",
        "Sitemap: ftp://a.example/no.xml",
        "Sitemap: http://[broken/",
        "Sitemap:",
    ]
    found = read("\n".join(lines)).sitemaps
    assert [s.url for s in found] == [
        "http://a.example/map.xml",
        "https://cdn.example/other.xml.gz",
        "http://a.example/map2.xml",
    ]
    assert {(s.role, s.via, s.referrer) for s in found} == {(PageRole.SITEMAP, Via.SITEMAP, URL)}
    many = read("\n".join(f"Sitemap: /{i}.xml" for i in range(1000))).sitemaps
    assert len(many) == MAX_SITEMAPS


def test_a_huge_file_is_read_up_to_its_last_whole_line() -> None:
    line = "Disallow: /%06d/%s\n"
    body = "User-agent: *\n" + "".join(line % (i, "x" * 80) for i in range(6300))
    assert len(body) > 600 << 10
    rules = read(body).rules
    assert len(rules) <= 512 << 10
    assert rules.endswith("x\n")
    assert body.startswith(rules)
    assert not allows(rules, "/000001/" + "x" * 80)
    assert allows(rules, "/free")
    assert read("x" * (600 << 10)).rules == ""


def test_the_cache_keeps_the_hosts_used_last() -> None:
    rules = RobotsRules(AGENT)
    for i in range(CACHED_HOSTS):
        rules.learn(f"h{i}", 0, FORBID_ALL)
    assert not rules.allow("h0", 0, "http://h0/")
    rules.learn("new", 0, "")
    assert rules.known("h0", 0)
    assert not rules.known("h1", 0)
    assert rules.known("new", 0)
    assert not rules.known("new", 1)
    assert rules.allow("h1", 0, "http://h1/"), "unknown rules forbid nothing"


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_no_file_breaks_the_reader(body: bytes) -> None:
    lines = b"User-agent: *\nCrawl-delay: " + body + b"\nSitemap: " + body + b"\nDisallow: " + body
    for text in (body, lines):
        verdict = read(text)
        assert 0 <= verdict.crawl_delay_ms <= LONGEST_CRAWL_DELAY_MS
        assert allows(verdict.rules, "/x") in (True, False)
