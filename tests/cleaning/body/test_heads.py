"""The title and what stands about a text above it are fields of a record, not of its body."""

from __future__ import annotations

import pytest

from crawlclean import RawPage, SiteModel, clean, learn_site
from crawlclean.cleaning.records import VerdictReason
from crawlclean.cleaning.why import verdicts

NAMES = ("渔港", "果园", "渡口", "石桥", "茶山", "盐田", "灯塔", "水磨", "窑场", "花市")
SENTENCE = (
    "{name}的老人说，今年{n}月的风比往年大得多，可是集市上的人一点也没有少，天不亮就有人来了。"
)

HEADS = {
    "one_part": "<h1>{title}</h1><div>日期：2026-03-{n} 作者：周船 人气：{n}31</div>",
    "lines": "<h1>{title}</h1><p>作者：周船</p><p>时间：2026年3月{n}日</p>",
    "crumbs": "<p>位置：山城网</p><h1>{title}</h1><p>2026-03-{n} 08:1{n}</p>",
    "no_heading": "<b>{title}</b><br>来源：山城日报 发布时间：2026-03-{n}<br>",
}


def page(n: int, head: str, lead: str = "") -> RawPage:
    title = f"{NAMES[n]}边上的第{n}个早市开张了"
    text = "".join(f"<p>{SENTENCE.format(name=NAMES[n], n=n + i)}</p>" for i in range(1, 4))
    html = f"""<title>{title}</title><div class=top><a href=/>首页</a> <a href=/list>早市</a></div>
        <div class=text>{head.format(title=title, n=n + 1)}{lead}{text}</div>
        <div>山城网版权所有</div>"""
    return RawPage.from_bytes(f"http://www.example.com/news/{n}.html", html.encode())


def model_of(head: str) -> SiteModel:
    return learn_site([page(n, head) for n in range(8)])


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
@pytest.mark.parametrize("has_model", [False, True], ids=["alone", "with_model"])
def test_no_body_begins_with_title_and_byline(head: str, *, has_model: bool) -> None:
    one = page(9, head)
    record = clean(one, model_of(head) if has_model else None)
    assert record.title == "花市边上的第9个早市开张了"
    assert record.published_at is not None
    assert record.body == "\n".join(SENTENCE.format(name="花市", n=9 + i) for i in range(1, 4))


@pytest.mark.parametrize(
    "lead",
    [
        "<p>作者说：“风大。”</p>",
        "<p>花市一年开十二次，每一次都从2026年3月9日那样的早晨开始，没有人记得它最早是从哪一年开始的，也没有人问</p>",
    ],
)
def test_a_sentence_stays_though_it_has_a_date(lead: str) -> None:
    one = page(9, HEADS["one_part"], lead)
    for model in (None, model_of(HEADS["one_part"])):
        assert clean(one, model).body.startswith(lead[3:-4])


def test_why_says_what_they_are() -> None:
    one = page(9, HEADS["one_part"])
    told = {verdict.text: verdict.reason for verdict in verdicts(one, model_of(HEADS["one_part"]))}
    assert told["日期：2026-03-10 作者：周船 人气：1031"] is VerdictReason.ABOUT_TEXT
    assert told["花市边上的第9个早市开张了"] in (VerdictReason.TITLE, VerdictReason.TITLE_LINE)
