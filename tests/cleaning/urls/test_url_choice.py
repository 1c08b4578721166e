"""Which URLs the include and exclude patterns of a crawl leave."""

from __future__ import annotations

import pytest

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.urls.url_choice import MAX_PATTERNS, UrlChoice

NEWS = "http://a.example/%E6%96%B0%E9%97%BB/1.html"


def test_exclude_wins_and_one_include_pattern_must_match() -> None:
    choice = UrlChoice(["/新闻/", r"\.pdf$"], [r"[?&]print=", "/新闻/旧"])
    assert choice.reason(NEWS) == ""
    assert choice.reason("http://a.example/x.pdf") == ""
    assert choice.reason(f"{NEWS}?print=1") == r"excluded by --exclude [?&]print="
    assert choice.reason("http://a.example/b") == r"no --include matches it: /新闻/ \.pdf$"
    assert not UrlChoice()
    assert UrlChoice().reason(NEWS) == ""
    assert UrlChoice(exclude=["/tag/"]).reason(NEWS) == "", "without include, all others"


def test_case_counts_unless_the_pattern_says_otherwise() -> None:
    assert UrlChoice(["/NEWS/"]).reason("http://a.example/news/1")
    assert UrlChoice(["(?i)/NEWS/"]).reason("http://a.example/news/1") == ""


def test_a_wrong_pattern_is_named() -> None:
    with pytest.raises(ConfigError, match=r"exclude is '/a\(': missing .* at position 3"):
        UrlChoice(["/a"], ["/a("])
    with pytest.raises(ConfigError, match="include is empty"):
        UrlChoice([""])
    with pytest.raises(ConfigError, match=f"at most {MAX_PATTERNS}"):
        UrlChoice([f"/{n}/" for n in range(MAX_PATTERNS + 1)])
