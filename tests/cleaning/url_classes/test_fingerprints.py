"""Pages that say the same, and pages that only look like it."""

from __future__ import annotations

import pytest

from crawlclean import RawPage, clean
from crawlclean.cleaning.url_classes.stopping import Fingerprints, content_fingerprints
from tests.kit.web import html

TEXT = "这一段正文有十五个以上的汉字，因此按照超链接规则它属于网页的正文部分。" * 2


def said(source: str, url: str = "http://a.example/x") -> Fingerprints:
    return content_fingerprints(clean(RawPage.from_bytes(url, source.encode(), "text/html")))


def test_the_same_page_at_two_addresses_says_the_same() -> None:
    page = html("题", TEXT, links={"/a": "甲"})
    assert said(page) == said(page, "http://a.example/print/x?y=1")
    assert said(page).bare is None


def test_how_often_a_page_was_read_is_no_news() -> None:
    assert said(html("题", TEXT + " 阅读 17 次")) == said(html("题", TEXT + " 阅读 180 次"))


def test_title_links_and_images_are_news() -> None:
    page = html("题", TEXT, links={"/a": "甲"})
    picture = page.replace(
        "<ul>", f'<p>{TEXT}<img src="/1.jpg" width="600" height="400">{TEXT}</p><ul>'
    )
    for other in (
        html("题1", TEXT, links={"/a": "甲"}),
        html("题", TEXT, links={"/a": "乙"}),
        html("题", TEXT, TEXT, links={"/a": "甲"}),
        picture,
        picture.replace("/1.jpg", "/2.jpg"),
    ):
        assert said(other).text != said(page).text
    assert said(picture).text != said(picture.replace("/1.jpg", "/2.jpg")).text


def test_a_link_that_is_not_to_be_followed_is_no_news() -> None:
    page = html("题", TEXT, links={"/a": "甲", "/b": "乙", "/c": "丙"})
    reply = page.replace("</ul>", '<li><a rel="nofollow" href="/x?reply=1">取消</a></li></ul>')
    assert said(page) == said(reply)


def test_a_thin_page_is_what_is_left_without_numbers_and_its_own_address() -> None:
    first, sixth = html("第1期", links={"/c/1": "甲"}), html("第6期", links={"/c/6": "甲"})
    assert said(first).text != said(sixth).text
    assert said(first).bare == said(sixth).bare is not None
    missing = [html("404", f"找不到 /x/{name}。") for name in ("plum", "pear")]
    plum, pear = (
        said(m, f"http://a.example/x/{n}") for m, n in zip(missing, ("plum", "pear"), strict=True)
    )
    assert plum.bare == pear.bare is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("May 2024", "December 2025"),
        ("Friday, 3 May 2024", "Monday, 24 June 2024"),
        ("2024-05-03", "1999-12-31"),
        ("3.5.2024", "12/24/2030"),
        ("2024年5月3日 星期五", "2025年12月24日 星期三"),
        ("Mai 2024", "Dezember 2024"),
    ],
)
def test_dates_are_no_news_unless_the_page_has_figures(one: str, other: str) -> None:
    def calendar(date: str, text: str, link: str) -> int:
        return said(html(date, text, links={"/a": "甲", "/b": link})).text

    assert calendar(one, TEXT, "7") == calendar(other, TEXT, "8")
    assert calendar(one, TEXT, "7") != calendar(other + " 乙", TEXT, "7")
    prices = TEXT + "、".join(f"{n}.50 元" for n in range(40, 50))
    assert calendar(one, prices, "7") != calendar(other, prices, "7")


def test_a_page_cannot_make_it_slow() -> None:
    said(html("2024" * 50_000, "1 " * 100_000, links={"/x": "三" * 100_000}))
    said(html("题", "a" * 200_000, links={f"/{n}": "b" * 5_000 for n in range(20)}))
