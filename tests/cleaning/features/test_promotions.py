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


SHORT = (
    "镇长说，棚子花的钱比春天预计的少。",
    "“天气帮了忙。”他对记者说。",
    "卖豆腐的老王送了每人一块豆腐。",
    "第一天来了两千人。",
)
SHORT_EN = (
    "The mayor said that the sheds had cost less than feared.",
    '"We were lucky with the weather," he told the reporters.',
    "A baker gave bread to everyone who came before noon.",
    "About two thousand people came on the first day.",
)


@pytest.mark.parametrize("texts", [SHORT, SHORT_EN])
@pytest.mark.parametrize(
    "label",
    [
        "<p>ADVERTISEMENT</p>",
        "<div class=x><span>广告</span></div>",
        "<p>請繼續往下閱讀...</p>",
        "<p>展开全文</p>",
        "<div><a href='javascript:;'>展开全文</a></div>",
        "<p>Story continues below advertisement</p>",
        "<p>— Continue reading below —</p>",
        "<amp-ad width=300><div placeholder>Advertisement</div></amp-ad>",
        "<p>Sign up for our newsletter</p>",
        "<p>扫码关注我们的公众号</p>",
    ],
)
def test_a_text_of_short_paragraphs_goes_on_behind_what_promotes(
    texts: tuple[str, ...], label: str
) -> None:
    shorts = "".join(f"<p>{text}</p>" for text in texts)
    for middle in (label + shorts, shorts + label + shorts.replace("<p>", "<p>又：")):
        page = f"<title>早市</title><div class=art><p>{FIRST}<p>{SECOND}{middle}</div>"
        body = clean(RawPage.from_bytes("http://a.example/1", page.encode())).body
        assert body.count(texts[0]) == middle.count(texts[0])
        assert body.endswith(texts[-1])
        assert not {"展开全文", "ADVERTISEMENT", "Advertisement", "广告"} & set(body.split("\n"))


@pytest.mark.parametrize(
    "label",
    ["请继续往下阅读", "Article continues below advertisement", "点击展开全文"],
)
def test_a_label_that_says_so_ends_no_text_without_sentences(label: str) -> None:
    page = (
        f"<title>早市</title><div class=art><p>{FIRST}<p>{SECOND}<p>{label}</p>"
        "<ul><li>豆腐 三元<li>青菜 两元</ul></div>"
    )
    body = clean(RawPage.from_bytes("http://a.example/1", page.encode())).body
    assert body == f"{FIRST}\n{SECOND}\n豆腐 三元\n青菜 两元"


@pytest.mark.parametrize(
    "text",
    [
        "“请大家多关注我们的早市。”管理处的人说。",
        "管理处的人说：「歡迎關注我們，多下載一個app來看菜價。」",
        "Stall holders can sign up for our courses at the town hall.",
        '"Follow us on the river," the boatman called to the crowd.',
        "She asked everyone to share this story with the people at home.",
        "有人提醒摊主多关注我们身边的老人。",
    ],
)
def test_a_sentence_of_the_story_with_such_words_stays(text: str) -> None:
    shorts = "".join(f"<p>{each}</p>" for each in SHORT)
    page = f"<title>早市</title><div class=art><p>{FIRST}<p>{SECOND}<p>{text}</p>{shorts}</div>"
    body = clean(RawPage.from_bytes("http://a.example/1", page.encode())).body
    assert body == "\n".join((FIRST, SECOND, text, *SHORT))


@pytest.mark.parametrize(
    "text",
    [
        "Sign up for our newsletter and read on Mondays.",
        "喜欢早市，请关注我们的公众号。",
        "Did you like it? Share this story with your friends.",
        "“扫码关注我们”",
    ],
)
def test_a_sentence_that_turns_to_the_reader_does_not(text: str) -> None:
    assert read(f"<p>{text}</p>").body == f"{FIRST}\n{SECOND}"
