from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from crawlclean import BodySource, CleanRecord, PageKind, RawPage, clean, learn_site
from tests.kit.timing import timed

URL = "http://news.example.com/guonei/88.html"
TEXT = (
    "入秋以来，青石镇的三百亩柿子陆续成熟，漫山遍野一片金黄，"
    "合作社连日组织村民上山采摘，争取在霜降以前收完。"
)
ENGLISH = (
    "The village has opened the road to the orchard, and it is the first that the farmers have had "
    "in more than twenty years of asking for one, which is why they were there in the rain."
)
NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)


def record(
    html: str, url: str = URL, fetched_at: datetime | None = NOW, text: str = TEXT
) -> CleanRecord:
    html = html.replace("BODY", f"<div class=c><p>{text}</p><p>{text[1:]}</p></div>")
    return clean(RawPage.from_bytes(url, html.encode("utf-8", "replace"), fetched_at=fetched_at))


def article(byline: str, head: str = "", text: str = TEXT, url: str = URL) -> CleanRecord:
    return record(
        f"<head><title>柿子熟了</title>{head}</head><h1>柿子熟了</h1>{byline}BODY", url, text=text
    )


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>柿子熟了_山城晚报</title><h1>柿子熟了</h1>BODY", "柿子熟了"),
        ("<title>柿子熟了|柿子|丰收_国内_山城网</title><h1>柿子熟了</h1>BODY", "柿子熟了"),
        ("<title>长文 | 看懂新闻_山城网</title><h1>长文 | 看懂新闻</h1>BODY", "长文 | 看懂新闻"),
        ("<title>山城论坛 - 果园</title><h1>山城论坛</h1><a href=/g/>果园</a>BODY", "山城论坛"),
        ("<title>山城论坛 — 柿子熟了吗</title><h1>山城论坛</h1>BODY", "山城论坛 — 柿子熟了吗"),
        ("<title>山城论坛 — 柿子熟了吗</title><h1>柿子熟了吗</h1>BODY", "柿子熟了吗"),
        ("<title>柿子熟了 - 青石</title><meta property=og:site_name content=青石>BODY", "柿子熟了"),
        ("<title>柿子熟了-果园</title><a href=/guo/>果园</a>BODY", "柿子熟了"),
        ("<title>柿子熟了 - Example.com</title>BODY", "柿子熟了"),
        ("<title>柿子熟了 (Page 2) — 山城论坛</title>BODY", "柿子熟了"),
        ("<title>Fruit - 柿子 大全</title><a href=/s/>柿子 大全</a><h1>Fruit - 柿子 大全</h1>BODY",
         "Fruit - 柿子 大全"),
        # No evidence, nothing is cut: titles have separators of their own.
        ("<title>柿子熟了——山里的秋天</title>BODY", "柿子熟了——山里的秋天"),
        ("<title>两万字长文 | 月亮的故事</title>BODY", "两万字长文 | 月亮的故事"),
        ("<title>Go-Kart A - B</title>BODY", "Go-Kart A - B"),
        # The site's own heading is not the title.
        ("<title>柿子熟了 - 手册 2.4</title><p>手册 2.4</p>BODY", "柿子熟了 - 手册 2.4"),
        ("<title>山城网</title><meta property=og:site_name content=山城网>"
         "<h1>柿子熟了</h1>BODY", "柿子熟了"),
        ("<title>山城网</title><meta property=og:site_name content=山城网>"
         "<meta property=og:title content=柿子熟了><h1>柿子熟了</h1>BODY", "柿子熟了"),
        ("<h1>柿子熟了</h1>BODY", "柿子熟了"),
        ("BODY", ""),
        ("<title> 一\n 二 </title><h1>三</h1>", "一 二"),
        ("<title></title><meta property='og:title' content='一'><h1>二</h1>", "一"),
        ("<h2>零</h2><h1> </h1><h1>一 <b>二</b></h1>", "一 二"),
        ("<svg><title>图</title></svg><p>一", "图"),
        # Signs of a title's words are no separators.
        ("<title>_thread — 手册</title><h1>_thread — 手册</h1>BODY", "_thread — 手册"),
        ("<title>__main__ — 入口 — 手册</title><h1>__main__ — 入口</h1>BODY", "__main__ — 入口"),
        ("<title>__future__</title><h1>__future__</h1>BODY", "__future__"),
        ("<title>__future__ - Example.com</title>BODY", "__future__"),
        ("<title>手册 — __init__方法</title><h1>__init__方法</h1><a href=/s/>手册</a>BODY",
         "__init__方法"),
        ("<title>_thread_山城网</title>BODY", "_thread"),
        ("<title>«柿子» 熟了</title><h1>«柿子» 熟了</h1>BODY", "«柿子» 熟了"),
        ("<title>« Kakis » mûrs</title>BODY", "« Kakis » mûrs"),
        ("<title>Die »Kakis« - Example.com</title>BODY", "Die »Kakis«"),
        # Separators at the ends that nothing belongs to are cut.
        ("<title>« 柿子熟了</title><h1>柿子熟了</h1>BODY", "柿子熟了"),
        ("<title>_柿子熟了_</title><h1>柿子熟了</h1>BODY", "柿子熟了"),
    ],
)  # fmt: skip
def test_titles(html: str, title: str) -> None:
    assert record(html).title == title


@pytest.mark.parametrize("generic", ["", "山城网", "Untitled Document", "新闻详情", "Welcome!"])
@pytest.mark.parametrize(
    "shown",
    [
        "<meta property=og:title content=青石镇的柿子熟了>",
        "<h1>青石镇的柿子熟了</h1>",
        "<div class=t><b>青石镇的柿子熟了</b></div>",
        "<p>青石镇的柿子熟了</p><p>2026-11-01 来源：山城晚报</p>",
    ],
)
def test_a_title_of_all_pages_yields_to_the_headline(generic: str, shown: str) -> None:
    menu = "<div class=menu><a href=/>首页</a> <a href=/n/>新闻</a></div>"
    page = f"<title>{generic}</title>{menu}{shown}BODY<p>© 2026 {generic}</p>"
    assert record(page).title == "青石镇的柿子熟了"


@pytest.mark.parametrize("generic", ["", "Untitled", "Home"])
def test_lines_without_a_part_tell_of_their_headline(generic: str) -> None:
    text = "The council voted on Tuesday for the plan, which was long under discussion. It will do."
    page = f"<title>{generic}</title><p>Plan adopted by the council</p>"
    found = record(f"{page}<p>{text} The plan was adopted by the council.</p><p>{text}</p>")
    assert found.body_source is BodySource.PLAIN_LINES
    assert found.title == "Plan adopted by the council"


def test_a_heading_that_is_declared_is_the_title() -> None:
    heading = "<title>柿子 价格 批发：三百亩柿子</title><h1>青石镇的柿子熟了</h1>BODY"
    og = "<meta property=og:title content='青石镇的柿子熟了'>"
    assert record(og + heading).title == "青石镇的柿子熟了"
    assert record(linked_data(headline="青石镇的柿子熟了") + heading).title == "青石镇的柿子熟了"
    assert record(heading).title == "柿子 价格 批发：三百亩柿子"
    site = "<meta property=og:site_name content=山城网><meta property=og:title content=山城网>"
    html = f"{site}<title>三百亩柿子成熟</title><h1>山城网</h1>BODY"
    assert record(html).title == "三百亩柿子成熟"


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("三百亩果园丰收", "<h1>青石镇的柿子熟了</h1>"),  # the text tells of both
        ("物联网", "<p>青石镇的柿子熟了</p><p>物联网</p>"),  # no site's name: the text has it
    ],
)
def test_a_title_of_which_the_text_tells_is_kept(title: str, shown: str) -> None:
    page = f"<title>{title}</title>{shown}BODY"
    assert record(page, text=f"{TEXT}物联网也用上了。").title == title


@pytest.mark.parametrize(
    ("byline", "author"),
    [
        ("<p>2026-11-01 来源：山城晚报 作者：张三</p>", "张三"),
        ("<p>作者：张三、李四 责任编辑：王五</p>", "张三、李四"),
        ("<p>作者：张 三 李四</p>", "张三、李四"),
        ("<p>文/张三</p>", "张三"),
        ("<p>【文/山城网专栏作者 张三】</p>", "张三"),
        ("<p>本报记者 张三 李四 通讯员 王五</p>", "张三、李四"),
        ("<p>山城新闻记者 张三</p>", "张三"),
        ("<p><span class=author>张三</span></p>", "张三"),
        ("<p><span class='post-author'>作者：</span><b>张三</b></p>", "张三"),
        ("<p><a rel=author href=/u/1>张三</a></p>", "张三"),
        ("<p>作者：阿卜杜拉·买买提</p>", "阿卜杜拉·买买提"),
        ("<p>张三 发表于 2026-11-01 09:00</p>", "张三"),
        ("<p>阿明的果园 發表於 2026-11-01</p>", "阿明的果园"),
        ("<p>原创 张三 2026-11-01 09:00</p>", "张三"),
        ("<p>Ann Lee posted on May 3, 2026</p>", "Ann Lee"),
        ("<p>本文发表于 2026-11-01</p>", None),
        ("<p>Originally posted on May 3, 2026</p>", None),
        ("<p>This entry was posted on May 3, 2026</p>", None),
        ("<p>责任编辑：王五</p>", None),
        ("<p>来源：山城晚报</p>", None),
        ("<p>作者：佚名</p>", None),
        ("<p>作者：山城晚报</p>", None),
        ("<p>本报记者 张三 摄</p>", None),
        ("<p>记者获悉，柿子熟了</p>", None),
        ("<p>作者：a@example.com http://www.example.com/</p>", None),
        ("<p>作者：</p>", None),
    ],
)
def test_authors_of_bylines(byline: str, author: str | None) -> None:
    assert article(byline).author == author


def test_reporters_in_brackets() -> None:
    assert article("", text="本报讯（记者 张三 李四）" + TEXT).author == "张三、李四"


@pytest.mark.parametrize(
    ("head", "author"),
    [
        ("<meta name=author content='张三'>", "张三"),
        ("<meta name=author content='张三, 李四'>", "张三、李四"),
        ("<meta name=author content=山城日报>", None),
        ("<meta name=author content=admin>", None),
        ("<meta name=author content='news.example.com'>", None),
        ("<meta property=article:author content=https://www.example.com/zhangsan>", None),
        (f"<meta name=author content='{'某某' * 30}'>", None),
        ("<meta name=author content='Osamu Aoki (青木 修)'>", "Osamu Aoki (青木 修)"),
        ("<meta name=author content='【张三】'>", "张三"),
        ("<meta name=author content='Ann Lee), Bo (Bob) Roe ('>", "Ann Lee、Bo (Bob) Roe"),
    ],
)
def test_declared_authors(head: str, author: str | None) -> None:
    assert article("", head).author == author


def test_english_bylines() -> None:
    html = (
        "<html lang=en><title>Road opened</title><h1>Road opened</h1>"
        "<p>By Ann Lee and Bob Roe on May 3, 2026</p>BODY"
    )
    found = record(html, text=ENGLISH)
    assert found.author == "Ann Lee, Bob Roe"
    assert found.published_at == datetime(2026, 5, 3, tzinfo=UTC)


def linked_data(**said: object) -> str:
    text = json.dumps({"@type": "NewsArticle", **said}, ensure_ascii=False)
    return f"<script type='application/ld+json'>{text}</script>"


@pytest.mark.parametrize(
    ("author", "found"),
    [
        ({"@type": "Person", "givenName": "Ann Eva", "familyName": "Lee"}, "Ann Eva Lee"),
        ({"@type": "Person", "name": "Ann Lee og Bo Eva Roe"}, "Ann Lee, Bo Eva Roe"),
        ({"@type": "Person", "name": "José Ortega y Gasset"}, "José Ortega y Gasset"),
        ({"@type": "Person", "name": "Ann Lee y Bo Roe"}, "Ann Lee, Bo Roe"),
        ([{"name": f"Ann Lee{chr(97 + n)}"} for n in range(9)],
         ", ".join(f"Ann Lee{chr(97 + n)}" for n in range(9))),
        ([{"name": "Ann Lee (ale)"}, {"name": "Bo Roe (bro.)"}], "Ann Lee, Bo Roe"),
        ({"@type": "Organization", "name": "Road Herald"}, "Road Herald"),
        ({"@type": "Person", "name": "road.example"}, "road.example"),
        ({"@type": "Organization", "name": "山城日报"}, None),
        ({"@type": "Organization", "name": "https://road.example/"}, None),
        ({"@type": "Person", "name": "admin"}, None),
        ("10.2.8.1", None),
    ],
)  # fmt: skip
def test_authors_of_linked_data(author: object, found: str | None) -> None:
    data = linked_data(author=author, publisher={"name": "Road Herald"})
    html = f"<html lang=en><title>Road opened</title>{data}<h1>Road opened</h1>BODY"
    assert record(html, "http://road.example/1", text=ENGLISH).author == found


def test_a_medium_is_the_author_where_no_person_signs() -> None:
    data = linked_data(author={"@type": "Organization", "name": "Road Herald"})
    html = f"<html lang=en><title>Road opened</title>{data}<h1>Road opened</h1><p>{ENGLISH}</p>%s"
    for last in ("Thank You", "New York", "Happy New Year", "All Rights Reserved"):
        assert record(html % f"<p>{ENGLISH[4:]}</p><p>{last}</p>").author == "Road Herald"


@pytest.mark.parametrize(
    ("line", "day"),
    [
        ("He said this yesterday, and left.", None),
        ("He died in March 5, 2020.", None),
        ("The road opened May 3, 2004!", None),
        ("他昨天说，柿子都熟了。", None),
        ("Published: May 3, 2004.", "2004-05-03"),
        ("May 3, 2004", "2004-05-03"),
    ],
)
@pytest.mark.parametrize("place", [1, 2])
def test_a_day_of_which_a_sentence_of_the_text_tells_is_no_date(
    line: str, day: str | None, place: int
) -> None:
    texts = [ENGLISH, ENGLISH[4:]]
    texts.insert(place, line)
    body = "".join(f"<p>{text}</p>" for text in texts)
    html = f"<html lang=en><title>Road opened</title><h1>Road opened</h1><div>{body}</div>"
    found = record(html, "http://road.example/1").published_at
    assert (found and found.date().isoformat()) == day


def test_a_meta_that_begins_with_the_site_is_its_address() -> None:
    head = "<meta name=author content='News.example.com, Springfield'>"
    assert article("", head).author is None


@pytest.mark.parametrize(
    "slips",
    [
        "//<![CDATA[\n%s\n//]]>", "/* <![CDATA[ */ %s /* ]]> */", "<!-- %s -->", "%s;",
    ],
)  # fmt: skip
def test_linked_data_with_slips(slips: str) -> None:
    data = '{"@type": "Article", "headline": "柿子\n熟了", "author": [{"name": "张三"},],}'
    head = f"<script type=application/ld+json>{slips % data}</script>"
    assert article("", head).author == "张三"


def test_author_and_time_that_a_script_writes() -> None:
    page = (
        "<title></title><meta property=og:title content=柿子熟了><h1>柿子熟了</h1><div>"
        "<span class='rich_media_meta rich_media_meta_text'>山里老周</span>"
        "<a id=js_name>山城发布</a><em id=publish_time></em></div>BODY<script>%s</script>"
    )
    for said in ('var ct = "1793491200";', "var createTime = '2026-11-01 08:00';"):
        found = record(page % said)
        assert (found.title, found.author) == ("柿子熟了", "山里老周")
        assert found.published_at == datetime(2026, 11, 1, tzinfo=UTC)
    assert record(page % 'var ct = "1999999999";').published_at is None  # after the fetch


def test_linked_data_comes_first() -> None:
    head = linked_data(
        headline="柿子熟了",
        author=[{"@type": "Person", "name": "张三"}, {"@type": "Organization", "name": "某社团"}],
        datePublished="2026-11-01T08:00:00+08:00",
        dateModified="2026-11-09T08:00:00+08:00",
    )
    found = article("<p>作者：李四 2026-11-02 09:00</p>", head)
    assert found.author == "张三"
    assert found.published_at == datetime(2026, 11, 1, tzinfo=UTC)


def test_authors_by_reference() -> None:
    graph = [
        {"@type": "Article", "author": {"@id": "#a"}},
        {"@type": "Person", "@id": "#a", "name": "张三"},
    ]
    assert article("", linked_data(**{"@graph": graph})).author == "张三"


@pytest.mark.parametrize(
    "source",
    ["", "{", "[" * 100_000, '{"@type": 1, "author": {"name": {}}}', "null",
     '"text"', "{" * 9 + "}" * 9,
     '{"author": [1, null, {"@id": []}], "datePublished": {}}', "[]" * 50_000],
)  # fmt: skip
def test_linked_data_that_is_none(source: str) -> None:
    head = f"<script type=application/ld+json>{source}</script>"
    assert article("<p>作者：张三</p>", head).author == "张三"


@pytest.mark.parametrize(
    ("byline", "when"),
    [
        ("<p>2026年11月1日 08:20 来源：山城晚报</p>", "2026-11-01T08:20:00+08:00"),
        ("<p>发布时间：2026-11-01</p>", "2026-11-01T00:00:00+08:00"),
        ("<p>更新时间：2026-11-09 发布时间：2026-11-01</p>", "2026-11-01T00:00:00+08:00"),
        ("<p>发布：2026-11-01 更新：2026-11-09</p>", "2026-11-01T00:00:00+08:00"),
        ("<p>更新时间：2026-11-09</p>", "2026-11-09T00:00:00+08:00"),
        ("<p>3小时前</p>", "2026-11-20T14:00:00+08:00"),
        (
            "<p><time datetime='2026-11-01T08:20+08:00'>十一月</time></p>",
            "2026-11-01T08:20:00+08:00",
        ),
        ("<p>© 2026-11-01</p>", None),
        ("<p>注册时间：2026-11-01</p>", None),
        ("<p>2026-12-24 08:20</p>", None),  # in the future of the fetch
        ("", None),
    ],
)
def test_visible_dates(byline: str, when: str | None) -> None:
    found = article(byline).published_at
    assert (found and found.isoformat()) == when


def test_comments_and_copyright_do_not_win() -> None:
    html = (
        "<title>柿子熟了</title><h1>柿子熟了</h1><p>2026-11-01 08:20</p>BODY"
        "<div class=comments><p>路人 2026-11-02 10:11 说得好</p></div><p>版权所有 2026-11-03</p>"
    )
    found = record(html).published_at
    assert found == datetime(2026, 11, 1, 0, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    ("line", "when"),
    [
        ("合作社于 2015 年 7 月 3 日发布的消息说，山上的柿子树已经种满了三百亩", None),
        ("2015年7月3日，合作社说，山上的柿子树已经种满了三百亩", None),
        ("The orchard had its first road in the rain of March 4, 1999.", None),
        ("The road (opened on May 3, 2004 by the mayor) leads to an orchard with old trees", None),
        # Labels, datelines, rows of fields, a day at the end.
        ("山城晚报2015年7月3日讯 合作社说，山上的柿子树已经种满了三百亩", "2015-07-03"),
        ("新华社2015年7月3日电（记者张三）合作社说，山上的柿子树已经种满三百亩", "2015-07-03"),
        ("来源：山城晚报 2015年7月3日 作者：张三 责任编辑：李四 字号 大 中 小", "2015-07-03"),
        ("Feb. 23, 2015 -- Peanut trees have been on the rise in the past decade", "2015-02-23"),
        ("Posted by Ann Lee on March 4, 1999 in the category of fruit and trees", "1999-03-04"),
        ("合作社说，山上的柿子树已经种满了三百亩。（2015年7月3日）", "2015-07-03"),
        ("This page was published on 5 May 2020, at 10:11.", "2020-05-05"),
    ],
)
def test_dates_in_sentences_are_none_of_publication(line: str, when: str | None) -> None:
    html = f"<title>柿子熟了</title><h1>柿子熟了</h1><div class=c><p>{TEXT}</p>"
    found = record(f"{html}<p>{line}</p><p>{TEXT[1:]}</p></div>")
    assert line[-6:] in found.body
    assert (found.published_at and found.published_at.date().isoformat()) == when


def test_a_declared_day_takes_its_time_from_the_page() -> None:
    head = "<meta name=publishdate content=2026-11-01>"
    found = article("<p>2026-11-01 08:20</p>", head).published_at
    assert found == datetime(2026, 11, 1, 0, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("2026/11/01/88.html", 1), ("20261101/88.html", 1), ("2026-11/01/c_88.html", 1),
        ("202611/t20261101_88.html", 1), ("2026/1101/88.html", 1), ("2026/11/2/88.html", 2),
        ("88.html", None), ("12026110188.html", None),
    ],
)  # fmt: skip
def test_days_of_urls(path: str, day: int | None) -> None:
    found = article("", url=f"http://news.example.com/{path}").published_at
    assert (found and (found.month, found.day)) == (day and (11, day))


def test_the_date_under_a_title_that_the_site_counts_to_the_body() -> None:
    def page(n: int) -> RawPage:
        title = f"第{n}个果园的柿子熟了，漫山一片金黄"
        html = (
            f"<title>{title}</title><header>山城网<br>today</header>"
            "<div class=content><p>标题：</p>"
            f"<h1>{title}</h1><p>2026-10-{n}</p><p>分类：新闻{n}</p><p>{n}{TEXT}</p><p>{TEXT}{n}</p></div>"
        )
        url = f"http://news.example.com/guonei/{n}.html"
        return RawPage.from_bytes(url, html.encode(), fetched_at=NOW)

    pages = [page(n) for n in range(10, 30)]
    found = [clean(one, learn_site(pages)) for one in pages]
    assert [one.published_at and one.published_at.day for one in found] == list(range(10, 30))


def test_without_a_time_of_fetch_nothing_is_relative_or_future() -> None:
    html = "<title>柿子熟了</title><h1>柿子熟了</h1><p>%s</p>BODY"
    assert record(html % "3小时前", fetched_at=None).published_at is None
    assert record(html % "2026-12-24 08:20", fetched_at=None).published_at


@pytest.mark.parametrize(
    ("html", "text", "language"),
    [
        ("<html lang=en>BODY", TEXT, "zh"),
        ("<html lang=zh-TW>BODY", "入秋以來，三百畝柿子陸續成熟，合作社連日組織村民。", "zh"),
        ("<html lang=zh-CN>BODY", ENGLISH, "en"),
        ("<html lang=en>BODY", "秋になると、三百畝の柿がつぎつぎと熟して金色になります。", "ja"),
        ("BODY", "가을이 되면 감이 익어 온 산이 금빛으로 물들고", "ko"),
        ("<html lang=en>BODY", "Im Herbst werden die Kakis reif, und das Dorf steigt auf den Berg, "
         "denn es ist auch ein Fest für die Kinder, das sie nicht mit der Zeit vergessen.", "de"),
        ("<html lang=uk>BODY", "Восени хурма достигає, і всі гори стають золотими.", "uk"),
        ("<html lang=pt-BR><p>1 2 3", "", "pt"),
        ("<p>1 2 3", "", None),
        ("<html xml:lang='zh_TW'>一", "", "zh"),
        ("<html lang=EN>a", "", "en"),
        ("<meta http-equiv='Content-Language' content='ja, en'>", "", "ja"),
        ("<html lang=''><meta name=language content=ko>", "", "ko"),
        ("<html lang='Chinese'>", "", None),
    ],
)  # fmt: skip
def test_languages(html: str, text: str, language: str | None) -> None:
    assert record(html, text=text).language == language


CODE = "<pre>" + "for x in sorted(rows): print(x.name, x.size)\n" * 2 + "</pre>"


@pytest.mark.parametrize("declared", ["", " lang=en", " lang=zh-CN"])
@pytest.mark.parametrize(
    ("paragraphs", "language"),
    [
        ([ENGLISH] * 3 + [f"{i}{TEXT}" for i in range(22)], "zh"),
        ([f"{i}{TEXT}" for i in range(22)] + [ENGLISH] * 3, "zh"),
        ([TEXT] + [f"{i}. {ENGLISH}" for i in range(20)], "en"),
        ([f"{i}{TEXT}{CODE}" for i in range(3)], "zh"),
    ],
)
def test_the_whole_body_decides_the_language(
    paragraphs: list[str], language: str, declared: str
) -> None:
    body = "".join(f"<p>{x}</p>" for x in paragraphs)
    html = f"<html{declared}><title>Kakis</title><h1>Kakis</h1><div class=c>{body}</div>"
    assert record(html).language == language


def test_index_pages_have_no_author_and_no_date_but_a_declared_one() -> None:
    rows = "".join(
        f"<li><a href=/{i}.html>第{i}条新闻的标题很长</a> 作者：张三 2026-11-01</li>"
        for i in range(30)
    )
    html, url = f"<title>国内新闻</title><ul>{rows}</ul>", "http://news.example.com/list/"
    found = record(html, url)
    assert (found.author, found.published_at) == (None, None)
    declared = record("<meta property='article:published_time' content=2026-10-01>" + html, url)
    assert declared.kind is PageKind.INDEX
    assert declared.published_at == datetime(2026, 9, 30, 16, tzinfo=UTC)


@pytest.mark.parametrize(
    ("html", "evidence"),
    [
        ("<div id=app></div><script src=/app.js></script>", "#app is empty"),
        ("<noscript>It doesn't work without JavaScript.</noscript><script src=a.js></script>",
         "asks for JavaScript"),
        ("<noscript><p>请启用 JavaScript 后再访问</p></noscript><script src=a.js></script>",
         "asks for JavaScript"),
        ("<script id=__NEXT_DATA__ type=application/json>{}</script>", "__NEXT_DATA__"),
        ("<script>window.__INITIAL_STATE__={}</script>", "__INITIAL_STATE__"),
        ("<script src=a.js></script>" * 3, "3 files"),
        (f"<div id=app><p>{TEXT * 3}</p></div><script src=/app.js></script>", None),
        ("<div id=app></div>", None),
        (f"<noscript>Needs JavaScript</noscript><p>{TEXT * 3}</p><script src=a.js></script>", None),
        ("<p>没有这一页</p><script src=a.js></script>", None),
    ],
)  # fmt: skip
def test_pages_made_by_scripts(html: str, evidence: str | None) -> None:
    warnings = [x.detail for x in record(html).warnings if x.kind == "needs_javascript"]
    assert len(warnings) == (evidence is not None)
    assert evidence is None or evidence in warnings[0]


def test_a_thread_has_the_author_and_time_of_its_first_post() -> None:
    posts = "".join(
        f"<div class=post><div class=user><a href=/u/{i}>{name}</a></div>"
        f"<span>#{i + 1}</span> <span class=time>{when}</span>"
        f"<div class=text><p>{TEXT}{i}</p></div></div>"
        for i, (name, when) in enumerate(
            [("山里人", "2026-11-01 08:20"), ("果农", "昨天 12:30"), ("路人", "3小时前")]
        )
    )
    html = f"<title>柿子熟了 - 山货论坛</title><h1>柿子熟了</h1>{posts}"
    found = record(html, "http://bbs.example.com/thread-88.html")
    assert [post.published_at for post in found.posts] == [
        datetime(2026, 11, 1, 0, 20, tzinfo=UTC),
        datetime(2026, 11, 19, 4, 30, tzinfo=UTC),
        datetime(2026, 11, 20, 6, 0, tzinfo=UTC),
    ]
    assert found.author == "山里人"
    assert found.published_at == found.posts[0].published_at


@pytest.mark.parametrize(
    ("lines", "day"),
    [
        ("<p>2026-11-01 08:20</p>", 1),
        ("<p>2026-11-01 热门</p><p>2026-11-02 热门</p>", None),
        ("<p>2026-11-02 热门</p><p>2026-11-03 热门</p><p>最后编辑：2026-11-01</p>", 1),
        ("<p><a href=/a>2026-11-01</a></p>", None),
        ("<div class=comments><p>路人 2026-11-01</p></div>", None),
        ("<p>当前时间：2026-11-01 08:20</p>", None),
    ],
)
def test_a_date_far_behind_the_body_is_alone_or_has_a_label(lines: str, day: int | None) -> None:
    buttons = "".join(f"<p>按钮{i}</p>" for i in range(14))
    html = f"<title>柿子熟了</title><h1>柿子熟了</h1>BODY{buttons}{lines}"
    found = record(html).published_at
    assert (found and found.day) == day


@pytest.mark.parametrize(
    ("stated", "shown", "when"),
    [
        ("2026-11-09T02:11:03Z", "November 8, 2026 21:11", "2026-11-08T21:11:00+00:00"),
        ("2026-11-09T02:11:03Z", "November 8, 2026 20:47", "2026-11-09T02:11:03+00:00"),
        ("2026-11-08T23:00:00Z", "November 9, 2026", "2026-11-09T00:00:00+00:00"),
        ("2026-11-08T20:17:00Z", "November 9, 2026", "2026-11-08T20:17:00+00:00"),
        ("2026-11-08T23:00:00+01:00", "November 9, 2026", "2026-11-08T23:00:00+01:00"),
    ],
)
def test_a_moment_in_utc_is_on_the_day_that_the_page_shows(
    stated: str, shown: str, when: str
) -> None:
    head = f"<meta property='article:published_time' content='{stated}'>"
    html = f"<html lang=en><title>Road</title>{head}<h1>Road</h1><p>{shown}</p>BODY"
    assert str(record(html, text=ENGLISH).published_at) == when.replace("T", " ")


def test_the_day_that_most_sources_name_is_the_pages() -> None:
    def day(head: str, byline: str) -> int:
        found = article(byline, head).published_at
        assert found is not None
        return found.day

    meta = "<meta property='article:published_time' content='2026-11-05T08:00:00+08:00'>"
    data = linked_data(datePublished="2026-11-01T08:00:00+08:00")
    assert day(data + meta, "") == 1
    assert day(data + meta, "<p>2026-11-05 来源：山城晚报</p>") == 5
    assert day(data, "<p>2026-11-05 来源：山城晚报</p>") == 1
    other = "<meta name=date content=2026-11-09><meta name=dc.date content=2026-11-09>"
    assert day(other, "") == 9
    assert day(other, "<p>2026-11-05 来源：山城晚报</p>") == 5
    assert day(data + other, "<p>更新时间：2026-11-09</p>") == 1


@pytest.mark.parametrize(
    ("start", "day"),
    [
        ("（2026年11月1日）", 1), ("山城，2026年11月1日——", 1), ("2026.11.01。", 1),
        ("2026年11月1日", None), ("合作社的人从山上下来以后说，在2026年11月1日。", None),
    ],
)  # fmt: skip
def test_datelines_of_a_long_paragraph(start: str, day: int | None) -> None:
    found = article("", text=start + TEXT * 3).published_at
    assert (found and found.day) == day


@pytest.mark.parametrize(
    "html",
    ["BODY<time datetime=2026-11-01></time>", "BODY<time hidden datetime=2026-11-01>1</time>"],
)
def test_a_time_behind_the_last_text_is_read(html: str) -> None:
    found = record(f"<title>柿子熟了</title><h1>柿子熟了</h1>{html}")
    assert str(found.published_at) == "2026-11-01 00:00:00+08:00"
    assert not found.warnings


@pytest.mark.parametrize(
    "element", ["<time datetime=2026-11-01></time>", "<time hidden datetime=2026-11-01>1</time>"]
)
def test_many_times_on_a_line_take_linear_time(element: str) -> None:
    seconds = []
    for n in (1000, 4000):
        with timed() as took:
            found = article(f"<p>{element * n}山城晚报</p>").published_at
        assert str(found) == "2026-11-01 00:00:00+08:00"
        seconds.append(took.seconds)
    assert seconds[1] < 8 * seconds[0] + 0.1
