"""A model gives way to the page alone where it would lose text that only one page has."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from crawlclean import BodySource, RawPage, clean, learn_site
from crawlclean.cleaning.body.page_body import Body, make_body
from crawlclean.cleaning.learn.dropped import losing_classes
from crawlclean.cleaning.learn.views import Sample, read_sample, view

SENTENCE = (
    "第{n}号渔船昨天夜里回到了港口，船上的人都说那边的风浪比往年大得多，{n}个人一夜没有合眼。"
)
NOTICE = "这些渔船的故事都由镇上的老人口述，由几位年轻的老师记下来整理成文。"


def page(url: str, title: str, inner: str) -> RawPage:
    return RawPage.from_bytes(
        f"http://www.example.com{url}",
        f"""<title>{title}_海边小站</title><div class=top><a href=/>首页</a></div><div class=main>
        <h1>{title}</h1>{inner}</div><div class=foot>海边小站版权所有</div>""".encode(),
    )


def article(n: int, notice: str = "") -> RawPage:
    text = "".join(f"<p>{SENTENCE.format(n=100 * n + i)}</p>" for i in range(5))
    links = f"<a href=/a/{n}.html>上一篇：渔船之{n}</a> <a href=/b/{n}.html>下一篇：渔船{n}</a>"
    inner = f"<div class=text>{text}{notice}</div><div class=extra>{links}</div>"
    return page(f"/news/{n}.html", f"渔港见闻之{n}", inner)


def offer(n: int, folder: str = "jobs") -> RawPage:
    """A page with a third of its text at the place of articles, and two thirds below it."""
    more = "".join(f"<p>{SENTENCE.format(n=each + n)}</p>" for each in (5000, 6000))
    inner = f"<div class=text><p>{SENTENCE.format(n=7000 + n)}</p></div><div class=extra>{more}"
    return page(f"/{folder}/{n}.html", f"招聘启事第{n}号", f"{inner}</div>")


@pytest.mark.parametrize("offers", [0, 1, 2])
def test_another_kind_of_page_keeps_what_stands_outside_the_place(offers: int) -> None:
    """That all articles have their body at a place proves nothing for other URL classes."""
    model = learn_site([article(n) for n in range(20)] + [offer(n) for n in range(offers)])
    new = offer(77)
    assert clean(new, model).body.count("渔船") == clean(new).body.count("渔船") == 3


@pytest.mark.parametrize(("articles", "offers"), [(8, 2), (16, 4), (30, 3)])
def test_two_kinds_of_pages_in_one_class_have_each_its_place(articles: int, offers: int) -> None:
    """The place of most pages does not beat the one that has what the page's own body has."""
    pages = [article(n) for n in range(articles)]
    model = learn_site(pages + [offer(9000 + n, "news") for n in range(offers)])
    new = offer(9077, "news")
    assert clean(new, model).body.count("渔船") == 3
    assert clean(article(77), model).body.count("渔船") == 5


def read(pages: list[RawPage], kept: dict[str, int]) -> tuple[Sample, list[Body]]:
    """A sample, and bodies with the first lines of the page's own, as many as ``kept`` has."""
    sample = read_sample([view(each) for each in pages])
    bodies = []
    for one in sample.views:
        count = kept.get(one.page.url.split("/")[3], 99)
        lines = one.body.lines[:count]
        bodies.append(make_body(one.tree, lines, BodySource.SITE, one.body.title_line))
    return sample, bodies


def test_a_class_loses_by_text_that_no_other_page_has() -> None:
    pages = [article(n) for n in range(6)] + [offer(n) for n in range(4)]
    assert losing_classes(*read(pages, {})) == ()
    assert losing_classes(*read(pages, {"jobs": 1})) == ("/jobs/*.html",)
    assert losing_classes(*read(pages, {"jobs": 1, "news": 2})) == ("/jobs/*.html", "/news/*.html")


def test_a_class_does_not_lose_by_text_that_repeats() -> None:
    pages = [article(n, f"<p>{NOTICE}</p>") for n in range(6)]
    assert NOTICE in clean(pages[0]).body
    assert losing_classes(*read(pages, {"news": 5})) == ()


def test_a_class_that_gave_way_is_read_alone() -> None:
    pages = [article(n) for n in range(8)]
    model = learn_site(pages)
    rule = replace(model.body_rule, alone=("/news/*.html",))
    record = clean(pages[0], structs.replace(model, body_rule=rule))
    assert record.body_source is BodySource.CONTAINER
    assert clean(pages[0], model).body_source is BodySource.SITE
