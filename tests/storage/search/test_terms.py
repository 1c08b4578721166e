"""Every phrase of a text is found in it, a phrase that it has not is not."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, strategies as st

from crawlclean.storage.search import Phrase, has_all, phrases_of, snippet, terms_of

LETTERS = "数据清洗主题网页抓取之乎者也かなｶﾞ한국ＡaBéÉß1２9 ，。-\n\"'<_กำ𠀀"

OF_WORDS = frozenset("AaBéÉß1２9Ａ")


def phrase(text: str) -> Phrase:
    (found,) = phrases_of(f'"{text}"')
    return found


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("使用Python 清洗数据", "使用 用 python 清洗 洗数 数据 据"),
        ("ＡＢＣ，é", "abc é"),
        ("主", "主"),
        (" \n，", ""),
        ("snake_case", "snake case"),
    ],
)
def test_terms(text: str, terms: str) -> None:
    assert terms_of(text) == terms


@pytest.mark.parametrize(
    ("asked", "runs"),
    [
        ("数据 清洗", [("数据",), ("清洗",)]),
        ('"数据 清洗"', [("数据", "清洗")]),
        ("“topic crawl” 主题", [("topic", "crawl"), ("主题",)]),
        ("主", []),
        ("a 数据 ,", [("数据",)]),
        ("数据 数据", [("数据",)]),
    ],
)
def test_phrases(asked: str, runs: list[tuple[str, ...]]) -> None:
    assert [each.runs for each in phrases_of(asked)] == runs


@pytest.mark.parametrize(
    ("text", "asked", "is_there"),
    [
        ("清洗数据", "洗数", True),
        ("清洗，数据", "洗数", False),
        ("清洗，数据", '"清洗 数据"', True),
        ("cleaning data", "clean", True),
        ("cleaning data", "leaning", False),
        ("cleaning data", '"cleaning da"', True),
        ("clean data", '"cleaning data"', False),
        ("用Python清洗", "python清", True),
        ("用Python3清洗", "python清", False),
    ],
)
def test_a_text_has_a_phrase(text: str, asked: str, is_there: bool) -> None:
    assert has_all(text, phrases_of(asked)) is is_there
    assert bool(snippet(text, phrases_of(asked))) is is_there


@given(st.text(LETTERS, max_size=60))
def test_every_part_of_a_text_is_a_phrase_of_it(text: str) -> None:
    for begin in range(len(text)):
        if begin and text[begin - 1] in OF_WORDS and text[begin] in OF_WORDS:
            continue  # in the middle of a word
        for end in range(begin + 2, len(text) + 1):
            part = text[begin:end].replace('"', " ")
            for each in phrases_of(f'"{part}"'):
                if unicodedata.normalize("NFC", text) == text:
                    assert has_all(text, [each]), (part, each)
                    assert any(each.is_hit for each in snippet(text, [each]))


@given(st.text(LETTERS, max_size=60), st.text(LETTERS, min_size=2, max_size=4))
def test_a_snippet_is_a_part_of_its_text(text: str, asked: str) -> None:
    found = snippet(text, phrases_of(asked))
    assert "".join(part.text for part in found) in unicodedata.normalize("NFC", text)
