"""Links by the element or the named part around them."""

from __future__ import annotations

from cleaning import LinkKind, LinkReason
from tests.cleaning.links.test_links import kinds, record, titles


def test_short_links_to_other_sites_in_a_part_of_advertising_are_that() -> None:
    names = "".join(f"<p><a href=//shop{i}.store.net/{i}>小店</a></p>" for i in range(4))
    assert kinds(record(f"<div class='right-ad'>{names}</div>")) == [LinkKind.AD] * 4
    own = "".join(f"<p><a href=/shop/{i}>小店</a></p>" for i in range(4))
    assert kinds(record(f"<div class='right-ad'>{own}</div>")) == [LinkKind.NAVIGATION] * 4


def test_short_links_of_an_element_beside_the_page_lead_around() -> None:
    names = "".join(f"<p><a href=/{i}>短题</a></p>" for i in range(2))
    page = record(f"<aside>{names}{titles()}</aside>")
    found = [(link.kind, link.reason) for link in page.links]
    assert found[:2] == [(LinkKind.NAVIGATION, LinkReason.SEMANTIC_TAG)] * 2
    assert {kind for kind, _ in found[2:]} == {LinkKind.HOT}
