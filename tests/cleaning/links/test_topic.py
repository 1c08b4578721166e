"""When a run of headlines is about the topic of its page."""

from __future__ import annotations

from crawlclean.cleaning.links.evidence import Run, Topic


def is_about(title: str, *titles: str, body: str = "") -> bool:
    """Whether a run of headlines is about a page with a title and a body."""
    run = Run((-1, ""), [3, 5], {f"/{i}": text for i, text in enumerate(titles)})
    topic = Topic([title], body, [run])
    assert not topic.is_about(2)
    assert not topic.is_about(6)
    return topic.is_about(4)


def test_one_word_each_on_average_is_enough() -> None:
    assert is_about("渔港开放", "渔港里的船", "新的渔港", "老渔港")
    assert is_about("远洋渔港", "远洋渔港的船", "远洋渔港", "别的事情", "远洋来客")


def test_a_title_with_many_words_does_not_make_up_for_two_others() -> None:
    assert not is_about("远洋渔港开放", "远洋渔港开放", "别的事情", "天气晴朗")


def test_what_the_body_says_often_is_its_topic_too() -> None:
    titles = ("渔港里的船", "新的渔港", "老渔港")
    assert not is_about("无题", *titles)
    assert is_about("无题", *titles, body="渔港" * 4)


def test_two_headlines_and_archives_are_not_asked() -> None:
    assert not is_about("渔港开放", "渔港里的船", "新的渔港")
    assert not is_about("渔港开放", *(f"渔港 {i}" for i in range(41)))
