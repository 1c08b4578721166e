"""Logical link blocks: the chapter's rules and examples."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from crawlclean.cleaning.papers.link_blocks import (
    Distance,
    Params,
    code_distance,
    find_link_blocks,
    find_source_links,
    scan_links,
    text_distance,
    text_outside,
)

GAPS = [
    "|", "字 字", "<b>a</b>", "</li>\n <li class='a > b'>", "<!-- <a href=x> -->", "</a>",
    "<script>if (1 < 2)  a</script>", "&nbsp;&amp;&lt;p&gt;", "<a href=y>开", "2014年3月8日",
    "<a name=x>名</a>",
]  # fmt: skip
CODE = Params(distance=Distance.CODE)


def links(*gaps: str) -> str:
    """Links with the given sources between them."""
    return "<a href=x>链</a>" + "".join(f"{gap}<a href=x>链</a>" for gap in gaps)


@pytest.mark.parametrize(
    ("source", "units"),
    [
        ("北京2008", 3),  # rule 3
        ("今天是2014年3月8日", 4),  # rule 4
        ("hello wide world", 3),  # rule 1
        ("汉字", 2),  # rule 2
        ("，。", 2),  # rule 5
        ("……", 1),
        ("||||", 1),
        ("|-|", 3),
        ("<b>汉</b>&nbsp;&amp;", 2),
        ("<script>var a = 1;</script><!-- 注 --><style>b {}</style>", 0),
        ("2014-03-08", 1),
        ("3.14", 1),
        ("it's", 1),
    ],
)
def test_text_distance(source: str, units: int) -> None:
    assert text_distance(source) == units


def test_code_distance_leaves_attributes_out() -> None:
    # The chapter's example: <div id="main"> ABC </div> becomes <div> ABC </div>.
    assert code_distance('<div id="main"> ABC </div>') == len("<div> ABC </div>")
    assert code_distance("</li>\n\t  <li class='a > b'>") == len("</li> <li>")


def test_equation_5_1() -> None:
    assert len(find_link_blocks(links("|")).blocks) == 0  # two links are fewer than C_t = 3
    assert len(find_link_blocks(links("|", "|")).blocks) == 1  # at least C_t, not more
    near, far = "字" * 39, "字" * 40
    assert len(find_link_blocks(links(near, near)).blocks) == 1
    assert len(find_link_blocks(links("|", "|", far, "|", "|")).blocks) == 2  # max(d) < d_t
    assert find_link_blocks(links("|", far)).blocks == ()


def test_the_default_of_code_is_80() -> None:
    assert len(find_link_blocks(links("x" * 79, "x" * 79), CODE).blocks) == 1
    assert find_link_blocks(links("x" * 80, "x" * 80), CODE).blocks == ()


def test_blocks_cross_parents() -> None:
    # Figure 5-3: A2 and B1 have different parents and are one block.
    html = f"<div>{'文' * 50}<p>{links()}</p></div><div><p>{links('|')}</p>{'文' * 50}</div>"
    (block,) = find_link_blocks(html).blocks
    assert (block.first, block.end) == (0, 3)


def test_advertising_in_running_text_is_a_block() -> None:
    # Figure 5-2: (价格 动态 户型图 论坛) inside a paragraph.
    advertising = "(" + links(" ", " ", " ") + ")"
    html = f"<p>{'这' * 60}{advertising}{'是' * 60}<a href=y>引文</a>{'在' * 60}</p>"
    (block,) = find_link_blocks(html).blocks
    assert (block.first, block.end) == (0, 4)  # the link in the text is in none


def test_granularity() -> None:
    # Figure 5-1: a small d_t gives three blocks, a large one gives one.
    rows = [f"{name}{links(' | ', ' | ')}" for name in ("政务之窗", "服务大厅", "互动平台")]
    html = "<br>".join(rows)
    assert len(find_link_blocks(html, Params(max_gap=3)).blocks) == 3
    assert len(find_link_blocks(html, Params(max_gap=10)).blocks) == 1


def test_coverage() -> None:
    html = f"<p>{links('|', '|')}</p>{'文' * 50}<a href=z>单</a>"
    found = find_link_blocks(html)
    assert found.lcr == 3 / 4
    inside = html.index("</p>") - html.index("<a")
    assert found.ccr == inside / len(html)
    empty = find_link_blocks("")
    assert (empty.lcr, empty.ccr) == (0, 0)


def test_links_of_a_source() -> None:
    html = (
        "<a name=top>无</a><A HREF='1?a=1&amp;b=2'>一 <b>二</b></A><abbr>x</abbr>"
        '<!-- <a href=no>c</a> --><script>"<a href=no>"</script>'
        '<a class="q" href="2">三<a href=3>四'
    )
    found = find_source_links(html)
    assert [(link.href, link.text) for link in found] == [
        ("1?a=1&b=2", "一 二"),
        ("2", "三"),
        ("3", "四"),
    ]
    assert html[found[0].start : found[0].end].startswith("<A HREF")
    assert html[found[0].start : found[0].end].endswith("</A>")


@given(st.lists(st.sampled_from(GAPS), max_size=8))
def test_one_scan_measures_what_the_distances_measure(gaps: list[str]) -> None:
    html = "前<p>" + links(*gaps) + "</p>后"
    found, distances = scan_links(html, Distance.TEXT, 1000)
    between = [html[one.end : other.start] for one, other in pairwise(found)]
    assert found == find_source_links(html)
    assert distances == [text_distance(gap) for gap in between]
    assert scan_links(html, Distance.CODE, 1000) == (found, list(map(code_distance, between)))


def test_more_gap_never_covers_less() -> None:
    html = links(*("字" * (i % 25) for i in range(60)))
    rates = [find_link_blocks(html, Params(max_gap=gap)).lcr for gap in range(1, 30)]
    assert rates == sorted(rates)
    rates = [find_link_blocks(html, Params(max_gap=20, min_links=c)).lcr for c in range(2, 13)]
    assert rates == sorted(rates, reverse=True)


def test_text_outside_the_blocks() -> None:
    navigation = links("|", "|", "|")
    html = (
        f"<title>题</title><body>{navigation}<p>{'正' * 30}<b>文</b>{'文' * 30}</p>"
        f"<p>{'见' * 50}<a href=y>引</a>{'文' * 50}</p><script>var a</script>{navigation}<i>尾"
    )
    assert text_outside(html).split("\n") == [
        "正" * 30 + "文" * 31,
        "见" * 50 + "引" + "文" * 50,
        "尾",
    ]
    assert text_outside("") == ""
