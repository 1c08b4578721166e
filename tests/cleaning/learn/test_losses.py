"""A model loses no text of a page that has its body elsewhere than most pages."""

from __future__ import annotations

import pytest

from crawlclean import RawPage, clean, learn_site

SENTENCE = (
    "第{n}号渔船昨天夜里回到了港口，船上的人都说那边的风浪比往年大得多，{n}个人一夜没有合眼。"
)


def page(url: str, title: str, inner: str) -> RawPage:
    return RawPage.from_bytes(
        f"http://www.example.com{url}",
        f"""<title>{title}_海边小站</title><div class=top><a href=/>首页</a></div><div class=main>
        <h1>{title}</h1>{inner}</div><div class=foot>海边小站版权所有</div>""".encode(),
    )


def article(n: int) -> RawPage:
    text = "".join(f"<p>{SENTENCE.format(n=100 * n + i)}</p>" for i in range(5))
    links = f"<a href=/a/{n}.html>上一篇：渔船之{n}</a> <a href=/b/{n}.html>下一篇：渔船{n}</a>"
    inner = f"<div class=text>{text}</div><div class=extra>{links}</div>"
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
    assert clean(new, model).body.count("一夜没有合眼") == 3
    assert clean(article(77), model).body.count("一夜没有合眼") == 5
