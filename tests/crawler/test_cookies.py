"""Which cookies a request gets, and what an answer makes of the jar."""

from __future__ import annotations

import time

import pytest
from scrapy.http import Response

from crawlclean.crawler.transfer.requests import MOST_COOKIE_BYTES, cookie_header, cookies_after
from crawlclean.storage.crawl_types import Lease, StoredCookie
from tests.kit.queues import make_lease

NOW_S = int(time.time())
SID = StoredCookie(name="sid", value="3f9a")


def lease(url: str = "http://www.a.example/", *cookies: StoredCookie) -> Lease:
    return make_lease(url, cookies=cookies)


def after(*lines: str, kept: tuple[StoredCookie, ...] = ()) -> dict[str, str]:
    url = "http://www.a.example/dir/page"
    response = Response(url, headers={"Set-Cookie": [line.encode("latin-1") for line in lines]})
    return {each.name: each.value for each in cookies_after(lease(url, *kept), response)}


@pytest.mark.parametrize(
    ("cookie", "url", "is_sent"),
    [
        (SID, "http://www.a.example/x", True),
        (SID, "http://a.example/x", False),  # a redirect of robots.txt leads there
        (SID, "http://www.a.example:8080/x", False),
        (StoredCookie(name="sid", value="3f9a", path="/dir"), "http://www.a.example/x", False),
        (StoredCookie(name="sid", value="3f9a", path="/x"), "http://www.a.example/x/y", True),
        (StoredCookie(name="sid", value="3f9a", is_secure=True), "http://www.a.example/x", False),
        (StoredCookie(name="sid", value="3f9a", is_secure=True), "https://www.a.example/x", True),
        (StoredCookie(name="sid", value="3f9a", expires_s=1), "http://www.a.example/x", False),
        (
            StoredCookie(name="sid", value="3f9a", expires_s=NOW_S + 3600),
            "http://www.a.example/x",
            True,
        ),
    ],
)
def test_a_cookie_goes_where_it_belongs(cookie: StoredCookie, url: str, is_sent: bool) -> None:
    header = cookie_header(lease("http://www.a.example/", cookie), url)
    assert header == ({"Cookie": b"sid=3f9a"} if is_sent else {})


@pytest.mark.parametrize("host", ["localhost", "127.24.0.1:24001", "[::1]", "a-b.example:8080"])
def test_hosts_of_any_form_get_their_cookies_back(host: str) -> None:
    url = f"http://{host}/"
    response = Response(url, headers={"Set-Cookie": "a=1"})
    assert cookie_header(lease(url, *cookies_after(lease(url), response)), url) == {
        "Cookie": b"a=1"
    }


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("a=1", {"a": "1"}),
        ("a=1; Path=/; HttpOnly; SameSite=Lax; Priority=High", {"a": "1"}),
        ('a={"b": "c, d"}; path=/', {"a": '{"b": "c, d"}'}),
        ("a=caf\xe9", {"a": "caf\xe9"}),
        ("a=1; Domain=www.a.example", {"a": "1"}),
        ("a=1; DOMAIN = .a.example", {"a": "1"}),
        ("a=1; domain=", {"a": "1"}),
        ("a=1; Domain=b.example", {}),
        ("a=1; Domain=aa.example", {}),
        ("a=1; Domain=x.www.a.example", {}),
        ("a=1; Max-Age=60", {"a": "1"}),
        ("a=1; Max-Age=0", {}),
        ("a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", {}),
        ("a=" + "x" * MOST_COOKIE_BYTES, {}),
        ("", {}),
    ],
)
def test_what_is_kept_of_an_answer(line: str, kept: dict[str, str]) -> None:
    assert after(line) == kept


def test_cookies_are_replaced_and_deleted() -> None:
    known = (SID, StoredCookie(name="b", value="1"))
    assert after("sid=new; path=/; Domain=a.example", kept=known) == {"sid": "new", "b": "1"}
    assert after("sid=; path=/; Max-Age=0; Domain=.a.example", kept=known) == {"b": "1"}
    assert after(kept=known) == {"sid": "3f9a", "b": "1"}
