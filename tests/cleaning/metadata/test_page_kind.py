from __future__ import annotations

import pytest

from crawlclean import PageKind, RawPage, clean
from crawlclean.cleaning.metadata.metadata import kind_of_words

TEXT = (
    "入秋以来，青石镇的三百亩柿子陆续成熟，漫山遍野一片金黄，"
    "合作社连日组织村民上山采摘，争取在霜降以前收完。"
)
NAVIGATION = "".join(f"<a href=/{i}/>栏目</a> " for i in range(12))
HEADLINES = "".join(f"<li><a href=/{i}.html>第{i}条新闻的标题写得很长</a></li>" for i in range(40))
TEASERS = "".join(
    f"<div class=post><h2><a href=/{i}.html>第{i}篇文章的标题</a></h2><p>{TEXT}{i}</p></div>"
    for i in range(12)
)
ARTICLE = (
    f"<title>柿子熟了_山城网</title>{NAVIGATION}<h1>柿子熟了</h1>"
    f"<div class=c><p>{TEXT}<p>{TEXT[3:]}</div>"
)
COLLECTION = '<script type=application/ld+json>{"@type": "CollectionPage"}</script>'
QUESTION = '<script type=application/ld+json>{"@type": "QAPage"}</script>'


def kind(html: str, url: str) -> PageKind:
    return clean(RawPage.from_bytes(url, html.encode())).kind


@pytest.mark.parametrize(
    ("html", "path", "expected"),
    [
        (ARTICLE, "2026/1101/88.html", PageKind.ARTICLE),
        (ARTICLE + f"<h3>热点</h3><ul>{HEADLINES}</ul>", "88.html", PageKind.ARTICLE),
        (f"<title>国内_山城网</title>{NAVIGATION}<ul>{HEADLINES}</ul>", "guonei/", PageKind.INDEX),
        (f"<title>山城网</title>{NAVIGATION}{TEASERS}", "", PageKind.INDEX),
        (f"<title>山城网</title>{NAVIGATION}{TEASERS}", "page/3", PageKind.INDEX),
        (COLLECTION + f"<title>柿子</title>{TEASERS}", "shizi.html", PageKind.INDEX),
        (QUESTION + ARTICLE, "q.html", PageKind.THREAD),
        (f"<title>登录</title>{NAVIGATION}<form>密码<input></form>", "login", PageKind.OTHER),
        (f"<title>搜索</title>{NAVIGATION}<form>搜索<input></form>", "search?q=1", PageKind.OTHER),
        (f"<title>张三</title>{NAVIGATION}<p>张三 积分 10</p>", "user/1", PageKind.OTHER),
        ("<title>404</title><p>没有这一页</p>", "88.html", PageKind.OTHER),
        ("", "88.html", PageKind.OTHER),
    ],
)  # fmt: skip
def test_kinds(html: str, path: str, expected: PageKind) -> None:
    assert kind(html, f"http://www.example.com/{path}") is expected


NEWS = '<script type=application/ld+json>{"@type": "NewsArticle", "headline": "柿子熟了"}</script>'
CHANNELS = "".join(f"<a href=/{i}/>栏目{i}</a> " for i in range(40))


@pytest.mark.parametrize(
    "text",
    [
        "<p>柿子节改在周日，地点不变。</p><p>请大家互相转告。</p>",
        "<img src=/1.jpg><p>第一筐柿子下山。张三摄</p><img src=/2.jpg><p>孩子们在树下。</p>",
        "<p>各村：</p><p>柿子节改在周日。</p>",
    ],
)
@pytest.mark.parametrize("path", ["a/tz.html", "tz/"])
@pytest.mark.parametrize(
    ("between", "is_dated"),
    [
        ("<div class=info>2026-11-01 08:15 来源：山城日报</div>", True),
        ("<p>发布日期：民國115年11月1日</p>", True),
        ("<p>截止：2026-11-01</p>", False),
        ("", False),
    ],
)
def test_a_short_text_under_a_date_is_an_article(
    text: str, path: str, between: str, *, is_dated: bool
) -> None:
    top = f"<title>柿子节的通知 - 山城网</title>{CHANNELS}<h1>柿子节的通知</h1>"
    side = f"<div class=side><h3>热点</h3><ul>{HEADLINES[:160]}</ul></div>"
    page = f"{top}{between}<div class=text>{text}</div>{side}"
    assert (kind(page, f"http://www.example.com/{path}") is PageKind.ARTICLE) is is_dated


def test_who_declares_an_article_has_one_beside_any_number_of_teasers() -> None:
    page = f"<title>柿子熟了_山城网</title><h1>柿子熟了</h1><p>{TEXT}</p>{TEASERS}"
    assert kind(page, "http://www.example.com/a/shizi.html") is PageKind.INDEX
    assert kind(NEWS + page, "http://www.example.com/a/shizi.html") is PageKind.ARTICLE


@pytest.mark.parametrize(
    ("path", "href", "expected"),
    [
        ("a/shizi.html", "/a/shizi.html", PageKind.ARTICLE),
        ("?p=3289", "/?p=3289", PageKind.ARTICLE),
        ("a/shizi.html", "/a/others.html", PageKind.INDEX),
        ("", "/", PageKind.INDEX),
    ],
)
def test_a_title_that_leads_to_its_own_page(path: str, href: str, expected: PageKind) -> None:
    title = f"<title>柿子熟了</title>{CHANNELS * 9}<h1><a href='{href}'>柿子熟了</a></h1>"
    page = f"{title}<div class=c><p>{TEXT}<p>{TEXT[3:]}</div><ul>{HEADLINES}</ul>"
    assert kind(page, f"http://www.example.com/{path}") is expected


PROSE = f"<title>柿子_山城网</title>{NAVIGATION}<h1>柿子熟了</h1>" + f"<p>{TEXT}{TEXT[3:]}</p>" * 5
LOGIN_BOX = "<form action=/in><input name=u><input type=password></form>"
TERMS = "<title>注册</title><h1>注册</h1>" + f"<p>{TEXT}</p>" * 12 + LOGIN_BOX


@pytest.mark.parametrize(
    ("html", "path", "expected"),
    [
        (PROSE, "register/x.html", PageKind.ARTICLE),
        (PROSE, "library/logging.html", PageKind.ARTICLE),
        (PROSE, "logging/r01.html", PageKind.ARTICLE),
        (PROSE, "passport/2026/how-to-login.html", PageKind.ARTICLE),
        (PROSE, "signup.html", PageKind.ARTICLE),
        (PROSE, "library/_thread.html", PageKind.ARTICLE),
        (LOGIN_BOX + PROSE, "register/x.html", PageKind.ARTICLE),  # a login box on every page
        (TERMS, "register", PageKind.OTHER),
        (TERMS, "user/register.php?step=1", PageKind.OTHER),
        (f"<title>登录</title>{LOGIN_BOX}<p>{TEXT * 3}</p>", "login/a.html", PageKind.OTHER),
        (f"<title>登录</title>{NAVIGATION}<p>请先登录</p>", "passport/a.html", PageKind.OTHER),
        (PROSE, "member.php?mod=logging&action=login", PageKind.OTHER),
    ],
)  # fmt: skip
def test_words_of_login_pages_need_a_page_that_agrees(
    html: str, path: str, expected: PageKind
) -> None:
    assert kind(html, f"http://www.example.com/{path}") is expected


def test_kinds_of_forum_pages() -> None:
    rows = "".join(
        f"<tr class=row><td><a href=/thread-{i}.html>第{i}个主题的标题</a>"
        f"<td>张三<td>2026-11-0{1 + i % 9}</tr>"
        for i in range(20)
    )
    board = f"<title>果树 - 山货论坛</title><h1>果树</h1><table>{rows}</table>"
    host = "http://bbs.example.com/"
    assert kind(board, host + "forum.php?mod=forumdisplay&fid=3") is PageKind.INDEX
    assert kind(board, host) is PageKind.INDEX
    short = "<title>柿子 - 山货论坛</title><h1>柿子</h1><div class=post><p>好吃吗</p></div>"
    assert kind(short, host + "forum.php?mod=viewthread&tid=3&extra=page%3D1") is PageKind.THREAD
    assert kind(short, host + "forum.php?mod=post&action=reply&tid=3") is PageKind.OTHER


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("viewtopic.php?id=3", "post"),
        ("forum/guoshu-2/topic/shizi-1/", "thread"),
        ("forum-2-1.htm?orderby=tid", "index"),
        ("home.php?mod=space&id=3", "other"),
        ("member.php?mod=logging&action=login", "form"),
        ("account/register/", "login"),
        ("library/logging.html", ""),
        ("index.php?action=profile;u=3", "other"),
        ("2026/1101/88.html", ""),
        ("88.html?from=search", ""),
    ],
)
def test_words_of_addresses(path: str, kind: str) -> None:
    assert kind_of_words("http://www.example.com/" + path) == kind


@pytest.mark.parametrize("piece", ["1", "/p1", "page1", "/1.", "index.", "a1"])
def test_long_addresses(piece: str) -> None:
    assert kind(ARTICLE, "http://www.example.com/" + piece * 20_000) in PageKind
