from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from crawlclean import CleanRecord, RawPage, clean
from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.features.code_blocks import text_of
from crawlclean.cleaning.markdown.markdown import write_markdown
from crawlclean.cleaning.records import Image, ImageKind, Link
from tests.kit.timing import timed

URL = "http://a.example/d/p.html"
LONG = "入秋以来，山上的核桃陆续成熟，村里的合作社组织村民上山采收，收购价也比往年高了一些。"
TEXT_TOKENS = {"text", "code_inline", "code_block", "fence", "html_block", "html_inline"}
PARSER = MarkdownIt("commonmark", {"maxNesting": 200}).enable(["table", "strikethrough"])


def read(html: str) -> CleanRecord:
    return clean(RawPage.from_bytes(URL, html.encode("utf-8", "surrogatepass")))


def markdown_of(html: str) -> str:
    """Markdown of all lines of a source, links absolute where they are, images content."""
    tree = parse(html)
    links = [Link(href=a.href, url=a.href, text="") for a in tree.anchors]
    images = [
        Image(
            src="",
            url=p.attributes.get("src", ""),
            alt=p.attributes.get("alt", ""),
            kind=ImageKind.CONTENT,
        )
        for p in tree.pictures
    ]
    return write_markdown(tree, range(len(tree.line_starts)), links, images)


def shown(markdown: str) -> str:
    """Text of rendered Markdown, a parser's that we did not write, without white space."""
    out: list[str] = []

    def walk(tokens: list[Token]) -> None:
        for token in tokens:
            if token.type == "inline":
                walk(token.children or [])
            elif token.type in TEXT_TOKENS and token.content != "<br>":
                out.append(token.content)
            elif token.type == "s_open":
                out.append("~~")

    walk(PARSER.parse(markdown))
    return "".join("".join(out).split())


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("", ""),
        ("<p>一<p>二", "一\n\n二"),
        ("<h2>甲</h2><p>一<h4>乙</h4><p>二", "## 甲\n\n一\n\n#### 乙\n\n二"),
        ("<h1>甲 #</h1>一<h6>乙</h6>", "## 甲 \\#\n\n一\n\n###### 乙"),
        ("一<br>二<br><br>三<br>　　四", "一\\\n二\n\n三\n\n四"),
        ("<p>一<hr><p>二", "一\n\n___\n\n二"),
        ("<ul><li>一<li>二<ul><li>三</ul><li>四</ul>", "- 一\n- 二\n  - 三\n- 四"),
        ("<ol start=9><li>一<li>二<p>三</ol>", "9. 一\n10. 二\n\n    三"),
        ("<ol><li>一</ol><ol><li>二</ol>", "1. 一\n\n1) 二"),
        ("<ul><li>一<ol start=3><li>二</ol><li>三</ul>", "- 一\n\n  3. 二\n- 三"),
        ("<ul><li><ul><li>一</ul><li>二</ul>", "- - 一\n- 二"),
        ("<p>一<blockquote>二<blockquote>三</blockquote></blockquote>", "一\n\n> 二\n>\n> > 三"),
        ("<dl><dt>一<dd>二<dd>三<dt>四<dd>五</dl>", "- **一**\n  - 二\n  - 三\n- **四**\n  - 五"),
        ("<p>一<b>二</b><i>三</i> <b><i>四</i></b>", "一**二**三 ***四***"),
        ("<b>一：</b>二<b>“三”</b>四", "**一**：二“**三**”四"),
        ("<h3><b>一</b></h3>", "## 一"),
        ("<p>一<code>a*`b</code>", "一``a*`b``"),
        ("<p>看<a href='http://x.example/(1)'>一[1]</a>", r"看[一\[1\]](http://x.example/\(1\))"),
        ("<p>看！<a href='http://x.example/'>一</a>", r"看！[一](http://x.example/)"),
        ("<p>look!<a href='http://x.example/'>一</a>", r"look\![一](http://x.example/)"),
        ("<p>一<img src=http://x.example/i alt='图 一'>二", "一![图 一](http://x.example/i)二"),
        ("<p>一<p><img src=http://x.example/i><p>二", "一\n\n![](http://x.example/i)\n\n二"),
        ("<p>1. 一", "1\\. 一"),
        ("<p>- 一<p># 二<p>> 三<p>+<p>[x] 四", "\\- 一\n\n\\# 二\n\n\\> 三\n\n\\+\n\n\\[x] 四"),
        ("<p>2*3 a_b _c_ 1~2 &lt;b> &amp;lt; C:\\", "2\\*3 a_b \\_c\\_ 1\\~2 \\<b> \\&lt; C:\\\\"),
        ("<pre>\n\n  a\n\n\tb  c</pre>", "```\n  a\n\n\tb  c\n```"),
        ("<pre>``` a</pre>", "````\n``` a\n````"),
        ("<pre class='brush: php; x'>a</pre>", "```php\na\n```"),
        ("<pre><code class='language-c++'>a\n b</code></pre>", "```c++\na\n b\n```"),
        ("<div class='highlight rust'><pre>a</pre></div>", "```rust\na\n```"),
        ("<pre><b>def</b> <i>f</i>():<br>    <u>x</u></pre>", "```\ndef f():\n    x\n```"),
        ("<pre>第一行，写的是字。\n第二行，也是。</pre>", "第一行，写的是字。\\\n第二行，也是。"),
        ("<ul><li>一<pre>a\n\n b</pre><li>二</ul>", "- 一\n\n  ```\n  a\n\n   b\n  ```\n\n- 二"),
    ],
)  # fmt: skip
def test_each_form(html: str, markdown: str) -> None:
    assert markdown_of(html) == markdown


@pytest.mark.parametrize(
    ("figure", "markdown"),
    [
        ("<figcaption>港口的早晨</figcaption>", "![港口的早晨](http://a.example/a.jpg)"),
        ("", "![一只船](http://a.example/a.jpg)"),
    ],
)
def test_a_caption_stands_once(figure: str, markdown: str) -> None:
    text = "港口的第一段文字，写得足够长，使它成为正文。" * 4
    page = (
        f"<article><p>{text}</p><figure><img src=/a.jpg alt=一只船 width=600 height=400>{figure}"
        f"</figure><p>{text}</p></article>"
    )
    record = clean(
        RawPage.from_bytes("http://a.example/", page.encode(), "text/html;charset=utf-8")
    )
    assert record.markdown == f"{text}\n\n{markdown}\n\n{text}"


def test_tables_of_data_are_tables_and_layouts_are_not() -> None:
    data = (
        "<table><caption>表一</caption><tr><th>名<th>数|量<tr><td rowspan=2>甲<td>1<br>2"
        "<tr><td>3<tr><td colspan=2>共<tr><td>乙<td>4</table>"
    )
    assert markdown_of(data) == (
        "表一\n\n| 名 | 数\\|量 |\n| --- | --- |\n| 甲 | 1<br>2 |\n|  | 3 |\n| 共 |  |\n| 乙 | 4 |"
    ).replace("|  |", "|  |")
    layout = f"<table><tr><td>{LONG}{LONG}{LONG}<td>边<tr><td>{LONG}<td>栏</table>"
    assert "|" not in markdown_of(layout)
    assert "|" not in markdown_of(f"<table><tr><td>{data}</table><p>一").split("\n")[0]
    assert "| 甲 |" in markdown_of(f"<table><tr><td>{data}</table><p>一")
    assert "|" not in markdown_of("<table><tr><td>一<tr><td>二</table>")


def test_a_cell_of_links_in_a_row_of_text_stays() -> None:
    rows = "".join(
        f"<tr><td><a href={name}.html>{name}</a><td>{name}的说明，写得很清楚。"
        for name in ("甲项", "乙项")
    )
    page = f"<div><p>{LONG}<table><tr><th>项<th>说明{rows}</table><p>{LONG[::-1]}</div>"
    assert (
        "| [乙项](http://a.example/d/%E4%B9%99%E9%A1%B9.html) | 乙项的说明" in read(page).markdown
    )


@pytest.mark.parametrize(
    "html",
    [
        "<figure class='highlight c'><table><tr><td class=g><pre>1\n2</pre><td><pre>{}</pre>"
        "</table></figure>",
        "<table><tr><td><div>1</div><div>2</div><td class=c><pre class=lang-c>{}</pre></table>",
        "<div class='highlight c'><pre>{}</pre><ul><li>1<li>2</ul></div>",
    ],
)
def test_numbers_beside_code_are_not_code(html: str) -> None:
    page = html.format("int main() {{\n    return 0; }}".format())
    record = read(f"<title>题</title><article><p>{LONG}{page}<p>{LONG[::-1]}</article>")
    assert "```c\nint main() {\n    return 0; }\n```" in record.markdown
    assert record.body.split("\n")[1:-1] == ["int main() {", "    return 0; }"]


def test_numbers_at_the_beginning_of_code_are_not_code() -> None:
    assert markdown_of("<pre>1 a\n2   b\n3\n4 c</pre>") == "```\na\n  b\n\nc\n```"
    assert markdown_of("<pre>1 a\n2 b\n4 c</pre>") == "```\n1 a\n2 b\n4 c\n```"


def test_lines_of_code_without_pre_are_code() -> None:
    html = "<div class='syntaxhighlighter sql'>" + "".join(
        f"<div class=line><code>&nbsp;&nbsp;</code><code>{word}</code></div>" for word in "ab"
    )
    assert markdown_of(html) == "```sql\n  a\n  b\n```"
    assert markdown_of("<ul><li><code>a</code><li><code>b</code></ul>") == "- `a`\n- `b`"


def test_the_part_around_a_body_is_no_form_of_it() -> None:
    items = f"<ul><li>一，{LONG}<li>二，{LONG}</ul>"
    page = f"<ul><li><blockquote><div><p>{LONG}{items}</div></blockquote></ul>"
    assert read(page).markdown == f"{LONG}\n\n- 一，{LONG}\n- 二，{LONG}"


def test_a_range_of_lines_is_written_alone() -> None:
    tree = parse("<ul><li><p>一</p><p>二<img src=x></li><li>三</li></ul>")
    images = [Image(src="x", url="http://x.example/", kind=ImageKind.CONTENT)]
    assert write_markdown(tree, [0, 1], [], images) == "一\n\n二\n\n![](http://x.example/)"


def test_a_link_without_end_does_not_repeat_its_address_for_ever() -> None:
    html = f'<a href="http://a.example/{"x" * 5000}">' + "<p>一行字。" * 4000
    markdown = markdown_of(html)
    assert markdown.startswith("[一行字。](http://a.example/xxx")
    assert markdown.endswith("\n一行字。")
    assert len(markdown) < 50 * len(shown(markdown))


def test_each_line_of_a_card_in_a_link_is_a_link() -> None:
    card = '<a href="http://a.example/news/2026/{n}.html"><p>标题<p>频道<p>三天前</a>'
    markdown = markdown_of("".join(card.replace("{n}", str(n)) for n in range(1000)))
    assert markdown.count("](http://a.example/news/2026/") == 3000


def test_links_that_lead_nowhere_or_sell_are_text() -> None:
    page = f"<p>{LONG}<a href='#n1'>[1]</a><a href='javascript:x()'>按</a><a href=q>页</a>{LONG}"
    assert read(page).markdown == f"{LONG}[1]按[页](http://a.example/d/q){LONG}"


TEXTS = st.lists(
    st.sampled_from(
        ["一", "二三", "，", "“", "”", "a", "b c", "_", "*", "**", "`", "``", "[", "]", "(x)", "!",
         "\\", "<b>", "&lt;", "&", "lt;", "#", "# ", "1", ". ", "1) ", "- ", "+ ", "> ", "=", "---",
         "|", "|-|", "~", "~~", ":", "[x] ", "]: y", "http://x.example", "  ", "\t", "\n", "　",
         "$", "\xa0", "€", "①", "```", "***", "Setext\n===", "\u200b"]
    ),
    min_size=1,
    max_size=6,
).map("".join)  # fmt: skip
ESCAPED = TEXTS.map(lambda text: text.replace("&", "&amp;").replace("<", "&lt;"))
TAGS = ["p", "div", "b", "i", "b", "em", "code", "a", "h2", "h4", "ul", "ol", "li", "li", "pre",
        "blockquote", "table", "tr", "td", "td", "dl", "dt", "dd", "span", "td rowspan=2",
        "td colspan=3"]  # fmt: skip
HTML = st.recursive(
    ESCAPED
    | st.sampled_from(["<br>", "<hr>", "<br><br>", "<img src=http://x.example/i alt='a]'>"]),
    lambda inner: st.tuples(st.sampled_from(TAGS), st.lists(inner, max_size=5)).map(
        lambda pair: "<{}{}>{}</{}>".format(
            pair[0],
            " href='http://x.example/(a_b)?c=1&lt;'" if pair[0] == "a" else "",
            "".join(pair[1]),
            pair[0].split()[0],
        )
    ),
    max_leaves=30,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(HTML, max_size=6).map("".join))
def test_markdown_says_what_the_text_says(html: str) -> None:
    tree = parse(html)
    lines = list(range(len(tree.line_starts)))
    assert shown(markdown_of(html)) == "".join(text_of(tree, lines).split())


@settings(max_examples=60, deadline=None)
@given(st.lists(HTML | st.just(f"<p>{LONG}</p>"), max_size=8).map("".join))
def test_body_and_markdown_are_one_text(html: str) -> None:
    record = read(f"<title>题</title><body>{html}")
    assert shown(record.markdown) == "".join(record.body.split())


@given(TEXTS)
def test_code_comes_back_as_it_was(text: str) -> None:
    rows = [row.rstrip() for row in text.replace("\xa0", " ").split("\n")]
    source = "\n".join(["if x:", *rows, "end"])
    escaped = source.replace("&", "&amp;").replace("<", "&lt;")
    [fence] = PARSER.parse(markdown_of(f"<pre><code>{escaped}</code></pre>"))
    assert (fence.type, fence.content) == ("fence", source + "\n")


@pytest.mark.parametrize(
    "make",
    [
        lambda n: "<ul><li>一" * n,
        lambda n: "<blockquote>一" * n,
        lambda n: "<ol>" + "<li>一" * n,
        lambda n: "<table>" + ("<tr>" + "<td>二" * 50) * (n // 50),
        lambda n: "<table>" + "<tr><td>一<td>二" * n,
        lambda n: "<table><tr><td rowspan=9999 colspan=9999>一" + "<tr><td>二" * n,
        lambda n: "<table><tr><td>" * (n // 10) + "一",
        lambda n: "<pre>" + "a b\n" * (20 * n),
        lambda n: "<pre>x" + "<b> </b>" * n,
        lambda n: "<pre>" + "<br>" * n + "x",
        lambda n: "<p>" + "一<br>" * n,
        lambda n: "<p>" + "<b>一</b><i>，</i>" * n,
        lambda n: "<p>" + "`" * n + "_*[" * n,
        lambda n: "<b>" * 1000 + "一<p>" * n,
        lambda n: "<img src=http://x.example/i>" * n + "一",
        lambda n: "<dl>" + "<dt>一<dd>二" * n,
        lambda n: "<div><code>a</code></div>" * n,
        lambda n: "<pre>1</pre>" * n,
    ],
)  # fmt: skip
def test_hostile_pages_take_linear_time(make: object) -> None:
    assert callable(make)
    seconds = []
    for n in (2_500, 5_000):
        tree = parse(make(n))
        images = [Image(src="x", url="http://x.example/", kind=ImageKind.CONTENT)] * len(
            tree.pictures
        )
        with timed() as took:
            markdown = write_markdown(tree, range(len(tree.line_starts)), [], images)
        seconds.append(took.seconds)
        assert len(markdown) < 100 * n
    assert seconds[1] < 2.6 * seconds[0] + 0.05
    assert seconds[1] < 1.5
