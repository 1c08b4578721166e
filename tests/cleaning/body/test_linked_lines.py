"""Lines that are wholly links: which of them are text."""

# ruff: noqa: E501 - pieces of pages

from __future__ import annotations

import pytest

from crawlclean import CleanRecord, LinkKind, clean_html

URL = "https://town.example/2024/weir.html"
ZH = (
    "县水利局昨天公布了新水坝的设计，坝高四十米，坝顶可以走人，两岸的村子都能用上水。",
    "工程分三年做完，第一年修路，第二年筑坝，第三年蓄水，所需的石料都从本地的山里开采。",
    "沿河的渔民担心鱼道太窄，设计的人说鱼道加宽了一倍，春天的鱼群可以一直游到上游。",
)
EN = (
    "The water board published the plans of the new weir yesterday, which is to be forty metres high.",
    "The work takes three years: the road comes first, then the weir, and in the last year the water.",
    "Fishermen fear that the ladder is too narrow, but the engineers say that it was made twice as wide.",
)
TOP = "<div class=top><a href=/>Home</a> <a href=/news/>News</a> <a href=/life/>Life</a></div>"
SIDE = "<div class=side><h3>Most read</h3><ul><li><a href=/1>Orchards report a rich harvest this year</a></li><li><a href=/2>Three new bus lines for the old town</a></li></ul></div>"


def read(*parts: str, title: str = "河湾新水坝") -> CleanRecord:
    text = "".join(part if part.startswith("<") else f"<p>{part}</p>" for part in parts)
    return clean_html(
        f"<html><head><title>{title}</title></head><body>{TOP}<div class=text><h1>{title}</h1>{text}</div>{SIDE}</body></html>",
        URL,
    )


@pytest.mark.parametrize("texts", [ZH, EN])
@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("<h2 id=a><a href='#a'>Height and length</a></h2>", "Height and length"),
        ("<h3><a href='https://dams.example.org/1'>1. The old weir</a></h3>", "1. The old weir"),
        ("<h2><a href=/dams/old>筑坝的历史</a></h2>", "筑坝的历史"),
        ("<div class=head><h2><a href='#x'>筑坝的历史</a></h2></div>", "筑坝的历史"),
        (
            "<p><a href=/doc/plan.pdf>附件：新水坝设计说明书.pdf</a></p>",
            "附件：新水坝设计说明书.pdf",
        ),
        (
            "<div class=att><a href='/down?f=a.docx'>公众意见征集表.docx</a></div>",
            "公众意见征集表.docx",
        ),
        (
            "<p><a href=http://board.example.net/report>The whole report of the board</a></p>",
            "The whole report of the board",
        ),
        ("<p><a href=/plan>水坝的<b>设计图</b>在这里</a></p>", "水坝的设计图在这里"),
        (
            "<p>The papers name <a href=/x>these three builders from the coast</a>.</p>",
            "The papers name these three builders from the coast.",
        ),
        (
            "<p><a href=/a>两位工程师</a>和<a href=/b>县里的老石匠王青石、李长河和周大船</a>一起，选定了坝址。</p>",
            "一起，选定了坝址。",
        ),
    ],
)
def test_a_line_of_links_among_the_text_is_text(
    texts: tuple[str, ...], line: str, text: str
) -> None:
    record = read(texts[0], line, *texts[1:])
    lines = record.body.split("\n")
    assert lines[0] == texts[0]
    assert text in lines[1]
    assert lines[2:] == list(texts[1:])
    kinds = {link.kind for link in record.links if link.text and link.text in lines[1]}
    assert kinds == {LinkKind.NAVIGATION if "'#" in line else LinkKind.BODY}


@pytest.mark.parametrize(
    "breaks",
    [
        "<div>{0}<br><br><a href=http://board.example.net/r>The whole report of the board</a><br><br>{1}<br>{2}</div>",
        "<div class=para>{0}</div><div class=para><a href=/r>The whole report of the board</a></div><div class=para>{1}</div><div class=para>{2}</div>",
        "<ul><li>{0}</li><li><a href=/r>The whole report of the board</a></li><li>{1}</li><li>{2}</li></ul>",
        "<section><p>{0}</p></section><section><p><a href=/r.pdf>The whole report of the board</a></p></section><section><p>{1}</p><p>{2}</p></section>",
    ],
)
def test_so_it_is_in_other_markup(breaks: str) -> None:
    assert "The whole report of the board" in read(breaks.format(*EN)).body.split("\n")


@pytest.mark.parametrize(
    "announcing",
    [
        "These books were used:",
        "本文参考了下列书籍：",
        "The following files are offered for comments:",
    ],
)
@pytest.mark.parametrize("is_last", [True, False])
def test_what_a_line_with_a_colon_announces_is_text(announcing: str, is_last: bool) -> None:
    items = ("Arches of the north, by A. Mill", "石与水，韦伯著")
    listed = "".join(
        f"<li><a href='https://b.example.org/{n}'>{item}</a></li>" for n, item in enumerate(items)
    )
    parts = [EN[0], EN[1], announcing, f"<ul>{listed}</ul>"]
    body = read(*parts if is_last else (*parts, EN[2])).body.split("\n")
    assert body[2:5] == [announcing, *items]


def test_attachments_below_a_notice_are_text() -> None:
    tail = "<p>县水利局</p><p>2024年3月5日</p><p><a href=/u/1.doc>附件1：坝址平面图.doc</a></p><p><a href=/u/2.xls>附件2：村庄名单.xls</a></p>"
    body = read(*ZH, tail).body
    assert body.endswith("附件1：坝址平面图.doc\n附件2：村庄名单.xls")


@pytest.mark.parametrize(
    "entry",
    [
        "<div class=para>{}</div>",
        "<p>{}</p>",
    ],
)
def test_paragraphs_of_encyclopedias_are_text_although_most_words_are_links(entry: str) -> None:
    def linked(text: str) -> str:
        pieces = text.split("|")
        return entry.format(
            "".join(p if n % 2 == 0 else f"<a href=/item/{n}>{p}</a>" for n, p in enumerate(pieces))
        )

    paragraphs = [
        "新水坝，位于|河湾镇|，是一座|混凝土重力坝|，由|县水利局|主持修建，|省级重点工程|。",
        "|光绪二十九年|，|知县周大船|、|举人李河生|捐资修堰，|石匠王青石|主持。",
        "坝高四十米，坝顶可以走人，两岸的村子都能用上水，鱼道加宽了一倍，春天鱼群可以游到上游。",
    ]
    names = "|知县周大船|、|举人李河生|、|石匠王青石|、|画家赵小溪|。"
    parts = [
        linked(paragraphs[0]),
        "<h2><a href=/i/9>历史沿革</a></h2>",
        *map(linked, paragraphs[1:]),
    ]
    body = read(*parts, "<h2>相关人物</h2>", linked(names)).body.split("\n")
    plain = [text.replace("|", "") for text in (*paragraphs, names)]
    assert body == [plain[0], "历史沿革", *plain[1:3], "相关人物", plain[3]]


@pytest.mark.parametrize(
    "line",
    [
        "<p>Related: <a href=/3>Old weir gives way after a night of rain</a></p>",
        "<p>Related:&nbsp;<a href=/3>Old weir gives way after a night of rain</a></p>",
        "<p>Les også: <a href=/3>Gammel demning brister etter en natt med regn</a></p>",
        "<p><a href=/o>READ MORE: Another bridge is planned</a></p>",
        "<p><a href=/o>Related: Ten bridges of the valley</a></p>",
        "<p><a href=/o><b>相关阅读：</b>老水坝在一夜大雨之后决口</a></p>",
        "<p><b>延伸阅读：</b><a href=/3>老水坝在一夜大雨之后决口</a></p>",
        "<div class=more><a class=button href=/3>Learn more</a></div>",
        "<p><a href=/t/1>weirs</a>, <a href=/t/2>rivers</a>, <a href=/t/3>building</a></p>",
        "<ul><li><a href=/3>Old weir gives way after rain</a></li><li><a href=/4>New road to the upper village</a></li><li><a href=/5>Ferry to stop</a></li></ul>",
        "<p><a href='/app'>Sign up for our newsletter and get the news to your inbox</a></p>",
        "<ul><li><a href='#a'>Height of the weir</a></li><li><a href='#b'>Cost of the weir</a></li></ul>",
        "<p>Skip to:</p><ul><li><a href='#a'>Height of the weir</a></li><li><a href='#b'>Cost of the weir</a></li></ul>",
    ],
)
def test_what_leads_away_is_no_text(line: str) -> None:
    body = read(EN[0], line, *EN[1:]).body
    assert [text for text in body.split("\n") if text != "Skip to:"] == list(EN)


def test_a_sentence_of_links_with_few_words_between_is_text() -> None:
    sentence = (
        "<a href=/4>The old weir of the monks</a> in <a href=/5>the upper valley of the river</a> is one of "
        "<a href=/6>the oldest dams of the country</a>, with <a href=/7>a later one of wood</a>."
    )
    body = read(EN[0], "<h2><a href=/9>The oldest weirs</a></h2>", sentence, EN[1]).body.split("\n")
    assert body[1] == "The oldest weirs"
    assert body[2].startswith("The old weir of the monks in the upper valley")
    assert body[3] == EN[1]
