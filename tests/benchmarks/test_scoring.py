"""The benchmarks' own ruler: measured before anything is measured with it."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, strategies as st

from benchmarks.kit.scoring import common_length, interval, means, ratios, score, tokens_of
from benchmarks.page.public import Figures

TEXTS = st.text("ab一二 ,", max_size=40)


def slow_common_length(first: list[str], second: list[str]) -> int:
    row = [0] * (len(second) + 1)
    for one in first:
        before = row[:]
        for j, other in enumerate(second):
            row[j + 1] = before[j] + 1 if one == other else max(before[j + 1], row[j])
    return row[-1]


@given(TEXTS, TEXTS)
def test_the_longest_common_subsequence(first: str, second: str) -> None:
    a, b = tokens_of(first), tokens_of(second)
    assert common_length(a, b) == slow_common_length(a, b)


def test_tokens_are_characters_or_words() -> None:
    assert tokens_of("今天，Ｈello World 3.5") == ["今", "天", "hello", "world", "3", "5"]


def test_a_score() -> None:
    assert score("一二三", "一二三四五六") == (1.0, 0.5, 2 / 3)
    assert score("", "一") == score("一", "二") == (0.0, 0.0, 0.0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_an_interval_holds_only_what_means_can_be(values: list[float]) -> None:
    low, high = interval(values, resamples=50)
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9
    assert all(a <= b for a, b in pairwise([low, high]))


def test_ratios_of_sets_and_of_nothing() -> None:
    assert ratios(right=3, found=4, wanted=6) == {"precision": 0.75, "recall": 0.5, "f": 0.6}
    assert ratios(right=0, found=0, wanted=5) == {"precision": 0.0, "recall": 0.0, "f": 0.0}


def test_means_of_scores_with_the_same_keys() -> None:
    assert means([{"first": 1, "any": 0.5}, {"first": 0, "any": 0.25}]) == {
        "first": 0.5,
        "any": 0.375,
    }


def test_public_corpora_count_as_their_authors_do() -> None:
    row = {"present": ["a  b", "c"], "absent": ["menu", "share"], "date": "2026-05-01"}
    figures = Figures()
    wrong = figures.count(row, {"text": "a\nb menu", "date": "2026-05-02"})
    assert wrong == {"missed": ["c"], "false": ["menu"], "date": "2026-05-02 for 2026-05-01"}
    figures.count({"date": "2026-05-01"}, {"date": "2026-05-01"})
    figures.count({"date": None}, {"date": "2026-05-01"})  # not labelled
    result = figures.result()
    assert result["segments"] == {"precision": 0.5, "recall": 0.5, "f": 0.5}
    assert result["dates"] == {"precision": 0.5, "recall": 1.0, "f": 0.6667}


def test_authors_are_named_or_right() -> None:
    figures = Figures()
    row = {"gold": "text", "authors": ["Ann Lee", "Bo Ek"], "title": "Rain: more"}
    figures.count(row, {"authors": "Bo Ek, Ann Lee", "title": "Rain - more", "text": "text"})
    figures.count(row, {"authors": "Ann Lee; Bo Ek; Site", "title": "Site", "text": ""})
    result = figures.result()
    assert result["authors"] == {"right": 0.5, "named": 1.0, "pages": 2}
    assert result["title"] == {"right": 0.5, "pages": 2}
    assert result["body"]["f1"] == 0.5
