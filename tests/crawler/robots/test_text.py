"""What is left of a robots.txt says the same to us, and is small whatever was in it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, strategies as st
from protego import Protego

from crawlclean.crawler.robots import MAX_PATTERNS, read_robots, rules_for

NAME = "crawlclean"
LINES = st.sampled_from(
    [
        "User-agent: *", "User-agent: crawlclean", "user agent crawlclean", "USERAGENT:Crawl*",
        "User-agent: other", "User-agent:", "User-agent: clean", "Disallow: /a", "Disallow: /b*c$",
        "Allow: /a/b", "dissallow /b", "Disallow:", "Crawl-delay: 3", "Sitemap: http://a.example/s",
        "sitemap http://a.example/t", "# note", "", "nonsense", "no: directive", "Host: a.example",
        "  Disallow: /c # why", "User-agent: crawlcleaner",
    ]
)  # fmt: skip
PATHS = ("/", "/a", "/a/b", "/b/c", "/bc", "/c", "/d?x=1")


@given(st.lists(LINES, max_size=14))
def test_the_answers_stay_the_same(lines: list[str]) -> None:
    whole, ours = Protego.parse("\n".join(lines)), Protego.parse(rules_for("\n".join(lines), NAME))
    for path in PATHS:
        url = f"http://a.example{path}"
        assert whole.can_fetch(url, NAME) == ours.can_fetch(url, NAME), path
    assert whole.crawl_delay(NAME) == ours.crawl_delay(NAME)
    assert list(whole.sitemaps) == list(ours.sitemaps)


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"User-agent: a{i}\n" for i in range(17_000)) + "Disallow: /\n" * 20_000,
        "User-agent: *\n" + "".join(f"User-agent: crawl{'*' * i}\n" for i in range(700))
        + "Disallow: /x\n" * 15_000,
        "User-agent: *\n" + "".join(f"Disallow: /*a*{i}\n" for i in range(25_000)),
        "User-agent: *\nDisallow: /" + "*a" * 250_000,
        "\n" * 500_000,
        ":" * 500_000,
        " " * 500_000,
        "user agent " * 45_000,
    ],
    ids=["names", "stars", "patterns", "one-pattern", "lines", "colons", "blanks", "words"],
)  # fmt: skip
def test_no_robots_txt_takes_long(text: str) -> None:
    begun = time.process_time()
    ours = rules_for(text, NAME)
    parsed = Protego.parse(ours)
    for _ in range(20):
        parsed.can_fetch("http://a.example/" + "a" * 2000, NAME)
    assert time.process_time() - begun < 2
    assert sum("*a*" in line for line in ours.splitlines()) <= MAX_PATTERNS


@pytest.mark.parametrize(
    ("codec", "declared"),
    [
        ("utf-16", ""),
        ("utf-16", "text/plain; charset=utf-8"),
        ("utf-16-le", "text/plain; charset=UTF-16LE"),
        ("utf-16-be", "text/plain; charset=utf-16"),
        ("utf-16-le", "text/plain; charset=utf-16"),
        ("utf-8", "text/plain; charset=utf-16"),
        ("utf-8-sig", ""),
    ],
)
def test_the_charset_of_rules(codec: str, declared: str) -> None:
    body = "User-agent: *\nDisallow: /secret\n".encode(codec)
    headers = (("Content-Type", declared),)
    verdict = read_robots("http://a.example/robots.txt", 200, body, "crawlclean/1", headers)
    assert verdict.rules == "User-agent: *\nDisallow: /secret\n"
