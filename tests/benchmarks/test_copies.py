"""Changed copies change what they say, and no link or picture."""

from __future__ import annotations

import re
from datetime import date

import pytest
from lxml import html

from benchmarks.robust.addresses import blank_url
from benchmarks.robust.copies import COPIES, copy_page, copy_url
from benchmarks.robust.dates import as_time_ago, in_words

URL = "http://bbs.a.test/viewtopic.php?t=5&start=20"
POST = (
    '<div class="post bg{0}"><a href="./user.php?u={0}">Ann{0}</a> 发表于 2024-05-0{0} 08:30'
    '<img src="/face.gif"><p>那天 2020 年的雨一直下到傍晚才停，我们都没有带伞。</p></div>'
)
PAGE = f"""<html><head><title>雨天</title></head><body><div class="wrap" id="page">
{"".join(POST.format(n) for n in range(1, 5))}
<div class="side"><h3>相关阅读</h3><ul><li><a href="/t/1">昨天的雨停了没有</a></li>
<li><a href="/t/2">今天的雨停了没有</a></li><li><a href="/t/3">明天的雨停了没有</a></li></ul>
</div></div></body></html>"""


def copied(copy: str, *, is_list: bool = False) -> str:
    return copy_page(copy, "bbs.a.test", PAGE, is_list=is_list)


@pytest.mark.parametrize("copy", COPIES)
def test_links_and_pictures_stay_in_number_and_order(copy: str) -> None:
    before, after = html.fromstring(PAGE), html.fromstring(copied(copy, is_list=True))
    for tag in ("a", "img"):
        assert len(after.findall(f".//{tag}")) == len(before.findall(f".//{tag}"))
    if copy not in ("empty links",):
        texts = [[a.text_content() for a in root.iter("a")] for root in (before, after)]
        assert texts[0] == texts[1]


@pytest.mark.parametrize("copy", COPIES)
def test_a_copy_differs_and_is_the_same_each_time(copy: str) -> None:
    assert copied(copy, is_list=True) == copied(copy, is_list=True)
    assert "".join(copied(copy, is_list=True).split()) != "".join(PAGE.split())


def test_names_are_letters_that_pages_of_a_host_share() -> None:
    classes = re.findall('class="([^"]+)"', copied("names"))
    assert len(classes) == 6
    assert {name.split()[0] for name in classes[1:5]} == {classes[1].split()[0]}
    assert "post" not in " ".join(classes)
    assert 'class="wrap' not in copied("digits")
    assert re.search(r'class="W\d+ W\d+"', copied("digits"))


def test_repeated_parts_get_ids_and_modifiers() -> None:
    ids = re.findall(r'class="post bg\d" id="(p\d+)"', copied("ids"))
    assert len(set(ids)) == 4
    assert copied("profile").count("has-profile") == 4 + 3
    assert copied("widget").count("x-widget") == 6 + 3


def test_addresses_keep_their_form_and_agree() -> None:
    blank = copy_url("addresses", "bbs.a.test", URL)
    assert re.fullmatch(r"http://[a-z]+\.[a-z]+\.test/[a-z]+\.php\?[a-z]+=5&[a-z]+=20", blank)
    path = blank.partition(".test/")[2].partition("?")[0]
    assert blank_url("bbs.a.test", "./viewtopic.php") == f"./{path}"
    assert blank_url("a", "#p5") == "#p5"
    assert blank_url("a", "javascript:void(0)") == "javascript:void(0)"
    assert blank_url("a", "/%E4%BD/x%20y").startswith("/%E4%BD/")
    assert copy_url("names", "bbs.a.test", URL) == URL


def test_dates_of_short_lines_are_rewritten() -> None:
    assert in_words(date(2023, 12, 16)) == "16 十二月 '23"
    assert as_time_ago(date(2025, 12, 1)) == "31 天前"
    assert as_time_ago(date(2023, 12, 16)) == "2 年前"
    assert "发表于 1 五月 '24<" in copied("dates in words")
    assert "发表于 1 年前<" in copied("dates ago")
    hidden = copied("dates hidden")
    assert 'title="2024-05-01 08:30"' in hidden
    assert "发表于 <" in hidden
    assert "2024" not in copied("no dates")
    assert "2020 年的雨" in copied("no dates")


def test_lists_lose_titles_and_headings_change() -> None:
    assert copied("empty links") == PAGE
    lists = copied("empty links", is_list=True)
    assert "昨天的雨" not in lists
    assert "Ann1" in lists
    assert "<li>相关阅读</li><li>最新</li>" in copied("tabs")
    assert "相关阅读" not in copied("synonyms")
