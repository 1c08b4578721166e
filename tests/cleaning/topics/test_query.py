"""The language of queries."""

from __future__ import annotations

import pytest

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.topics.query import Query, parse_query


def names(query: Query) -> list[list[str]]:
    return [[name.text for name in concept.names] for concept in query.concepts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("伊朗 地震", [["伊朗"], ["地震"]]),
        ("地震|余震 伊朗", [["地震", "余震"], ["伊朗"]]),
        ("地震 | 余震", [["地震", "余震"]]),
        ('"electric car" 补贴', [["electric car"], ["补贴"]]),
        ('“新能源 汽车”|"electric car"', [["新能源 汽车", "electric car"]]),
        ("ＳＱＬ　数据库", [["sql"], ["数据库"]]),
        ("C++ C# ASP.NET covid-19", [["c++"], ["c#"], ["asp.net"], ["covid-19"]]),
        ("的 地震", [["地震"]]),
        ("地震 地震 +地震", [["地震"]]),
        ('"the who"', [["the who"]]),
    ],
)
def test_concepts(text: str, expected: list[list[str]]) -> None:
    assert names(parse_query(text)) == expected


def test_signs() -> None:
    query = parse_query('伊朗 ＋地震 -彩票 -"招聘 信息"', excluded=["广告", " "])
    assert [concept.required for concept in query.concepts] == [False, True]
    assert [name.text for name in query.excluded] == ["彩票", "招聘 信息", "广告"]


def test_synonyms_join_the_concept_that_has_one_of_them() -> None:
    groups = [("电动车", "新能源汽车", "EV"), ("地震", "quake")]
    assert names(parse_query("新能源汽车 补贴", groups)) == [
        ["新能源汽车", "电动车", "ev"],
        ["补贴"],
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("的 了 the", "the query has only words that name no topic (的 了 the): add one that does"),
        ("", "the query has no word to look for"),
        ("-地震", "the query has no word to look for"),
        ("| + -", "the query has no word to look for"),
        ('"伊朗 地震', "a quotation mark without its partner"),
        (" ".join(f"w{i}" for i in range(33)), "33 concepts, at most 32"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_query(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
