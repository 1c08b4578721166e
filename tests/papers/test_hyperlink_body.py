"""Ren, Liu 2010: the cases of the paper and the readings named in the module."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from crawlclean.cleaning.papers.hyperlink_body import (
    Params,
    count_text_units,
    find_long_gaps,
    hyperlink_body,
    split_at_links,
    strip_hidden,
)

LONG = "这一段文字超过了十五个汉字所以它算是正文"
SHORT = "只有几个字"


def link(text: str) -> str:
    return f'<a href="/x">{text}</a>'


def test_figure_1_links_inside_the_body_stay() -> None:
    html = f"<body>{LONG}{link('姚明')}{LONG}{link('休斯顿火箭')}{LONG}</body>"
    result = hyperlink_body(html)
    assert result.text == f"{LONG}姚明{LONG}休斯顿火箭{LONG}"
    assert result.kept_links == (0, 1)


def test_figure_3_a_body_of_one_sentence_among_much_advertising() -> None:
    ads = " ".join(link(f"特价广告第{i}号，全场包邮买一送一快来抢购") for i in range(200))
    html = f"<html><body><div>{ads}</div><p>{LONG}。</p><div>{ads}</div></body></html>"
    result = hyperlink_body(html)
    assert result.text == f"{LONG}。"
    assert result.kept_links == ()
    assert result.link_count == 400


def test_a_page_of_links_only_has_no_body() -> None:
    html = "<body>" + "|".join(link(f"频道{i}") for i in range(50)) + "</body>"
    assert hyperlink_body(html).text == ""


def test_a_page_without_links_is_all_body() -> None:
    assert hyperlink_body(f"<body><p>{SHORT}</p></body>").text == SHORT


@pytest.mark.parametrize(("chars", "kept"), [(14, False), (15, True)])
def test_the_threshold_is_strict(chars: int, kept: bool) -> None:
    middle = "字" * chars
    html = f"<body>{link('一')}{middle}，。{link('二')}</body>"
    assert (middle in hyperlink_body(html).text) == kept


def test_the_threshold_is_a_parameter() -> None:
    html = f"<body>{link('一')}{SHORT}{link('二')}</body>"
    assert hyperlink_body(html, Params(min_gap_units=5)).text == f"一{SHORT}二"
    assert hyperlink_body(html, Params(min_gap_units=6)).text == ""


def test_both_links_of_a_short_gap_go_with_it() -> None:
    html = f"<body>{LONG}{link('一')}和{link('二')}{LONG}</body>"
    result = hyperlink_body(html)
    assert result.text == f"{LONG}\n{LONG}"
    assert result.kept_links == ()


def test_one_long_side_keeps_a_text_but_no_link() -> None:
    html = f"<body>{link('一')}{SHORT}{link('二')}{LONG}{link('三')}{SHORT}{link('四')}</body>"
    assert hyperlink_body(html).text == LONG


def test_an_anchor_without_href_is_no_hyperlink() -> None:
    assert split_at_links('a<a name="x">b</a>c') == (["abc"], [])


def test_a_link_ends_where_the_next_one_starts() -> None:
    assert split_at_links("<a href=1>一<a href=2>二</a>三") == (["", "", "三"], ["一", "二"])
    assert split_at_links("零<a href=1>一") == (["零", ""], ["一"])


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("", 0),
        ("，。！", 0),
        ("今天天气好", 5),
        ("NBA火箭队", 4),
        ("it's a fine day", 4),
        ("2010年3月", 4),
        ("かなカナ", 4),
        ("대한민국", 4),
    ],
)
def test_units(text: str, units: int) -> None:
    assert count_text_units(text) == units
    assert count_text_units(text, 2) == min(units, 2)


@pytest.mark.parametrize(
    ("html", "left"),
    [
        ("a<!-- x <a href=1> -->b", "ab"),
        ("a<style>p {}</style>b", "ab"),
        ("a<SCRIPT>x = 1</SCRIPT >b", "ab"),
        ("a<script>x = 1<p>b</p>", "a<p>b</p>"),
        ("a<style>p {}<!-- x --><div>b", "a<div>b"),
        ('a<script>write("<a href=1>x</a>")</script>b', "ab"),
        ("a<script>x = 1", "a"),
        ("a<!-- never closed <p>b", "a"),
    ],
)
def test_style_script_and_comments_go(html: str, left: str) -> None:
    assert strip_hidden(html) == left


def test_the_papers_own_pairing_breaks_on_tags_in_strings() -> None:
    html = 'a<script>write("<b>x</b>")</script>b'
    assert strip_hidden(html, literal_pairing=True) == 'a<b>x</b>")</script>b'
    assert strip_hidden("a<script>x</script>b", literal_pairing=True) == "ab"


def test_first_and_last_text_are_long_of_their_own() -> None:
    assert find_long_gaps(["", SHORT, ""]) == [True, False, True]
    assert find_long_gaps([""]) == [True]


@given(st.text(alphabet="<>ahref=/\"' 字x!-script&;\n", max_size=200))
def test_any_source_is_read(html: str) -> None:
    result = hyperlink_body(html)
    assert len(result.kept_links) <= result.link_count
