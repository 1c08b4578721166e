"""What the user's marks teach."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from crawlclean.cleaning.topics.relevance import build_topic, judge
from crawlclean.cleaning.topics.topic import (
    MAX_TAUGHT_TERMS,
    ExampleText,
    MarkedPage,
    Topic,
    TopicSpec,
    probability,
    teach,
)

SPEC = TopicSpec(name="java", query="Java")
EXAMPLE = ExampleText(title="Java 入门", text="Java 的类与对象,方法与接口。", url="http://a.test/0")
ISLAND = "Java 旅游:爪哇岛位于印度尼西亚,岛上有火山和咖啡种植园, Java 旅游胜地"
FRAMEWORK = "Spring 框架的依赖注入,Maven 构建,注解与配置文件"


def mark(text: str, number: int, *, is_relevant: bool) -> ExampleText:
    return ExampleText(
        title=text[:8],
        text=text,
        url=f"http://a.test/{number}",
        weight=1.0 if is_relevant else -0.25,
        marked=True,
    )


MARKS = [mark(ISLAND, 1, is_relevant=False), mark(FRAMEWORK, 2, is_relevant=True)]


def relevance(topic: Topic, title: str, text: str) -> float:
    return judge(topic, title, text).relevance


def test_marks_move_pages_like_the_marked_ones_and_no_others() -> None:
    before, after = build_topic(SPEC, [EXAMPLE]), build_topic(SPEC, [EXAMPLE, *MARKS])
    trip, spring = ("Java 旅游", "印度尼西亚的火山与咖啡"), ("依赖注入", "Spring 注解与 Maven 配置")
    assert relevance(after, *trip) < relevance(before, *trip) - 0.05
    assert relevance(after, *spring) > relevance(before, *spring) + 0.05
    weather = ("天气", "周末多云,适合出行")
    assert abs(relevance(after, *weather) - relevance(before, *weather)) < 0.1
    parts = judge(after, *spring).parts
    assert parts.taught is not None
    assert parts.taught > 0


def test_a_topic_without_marks_is_taught_nothing() -> None:
    topic = build_topic(SPEC, [EXAMPLE])
    assert not topic.taught
    assert judge(topic, "Java", "Java").parts.taught is None


def test_the_order_of_marks_does_not_matter() -> None:
    topic = build_topic(SPEC, [EXAMPLE, *MARKS])
    assert build_topic(SPEC, [*MARKS[::-1], EXAMPLE]).to_bytes() == topic.to_bytes()
    assert Topic.from_bytes(topic.to_bytes()) == topic


def test_one_page_by_hand() -> None:
    # One relevant page with untaught .5 and likeness .1 + 1 + 1: .3 a = 1 - 1 / (1 + exp(-2.1 a)).
    taught = teach([MarkedPage({"a": 1.0}, {"b": 1.0}, 0.5, is_relevant=True)])
    a = taught.bias / 0.1
    assert abs(0.3 * a - 1 + probability(0.5 + 2.1 * a / 10)) < 1e-3
    assert taught.title == {"a": pytest.approx(a, abs=1e-3)}
    assert taught.body == {"b": pytest.approx(a, abs=1e-3)}


VECTORS = st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 1), max_size=4)
PAGES = st.lists(st.builds(MarkedPage, VECTORS, VECTORS, st.floats(0, 1), st.booleans()))


@settings(max_examples=100, deadline=None)
@given(PAGES)
def test_weights_are_bounded(pages: list[MarkedPage]) -> None:
    taught = teach(pages)
    # A page's number is at most 1 / .3.
    limit = (len(pages) + 1) / 0.3
    weights = [taught.bias, *taught.title.values(), *taught.body.values()]
    assert all(abs(weight) <= limit for weight in weights)


def test_terms_are_bounded() -> None:
    words = [{f"w{i}-{j}": 0.1 for j in range(100)} for i in range(40)]
    pages = [MarkedPage({}, each, 0.5, is_relevant=i % 2 == 0) for i, each in enumerate(words)]
    assert len(teach(pages).body) <= MAX_TAUGHT_TERMS
