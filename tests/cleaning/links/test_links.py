"""What the block around a link says of it."""

from __future__ import annotations

import pytest

from crawlclean import CleanRecord, ImageKind, LinkKind, LinkReason, RawPage, clean
from crawlclean.cleaning.features.sections import heading_kind
from tests.kit.timing import timed

URL = "http://www.example.com/news/2026/a.html"
BODY = (
    "<h1>城市公园改造今日完工</h1>"
    + "<p>公园的改造工程今天完工，市民可以入园参观，新的步道很平整。</p>" * 4
)
MORE = (
    "<p>改造由市里出资，历时两年，新栽的树木有三百棵，儿童乐园也重新铺了地面。</p>"
    "<p>园方说，今后每逢周末还有露天音乐会，附近的居民不用买票，坐在草地上就能听。</p>"
)
TITLES = [
    "老城区道路拓宽工程下月开工",
    "地铁三号线延长段开始试运行",
    "今年首批菜篮子超市全部开业",
    "图书馆新馆开放首日人流如织",
]


def record(
    behind: str, title: str = "城市公园改造今日完工_示例网", before: str = ""
) -> CleanRecord:
    html = f"<title>{title}</title><body>{before}<div class=text>{BODY}</div>{behind}</body>"
    return clean(RawPage.from_bytes(URL, html.encode()))


def titles(texts: list[str] = TITLES) -> str:
    return (
        "<ul>"
        + "".join(f"<li><a href=/n/{i}.html>{t}</a></li>" for i, t in enumerate(texts))
        + "</ul>"
    )


def kinds(page: CleanRecord) -> list[LinkKind]:
    return [link.kind for link in page.links]


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("<h3>相关阅读</h3>", LinkKind.RELATED),
        ("<div class=hd><span>延伸阅读：</span></div>", LinkKind.RELATED),
        ("<h3>Related stories</h3>", LinkKind.RELATED),
        ("<h3>热门排行</h3>", LinkKind.HOT),
        ("<h3>猜你喜欢</h3>", LinkKind.HOT),  # nothing of it is about the page
        ("<h3>广告</h3>", LinkKind.HOT),  # a slot above what is the site's own
        ("<h3>作者最新文章</h3>", LinkKind.OTHER),
        ("<h3>相关搜索</h3>", LinkKind.FUNCTION),
        ("<h3>友情链接</h3>", LinkKind.NAVIGATION),
        ("", LinkKind.HOT),
    ],
)
def test_headlines_are_what_their_heading_says(heading: str, kind: LinkKind) -> None:
    assert kinds(record(f"<div>{heading}{titles()}</div>")) == [kind] * 4


def test_recommended_headlines_about_the_title_are_related() -> None:
    about = [*TITLES[:2], "城市公园还将增加健身设施", "公园改造方案征求市民意见"]
    links = record(f"<div><h3>猜你喜欢</h3>{titles(about)}</div>").links
    assert {(link.kind, link.reason) for link in links} == {(LinkKind.RELATED, LinkReason.MARKER)}


def test_headlines_about_the_title_are_related_without_a_heading() -> None:
    about = ["城市公园还将增加健身设施", "公园改造方案征求市民意见", "公园改造今年投入过亿元"]
    links = record(f"<div>{titles(about)}</div>").links
    assert {link.reason for link in links} == {LinkReason.TITLE_WORDS}


def test_a_heading_ends_at_the_next_one() -> None:
    page = record(
        f"<div><h3>相关新闻</h3>{titles(TITLES[:2])}<h3>热点</h3>{titles(TITLES[2:])}</div>"
    )
    assert kinds(page) == [LinkKind.RELATED] * 2 + [LinkKind.HOT] * 2


def test_a_marker_over_an_empty_box_takes_no_other_module() -> None:
    box = "<div><h3>相关阅读</h3><div id=later></div></div>"
    assert kinds(record(f"{box}<div><h3>要闻</h3>{titles()}</div>")) == [LinkKind.HOT] * 4
    loading = "<div><h3>相关阅读</h3><p>加载中</p></div>"
    assert kinds(record(f"{loading}<div>{titles()}</div>")) == [LinkKind.HOT] * 4


def test_a_marker_inside_a_sentence_is_none() -> None:
    assert heading_kind("有关相关阅读的讨论，请看下文") == ""
    assert heading_kind("相关新闻") == "related"


def test_more_beside_a_marker_leads_around() -> None:
    page = record(f"<div><h3>相关新闻 <a href=/list>全部新闻</a></h3>{titles()}</div>")
    assert kinds(page) == [LinkKind.NAVIGATION] + [LinkKind.RELATED] * 4


def test_links_behind_a_marker_on_its_line() -> None:
    page = record("<p>标签：<a href=/t/1>公园</a> <a href=/t/2>城市</a></p>")
    assert kinds(page) == [LinkKind.TAG] * 2


def test_keywords_by_their_address() -> None:
    page = record(
        "<ul><a href=/tag/park/><li>公园</li></a><a href=/tag/city/><li>城市</li></a></ul>"
    )
    assert {(link.kind, link.reason) for link in page.links} == {
        (LinkKind.TAG, LinkReason.URL_SHAPE)
    }


def test_one_headline_decides_its_card() -> None:
    cards = "".join(
        f"<li><a href=/n/{i}.html><img src={i}.jpg></a><h4><a href=/n/{i}.html>{text}</a></h4>"
        f"<p><a href=/s/{i}>示例日报</a> <a href=/n/{i}.html?c=1>{i}评论</a></p></li>"
        for i, text in enumerate(TITLES)
    )
    links = record(f"<div><h3>相关推荐</h3><ul>{cards}</ul></div>").links
    assert [link.kind for link in links[:4]] == [
        LinkKind.RELATED,
        LinkKind.RELATED,
        LinkKind.OTHER,
        LinkKind.FUNCTION,
    ]
    assert links[0].reason is LinkReason.SAME_ADDRESS


def test_a_picture_makes_a_short_title_a_card() -> None:
    cards = "".join(
        f"<li><a href=/p/{i}.html><img src={i}.jpg></a><p><a href=/p/{i}.html>{name}</a></p>"
        f"<p><a href=/c/{i}>杂文</a></p></li>"
        for i, name in enumerate(["夜雨寄北", "静夜思", "登高"])
    )
    page = record(f"<div><h3>相关推荐</h3><ul>{cards}</ul></div>")
    assert kinds(page) == [LinkKind.RELATED, LinkKind.RELATED, LinkKind.OTHER] * 3


def test_a_file_that_answers_for_many_pages_is_no_address() -> None:
    rows = "".join(
        f"<li><a href=/show.html?id={i}>{text}</a></li>" for i, text in enumerate(TITLES)
    )
    page = record(
        f"<ul>{rows}</ul><p>" + "文" * 40 + "</p><a href=/show.html?id=9><img src=x.png></a>"
    )
    assert kinds(page)[:4] == [LinkKind.HOT] * 4
    assert page.links[4].reason is not LinkReason.SAME_ADDRESS


@pytest.mark.parametrize("text", ["相关阅读", "有关新闻", "關聯閱讀", "延伸阅读", "值得一读"])
def test_headings_are_known_by_meaning(text: str) -> None:
    assert heading_kind(text) == "related"


def test_headings_of_the_cards_end_no_list() -> None:
    cards = "".join(
        f"<li><h4 class=title><a href=/n/{i}>{text}</a></h4><p class=title>相关 不感兴趣</p></li>"
        for i, text in enumerate([*TITLES, "短题"])
    )
    page = record(f"<div><h3>热门文章</h3><ul>{cards}</ul></div>")
    assert kinds(page)[:4] == [LinkKind.HOT] * 4


def test_long_names_of_home_pages_are_no_headlines() -> None:
    hosts = "".join(
        f"<li><a href=http://h{i}.example.org/>{i}号省发展和改革委员会</a></li>" for i in range(4)
    )
    assert kinds(record(f"<ul>{hosts}</ul>")) == [LinkKind.NAVIGATION] * 4


def test_what_stands_among_legal_links_is_legal() -> None:
    footer = "".join(
        f"<a href=/{i}>{t}</a> " for i, t in enumerate(["关于我们", "版权声明", "大事记"])
    )
    page = record(f"<div>{footer}<a href=/x>隐私</a></div>")
    assert kinds(page) == [LinkKind.LEGAL] * 4


def test_a_table_of_contents_leads_around_and_buttons_do_something() -> None:
    page = record("<a href=#part-2>第二节</a><a href=#comments>写两句</a>")
    assert kinds(page) == [LinkKind.NAVIGATION, LinkKind.FUNCTION]


def test_a_page_of_headings_and_links_costs_linear_time() -> None:
    def seconds(count: int) -> float:
        rows = "".join(
            f"<div class=title>相关{'阅读' * (i % 3)}</div>"
            f"<div><p><a href=/{i}>{TITLES[i % 4]}</a></div>"
            for i in range(count)
        )
        with timed() as took:
            record(f"<div>{rows}</div>")
        return took.seconds

    seconds(100)
    assert seconds(8000) < 16 * max(seconds(1000), 0.02)


def test_related_headings_in_one_part_and_words_on_one_line_cost_linear_time() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"

    def seconds(count: int) -> float:
        names = (f"{a}{b}{c}" for a in letters for b in letters for c in letters)
        rows = "".join(
            f"<h3>Related {name}</h3><p><a href=/{i}>短题</a></p>"
            for i, name in zip(range(count), names, strict=False)
        )
        line = "<p>" + "公园里的人说，" * 9 + "<a href=/f>Facebook</a>，" * count
        with timed() as took:
            record(f"<div>{rows}</div>", before=line)
        return took.seconds

    seconds(100)
    assert seconds(8000) < 16 * max(seconds(1000), 0.02)


def test_advertising_by_heading_leaves_the_site_and_by_names_need_not() -> None:
    away = "".join(
        f"<li><a href=//shop{i}.store.net/x/{i}>{text}</a></li>" for i, text in enumerate(TITLES)
    )
    assert kinds(record(f"<div><h3>赞助商链接</h3><ul>{away}</ul></div>")) == [LinkKind.AD] * 4
    page = record(f"<div class='right-ad'>{titles()}</div>")
    assert {(link.kind, link.reason) for link in page.links} == {
        (LinkKind.AD, LinkReason.PART_NAME)
    }
    assert kinds(record(f"<div class='header shadow'>{titles()}</div>")) == [LinkKind.HOT] * 4
    column = "<p>一行</p>" * 100
    assert kinds(record(f"<div class='with ads'>{titles()}{column}</div>"))[:1] == [LinkKind.HOT]


def test_keywords_among_the_names_of_an_article_make_no_list_of_keywords() -> None:
    links = "<p><a href=/one>第一处</a> <a href=/two>第二处</a></p>"
    page = record(f"<article class='post hentry tag-linux tag-park'>{links}</article>")
    assert LinkKind.TAG not in kinds(page)
    assert kinds(record(f"<div class=tag-list>{links}</div>")) == [LinkKind.TAG] * 2


def test_headlines_before_the_body_are_news_and_menus_are_not() -> None:
    assert kinds(record("", before=f"<div>{titles()}</div>")) == [LinkKind.HOT] * 4
    menu = titles(["首页", "城市规划和建设管理办公室", "新闻", "文化"])
    assert kinds(record("", before=f"<div>{menu}</div>")) == [LinkKind.NAVIGATION] * 4
    assert kinds(record("", before=f"<nav>{titles()}</nav>")) == [LinkKind.NAVIGATION] * 4


def test_short_titles_of_a_related_list_and_the_topics_of_its_cards() -> None:
    rows = "".join(
        f"<li><a class=t href=/n/{i}>{text}</a></li>" for i, text in enumerate([*TITLES, "短题"])
    )
    assert kinds(record(f"<div><h3>相关文章</h3><ul>{rows}</ul></div>")) == [LinkKind.RELATED] * 5
    rows = "".join(
        f"<li><h4><a href=/n/{i}>{text}</a></h4><p class=topic><a href=/c/{i}>城市</a></p></li>"
        for i, text in enumerate(TITLES)
    )
    cards = kinds(record(f"<div><h3>相关文章</h3><ul>{rows}</ul></div>"))
    assert cards == [LinkKind.RELATED, LinkKind.OTHER] * 4


def test_a_line_that_recommends_between_paragraphs_is_of_the_body() -> None:
    line = f"<p>猜你喜欢：<a href=/n/0.html>{TITLES[0]}</a></p>"
    html = f"<title>{TITLES[0]}</title><div class=text>{BODY}{line}{MORE}</div>"
    page = clean(RawPage.from_bytes(URL, html.encode()))
    assert LinkKind.RELATED not in kinds(page)


def test_lists_between_lines_of_the_body_are_of_it() -> None:
    rows = "".join(f"<li><a href=/series/{i}>第{i}讲</a></li>" for i in range(4))
    html = f"<title>城市公园改造今日完工</title><div class=text>{BODY}<ul>{rows}</ul>{MORE}</div>"
    page = clean(RawPage.from_bytes(URL, html.encode()))
    assert kinds(page) == [LinkKind.BODY] * 4


def test_lists_amid_the_body_are_of_it_whatever_their_heading() -> None:
    html = f"<title>x</title><div class=text>{BODY}<h3>热门文章</h3>{titles()}{MORE}</div>"
    page = clean(RawPage.from_bytes(URL, html.encode()))
    assert kinds(page) == [LinkKind.BODY] * 4


def test_links_right_beside_the_body_are_of_it_and_those_in_other_parts_are_not() -> None:
    link = "<div><a href=//quotes.example.net/q/1>查看最新行情</a></div>"
    menu = f"<ul>{''.join(f'<li><a href=/c/{i}>频道{i}</a></li>' for i in range(6))}</ul>"
    html = f"<title>x</title>{menu}<div class=text>{link}{BODY}{link}</div>{link}"
    page = clean(RawPage.from_bytes(URL, html.encode()))
    expected = [*[LinkKind.NAVIGATION] * 6, *[LinkKind.BODY] * 2, LinkKind.NAVIGATION]
    assert kinds(page) == expected


def test_a_picture_beside_the_body_is_of_it_and_one_in_another_part_is_not() -> None:
    chart = "<a href=//quotes.other.net/q/1><img src=/charts/1.png></a>"
    other = "<div><a href=//quotes.other.net/q/2><img src=/charts/2.png></a></div>"
    html = f"<title>x</title><div class=text><div>{chart}</div>{BODY}</div>{other}"
    page = clean(RawPage.from_bytes(URL, html.encode()))
    assert kinds(page) == [LinkKind.BODY, LinkKind.FUNCTION]


def test_a_list_about_the_title_is_related_under_a_heading_of_news() -> None:
    about = ["公园改造方案公示结束", "改造后的公园怎么走", "公园步道改造征求意见"]
    page = record(f"<div><h3>新闻</h3>{titles(about)}</div>")
    assert kinds(page) == [LinkKind.RELATED] * 3


def test_a_search_of_the_site_for_its_own_text_is_a_keyword() -> None:
    links = (
        "<a href='/search?q=%E5%85%AC%E5%9B%AD'>公园</a>",
        "<a href='/search?q=%B9%AB%D4%B0'>公园</a>",  # GBK
        "<a href='/search?q=%E5%85%AC'>公园</a>",
        "<a href='http://ads.shop.net/?q=%E5%85%AC%E5%9B%AD'>公园</a>",
    )
    page = record("".join(f"<div>{link}</div>" for link in links))
    assert kinds(page) == [LinkKind.TAG] * 2 + [LinkKind.NAVIGATION] * 2


@pytest.mark.parametrize(
    ("html", "kind"),
    [
        (
            "<a href='http://service.example.net/share/share.php?url=http%3A//e.com/'>x</a>",
            "function",
        ),
        ("<a href='http://example.net/2026/shares-fall?id=1'>股价下跌</a>", "navigation"),
        ("<a href='whatsapp://send?text=a'>x</a>", "function"),
        ("<a rel='nofollow sponsored' href=//shop.example.net/>x</a>", "ad"),
        ("<a href='mailto:?subject=x'>x</a>", "function"),
        ("<a href='mailto:a@example.com'>x</a>", "legal"),
        ("<a href=/n/7>Previous article Rain in the north</a>", "navigation"),
        ("<a rel=author href=/by/1>某某</a>", "other"),
        ("<a href=/n/8>上一篇：老城区道路拓宽工程</a>", "navigation"),
        ("<a href=/login/x>使用QQ登录</a>", "function"),
        ("<a href=/c/1>查看全部58条评论</a>", "function"),
        ("<a href=/n/9>某平台被曝泄露用户隐私，多部门介入调查此事</a>", "hot"),
        ("<a href=/x>信息网络传播视听节目许可证0108888</a>", "legal"),
    ],
)
def test_kinds_by_address_rel_and_words(html: str, kind: str) -> None:
    assert record(f"<div>{html}</div>").links[0].kind == kind


def test_a_hash_opens_a_menu_before_the_body_and_does_something_behind() -> None:
    button = "<p><a href=#>专题栏目</a></p>"
    assert kinds(record(button, before=button)) == [LinkKind.NAVIGATION, LinkKind.FUNCTION]


def test_words_in_a_sentence_are_of_the_sentence() -> None:
    text = (
        "公司在一份长长的公告里说，它打算把旗下的应用卖给 <a href=/f>Facebook</a>，价格没有公布。"
    )
    html = f"<title>公告</title><div class=text>{BODY}<p>{text}</p>{MORE}</div>"
    page = clean(RawPage.from_bytes(URL, html.encode()))
    assert kinds(page) == [LinkKind.BODY]
    assert kinds(record("<p><a href=/f>Facebook</a></p>")) == [LinkKind.FUNCTION]


@pytest.mark.parametrize("mark", ["", "¶", "#", "<i class=icon></i>"])
def test_a_permanent_link_of_a_heading_is_a_function(mark: str) -> None:
    heading = f"<h2>步道<a href=#walk>{mark}</a></h2>"
    html = f"<title>公告</title><div class=text>{BODY}{heading}{MORE}</div>"
    page = clean(RawPage.from_bytes(URL, html.encode()))
    assert kinds(page) == [LinkKind.FUNCTION]
    contents = "<ul><li><a href=#walk>步道</a><li><a href=#lamps>路灯</a></ul>"
    assert kinds(record(contents)) == [LinkKind.NAVIGATION] * 2


@pytest.mark.parametrize("names", ["share", "bdsharebuttonbox", "Share-box", "navLogin", "toolbar"])
def test_what_leads_away_from_parts_for_sharing_or_logging_in_are_functions(names: str) -> None:
    icons = (
        "<a href=//t.example.net/x></a><a href=/home/7><img src=/i/7.png></a><a href=/m>消息</a>"
    )
    for page in (
        record(f"<div class={names}>{icons}</div>"),
        record("", before=f"<p id={names}>{icons}"),
    ):
        assert kinds(page) == [LinkKind.FUNCTION] * 3
    assert kinds(record(f"<div class={names}>{titles()}</div>")) == [LinkKind.HOT] * 4
    assert LinkKind.FUNCTION not in kinds(
        record(f"<div class='shared shareholder'>{titles()}</div>")
    )


def test_a_row_right_behind_the_body_is_buttons_and_a_long_one_a_menu() -> None:
    def row(count: int) -> str:
        return "<p>" + " ".join(f"<a href=/do/{i}>动作{i}</a>" for i in range(count))

    for count in (2, 5, 7):
        assert kinds(record(row(count))) == [LinkKind.FUNCTION] * count
    assert kinds(record(row(9))) == [LinkKind.NAVIGATION] * 9
    assert kinds(record("<p><a href=/do/1>动作</a>")) == [LinkKind.NAVIGATION]
    far = "<p>一行</p>" * 30
    assert kinds(record(far + row(4))) == [LinkKind.NAVIGATION] * 4
    assert kinds(record("", before=row(4))) == [LinkKind.NAVIGATION] * 4


def test_inline_headings_govern_the_links_behind_their_colon() -> None:
    links = " ".join(f"<a href=/n/{i}>{text}</a>" for i, text in enumerate(TITLES))
    assert kinds(record(f"<p>相关阅读：{links}</p>")) == [LinkKind.RELATED] * 4


def test_a_source_is_no_heading_of_pictures() -> None:
    assert heading_kind("图片来源：某某通讯社摄影部") == ""
    assert heading_kind("图片新闻") == "list"
    assert heading_kind("与程序员相关的缓存知识") == ""
    assert heading_kind("相关") == "related"
    assert heading_kind("暂无相关文章") == ""


def test_long_headings_in_latin_letters() -> None:
    for heading in ("More on this story", "You may also be interested in"):
        page = record(f"<div><h3>{heading}</h3>{titles()}</div>")
        assert {link.reason for link in page.links} == {LinkReason.MARKER}, heading
    page = record(f"<div><h3>Popular categories</h3>{titles()}</div>")
    assert kinds(page) == [LinkKind.NAVIGATION] * 4


def images(html: str) -> list[ImageKind]:
    page = RawPage.from_bytes(URL, f"<title>城市公园改造今日完工</title><body>{html}".encode())
    return [image.kind for image in clean(page).images]


def test_the_pictures_of_a_body() -> None:
    text = "<p>公园的改造工程今天完工，市民可以入园参观，新的步道很平整，灯光也换了新的。</p>"
    lead = "<div><img src=lead.jpg><p>资料图</p></div>"
    page = (
        f"<div class=text>{lead}{text}<p><img data-src=2.jpg></p>{text}{text}<img src=3.jpg></div>"
    )
    assert images(page) == [ImageKind.CONTENT] * 3
    share = "<div class=share><a href=http://t.example.net/><img src=w.png></a></div>"
    icons = f"<img src=/img/icon_time.gif>{share}<img src=x.png width=16>"
    page = f"<div><img src=logo.png></div><div class=text>{text}{icons}{text}{text}</div>"
    assert ImageKind.CONTENT not in images(page)
    teaser = "<div><a href=/n/2.html><img src=t.jpg></a></div>"
    assert images(f"<div class=text>{text}{text}{text}</div>{teaser}") == [ImageKind.THUMB]
