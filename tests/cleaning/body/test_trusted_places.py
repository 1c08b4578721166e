"""Where the page alone is not searched, its host's place gives the body the search would give."""

from __future__ import annotations

from functools import lru_cache

import pytest
from hypothesis import given, settings, strategies as st

from crawlclean import BodySource, RawPage, SiteModel, clean, learn_site
from crawlclean.cleaning.body import body as site_body
from crawlclean.cleaning.body.page_body import extract_body
from crawlclean.cleaning.document.document import read_document
from crawlclean.cleaning.model.site_model import find_places

SENTENCE = (
    "<p>第{n}号渔船昨天夜里回到了港口，船上的人都说那边的风浪比往年大得多，一夜没有合眼。</p>"
)
OTHER = "<p>灯塔的看守人说，今年第{n}场大雾比往年来得早，岸上的人看不见海，也听不见钟声。</p>"


def page(n: int, body: int, outside: int, around: str = "", title: str = "渔港见闻") -> RawPage:
    text = "".join(SENTENCE.format(n=1000 * n + i) for i in range(body))
    more = "".join(OTHER.format(n=1000 * n + i) for i in range(outside))
    return RawPage.from_bytes(
        f"http://www.example.com/news/{n}.html",
        f"<title>{title}{n}_小站</title><h1>{title}{n}</h1><div class=art>{text}</div>{around}"
        f"<div class=more>{more}</div><div class=foot>小站版权所有</div>".encode(),
    )


@lru_cache(maxsize=1)
def model() -> SiteModel:
    return learn_site([page(n, 4, 0) for n in range(1, 9)])


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 12),
    st.integers(0, 150),
    st.sampled_from(("", "<div class=art><p>又一段。</p></div>", "<div class=art></div>")),
    st.sampled_from(("渔港见闻", "渔港论坛")),
)
def test_the_body_is_what_the_search_would_give(
    body: int, outside: int, around: str, title: str
) -> None:
    one = page(99, body, outside, around, title)
    document, host = read_document(one), model()
    tree = document.tree
    found_in, searched_in = find_places(document, host), find_places(document, host)
    found = site_body.find_body(document, found_in)
    alone = extract_body(tree, one.url)
    assert found == site_body.body_of_site(document, alone, searched_in)
    assert found_in.in_body(tree) == searched_in.in_body(tree) or found.source is not (
        BodySource.SITE
    )


def test_a_trusted_place_spares_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    host, one, strange = model(), page(99, 4, 0), page(98, 1, 100)
    asked: list[str] = []

    def search(*arguments: object, **named: object) -> object:
        asked.append(str(arguments[1]))
        return extract_body(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(site_body, "extract_body", search)
    assert clean(one, host).body_source is BodySource.SITE
    assert not asked
    assert "灯塔" in clean(strange, host).body  # a body is never lost
    assert asked == [strange.url]
