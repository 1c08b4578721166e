"""The quick looks before a pattern is tried never hide what the pattern finds."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from crawlclean import LinkKind
from crawlclean.cleaning.lexicon import hint_of, pattern_of
from crawlclean.cleaning.links.evidence import headline_units, is_home, judge_words
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


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (
            "關於我們 关于我们 私隱政策 私隐政策 條款及細則 條款及細則 廣告查詢 免責聲明 聯絡我們",
            LinkKind.LEGAL,
        ),
        ("會員登入 註冊 訂閱 加入最愛 返回頂部 12條評論 分享給朋友", LinkKind.FUNCTION),
        ("上一頁 後一篇：渔港 上一則 首頁", LinkKind.NAVIGATION),
    ],
)
def test_words_are_known_in_traditional_characters_too(texts: str, kind: LinkKind) -> None:
    for text in texts.split():
        verdict = judge_words(text)
        assert verdict is not None, text
        assert verdict[0] is kind, text


def test_home_pages_and_lengths() -> None:
    assert is_home("http://a.example/")
    assert is_home("http://a.example/index.html")
    assert not is_home("http://a.example/news/")
    assert not is_home("http://a.example/idea")
    assert headline_units("中文标题 four") == pytest.approx(4 + 1.7 / 2)
