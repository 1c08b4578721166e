"""What of a page's source a reader sees as text: readings, formulas, tools, hidden texts."""

# ruff: noqa: E501 - pieces of pages

from __future__ import annotations

import time

import pytest

from crawlclean import CleanRecord, VerdictReason, clean_html
from crawlclean.cleaning.document.document import RawPage
from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.why import verdicts

URL = "https://a.example/2024/mill.html"
FIRST = "凌晨四点，磨坊的水轮第一次在新修的水渠上转动，村里的人提着灯站在岸边看。"
SECOND = "磨坊主说，水渠加深了半米，枯水的月份也能磨面，邻村的人不用再等到开春。"
LAST = (
    "The wheel is made of oak from the hills, and the miller thinks that it will turn for decades."
)


def page(inside: str, head: str = "") -> str:
    return (
        f"<html><head><title>水磨坊又转了</title>{head}</head><body><div class=top><a href=/>首页</a>"
        f"</div><div class=text><h1>水磨坊又转了</h1><p>{FIRST}</p>{inside}<p>{SECOND}</p>"
        f"<p>{LAST}</p></div></body></html>"
    )


def read(inside: str, head: str = "") -> CleanRecord:
    return clean_html(page(inside, head), URL)


def body_of(inside: str, head: str = "") -> str:
    return read(inside, head).body


@pytest.mark.parametrize(
    "hidden",
    [
        '<font style="font-size:0px">q8 Zk</font>',
        '<span style="font-size: 0;color:red">q8 Zk</span>',
        '<b style="display: none">q8 Zk</b>',
        "<i hidden>q8 Zk</i>",
        '<span class="note jam">q8 Zk</span>',
        "<em id=stamp>q8 Zk</em>",
        "<font class=dust>q8 Zk</font>",
        '<span style="position:absolute;left:-9999px">q8 Zk</span>',
        '<span style="visibility:hidden">q8 <u>Zk</u></span>',
        '<span style="display:none">q8 <script>1</script>Zk</span>',
    ],
)
def test_words_in_a_sentence_that_a_reader_does_not_see_are_none(hidden: str) -> None:
    head = (
        "<style>/* copying */ .jam, em#stamp{color:red;display:none} .dust{font-size:0px}</style>"
    )
    assert "管水的人，记下了日子。" in body_of(f"<p>管水的人，{hidden}记下了日子。</p>", head)


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>{}</p>",
        "<div hidden><p>{}</p></div>",
        '<div style="display:none"><p>{}</p></div>',
        '<p style="font-size:0">{}</p>',
        '<div style="height:0; overflow:hidden"><p>{}</p></div>',
        '<div class="box quiet"><p>{}</p></div>',
        '<span style="display:none"><div>{}</div></span>',
    ],
)
def test_parts_that_are_hidden_are_no_text_and_have_this_reason(hidden: str) -> None:
    text = "统计用的一段话，读者看不见，只有抄书的程序才会读到它。"
    source = page(hidden.format(text), "<style media=screen>.quiet{display:none}</style>")
    assert text not in clean_html(source, URL).body
    found = {v.text: v.reason for v in verdicts(RawPage.from_bytes(URL, source.encode()))}
    assert found[text] is VerdictReason.HIDDEN_PART


@pytest.mark.parametrize(
    "shown",
    [
        "<span class=wide>{}</span>",
        '<span class="pane on">{}</span>',
        "<span class=paper>{}</span>",
        '<span style="font-size:0.9em;backface-visibility:hidden">{}</span>',
        '<p hidden="until-found">{}</p>',
        "<div role=tabpanel hidden><p>{}</p></div>",
        '<p style="font-size:0.5px">{}</p>',
    ],
)
def test_what_is_hidden_on_some_screens_or_until_a_click_is_text(shown: str) -> None:
    head = (
        "<style>@media print{.paper{display:none}} .wide{display:none} .pane{display:none}"
        ".pane.on{display:block} @media (min-width:9em){.wide{display:inline}}</style>"
        "<style media=print>p, span{display:none} .on{display:none}</style>"
    )
    assert "水渠的闸门由三个人轮流看守" in body_of(
        shown.format("水渠的闸门由三个人轮流看守，一人一夜。"), head
    )


@pytest.mark.parametrize(
    "sheets",
    [
        "<style>.x,.story,.y{color:red}"
        + ",".join(f".ad-banner-number-{n}" for n in range(80))
        + "{display:none}</style>",
        "<style>.story{/* display:none */color:red}</style>",
        "<style>/* .story{display:none} */</style>",
        "<style>@media print{.a:after{content:'}'} .story{display:none}}</style>",
        '<style>@media print{.a:after{content:"\\"}"} .story{display:none}}</style>',
        "<style>@media print{.b\\}{color:red} .story{display:none}}</style>",
        "<style>img.story{display:none} #story{display:none}</style>",
        "<style>.a:not(.b, .story, .c){display:none}</style>",
        "<style>.story{display:none}</style><style>.story{display:block}</style>",
        "<style>.on.story{display:block}</style><style>.story{display:none}</style>",
        "<style>.story{--display:none}</style>",
        "<style>.story{x-display:none}</style>",
        "<style>.story{--font-size:0}</style>",
    ],
)
@pytest.mark.parametrize("shown", ["<p class=story>{}</p>", "<p><b class='on story'>{}</b></p>"])
def test_what_no_rule_of_its_own_hides_is_text(sheets: str, shown: str) -> None:
    text = "水渠的闸门由三个人轮流看守，一人一夜。"
    assert text in body_of(shown.format(text), sheets)


@pytest.mark.parametrize(
    "sheet",
    [
        ".jam{display:none}",
        "@import 'a.css';.jam{display: none!important}",
        "<!-- .a{color:red}\n.jam{color:red;display:none} -->",
        "@media print{p{color:red}} /* it's } */ B.jam , .c{display:none}",
        ".c{background:url('a;{}')}\n.jam{font-size:0;display:inline}",
        "}.jam{display:none}",
    ],
)
def test_words_are_hidden_by_each_form_of_a_rule(sheet: str) -> None:
    text = "管水的人，<b class=jam>q8 Zk</b>记下了日子。"
    assert "管水的人，记下了日子。" in body_of(f"<p>{text}</p>", f"<style>{sheet}</style>")


@pytest.mark.parametrize(
    "item",
    [
        "<h3><button aria-expanded=false>{q}</button></h3><div class=c style='display:none'><p>{a}</p></div>",
        "<div class=item><button>{q}</button><div hidden><p>{a}</p></div></div>",
        "<dl><dt>{q}</dt><dd style='display:none'>{a}</dd></dl>",
        "<div class=q>{q}</div><div class=answer>{a}</div>",
        "<details><summary>{q}</summary><p>{a}</p></details>",
    ],
)
def test_answers_that_a_click_opens_are_text(item: str) -> None:
    asked = {
        "Who may grind corn?": "Everybody from the three villages may, on the day of their village.",
        "What does it cost?": "One sack in twenty stays with the miller, as it was a hundred years ago.",
    }
    items = "".join(item.format(q=q, a=a) for q, a in asked.items())
    source = (
        "<html><head><title>Questions about the mill</title><style>.answer{display:none}</style>"
        "</head><body><main><h1>Questions about the mill</h1>"
        f"<p>These questions are asked most often at the gate of the mill.</p>{items}</main></body></html>"
    )
    body = clean_html(source, URL).body
    assert all(text in body for pair in asked.items() for text in pair)


@pytest.mark.parametrize(
    "hidden",
    [
        "<div><div style='display:none'><p>{}</p></div></div>",
        "<div class=w><button>x</button></div><div style='display:none'><p>{}</p></div>",
    ],
)
def test_a_hidden_part_without_a_text_above_it_stays_hidden(hidden: str) -> None:
    text = "登录以后可以收藏这篇文章，也可以给作者写信，信会在三天之内送到。"
    assert text not in body_of(hidden.format(text))


def test_most_of_a_text_below_its_beginning_is_shown_by_a_click() -> None:
    rest = "".join(
        f"<p>第{n}天，水渠的闸门开到第{n}格，磨坊一直转到天黑，没有停过。</p>" for n in range(9)
    )
    body = body_of(f"<div class=more style='display:none'>{rest}</div>")
    assert "第8天" in body
    assert FIRST in body


@pytest.mark.parametrize(
    "ruby",
    [
        "<ruby>濯<rp>(</rp><rt>zhuó</rt><rp>)</rp>缨<rp>(</rp><rt>yīng</rt><rp>)</rp></ruby>",
        "<ruby>濯<rt>zhuó</rt></ruby><ruby>缨<rt>yīng</rt></ruby>",
        "<ruby><rb>濯</rb><rb>缨</rb><rt>zhuó</rt><rt>yīng</rt></ruby>",
        "<ruby><rb>濯<rt>zhuó<rb>缨<rt>yīng</ruby>",
        "<ruby>濯缨<rtc><rt>ㄓㄨㄛˊ ㄧㄥ</rt></rtc></ruby>",
        "<b><ruby>濯<rp>（<rt>zhuó<rp>）</ruby></b><ruby>缨<rt>yīng</ruby>",
    ],
)
def test_readings_stay_out_of_words(ruby: str) -> None:
    record = read(f"<p>磨坊的门上写着“{ruby}”两个大字，是前清的秀才写的。</p>")
    assert "“濯缨”两个大字" in record.body
    assert "濯缨" in record.markdown.replace("*", "")


TEX = r"\frac{w}{8}"
MATH = (
    "<math alttext='{tex}'><semantics><mrow><mfrac><mi>w</mi><mn>8</mn></mfrac></mrow>"
    f'<annotation encoding="application/x-tex">{TEX}</annotation>'
    "<annotation-xml encoding='MathML-Content'><apply><ci>w</ci></apply></annotation-xml>"
    "</semantics></math>"
)


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (MATH, TEX),
        (MATH.replace(TEX, r"{\displaystyle w_{8}}"), "w_{8}"),
        (
            f"<span class=k><span>{MATH}</span><span aria-hidden=true><i>w</i><i>8</i></span></span>",
            TEX,
        ),
        (f"<span class=m style='display:none'>{MATH}</span><img src=1.svg alt='{TEX}'>", TEX),
        ("<math><mrow><mi>H</mi>\n <mo>=</mo> <mi>ql</mi></mrow></math>", "H=ql"),
        ("<span class=MathJax_Preview>[math]</span><script type='math/tex'>H=ql</script>", "H=ql"),
        (
            "<span class=MathJax_Preview></span><span class=MathJax><nobr>H=ql</nobr>"
            "<span class=MJX_Assistive_MathML><math><mi>H</mi><mo>=</mo><mi>ql</mi></math></span>"
            "</span><script type='math/tex; mode=display'>% <![CDATA[\nH=ql %]]></script>",
            "H=ql",
        ),
        (
            "<mjx-container class=MathJax><mjx-math aria-hidden=true>Hql</mjx-math>"
            "<mjx-assistive-mml><math><mi>H</mi><mo>=</mo><mi>ql</mi></math></mjx-assistive-mml>"
            "</mjx-container>",
            "H=ql",
        ),
    ],
)
def test_a_formula_is_written_once(formula: str, text: str) -> None:
    assert f"水轮的推力是 {text}，其中 w 是水的重量，写在墙上。" in body_of(
        f"<p>水轮的推力是 {formula}，其中 w 是水的重量，写在墙上。</p>"
    )
    assert f"平均\n{text}\n最大" in body_of(
        f"<table><tr><td>平均</td><td>{formula}</td></tr><tr><td>最大</td><td>3 kN</td></tr></table>"
    )


@pytest.mark.parametrize(
    "formula",
    [
        "<math><math><mi>H</mi></math><mo>=</mo><mi>q</mi></math>",
        "<math><mi>H</mi><mtext>=<math><mi>q</mi></math></mtext></math>",
        "<script type='math/tex'> <![CDATA[H=q]]> </script>",
        "<script type='math/tex'>%<![CDATA[ H=q\n% ]]></script>",
    ],
)
def test_a_formula_around_a_formula_is_one(formula: str) -> None:
    assert "水深 H=q。" in body_of(f"<p>水深 {formula}。</p>")


def test_spaces_in_a_formula_cost_no_more_than_their_number() -> None:
    def seconds(count: int) -> float:
        spaces = " " * count
        source = page(f"<script type='math/tex'>x{spaces}% {spaces}y</script>")
        started = time.process_time()
        parse(source)
        return time.process_time() - started

    assert seconds(200_000) < 2  # by the square of the number: minutes


def test_two_formulas_side_by_side_are_two() -> None:
    scripts = "<script type='math/tex'>a</script> <script type='math/tex'>b</script>"
    assert "于是 a b，算完了。" in body_of(f"<p>于是 {scripts}，算完了。</p>")


@pytest.mark.parametrize(
    "mode", ["shadowrootmode=open", "shadowrootmode=closed", "shadowroot=open"]
)
def test_a_declared_shadow_root_is_text(mode: str) -> None:
    source = (
        f"<html><head><title>水磨坊</title></head><body><x-page><template {mode}><style>p{{}}</style>"
        f"<div><p>{FIRST}<p>{SECOND}</div></template></x-page><template><p>没有用的</p></template>"
        f"</body></html>"
    )
    assert clean_html(source, URL).body == f"{FIRST}\n{SECOND}"


@pytest.mark.parametrize(
    "tools",
    [
        "<span class=t>[<a href=/e>edit</a>]</span>",
        "<span><span>[</span><a href=/e>编辑</a> | <a href=/s>源代码</a><span>]</span></span>",
        "<a class=icon href='javascript:;'>编辑</a>",
        "【<a href=/e>编辑</a>】",
    ],
)
@pytest.mark.parametrize("heading", ["水渠的历史", "History"])
def test_tools_behind_a_heading_are_no_words_of_it(tools: str, heading: str) -> None:
    record = read(f"<h2><span id=h>{heading}</span>{tools}</h2>")
    assert heading in record.body.split("\n")
    assert f"## {heading}\n" in record.markdown
    assert not {"编辑", "源代码"} & set(record.body)
    assert "edit" not in record.body
    assert any(link.text in ("edit", "编辑") for link in record.links)


@pytest.mark.parametrize(
    "tools",
    [
        "[<a href=/e>edit</a>]",
        "[<a href=/e>编辑</a> | <a href=/f>编辑源代码</a>]",
        "<span><span>[</span><a href=/e>edit</a><span> | </span><a href=/f>edit source</a><span>]</span></span>",
        "<a href='javascript:;'>edit</a>",
    ],
)
@pytest.mark.parametrize("heading", ["The way of the water", "水渠的历史", "The way:"])
@pytest.mark.parametrize("around", ["{}<h2>{}</h2>{}", "<p>{}</p><h2>{}</h2><p>{}</p>"])
def test_tools_behind_a_heading_are_no_text_below_it(tools: str, heading: str, around: str) -> None:
    source = around.format(
        f"昨天，{FIRST}", f"{heading} {tools}", f"今天，{SECOND}<br>明天，{FIRST}"
    )
    lines = body_of(source).split("\n")
    assert lines[2:4] == [heading, f"今天，{SECOND}"]
    assert not any("edit" in line or "编辑" in line for line in lines)


@pytest.mark.parametrize("heading", ["History [<a href=/x>]</a>", "[<a href=/e>edit</a>]"])
def test_a_heading_of_brackets_and_links_has_no_empty_line(heading: str) -> None:
    tree = parse(page(f"<h2>{heading}</h2>"))
    assert all(text.strip() for text in tree.texts)
    assert "" not in body_of(f"<h2>{heading}</h2>").split("\n")


def test_links_that_are_words_of_a_heading_stay() -> None:
    for heading in ("The mill [<a href=/o>old</a>] and its wheel", "On <a href=/w>wheels</a>"):
        plain = heading.replace("<a href=/o>", "").replace("<a href=/w>", "").replace("</a>", "")
        assert plain in body_of(f"<h2>{heading}</h2>")


@pytest.mark.parametrize(
    "links", ["<a href=/e>edit</a>", "<a href=/e>编辑</a> | <a href=/s>编辑源代码</a>"]
)
def test_tools_beside_a_heading_are_no_text(links: str) -> None:
    tools = f"<span><span>[</span>{links}<span>]</span></span>"
    body = body_of(f"<div class=h><h2>水渠的历史</h2>{tools}</div>")
    assert body == f"{FIRST}\n水渠的历史\n{SECOND}\n{LAST}"


def test_the_first_of_headings_side_by_side_is_one_of_the_text() -> None:
    source = (
        "<html><head><title>Guide to the mill</title></head><body><div class=text>"
        f"<h1>Before the start</h1><p>{LAST}</p><h1>开闸的次序</h1><p>{FIRST}</p><h1>收工以后</h1><p>{SECOND}</p>"
        "</div></body></html>"
    )
    assert clean_html(source, URL).body.split("\n") == [
        "Before the start", LAST, "开闸的次序", FIRST, "收工以后", SECOND,
    ]  # fmt: skip
