"""Links by the element or the named part around them."""

from __future__ import annotations

from cleaning import LinkKind, LinkReason, RawPage, clean
from tests.cleaning.links.test_links import BODY, URL, kinds, record, titles


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
