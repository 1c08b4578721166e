from __future__ import annotations

import pytest

from crawlclean import CleanRecord, LinkKind, RawPage, clean

FIRST = "凌晨四点，城墙根下的早市第一次在新搭的棚子里开张，摊主们说棚子不漏雨，地也好扫。"
SECOND = "管理处的人说，摊位费三年不涨，水电另算；原来露天的摊主，也都抽签分到了位置。"


def read(inside: str) -> CleanRecord:
    page = f"<title>早市</title><div class=art><p>{FIRST}</p>{inside}<p>{SECOND}</p></div>"
    return clean(RawPage.from_bytes("http://a.example/1", page.encode()))


@pytest.mark.parametrize(
    "inside",
    [
        "<p>扫码关注我们的公众号</p>",
        "<p>长按识别二维码，下载客户端查看全文！</p>",
        "<p>Advertisement</p>",
        "<p>—— 广告 ——</p>",
        "<div><p>广告</p><p>好房子，就在城墙边。</p></div>",
        "<div><h3>Get our free weekly paper</h3><ul><li>On Mondays<li>On Fridays</ul></div>",
        "<p>延伸阅读：</p><p><a href=/2>城墙根改造方案听取意见</a></p>",
        "<p><strong>相关阅读</strong></p><ul><li><a href=/2>城墙根改造方案听取意见</a></ul>",
        "<p>本文由城墙牌豆腐赞助</p>",
    ],
)
def test_what_promotes_is_no_body(inside: str) -> None:
    assert read(inside).body == f"{FIRST}\n{SECOND}"


@pytest.mark.parametrize(
    "text",
    [
        "警方提醒，陌生人让你扫码关注某个账号的时候要当心，这往往是骗局的第一步，接着会让你转账。",
        "他在广告公司干了十年。",
        "首先，用你的手机扫描二维码，它会打开另一个页面。",
        "和上面的很相似。</p><p><a href=/2>城墙</a> <a href=/3>棚子</a>",
        "推荐阅读的书有三本，都在架上。",
    ],
)
def test_what_is_written_about_promotions_stays(text: str) -> None:
    written = text.partition("<")[0]
    assert read(f"<p>{text}</p>").body == f"{FIRST}\n{written}\n{SECOND}"


def test_the_body_ends_with_a_promotion_behind_its_last_paragraph() -> None:
    tail = "<p>长按识别下方二维码</p><p>回复“早市”领取摊位图</p><p>回复“菜价”查看菜价</p>"
    page = f"<title>早市</title><div class=art><p>{FIRST}<p>{SECOND}{tail}</div>"
    assert clean(RawPage.from_bytes("http://a.example/1", page.encode())).body.endswith(SECOND)


def test_links_of_blocks_inside_the_body_are_not_the_bodys() -> None:
    ads = " ".join(
        f"<a href=http://ad.example.net/{n}>一天一杯轻松瘦身不反弹{n}</a>" for n in "123"
    )
    own = "<p>延伸阅读</p><p><a href=/2>城墙根改造方案听取意见</a></p>"
    cited = (
        "<p>据<a href=http://s.example.org/>管理处的统计数字</a>，每天来这里买菜的有一万多人。</p>"
    )
    kinds = [link.kind for link in read(f"<p>{ads}</p>{own}{cited}").links]
    assert kinds == [*[LinkKind.AD] * 3, LinkKind.RELATED, LinkKind.BODY]
