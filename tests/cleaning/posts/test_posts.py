"""Posts of threads: where they are, who wrote them, what they quote; joining; learned rules."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given, strategies as st

from crawlclean import SiteModel, clean, learn_site
from crawlclean.cleaning.document.document import RawPage
from crawlclean.cleaning.records import PageKind
from tests.kit.thread_pages import learn_post_rule

URL = "http://forum.example/thread/7"
FETCHED_AT = datetime(2024, 6, 1, tzinfo=UTC)
NAMES = ("李明", "wang_88", "小鹿", "Old Tom", "李明", "阿七")
TEXTS = (
    "新买的自行车骑了一个月，链条总是响，请问大家用什么油？",
    "先用煤油洗干净，再上专用的链条油，机油太粘容易粘沙子。",
    "同意",
    "我的也是这样，换了飞轮以后就好了，可能是磨损得太厉害。",
    "谢谢各位，周末我试试看！",
    "顶",
)


def post(number: int, text: str, quote: str = "") -> str:
    quoted = f'<blockquote class="quote">{quote}</blockquote>' if quote else ""
    return f"""<div class="item {"odd" if number % 2 else "even"}" id="p{900 + number}">
<div class="side"><a href="/member/{NAMES[number - 1]}">{NAMES[number - 1]}</a><p>等级：新手</p>
<p>注册于 2015-0{7 - number}-11</p></div>
<div class="head"><span>#{number}</span> 发表于 2024-03-0{number} 10:1{number}:00
<a href="/reply/{number}">回复</a> <a href="/report/{number}">举报</a></div>
<div class="words" id="w{number}">{quoted}{text}</div>
<div class="signature">生活就像骑自行车，要保持平衡就得往前走。</div></div>"""


def page(*posts: str, title: str = "链条异响怎么办", url: str = URL) -> RawPage:
    html = f"""<html><head><title>{title} - 骑行论坛</title></head><body>
<ul class="nav"><li><a href="/">首页</a></li><li><a href="/login">登录</a></li></ul>
<h1>{title}</h1><div class="list">{"".join(posts)}</div>
<div class="box">您需要登录后才可以回帖</div></body></html>"""
    return RawPage.from_bytes(url, html.encode(), "text/html; charset=utf-8")


FOUR = [post(i, TEXTS[i - 1], quote=TEXTS[0] if i == 3 else "") for i in range(1, 5)]


def test_the_posts_of_one_page() -> None:
    record = clean(page(*FOUR))
    assert record.kind is PageKind.THREAD
    assert [one.floor for one in record.posts] == [1, 2, 3, 4]
    assert [one.author for one in record.posts] == list(NAMES[:4])
    assert [one.body for one in record.posts] == [
        TEXTS[0],
        TEXTS[1],
        f"> {TEXTS[0]}\n{TEXTS[2]}",
        TEXTS[3],
    ]
    assert record.body.split("\n") == list(TEXTS[:4])


def test_floors_are_as_shown() -> None:
    later = [post(i, TEXTS[i - 1]) for i in (4, 5, 6)]
    assert [one.floor for one in clean(page(*later)).posts] == [4, 5, 6]


def test_a_first_post_of_another_shape() -> None:
    """It has no number, the replies are counted from 1."""
    first = f"""<div class="topic"><div class="info">作者：<a href="/member/x">阿七</a>
时间：2024-03-01 09:00</div><div class="text"><p>{TEXTS[0]}</p><p>{TEXTS[3]}</p></div></div>"""
    replies = [post(i, TEXTS[i]) for i in (1, 2, 3)]
    record = clean(page(first, *replies))
    assert [one.floor for one in record.posts] == [1, 2, 3, 4]
    assert record.posts[0].author == "阿七"
    assert record.posts[0].body == f"{TEXTS[0]}\n{TEXTS[3]}"
    assert record.posts[1].body == TEXTS[1]


def test_articles_have_no_posts() -> None:
    text = "".join(f"<p>{one}</p>" for one in TEXTS[:4])
    html = f"<html><body><h1>骑行</h1><div class='main'>{text}</div></body></html>"
    article = RawPage.from_bytes("http://news.example/2024/a.html", html.encode())
    assert clean(article).posts == ()


def sample() -> list[RawPage]:
    return [
        page(*(post(i, f"{TEXTS[(i + n) % 4]}（{n}）") for i in range(1, 2 + n)), url=f"{URL}{n}")
        for n in range(1, 4)
    ]


def test_no_rule_from_pages_without_posts() -> None:
    assert learn_post_rule([]) is None
    html = b"<html><body><p>Nothing here.</p></body></html>"
    assert learn_post_rule([RawPage.from_bytes("http://a.example/", html)]) is None


def test_one_page_with_posts_makes_no_forum_of_its_host() -> None:
    assert learn_post_rule(sample()[:1]) is None


def test_a_rule_does_not_touch_pages_without_such_parts() -> None:
    html = f"<html><body><h1>x</h1><div><p>{TEXTS[0]}</p><p>{TEXTS[1]}</p></div></body></html>"
    other = RawPage.from_bytes("http://forum.example/about.html", html.encode())
    assert clean(other, learn_site(sample())).body == f"{TEXTS[0]}\n{TEXTS[1]}"


PIECES = (
    "<div class='item'>", "</div>", "<p>2024-01-02 #3</p>", "<b>好帖子，收藏了！</b>", "<tr>",
    "<blockquote>", "<a href='/u/1'>甲</a>", "<div class='words'>", "#4", "</blockquote>",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_any_page_gives_growing_floors(parts: list[str]) -> None:
    record = clean(RawPage.from_bytes(URL, "".join(parts).encode(), "text/html; charset=utf-8"))
    floors = [one.floor for one in record.posts]
    assert floors == sorted(set(floors))


def test_a_site_model_holds_the_rule() -> None:
    model = learn_site([*sample(), page(post(1, "求助：刹车异响"), url=URL + "9")])
    assert model.post_rule is not None
    assert SiteModel.from_json(model.to_json()) == model
    record = clean(page(post(1, "求助"), url=URL + "77"), model)
    assert record.kind is PageKind.THREAD
    assert [(one.author, one.floor, one.body) for one in record.posts] == [(NAMES[0], 1, "求助")]


def test_a_forum_page_with_one_short_post_is_its_body() -> None:
    first = """<div class="topic"><div class="info">作者：<a href="/member/x">阿七</a>
时间：2024-03-01 09:00</div><div class="text"><p>链条掉了，怎么装回去</p></div></div>"""
    record = clean(page(first))
    assert record.body == "链条掉了，怎么装回去"
    assert [one.body for one in record.posts] == [record.body]
