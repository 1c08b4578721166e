"""What a page says to robots."""

from __future__ import annotations

import pytest

from crawlclean import RawPage
from crawlclean.cleaning.document.document import page_robots, read_document

URL = "http://a.example/"
BOTH, NEITHER = (True, True), (False, False)
NOINDEX, NOFOLLOW = (True, False), (False, True)


def said(html: str, *headers: str) -> tuple[bool, bool]:
    tags = tuple(("X-Robots-Tag", value) for value in headers)
    robots = page_robots(
        read_document(RawPage.from_bytes(URL, html.encode(), headers=tags)), "ourbot"
    )
    return robots.is_noindex, robots.is_nofollow


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<meta name=robots content=noindex>", NOINDEX),
        ("<META CONTENT='NOFOLLOW' NAME='ROBOTS'>", NOFOLLOW),
        ('<meta name="robots" content="noindex,nofollow">', BOTH),
        ('<meta name="robots" content=" index ; nofollow ">', NOFOLLOW),
        ('<meta name="robots" content="none">', BOTH),
        ('<meta name="robots" content="all">', NEITHER),
        ('<meta name="robots" content="noarchive, max-snippet:-1">', NEITHER),
        ('<meta name="googlebot" content="noindex">', NEITHER),
        ('<meta name="OurBot" content="noindex">', NOINDEX),
        ("<meta name=robots content=index><meta name=robots content=nofollow>", NOFOLLOW),
        ("<meta name=keywords content=noindex><p>noindex, nofollow", NEITHER),
        ("<p>x", NEITHER),
    ],
)
def test_metas(html: str, expected: tuple[bool, bool]) -> None:
    assert said(html) == expected


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (("noindex",), NOINDEX),
        (("NoIndex, NoFollow",), BOTH),
        (("index", "nofollow"), NOFOLLOW),
        (("none",), BOTH),
        (("googlebot: noindex",), NEITHER),
        (("ourbot: noindex, nofollow",), BOTH),
        (("otherbot: noindex", "nofollow"), NOFOLLOW),
        (("unavailable_after: 25 Jun 2010 15:00:00 PST",), NEITHER),
        (("max-snippet: 9, noindex",), NOINDEX),
        ((), NEITHER),
    ],
)
def test_headers(headers: tuple[str, ...], expected: tuple[bool, bool]) -> None:
    assert said("<p>x", *headers) == expected
