"""The relevance of pages."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings, strategies as st
from msgspec.json import encode

from crawlclean.cleaning.topics.relevance import build_topic, judge, new_threshold
from crawlclean.cleaning.topics.topic import ExampleText, Topic, TopicSpec

QUAKES = TopicSpec(name="quakes", query="伊朗 +地震|余震 -彩票", threshold=0.5)
EXAMPLES = [
    ExampleText(
        title="伊朗东南部发生6.2级地震",
        text="伊朗克尔曼省发生地震,震源深度10公里。救援人员已赶往灾区,余震不断。",
        url="http://a.test/1",
    ),
    ExampleText(
        title="伊朗地震已致上百人死亡",
        text="伊朗当局称,地震造成房屋倒塌,大量民众受伤,医院接收伤员,救援仍在进行。",
        url="http://a.test/2",
    ),
]


@cache
def quakes(*, has_examples: bool = True) -> Topic:
    return build_topic(QUAKES, EXAMPLES if has_examples else ())


def test_a_page_like_the_examples_is_relevant_and_another_is_not() -> None:
    near = judge(
        quakes(), "伊朗发生5级余震", "伊朗克尔曼省余震不断,救援人员在灾区搜救,医院接收伤员。"
    )
    far = judge(quakes(), "周末天气", "周末多云,最高气温20度,适合出行。")
    assert near.relevance > 0.7 > 0.5 > far.relevance
    assert near.label > 0.8 > 0.1 > far.label
    assert near.parts.nearest == "http://a.test/1"
    assert "余震" in near.parts.terms
    assert [(hit.name, hit.share, hit.in_title) for hit in near.parts.concepts] == [
        ("伊朗", 1.0, True),
        ("余震", 1.0, True),
    ]


def test_an_example_that_shares_no_term_is_not_the_nearest() -> None:
    assert judge(quakes(), "周末天气", "周末多云,最高气温20度,适合出行。").parts.nearest == ""


def test_a_common_concept_is_no_topic_by_itself() -> None:
    """开发 (to develop) is in a page of any trade; a page on houses is none on Java."""
    topic = build_topic(TopicSpec(name="x", query="Java Spring 开发", threshold=0.5))
    builders = judge(topic, "房地产开发", "开发商开发的楼盘," * 9)
    assert builders.relevance < 0.5 < judge(topic, "Spring 入门", "Spring 的容器").relevance


@pytest.mark.parametrize(
    ("title", "body", "is_in_title"),
    [
        ("SpringBoot整合MyBatis", "引入 spring-boot-starter 即可", True),
        ("SpringBoot整合MyBatis", "没有提到那个框架", False),
        ("Offspring 乐队", "the word spring is in it", False),
    ],
)
def test_a_longer_word_of_a_title_counts_if_the_body_has_the_word_itself(
    title: str, body: str, is_in_title: bool
) -> None:
    topic = build_topic(TopicSpec(name="x", query="Spring"))
    assert judge(topic, title, body).parts.concepts[0].in_title is is_in_title


def test_a_name_of_several_words_is_as_rare_as_its_rarest_word() -> None:
    topic = build_topic(TopicSpec(name="x", query="C语言 编译器 语言"))
    weights = [concept.weight for concept in topic.concepts]
    assert weights[0] > weights[2]


def test_the_query_part_by_hand() -> None:
    topic = build_topic(TopicSpec(name="x", query="地震 余震"))
    assert judge(topic, "地震 余震", "").query_part == pytest.approx(1)
    # One occurrence in the body: .8 ln 2 / ln 8 = .267 for both concepts.
    assert judge(topic, "", "地震,余震").query_part == pytest.approx(0.8 / 3, abs=1e-3)
    # Seven and more occurrences: .8.
    assert judge(topic, "", "地震余震" * 9).query_part == pytest.approx(0.8)


def test_a_missing_required_word_costs_four_fifths() -> None:
    with_word = judge(quakes(has_examples=False), "伊朗地震", "")
    without = judge(quakes(has_examples=False), "伊朗足球", "")
    assert with_word.query_part == pytest.approx(1)
    assert without.query_part < 0.2


@pytest.mark.parametrize(
    ("title", "text", "excluded"),
    [
        ("地震彩票", "伊朗地震", ("彩票",)),
        ("伊朗地震", "彩票,彩票,彩票", ("彩票",)),
        ("伊朗地震", "彩票,彩票", ()),
    ],
)
def test_excluded_words(title: str, text: str, excluded: tuple[str, ...]) -> None:
    judgement = judge(quakes(), title, text)
    assert judgement.parts.excluded == excluded
    assert (judgement.relevance == 0) is bool(excluded)


@pytest.mark.parametrize(
    ("query", "text", "found"),
    [
        ("sql", "MySQLdump", False),
        ("SQL", "用ＳＱＬ查询", True),
        ("password", "two passwords", True),
        ("css", "CSS3 教程", True),
        ("java", "JavaScript", False),
        ("C", "C++ and C#", False),
        ("C++", "学习c++语言", True),
        ("asp.net", "ASP.NET 4", True),
        ("伊朗", "中東伊朗", True),
    ],
)
def test_words_as_users_expect(query: str, text: str, found: bool) -> None:
    topic = build_topic(TopicSpec(name="x", query=query))
    assert (judge(topic, text, "").query_part > 0) is found


def test_a_list_counts_half_and_leads_on_as_before() -> None:
    page = judge(quakes(), "伊朗地震", "伊朗地震,余震")
    listed = judge(quakes(), "伊朗地震", "伊朗地震,余震", is_list=True)
    assert listed.relevance == page.relevance / 2
    assert listed.label == page.label
    assert listed.parts.is_list


def test_the_order_of_examples_does_not_matter() -> None:
    assert build_topic(QUAKES, EXAMPLES[::-1]).to_bytes() == quakes().to_bytes()
    assert Topic.from_bytes(quakes().to_bytes()) == quakes()


TEXT = st.text(st.sampled_from("伊朗地震余彩票 abc.,\n\0\ud800ﬁÅ") | st.characters(), max_size=300)


@settings(max_examples=200, deadline=None)
@given(TEXT, TEXT, st.booleans())
def test_every_page_has_a_relevance_with_short_reasons(title: str, text: str, more: bool) -> None:
    topic = quakes(has_examples=more)
    judgement = judge(topic, title, text)
    assert 0 <= judgement.relevance <= 1
    assert 0 <= judgement.label <= 1
    assert 0 <= judgement.query_part <= 1
    assert len(encode(judgement.parts)) <= 400
    assert judge(topic, title, text) == judgement


def test_the_threshold_follows_the_marks_a_step_at_a_time() -> None:
    marks = [(value, value > 0.3) for value in (0.1, 0.2, 0.28, 0.35, 0.4, 0.9)]
    first = new_threshold(0.5, marks)
    assert first == pytest.approx(0.4)
    assert new_threshold(first, marks[::-1]) == pytest.approx(0.315)
    assert new_threshold(0.315, marks) == 0.315
    assert new_threshold(0.5, []) == 0.5
