"""Links by the element, the named part or the heading around them."""

from __future__ import annotations

from crawlclean import LinkKind, LinkReason, RawPage, clean
from tests.cleaning.links.test_links import BODY, TITLES, URL, kinds, record, titles


def test_short_links_in_a_part_of_advertising_are_that() -> None:
    names = "".join(f"<p><a href=//shop{i}.store.net/{i}>小店</a></p>" for i in range(4))
    assert kinds(record(f"<div class='right-ad'>{names}</div>")) == [LinkKind.AD] * 4
    own = "".join(f"<p><a href=/shop/{i}>小店</a></p>" for i in range(4))
    assert kinds(record(f"<div class='right-ad'>{own}</div>")) == [LinkKind.AD] * 4


def test_a_part_around_the_body_is_no_advertising() -> None:
    own = "".join(f"<p><a href=/shop/{i}>小店</a></p>" for i in range(4))
    html = f"<title>公园</title><div class=page-ad><div>{BODY}</div>{own}</div>"
    assert kinds(clean(RawPage.from_bytes(URL, html.encode()))) == [LinkKind.NAVIGATION] * 4


def test_short_links_of_an_element_beside_the_page_lead_around() -> None:
    names = "".join(f"<p><a href=/{i}>短题</a></p>" for i in range(2))
    page = record(f"<aside>{names}{titles()}</aside>")
    found = [(link.kind, link.reason) for link in page.links]
    assert found[:2] == [(LinkKind.NAVIGATION, LinkReason.SEMANTIC_TAG)] * 2
    assert {kind for kind, _ in found[2:]} == {LinkKind.HOT}


def test_a_list_of_news_in_a_part_named_after_comments_is_news() -> None:
    page = record(f"<div class=comment-list>{titles()}</div>")
    assert kinds(page) == [LinkKind.HOT] * 4


def test_titles_among_the_links_of_comments_are_of_the_comments() -> None:
    items = "".join(
        f"<li><p><a href=/u/{i}>读者</a></p><p><a href=/r/{i}>{text}</a></p>"
        f"<p><a href=/r/{i}/up>有用</a></p></li>"
        for i, text in enumerate(TITLES)
    )
    page = record(f"<ul class=comment-list>{items}</ul>")
    assert set(kinds(page)) == {LinkKind.FUNCTION}


def test_home_pages_and_directories_are_no_short_titles() -> None:
    found = kinds(
        record(
            "<div><h3>相关推荐</h3>"
            "<p><a href=/p/1.html>登高</a></p><p><a href=/p/2.html>静夜思</a></p>"
            "<p><a href=/p/>诗词</a></p><p><a href=http://other.example.org/>诗社</a></p></div>"
        )
    )
    assert found == [LinkKind.RELATED] * 2 + [LinkKind.OTHER] * 2


def test_searches_for_their_own_text_are_no_related_links() -> None:
    words = "".join(f"<a href='/?s={text}'>{text}</a> " for text in ("公园门票怎么买", "公园地图"))
    assert kinds(record(f"<p>猜你感兴趣：{words}</p>")) == [LinkKind.TAG] * 2
