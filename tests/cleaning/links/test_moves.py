"""Refresh headers and scripts that send a reader on."""

from __future__ import annotations

import pytest

from crawlclean import RawPage, clean
from crawlclean.cleaning.records import Via

URL = "http://a.example/dir/page"
TEXT = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。" * 4


def moved(html: str, *headers: tuple[str, str]) -> list[str]:
    record = clean(RawPage.from_bytes(URL, html.encode(), headers=headers))
    return [link.url for link in record.outlinks if link.via is Via.META_REFRESH]


@pytest.mark.parametrize(
    ("value", "targets"),
    [
        ("0; url=/x", ["http://a.example/x"]),
        ("5;URL='http://b.example/'", ["http://b.example/"]),
        ("0, x", ["http://a.example/dir/x"]),
        ("3", []),
        ("0; url=", []),
        ("0; url=page", []),  # itself
        ("0; url=javascript:x()", []),
    ],
)
def test_a_refresh_header_is_a_refresh(value: str, targets: list[str]) -> None:
    assert moved(f"<p>{TEXT}", ("refresh", value)) == targets


@pytest.mark.parametrize(
    "script",
    [
        'location = "/x"',
        "location='/x';",
        'window.location = "/x";',
        'window.location.href="/x"',
        "top.location.href = '/x'",
        "self.location='/x'",
        "document.location.href\n=\n'/x'",
        'location.replace("/x")',
        'window.location.replace ( "/x" );',
        "location.assign('/x')",
        'setTimeout(function(){location.href="/x"},0)',
        'location="\\/x"',
        'if (top != self) { top.location = "/x" }',
    ],
)
def test_a_plain_script_of_an_empty_page_moves(script: str) -> None:
    assert moved(f"<script>{script}</script>") == ["http://a.example/x"]
    assert moved(f"<p>正在跳转，请稍候…</p><script>{script}</script>") == ["http://a.example/x"]
    assert moved(f"<p>{TEXT}</p><script>{script}</script>") == []


@pytest.mark.parametrize(
    "script",
    [
        'location = "/x" + query',
        'location.href = "/x?" .concat(y)',
        "location = base",
        'if (location == "/x") go()',
        'mylocation = "/x"',
        'map.location = "/x"',
        'location.hash = "/x"',
        'locations = "/x"',
        'location.replace("/x" + n)',
        'location = "javascript:void(0)"',
        'location = "page"',
    ],
)
def test_what_a_script_makes_stays_with_the_browser(script: str) -> None:
    assert moved(f"<script>{script}</script>") == []


def test_many_beginnings_cost_little() -> None:
    assert moved("<script>" + "location = " * 5000 + "'" + " " * 5000) == []
