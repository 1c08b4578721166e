"""A host learned from few pages, of several kinds: no text of a page alone is lost."""

from __future__ import annotations

import random

import pytest

from crawlclean import LinkKind, RawPage, SiteModel, clean, learn_site
from crawlclean.cleaning.records import BodySource

WORDS = "山水城河路桥春秋风雨花树云月江湖田野村镇船车马牛羊鱼鸟石木火土金天地日星海岛沙草"
NAV = "<div class=nav><a href=/>首页</a> <a href=/b>新闻</a></div>"
FOOT = "<div class=foot>版权所有 山城网</div>"


def text(key: str, count: int = 120) -> str:
    """A sentence of its own for every key."""
    chance = random.Random(key)
    return "".join(chance.choice(WORDS) for _ in range(count)) + "。"


def paragraphs(key: object, count: int, chars: int = 120) -> str:
    return "".join(f"<p>{text(f'{key} {j}', chars)}</p>" for j in range(count))


def page(path: str, inner: str, title: str = "") -> RawPage:
    title = title or text(path, 8)
    html = f"<title>{title}_山城网</title><body>{NAV}<div class=main>{inner}</div>{FOOT}"
    return RawPage.from_bytes(f"http://www.example.com{path}", html.encode())


def article(i: int) -> RawPage:
    title = text(f"title {i}", 12)
    related = "".join(f"<dd><a href=/a/{j}.html>{text(f'related {i} {j}', 14)}</a> 11-10</dd>"
                      for j in range(6))  # fmt: skip
    body = paragraphs(i, 8, 150)
    return page(
        f"/a/{i}.html",
        f"<h1>{title}</h1><div class=info>2014-11-10 16:{i % 60:02d} 来源：山城网</div>"
        f"<div class=con>{body}</div><dl class=rel><dt>延伸阅读：</dt>{related}</dl>",
        title,
    )


def topic(i: int) -> RawPage:
    return page(f"/q/{i}/", f"<div class=intro>{paragraphs(f'topic {i}', 4)}</div>")


@pytest.mark.parametrize(("articles", "topics"), [(1, 2), (2, 1), (3, 2), (10, 10), (20, 0)])
def test_lists_and_articles_in_one_wrapper_do_not_widen_the_body(
    articles: int, topics: int
) -> None:
    model = learn_site([*map(article, range(articles)), *map(topic, range(topics))])
    for new in (article(77), topic(77)):
        body, alone = clean(new, model).body, clean(new).body
        assert body.startswith(alone)
        assert body == alone or articles + topics <= 3, "of so few pages, what is around stays"


def test_a_paragraph_is_left_out_only_with_the_lines_that_repeat() -> None:
    pages = [
        page(
            f"/news/{i}.html",
            "<div class=acc>"
            + "".join(f"<p class=Normal>{text(f'{i} {j}', 60)}</p>" for j in range(6))
            + "</div>",
        )
        for i in range(4)
    ]
    pages += [
        page(
            f"/news/{i}.html",
            "<div class=acc>"
            + "".join(f"<div>{text(f'{i} {j}', 60)}</div>" for j in range(6))
            + f"<p><a href=/{i}.doc>点击查看大图</a></p></div>",
        )
        for i in (6, 7)
    ]
    new = page(
        "/news/99.html",
        "<div class=acc><p>活动对象：所有报名的新老学员</p><p>活动内容：提前报名享一百元优惠</p>"
        f"<div>{text('99', 60)}</div><p>地点：清华东路16号</p></div>",
    )
    assert clean(new, learn_site(pages)).body == clean(new).body


def numbered(i: int) -> RawPage:
    body = paragraphs(i, 4)
    return page(
        f"/{i}.html",
        f"<div class=W1>{text(f'title {i}', 12)}</div><div class=W2>{body}</div>"
        f"<div class=W3><a href=/{i - 1}.html>{text(f'title {i - 1}', 12)}</a>"
        f" <a href=/{i + 1}.html>{text(f'title {i + 1}', 12)}</a></div>",
    )


def test_names_that_differ_by_their_numbers_are_told_apart() -> None:
    model = learn_site(map(numbered, range(8)))
    assert [place.path for place in model.body_rule.places] == ["html/body/div.main/div.W2"]
    assert clean(numbered(77), model).body == clean(numbered(77)).body
    assert SiteModel.from_json(model.to_json()) == model


def test_numbers_of_posts_tell_nothing_apart() -> None:
    pages = [
        page(
            f"/{i}.html",
            f"<div class=post id=post-{i}>{paragraphs(i, 4)}</div>"
            f"<div id=post-{i + 1}>{text(f'next {i}', 8)}</div>",
        )
        for i in range(0, 20, 2)
    ]
    places = learn_site(pages).body_rule.places
    assert [place.path for place in places] == ["html/body/div.main/div.post.post-#"]


def review(i: int) -> RawPage:
    notice = "本站转载的文章版权归原作者所有，" * 18
    html = (
        f"<title>{text(f'title {i}', 8)}</title><body><table><tr><td>{paragraphs(i, 5)}"
        f"<p>{notice}。</p></td></tr></table>"
    )
    return RawPage.from_bytes(f"http://www.example.com/reviews/{i}.htm", html.encode())


def test_a_long_notice_under_every_page_of_a_class_is_template() -> None:
    others = [topic(i) for i in range(12)]
    model = learn_site([*map(review, range(5)), *others])
    alone, learned = clean(review(77)).body, clean(review(77), model).body
    assert "本站转载" in alone
    assert learned == alone[: alone.index("\n本站转载")]


def chapter(i: int) -> RawPage:
    before = f"<a href=/c/{i - 1}.html>{text(f'title {i - 1}', 8)}</a>" if i % 3 else ""
    links = f"<div class=chapter>{before} <a href=/c/{i + 1}.html>{text(f'title {i + 1}', 8)}</a>"
    links += "</div>"
    body = paragraphs(i, 4) + f"<pre>print({i})</pre>"
    return page(f"/c/{i}.html", f"<div class=text>{links}{body}{links}</div>")


def test_links_above_and_below_the_body_are_left_out() -> None:
    body = clean(chapter(77), learn_site(map(chapter, range(20)))).body
    assert body.startswith(text("77 0"))
    assert body.endswith("print(77)")


def product(i: int) -> RawPage:
    rows = "".join(f"<tr><td>{text(f'{i} a {j}', 3)}<td>{text(f'{i} b {j}', 12)}" for j in range(6))
    uses = "".join(f"<li>{text(f'{i} use {j}', 16)}</li>" for j in range(4))
    return page(
        f"/p/{i}.html",
        f"<h1>{text(f'title {i}', 9)}</h1><div class=price>￥{i * 7 % 99}</div><div class=tabs>"
        f"<div class=desc><p>{text(f'{i} 1', 60)}</p><p>{text(f'{i} 2', 70)}</p></div>"
        f"<div class=spec><table>{rows}</table></div><div class=use><ul>{uses}</ul></div></div>",
    )


def test_one_box_of_several_is_not_the_body() -> None:
    model = learn_site(map(product, range(8)))
    assert [place.path for place in model.body_rule.places] == ["html/body/div.main/div.tabs"]
    assert text("77 use 3", 16) in clean(product(77), model).body


def test_two_pages_prove_no_template() -> None:
    pages = [
        page(
            f"/{i}.html",
            f"<div class=c><h2>前言</h2><p>{text(f'{i} 1')}</p><p>{text(f'{i} 2')}</p>"
            "<h2>完成</h2></div>",
        )
        for i in range(2)
    ]
    new = page("/9.html", f"<div class=d><p>前言</p><p>{text('9')}</p><p>{text('8')}</p></div>")
    assert clean(new, learn_site(pages)).body == clean(new).body


def test_error_pages_answered_with_200_teach_nothing() -> None:
    missing = [
        page(f"/{i}.html", "<h1>404 Not Found</h1><p>您访问的页面不存在，请检查地址是否正确。</p>")
        for i in range(8)
    ]
    model = learn_site([page("/", f"<div class=home>{text('home')}</div>"), *missing])
    new = page("/99.html", paragraphs(99, 5))
    assert model.body_rule.places == ()
    assert clean(new, model).body == clean(new).body


def test_tags_that_repeat_stay_tags() -> None:
    cloud = "".join(f"<a href=/tag/{word}/ rel=tag>{word}</a> " for word in "山水城河路桥")
    pages = [
        page(f"/{i}.html", f"{paragraphs(i, 4)}<div class=tagcloud>{cloud}</div>") for i in range(6)
    ]
    kinds = {link.kind for link in clean(pages[0], learn_site(pages)).links if "/tag/" in link.url}
    assert kinds == {LinkKind.TAG}


def described(i: int, described: int, members: int) -> RawPage:
    inner, outer = paragraphs(f"described {i}", described), paragraphs(f"member {i}", members)
    return page(f"/api/{i}.html", f"<div class=all>{outer}<div class=descr>{inner}</div></div>")


def test_a_place_that_holds_a_piece_of_a_body_gives_way() -> None:
    model = learn_site([described(i, described=6, members=0) for i in range(3)])
    assert model.body_rule.places[0].path.endswith("div.descr")
    whole, piece = described(77, described=4, members=0), described(78, described=2, members=6)
    for new in (whole, piece):
        assert clean(new, model).body == clean(new).body


def contents(i: int) -> RawPage:
    teasers = "".join(
        f"<div class=card><h3><a href=/a/{i}{j}.html>{text(f'card {i} {j}', 16)}</a></h3>"
        f"<p>{text(f'about {i} {j}', 30)}</p></div>"
        for j in range(12)
    )
    return page(f"/c/{i}.html", f"<div class=cards>{teasers}</div><p>{text(f'end {i}', 25)}</p>")


def test_a_list_stays_one_with_a_model() -> None:
    new = contents(77)
    assert clean(new).body_source is BodySource.LIST
    for pages in ([article(0)], [*map(article, range(6)), contents(0)], [*map(contents, range(3))]):
        assert clean(new, learn_site(pages)).body == clean(new).body


def flat(i: int) -> RawPage:
    """A page without names, with a line of links between its texts, and a menu above."""
    inner = paragraphs(i, 4, 90)
    return RawPage.from_bytes(
        f"http://www.example.com/man/{i}.html",
        f"<title>{text(f'title {i}', 9)}</title><body>"
        "<p><a href=/>首页</a> <a href=/b>新闻</a> <a href=/c>文档</a></p>"
        f"<h1>{text(f'title {i}', 9)}</h1>{inner}"
        f"<p><a href=/x{i}.html>{text(f'see {i}', 12)}</a> <a href=/y{i}.html>"
        f"{text(f'and {i}', 12)}</a></p>{inner.replace('<p>', '<p>续')}"
        "<p><a href=/d>版权</a></p>".encode(),
    )


def test_a_page_without_names_keeps_what_stands_between_its_texts() -> None:
    model = learn_site(map(flat, range(6)))
    new = flat(77)
    see = text("see 77", 12)
    alone, body = clean(new).body, clean(new, model).body
    assert see not in alone
    assert see in body
    assert (body.splitlines()[0], body.splitlines()[-1]) == (
        alone.splitlines()[0],
        alone.splitlines()[-1],
    )


def test_a_place_that_a_page_contradicts_loses_nothing() -> None:
    def post(i: int) -> RawPage:
        body = paragraphs(f"post {i}", 6)
        notes = paragraphs(f"note {i}", 20, 60)
        thanks = "<div class=thanks><div>坚持原创技术分享</div><div>微信打赏</div></div>"
        notes = f"<div class=comments>{notes * (i == 1)}</div>"
        inner = f"<div class=post>{body}</div>{thanks}{notes}"
        return page(f"/2016/{i}/index.html", f"<div class=inner>{inner}</div>")

    def month(i: int) -> RawPage:
        inner = f"<div class=inner>{paragraphs(f'month {i}', 9, 90)}</div>"
        return page(f"/page/{i}/index.html", inner)

    model = learn_site([post(1), month(2), month(3)])
    assert [(p.seen_on, p.on.bit_count()) for p in model.body_rule.places] == [(3, 2)]
    assert clean(post(77), model).body.startswith(clean(post(77)).body)
