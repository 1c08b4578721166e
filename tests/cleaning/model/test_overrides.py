"""Overrides of a host: what a person's selectors make of a page."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from msgspec import structs

from crawlclean import ConfigError, RawPage, SiteModel, clean
from crawlclean.cleaning.document.document import read_document
from crawlclean.cleaning.document.outline import Outline, selector
from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.model.overrides import (
    MAX_BYTES,
    Override,
    check_overrides,
    selector_of_line,
)
from crawlclean.cleaning.page import read
from crawlclean.cleaning.records import BodySource, PageKind, VerdictReason, Via
from crawlclean.cleaning.why import explain

URL = "http://www.example.com/news/12.html"
ARTICLE = PageKind.ARTICLE
WHEN = datetime(2026, 11, 22, 18, 5, tzinfo=UTC)
PAGE = """<html><head><title>大桥通车 - 示例网</title><meta name="desk" content="李四"></head><body>
<div class="nav"><a href="/">首页</a> <a href="/news/">新闻</a></div>
<h1>大桥通车</h1>
<div class="summary">这座大桥今天正式通车，它连接两岸。</div>
<div class="main" id="text">
<p>大桥全长三公里，今天上午正式通车，市民步行过桥，桥上十分热闹。</p>
<p>它用了五年时间建成，花费二十亿元，是这座城市最长的一座桥。</p>
<p class="note">采访那天下着小雨，江边的人却不少，桥头的小店卖光了热茶。</p>
</div>
<div class="sidebar box">编辑 <span class="who">王小五</span>
<b data-when="2024-05-01T08:30">昨天</b></div>
<a class="more" href="12_2.html">下一页</a>
</body></html>"""


def page(html: str = PAGE, url: str = URL) -> RawPage:
    return RawPage.from_bytes(url, html.encode(), fetched_at=WHEN)


def model(*overrides: Override) -> SiteModel:
    return SiteModel(
        host="www.example.com", learned_at=WHEN, page_count=0, overrides=tuple(overrides)
    )


def body_by(*overrides: Override, html: str = PAGE) -> list[str]:
    """The lines of the body; every line has a verdict that agrees."""
    given = page(html)
    record, verdicts = explain(given, model(*overrides))
    assert record == clean(given, model(*overrides))
    kept = [each.text for each in verdicts if each.in_body]
    assert "\n".join(kept) == record.body
    return record.body.splitlines()


def test_a_model_without_rules_reads_a_page_as_no_model_does() -> None:
    alone, taught = clean(page()), clean(page(), model())
    assert taught.model_version == 1
    assert (taught.body, taught.links, taught.images, taught.title, taught.kind) == (
        alone.body,
        alone.links,
        alone.images,
        alone.title,
        alone.kind,
    )


def test_the_body_is_what_a_selector_finds() -> None:
    for text in ("div.summary", "//div[@class='summary']", "(//div)[2]"):
        assert body_by(Override(body=(text,))) == ["这座大桥今天正式通车，它连接两岸。"]
    record, verdicts = explain(page(), model(Override(body=("div.summary",))))
    assert record.body_source is BodySource.OVERRIDE
    found = {each.text[:4]: each for each in verdicts}
    assert found["这座大桥"].reason is VerdictReason.OVERRIDE
    assert found["大桥全长"].reason is VerdictReason.OVERRIDE_CUT
    assert found["大桥全长"].by == "div.summary"


def test_overrides_hold_for_a_page_that_was_parsed_without_them() -> None:
    given, said = page(), model(Override(drop=("p.note",)))
    assert read(read_document(given), said).record == clean(given, said)
    assert "采访那天" not in clean(given, said).body


def test_the_first_selector_that_finds_something_counts() -> None:
    assert body_by(Override(body=("div.gone", "div.summary", "div.main"))) == body_by(
        Override(body=("div.summary",))
    )
    alone = clean(page()).body.splitlines()
    assert body_by(Override(body=("div.gone",), drop=("i.gone",), keep=("#gone",))) == alone
    assert clean(page(), model(Override(title=("h5",), date=("b",), author=("i",)))).title == (
        clean(page()).title
    )


def test_lines_are_dropped_and_kept() -> None:
    alone = clean(page()).body.splitlines()
    assert alone[-1].startswith("采访那天")
    assert len(alone) >= 3
    assert body_by(Override(drop=("p.note",))) == alone[:-1]
    assert body_by(Override(body=("#text",), drop=("p.note",))) == alone[-3:-1]
    kept = body_by(Override(keep=("div.box",)))
    assert kept == [*alone, "编辑 王小五 昨天"]
    # A piece of a line takes no line with it.
    assert body_by(Override(drop=("span.who",), keep=("div.box",))) == kept


def test_the_title_stays_out_of_a_body() -> None:
    assert body_by(Override(body=("body",)))[1:3] == [
        "这座大桥今天正式通车，它连接两岸。",
        "大桥全长三公里，今天上午正式通车，市民步行过桥，桥上十分热闹。",
    ]


def test_fields_are_what_selectors_find() -> None:
    said = Override(
        title=("//h1/text()",),
        author=("meta[name=desk]",),
        date=("//b/@data-when",),
        next=("a.more",),
        kind=PageKind.ARTICLE,
    )
    record = clean(page(), model(said))
    assert (record.title, record.author, record.kind) == ("大桥通车", "李四", PageKind.ARTICLE)
    assert record.published_at is not None
    assert f"{record.published_at:%Y-%m-%d %H:%M}" == "2024-05-01 08:30"
    [found] = [each for each in record.outlinks if each.url.endswith("/news/12_2.html")]
    assert found.via is Via.NEXT
    assert clean(page(), model(Override(author=("span.who",)))).author == "王小五"
    title = explain(page(), model(said))[1][0]
    assert (title.reason, title.by) == (VerdictReason.OVERRIDE, "//h1/text()")


def test_a_kind_gives_and_takes_author_and_date() -> None:
    said = Override(author=("span.who",), date=("//b/@data-when",))
    other, article = (structs.replace(said, kind=kind) for kind in (PageKind.OTHER, ARTICLE))
    assert clean(page(), model(other)).author is None
    hub = page("<h1>A</h1>" + PAGE, "http://www.example.com/")
    assert clean(hub, model(article)).author == "王小五"


@pytest.mark.parametrize(
    ("pattern", "fits"),
    [
        ("", True),
        ("/news/*.html", True),
        ("/news/**", True),
        ("/", False),
        ("/*.html", False),
        ("/blog/**", False),
    ],
)
def test_an_override_is_of_a_url_class(pattern: str, fits: bool) -> None:
    found = body_by(Override(pattern=pattern, body=("div.summary",)))
    assert (len(found) == 1) is fits


def test_the_home_page_is_a_class() -> None:
    said = model(Override(pattern="/", body=("div.summary",)))
    assert clean(page(url="http://www.example.com/"), said).body_source is BodySource.OVERRIDE


def test_a_class_goes_before_its_host() -> None:
    host, own = Override(body=("#text",)), Override(pattern="/news/**", body=("div.summary",))
    assert body_by(host, own) == body_by(own)
    assert len(body_by(host, Override(pattern="/news/**", drop=("p.note",)))) == 2


def test_posts_lose_dropped_lines() -> None:
    text = "<p>这一段文字很长，它有逗号，也有句号，是第{}位网友写的，没有人会怀疑这一点。</p>"
    posts = "".join(
        f'<div class="post"><div class="author">网友{n}</div><div class="time">2024-05-0{n} 10:00'
        f'</div><div class="message">{text.format(n)}'
        f'<p class="extra">签名很长，也有句号，网友{n}说今天是{n}号，天气很好。</p></div></div>'
        for n in range(1, 6)
    )
    html = f"<title>大桥 - 论坛</title><h1>大桥</h1>{posts}"
    url = "http://www.example.com/thread/5"
    before = clean(page(html, url))
    record, verdicts = explain(page(html, url), model(Override(drop=("p.extra",))))
    assert before.body_source is BodySource.POSTS
    assert "签名很长" in before.body
    assert len(record.posts) == len(before.posts) == 5
    assert "签名很长" not in record.body + record.posts[0].body
    cut = [each for each in verdicts if each.text.startswith("签名很长")]
    assert {each.reason for each in cut} == {VerdictReason.OVERRIDE_CUT}


def test_a_model_with_overrides_is_read_as_it_was_written() -> None:
    said = model(Override(pattern="/news/**", body=("a",), kind=PageKind.INDEX), Override())
    assert SiteModel.from_json(said.to_json()) == said
    assert '"overrides":[]' in model().to_json()
    older = model().to_json().replace('"overrides":[],', "")
    assert SiteModel.from_json(older) == model()


@pytest.mark.parametrize(
    "text",
    [
        "div[",
        "",
        "p::text",
        "//div[",
        "//a[foo()]",
        "//x:a",
        "//a[re:test(., 'a')]",
        "//p[count(preceding::p) > 3]",
        "//p[.//a[.//b]]",
        "h2 ~ p",
        "//h2/following-sibling::p",
        "p" * 2000,
    ],
)
def test_what_is_no_selector_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        check_overrides([Override(drop=(text,))])


def test_selectors_of_published_rules_are_taken() -> None:
    check_overrides(
        [
            Override(
                body=(
                    "//div[contains(concat(' ', normalize-space(@class), ' '), ' entry ')]",
                    "//div[@id='a']//ul//li[.//img[contains(@src, 'http://a/b')]]//a",
                    "//p[starts-with(normalize-space(.), 'a')]/following-sibling::div[1]",
                    "//span[preceding-sibling::node()[position() mod (2)]]",
                    "h2 + p",
                )
            )
        ]
    )
    with pytest.raises(ConfigError):
        check_overrides([Override(drop=(f"p.a{n}{'a' * 900}",)) for n in range(MAX_BYTES // 900)])


@pytest.mark.parametrize(
    "html",
    [
        "",
        "plain text",
        "<p>a</p>" * 30_000,
        "<div>" * 5_000 + "text" + "</div>" * 5_000,
        "<html a=1><html b=2><body><body><p>a</html><p>b",
        '<p @click="a" x:y="b" "="c" data-z="&#1;\ufffe">a<o:p>b</o:p></p><fb:like/>\ud800',
        "<table><p>a<tr><td>b<td>c</table></i></b>d",
        "<noscript><p>a</p></noscript><script>1</script><style>p{}</style><textarea><p>",
    ],
)
def test_broken_pages_have_an_outline(html: str) -> None:
    outline = Outline()
    tree = parse(html, follow=outline.follow)
    lines = [line for each in outline.find("//p") for line in outline.lines_of(each)]
    assert all(0 <= line < len(tree.line_starts) for line in lines)
    whole = {line for each in outline.find("/html") for line in outline.lines_of(each)}
    assert whole == set(range(len(tree.line_starts)))


def test_elements_have_the_lines_of_the_tree() -> None:
    outline = Outline()
    tree = parse(PAGE, follow=outline.follow)
    [note] = outline.find("p.note")
    [line] = outline.lines_of(note)
    assert tree.line_text(line).startswith("采访那天")
    assert outline.find("string(//h1)") == ["大桥通车"]
    assert outline.find("//h1 | //title")
    assert outline.find("/html[1]/body/h1/text()") == ["大桥通车"]
    assert selector("p.note") is selector(" p.note ")


def selected(html: str, text: str) -> str:
    """The selector of the line with a text; it finds this line alone."""
    outline = Outline()
    tree = parse(html, follow=outline.follow)
    [line] = [i for i in range(len(tree.line_starts)) if tree.line_text(i).startswith(text)]
    found = selector_of_line(outline, line)
    if found:
        assert {i for each in outline.find(found) for i in outline.lines_of(each)} == {line}
    return found


def test_a_line_has_a_selector() -> None:
    assert selected(PAGE, "采访那天") == "p.note"
    assert selected(PAGE, "这座大桥") == "div.summary"
    assert selected(PAGE, "大桥全长").startswith('//p[normalize-space() = "大桥全长三公里')
    many = (
        "<div class=a><p class=n>一</p></div><div id=b7><p class='n p17'>二</p><p>“三” \"四\"</p>"
    )
    assert selected(many, "一") == "div.a"
    assert selected(many, "二") == '//p[normalize-space() = "二"]'
    assert selected(many, "“三”") == '//p[starts-with(normalize-space(), "“三” ")]'
    long = "<p>" + "很长的文字 " * 30 + "</p><p>别的</p>"
    assert selected(long, "很长").startswith("//p[starts-with(normalize-space(), ")
    nested = (
        "<div class=x><p class=n>一</p><p>二</p></div><div class=y><p class=n>三</p><p>四</p></div>"
    )
    assert selected(nested, "三") == "div.y p.n"
    assert selected("<td>一<br>二<br>三</td>", "二") == ""


def test_of_a_line_the_closest_word_counts() -> None:
    cut = [x for x in clean(page()).body.splitlines() if not x.startswith("采访那天")]
    whole = clean(page()).body.splitlines()
    host, own = Override(keep=("p.note",)), Override(pattern="/news/**", drop=(".note",))
    assert body_by(host, own) == cut, "a class goes before its host"
    clicked = Override(pattern="/news/**", keep=("//p[@class]",), by="session 1")
    assert body_by(host, own, clicked) == whole, "a click goes before the file"
    assert body_by(Override(drop=(".note",), keep=("p.note",))) == cut
