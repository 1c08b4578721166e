"""The quick looks before a pattern is tried never hide what the pattern finds."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from crawlclean.cleaning.lexicon import hint_of, pattern_of
from crawlclean.cleaning.links.evidence import headline_units, is_home
from crawlclean.cleaning.links.lists import ACTING, AD, TAGGED, part_flags

WORDS = st.lists(st.text("ab相关评榜-]^", min_size=1, max_size=3), min_size=1, max_size=6)


@given(WORDS, st.text("abc相关评榜-]^", max_size=12))
def test_a_hint_is_found_wherever_a_word_is(words: list[str], text: str) -> None:
    assert hint_of(words).search(text) or not pattern_of(words).search(text)


@pytest.mark.parametrize(
    ("names", "flags"),
    [
        ("header shadow", 0),
        ("ad", AD),
        ("box ads-2", AD),
        ("topAd", AD),
        ("x-advertisement", AD),
        ("read more", 0),
        ("sponsored", AD),
        ("tags", TAGGED),
        ("post tag-linux", 0),
        ("postTags", TAGGED),
        ("comment even depth-1", ACTING),
        ("Comments", ACTING),
        ("comment footer", 0),
        ("uncommented", 0),
        ("comment tag-list ad", AD | ACTING | TAGGED),
    ],
)
def test_names_of_parts(names: str, flags: int) -> None:
    assert part_flags({names, ""}).get(names, 0) == flags


def test_home_pages_and_lengths() -> None:
    assert is_home("http://a.example/")
    assert is_home("http://a.example/index.html")
    assert not is_home("http://a.example/news/")
    assert not is_home("http://a.example/idea")
    assert headline_units("中文标题 four") == pytest.approx(4 + 1.7 / 2)
