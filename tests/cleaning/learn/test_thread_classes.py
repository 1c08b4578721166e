"""Threads without a word for forums: a URL class agrees on its posts, comments make none."""

from __future__ import annotations

from crawlclean import RawPage, SiteModel, clean, learn_site
from crawlclean.cleaning.records import PageKind, UrlKind

WORDS = "山路雨桥船灯树石云河门窗井塔田岸"
NAMES = ("阿明", "小红", "老周", "大刘", "素素")


def line(number: int, count: int = 6) -> str:
    """A sentence that no other number gives."""
    words = [WORDS[(number // 16**i + 3 * i) % 16] for i in range(count)]
    return f"我们说到{'和'.join(words)}，这是{number}个人的看法。"


def page(path: str, title: str, main: str) -> RawPage:
    html = (
        f"<html><head><title>{title}</title></head><body><div class='top'><a href='/'>首页</a>"
        f"</div><div class='x1'><h1>{title}</h1>{main}</div><div class='y'>本站所有内容归作者"
        "</div></body></html>"
    )
    return RawPage.from_bytes(f"http://a.test{path}", html.encode(), "text/html; charset=utf-8")


def post(number: int, text: str) -> str:
    name = NAMES[number % len(NAMES)]
    return (
        f'<div class="ka"><div class="kb"><a href="/m{number % len(NAMES)}">{name}</a></div>'
        f'<div class="kc">{text}</div></div>'
    )


def pages(article: str, posts: int) -> list[RawPage]:
    return [
        page(
            f"/q{n}.html",
            f"第{n}件事情的经过",
            article.format(n) + "".join(post(n + i, line(100 * n + i)) for i in range(posts)),
        )
        for n in range(1, 13)
    ]


def kinds(model: SiteModel, sample: list[RawPage]) -> set[UrlKind]:
    return {model.url_kind(one.url) for one in sample}


def test_posts_without_dates_on_pages_without_words_are_threads() -> None:
    sample = pages("", 4)
    model = learn_site(sample)
    assert kinds(model, sample) == {UrlKind.THREAD}
    record = clean(page("/q99.html", "第99件事情", post(1, line(7)) + post(2, "好的")), model)
    assert record.kind is PageKind.THREAD
    assert [(one.author, one.body) for one in record.posts] == [("小红", line(7)), ("老周", "好的")]


def test_comments_below_articles_make_no_threads() -> None:
    article = "<div class='z'>" + "".join(f"<p>{line(i)}{{}}</p>" for i in range(12)) + "</div>"
    sample = pages(article.replace("{}", "{0}"), 4)
    model = learn_site(sample)
    assert UrlKind.THREAD not in kinds(model, sample)
    assert model.post_rule is None
    assert clean(sample[0], model).kind is PageKind.ARTICLE


def test_lists_with_excerpts_are_no_threads() -> None:
    card = (
        '<div class="ka"><h2><a href="/p{0}.html">{1}</a></h2><div class="kb"><a href="/m{2}">{3}'
        '</a></div><div class="kc">{4}</div></div>'
    )
    sample = [
        page(
            f"/month/{n}.html",
            f"{n}月的文章",
            "".join(
                card.format(10 * n + i, line(n + i)[4:14], i, NAMES[i], line(70 * n + i) * 2)
                for i in range(5)
            ),
        )
        for n in range(1, 9)
    ]
    model = learn_site(sample)
    assert UrlKind.THREAD not in kinds(model, sample)
    assert model.post_rule is None
