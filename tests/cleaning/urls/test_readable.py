"""The readable form of URLs: characters in place of escapes, and nothing that misleads."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from crawlclean.cleaning.urls.normal_form import normalize
from crawlclean.cleaning.urls.shapes import readable


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://a.example/%E4%B8%AD%E6%96%87?q=%E6%96%B0", "http://a.example/中文?q=新"),
        ("http://a.example/a%2Fb%20c%25?x=%26", "http://a.example/a%2Fb%20c%25?x=%26"),
        ("http://a.example/%C4%E3%BA%C3", "http://a.example/%C4%E3%BA%C3"),  # GBK
        ("http://a.example/%E4%B8", "http://a.example/%E4%B8"),  # cut in the middle
        ("http://a.example/%E4%B8%AD%E4%B8", "http://a.example/中%E4%B8"),
        ("http://a.example/%E2%80%AEx%C2%85", "http://a.example/%E2%80%AEx%C2%85"),  # bidi, C1
        ("http://a.example/%F0%9F%98%80", "http://a.example/😀"),
        ("http://a.example/e%CC%81%E4%B8%AD", "http://a.example/e%CC%81中"),  # a combining mark
        (
            "http://a.example/a%E3%85%A4%E3%80%80%EF%B8%8F",
            "http://a.example/a%E3%85%A4%E3%80%80%EF%B8%8F",
        ),
    ],
)
def test_printable_characters_are_shown_and_the_rest_stays(url: str, shown: str) -> None:
    assert readable(url) == shown


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=30))
def test_the_readable_form_is_the_same_url(text: str) -> None:
    url = normalize(f"http://a.example/{text}?{text}")
    shown = readable(url)
    assert normalize(shown) == url
    assert readable(shown) == shown
    assert shown.isprintable()
