"""When a run of headlines is about the topic of its page."""

from __future__ import annotations

from collections.abc import Sequence

from crawlclean.cleaning.links.evidence import Run, lines_about

SENTENCES = "天亮了。船回来了。人也回来了。"


def is_about(title: str, *titles: str, body: str = SENTENCES, others: Sequence[str] = ()) -> bool:
    """Whether a run of headlines is about a page with a title, a body and other links."""
    run = Run((-1, ""), [3, 5], {f"/{i}": text for i, text in enumerate(titles)})
    links = [(f"/other/{i}", text) for i, text in enumerate(others)]
    lines = lines_about([title], body, [run], [*run.titles.items(), *links])
    assert lines in (set(), {3, 4, 5})
    return bool(lines)


def test_one_word_each_on_average_is_enough() -> None:
    assert is_about("渔港开放", "渔港里的船", "新的渔港", "老渔港")
    assert is_about("远洋渔港", "远洋渔港的船", "远洋渔港", "别的事情", "远洋来客")


def test_a_title_with_many_words_does_not_make_up_for_two_others() -> None:
    assert not is_about("远洋渔港开放", "远洋渔港开放", "别的事情", "天气晴朗")


def test_what_the_body_says_often_is_its_topic_too() -> None:
    titles = ("渔港里的船", "新的渔港", "老渔港")
    assert not is_about("无题", *titles)
    assert is_about("无题", *titles, body=SENTENCES + "渔港" * 4)


def test_two_headlines_and_archives_are_not_asked() -> None:
    assert not is_about("渔港开放", "渔港里的船", "新的渔港")
    assert not is_about("渔港开放", *(f"渔港 {i}" for i in range(41)))


def test_words_of_the_pages_other_links_are_the_sites_and_no_topic() -> None:
    titles = ("东海渔港里的船", "东海渔港的早市", "东海渔港的灯塔")
    assert is_about("东海渔港开放", *titles, others=["首页", "天气", "地图"] * 10)
    assert not is_about("东海渔港开放", *titles, others=["东海渔港概况", "天气", "地图"] * 10)
    assert is_about("东海渔港开放", *titles, others=["东海渔港概况"])


def test_a_long_run_of_one_name_is_a_list_of_companies() -> None:
    companies = [f"海边{name}有限公司" for name in "甲乙丙丁戊己庚辛壬"]
    assert not is_about("海边渔业有限公司", *companies)
    assert is_about("海边渔业有限公司", *companies[:6])


def test_a_page_without_sentences_has_no_topic() -> None:
    titles = ("渔港里的船", "新的渔港", "老渔港")
    assert is_about("渔港开放", *titles)
    for body in ("", "海边渔港 地址 海边路一号", "欢迎来到渔港！"):
        assert not is_about("渔港开放", *titles, body=body)
