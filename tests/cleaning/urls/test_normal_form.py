from __future__ import annotations

import re
from urllib.parse import urljoin

import pytest
from hypothesis import example, given, strategies as st

from crawlclean.cleaning.errors import InvalidUrl
from crawlclean.cleaning.urls import normal_form as urls
from crawlclean.cleaning.urls.normal_form import domain_of, host_of, normalize, page_id, resolve

BASE = "http://www.example.com/d/e/f.html?z=1"


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("HTTP://WWW.Example.COM", "http://www.example.com/"),
        ("http://example.com:80/", "http://example.com/"),
        ("https://example.com:443/", "https://example.com/"),
        ("https://example.com:80/", "https://example.com:80/"),
        ("http://example.com:/a", "http://example.com/a"),
        ("  http://example.com/a\n", "http://example.com/a"),
        ("http://exam\nple.com/a\tb", "http://example.com/ab"),
        ("http:\\\\example.com\\a\\b", "http://example.com/a/b"),
        ("http:example.com", "http://example.com/"),
        ("http://example.com/a/./b/../c", "http://example.com/a/c"),
        ("http://example.com/a/%2e%2E/c/..", "http://example.com/"),
        ("http://example.com/../../a", "http://example.com/a"),
        ("http://example.com/a//b", "http://example.com/a//b"),
        ("http://example.com/%7euser/%e4%b8%ad", "http://example.com/~user/%E4%B8%AD"),
        ("http://example.com/中 文", "http://example.com/%E4%B8%AD%20%E6%96%87"),
        ("http://example.com/a?b=1&a=中 文", "http://example.com/a?b=1&a=%E4%B8%AD%20%E6%96%87"),
        ("http://example.com/100%", "http://example.com/100%25"),
        ("http://example.com/%%341", "http://example.com/%2541"),
        ("http://example.com/a%2Fb", "http://example.com/a%2Fb"),
        ("http://example.com/?", "http://example.com/?"),
        ("http://example.com/a#b?c", "http://example.com/a"),
        ("http://user:secret@example.com/", "http://example.com/"),
        ("http://example.com./", "http://example.com/"),
        ("http://例子.测试/", "http://xn--fsqu00a.xn--0zwm56d/"),
        ("http://ｅｘａｍｐｌｅ。com/", "http://example.com/"),
        ("http://[2001:DB8:0::1]:8080/", "http://[2001:db8::1]:8080/"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/"),
        ("http://a_b.example.com/", "http://a_b.example.com/"),
        ("http://localhost", "http://localhost/"),
    ],
)
def test_normal_forms(url: str, normal: str) -> None:
    assert normalize(url) == normal
    assert normalize(normal) == normal


@pytest.mark.parametrize(
    "url",
    [
        "", "example.com", "/a", "ftp://example.com/", "javascript:void(0)", "http://", "http:///",
        "http://a..b/", "http://exa mple.com/", "http://a:99999/", "http://a:x/", "http://[::g]/",
        "http://" + "a" * 64 + ".com/", "http://a%2fb/", "mailto:a@example.com", "http://<a>/",
        "http://a:²/", "http://a:" + "9" * 5000 + "/",
    ],
)  # fmt: skip
def test_no_addresses(url: str) -> None:
    with pytest.raises(InvalidUrl):
        normalize(url)


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("g.html", "http://www.example.com/d/e/g.html"),
        ("./g.html", "http://www.example.com/d/e/g.html"),
        ("../g.html#top", "http://www.example.com/d/g.html"),
        ("/g/", "http://www.example.com/g/"),
        ("//other.example/x", "http://other.example/x"),
        ("\\\\other.example\\x", "http://other.example/x"),
        ("http:/g/6", "http://www.example.com/g/6"),
        ("HTTP:\\g", "http://www.example.com/g"),
        ("http:\\/other.example/x", "http://other.example/x"),
        ("https:/other.example/x", "https://other.example/x"),
        ("?q=1", "http://www.example.com/d/e/f.html?q=1"),
        ("#x", "http://www.example.com/d/e/f.html?z=1"),
        ("", "http://www.example.com/d/e/f.html?z=1"),
        ("a b/中.html", "http://www.example.com/d/e/a%20b/%E4%B8%AD.html"),
        ("http:g.html", "http://www.example.com/d/e/g.html"),
        ("https:g.example", "https://g.example/"),
        ("HTTPS://G.example/#a", "https://g.example/"),
        (" \n/g\n.html ", "http://www.example.com/g.html"),
        ("javascript:history.back()", None),
        ("JavaScript :x", "http://www.example.com/d/e/JavaScript%20:x"),
        ("mailto:a@example.com", None),
        ("tel:110", None),
        ("http://", None),
        ("http://a b/", None),
    ],
)
def test_hrefs(href: str, url: str | None) -> None:
    assert resolve(BASE, href) == url


def test_queries_are_escaped_in_the_charset_of_the_page() -> None:
    assert resolve(BASE, "/中?q=中", "gb18030") == "http://www.example.com/%E4%B8%AD?q=%D6%D0"
    assert resolve(BASE, "/?q=中", "big5hkscs") == "http://www.example.com/?q=%A4%A4"
    assert resolve(BASE, "/?q=中", "utf-16-le") == "http://www.example.com/?q=%E4%B8%AD"
    assert resolve(BASE, "/?q=中", "cp1252") == "http://www.example.com/?q=%26%2320013%3B"
    assert resolve(BASE, "/?q=中", "no-such-charset") == "http://www.example.com/?q=%E4%B8%AD"


def test_a_bad_base_is_an_error() -> None:
    with pytest.raises(InvalidUrl):
        resolve("about:blank", "a.html")
    with pytest.raises(InvalidUrl):
        resolve("about:blank", "a b.html")


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://WWW.Example.com/", "www.example.com"),
        ("http://example.com:8080/a", "example.com:8080"),
        ("https://example.com:443/a", "example.com"),
        ("http://[::1]:80/", "[::1]"),
        ("http://a@127.0.0.1:8000/", "127.0.0.1:8000"),
    ],
)
def test_hosts(url: str, host: str) -> None:
    assert host_of(url) == host


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("news.example.com.cn", "example.com.cn"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("www.example.com", "example.com"),
        ("example.com", "example.com"),
        ("com.cn", "com.cn"),
        ("localhost", "localhost"),
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1:8000", "127.0.0.1:8000"),
        ("www.example.com:8080", "www.example.com:8080"),
        ("[::1]", "[::1]"),
        ("shop.site.test", "site.test"),
        ("xn--fiq.example.xn--fiqs8s", "example.xn--fiqs8s"),
    ],
)
def test_domains(host: str, domain: str) -> None:
    assert domain_of(host) == domain
    assert domain_of(host, of_tenant=False) == domain


@pytest.mark.parametrize(
    ("host", "domain", "hoster"),
    [
        ("tea.github.io", "tea.github.io", "github.io"),
        ("www.tea.github.io", "tea.github.io", "github.io"),
        ("tea.blogspot.com", "tea.blogspot.com", "blogspot.com"),
        ("www.tea.uk.com", "tea.uk.com", "uk.com"),
        ("github.io", "github.io", "github.io"),
    ],
)
def test_names_that_hosters_give_away_are_domains(host: str, domain: str, hoster: str) -> None:
    assert domain_of(host) == domain
    assert domain_of(host, of_tenant=False) == hoster


def test_page_id_is_that_of_the_normal_form() -> None:
    first = page_id("http://example.com")
    assert re.fullmatch("[0-9a-f]{32}", first)
    assert first == page_id("HTTP://EXAMPLE.com:80/#x")
    assert first != page_id("http://example.com/a")


ADDRESS = st.text(
    alphabet=st.sampled_from("abAB01%2e4F./\\:@?#&=[]-_ \t\n中é。\ud800'\"<>^`{}|~+xn"), max_size=30
)


@given(st.one_of(st.text(max_size=40), ADDRESS).map(lambda text: "http://e.com/" + text))
@example("http://e.com/%%341")
@example("http://e.com/%2E%2E/..%2f")
def test_normalize_is_idempotent(url: str) -> None:
    normal = normalize(url)
    assert normalize(normal) == normal
    assert normal.isascii()
    assert resolve(BASE, normal) == normal


@given(st.one_of(st.text(max_size=40), ADDRESS, ADDRESS.map(lambda text: "http://" + text)))
def test_nothing_but_invalid_url_is_raised(url: str) -> None:
    try:
        normal = normalize(url)
    except InvalidUrl:
        normal = ""
    if normal:
        assert normalize(normal) == normal
        assert host_of(url) == normal.split("/")[2]
    target = resolve(BASE, url, "gb18030")
    assert target is None or normalize(target) == target


@given(st.one_of(ADDRESS, ADDRESS.map("//e.com".__add__), ADDRESS.map("http://e.com".__add__)))
def test_the_fast_path_gives_what_the_slow_path_gives(href: str) -> None:
    try:
        slow = urls._resolve_slowly(urls._split(BASE, "utf-8"), urls._tidy(href), "utf-8")
    except InvalidUrl:
        slow = None
    assert resolve(BASE, href) == slow


@given(st.from_regex(r"\A(?:https?://[a-z]{1,3}(\.[a-z0-9-]{1,3}){0,3}/)[a-z./?%2A-F]{0,9}\Z"))
def test_the_fast_path_keeps_nothing_that_is_not_normal(url: str) -> None:
    try:
        slow = urls._join(urls._split(urls._tidy(url), "utf-8"))
    except InvalidUrl:
        slow = None
    if urls._NORMAL.fullmatch(url):
        assert slow == url


@given(st.from_regex(r"\A[a-z/.]{1,12}(\?[a-z=&]{1,5})?\Z").filter(lambda h: "//" not in h))
def test_plain_hrefs_agree_with_the_standard_library(href: str) -> None:
    expected = urljoin("http://www.example.com/d/e/f.html", href)
    assert resolve("http://www.example.com/d/e/f.html", href) == normalize(expected)
