"""Related links by link blocks: the paper's rules, both readings of Figure 1, the block sources."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.papers.link_blocks import SourceLink
from crawlclean.cleaning.papers.related_links import (
    Measures,
    Params,
    Reading,
    marked_containers,
    marked_links,
    measure_link,
    related_links,
    score_by_figure,
    score_by_rules,
    split_containers,
    split_logical,
    split_tables,
)
from crawlclean.cleaning.words import default_segmenter

FIGURE = Params(reading=Reading.FIGURE)
LITERAL = Params(reading=Reading.FIGURE_LITERAL)


def link(text: str, href: str = "/a.html") -> SourceLink:
    return SourceLink(href=href, text=text, start=0, end=0)


def measured(
    count: int = 1, *, size: int = 20, shared: int = 0, stop: bool = False, bad_url: bool = False
) -> list[Measures]:
    one = Measures(len_bytes=size, is_stop_text=stop, is_stop_url=bad_url, shared_words=shared)
    return [one] * count


def test_the_measures_of_a_link() -> None:
    words = default_segmenter().words
    title = frozenset(words("苹果发布新手机"))
    found = measure_link(link("苹果今日股价上涨"), title, words, Params())
    assert found == Measures(len_bytes=16, is_stop_text=False, is_stop_url=False, shared_words=1)
    assert measure_link(link("【首页】"), title, words, Params()).is_stop_text
    assert not measure_link(link("首页改版记"), title, words, Params()).is_stop_text
    assert measure_link(link("首页改版记"), title, words, Params(contains=True)).is_stop_text
    assert measure_link(link("x", "JavaScript:go()"), title, words, Params()).is_stop_url
    assert measure_link(link("x", "mailto:a@b"), title, words, Params()).is_stop_url


def test_len_counts_two_bytes_for_a_chinese_character() -> None:
    assert measure_link(link("五个中文字"), frozenset(), str.split, Params()).len_bytes == 10
    assert measure_link(link("a中"), frozenset(), str.split, Params()).len_bytes == 3


@pytest.mark.parametrize(
    ("block", "rules", "figure", "literal"),
    [
        (measured(4, shared=1), 1.0, 1.0, 1.0),
        # Rule 1: the third short link rejects; in Figure 1 the second does.
        (measured(2, size=9) + measured(2, shared=1), 0.5, 0.0, 2 / 3),
        (measured(3, size=9) + measured(2, shared=1), 0.0, 0.0, 2 / 3),
        # A short link counts in the mean of the rules, not in Figure 1.
        (measured(1, size=9) + measured(1, shared=1), 0.5, 1.0, 1.0),
        # Rules 2 and 3: one stop word or stop URL rejects.
        (measured(3, shared=1) + measured(1, stop=True), 0.0, 0.0, 0.0),
        (measured(1, bad_url=True) + measured(3, shared=1), 0.0, 0.0, 3 / 4),
        ([], 0.0, 0.0, 0.0),
        (measured(1, size=9), 0.0, 0.0, 0.0),
    ],
)
def test_rules_and_figure(
    block: list[Measures], rules: float, figure: float, literal: float
) -> None:
    assert score_by_rules(block, Params()) == rules
    assert score_by_figure(block, FIGURE) == figure
    assert score_by_figure(block, LITERAL) == literal


def letters(text: str) -> Iterable[str]:
    return text.split()


def block_of(*texts: str) -> list[SourceLink]:
    return [link(text) for text in texts]


def test_the_best_block_is_related() -> None:
    blocks = [
        block_of("nothing of it here", "neither is it here"),
        block_of("about the apple farm", "an apple and a pear"),
        block_of("only one apple there", "no fruit at all here"),
    ]
    found = related_links(blocks, "apple", letters)
    assert found.block == 1
    assert found.scores == (0.0, 1.0, 0.5)
    assert [one.text for one in found.links] == ["about the apple farm", "an apple and a pear"]


def test_a_mean_equal_to_the_threshold() -> None:
    blocks = [block_of("one apple stands here", *["there is none of it"] * 3)]
    assert related_links(blocks, "apple", letters).block == 0  # rule 4: less than T rejects
    assert related_links(blocks, "apple", letters, FIGURE).block is None  # Figure 1: above T
    assert related_links(blocks, "apple", letters, Params(threshold=0.3)).block is None


def test_a_page_without_a_related_block() -> None:
    assert related_links([], "apple", letters).links == ()
    assert related_links([block_of("a long text without")], "apple", letters).block is None


def test_pictures_are_left_out() -> None:
    blocks = [[link(""), *block_of("the apple of today", "an apple of before")]]
    assert len(related_links(blocks, "apple", letters).links) == 2


def test_blocks_of_tables_ignore_nesting() -> None:
    html = (
        "<a href=0>外</a><table><a href=1>甲</a><table><a href=2>乙</a><a href=3>丙</a></table>"
        "<a href=4>丁</a></table><a href=5>外</a>"
    )
    assert [[one.href for one in block] for block in split_tables(html)] == [
        ["1"],
        ["2", "3"],
        ["4"],
    ]


def test_blocks_of_containers_and_logical_blocks() -> None:
    items = "".join(f"<li><a href={i}>第{i}条</a>" for i in range(3))
    html = f"<div><a href=a>甲</a><ul>{items}</ul><a href=b>乙</a></div>"
    found = split_containers(parse(html))
    assert [[one.text for one in block] for block in found] == [
        ["甲", "乙"],
        ["第0条", "第1条", "第2条"],
    ]
    assert [len(block) for block in split_logical(html)] == [5]


def test_the_start_marker_method() -> None:
    html = (
        "<a href=0>首页</a><p>" + "文" * 50 + "</p><h3>相关链接：</h3><a href=1>甲</a><br>"
        "<a href=2>乙</a><p>" + "文" * 50 + "</p><a href=3>丙</a>"
    )
    found = marked_links(html, {"相关链接"}.__contains__)
    assert [one.href for one in found.links] == ["1", "2"]
    linked = "<a href=m>相关链接</a><a href=1>甲</a>"
    assert [one.href for one in marked_links(linked, {"相关链接"}.__contains__).links] == ["1"]


def test_segmentation_reads_no_shared_file() -> None:
    segmenter = default_segmenter()
    assert segmenter.words("我来到北京清华大学，A B") == (
        "我",
        "来到",
        "北京",
        "清华大学",
        "a",
        "b",
    )


def test_marked_containers() -> None:
    html = (
        "<ul><li><a href=1>首页</a><li><a href=2>新闻</a><li><a href=3>体育</a></ul>"
        "<div><h3>相关阅读：</h3><ul><li><a href=a>甲</a> 2014-03-08 摘要<li><a href=b>乙</a>"
        "<li><a href=c>丙</a></ul></div><p>文<a href=d>丁</a></p><h3>相关阅读</h3><p>没有</p>"
    )
    found = marked_containers(parse(html), lambda line: line == "相关阅读")
    assert [link.href for link in found.links] == ["a", "b", "c"]
    assert marked_containers(parse(""), str.isalpha).links == ()
