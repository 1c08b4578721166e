from __future__ import annotations

import time

import pytest

from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.document.tree import EMPHASIS, MONOSPACE, STRONG, Limits
from crawlclean.cleaning.page_warnings import WarningKind


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        (" \n ", ""),
        ("<!-- 一 -->", ""),
        ("只有文字", "只有文字"),
        ("<p>一</p>二<p>三", "一\n二\n三"),
        ("一<br>二<br/><br>三", "一\n二\n三"),
        ("<p>a <b>b</b>\n <i>c</i></p>", "a b c"),
        ("<b>a</b> <b>b</b>", "a b"),
        ("<p>一</p><script>var x = '二'</script><style>三</style>", "一"),
        ("<noscript>一</noscript><template><p>二</p></template>三", "三"),
        ("<title>题</title><p>一", "一"),
        ("<select><option>一</select>二<textarea>三</textarea>", "二"),
        ("<canvas>请换一个浏览器</canvas>一<video>不支持视频</video><audio>不支持</audio>", "一"),
        ("前<html><body>中</body></html>后<p>更后", "前中后\n更后"),
        ("<html><body>一</body></html><html><body>二</body></html>", "一\n二"),
        ('<?xml version="1.0" encoding="gbk"?><html><body>一</body></html>', "一"),
        ("一\x00\x01二\x7f", "一二"),
        ("<p>一\ud800二", "一?二"),
        ("<table><tr><td>一<td>二<tr><td>三", "一\n二\n三"),
        ("&amp;lt;&nbsp;&#20013;", "&lt; 中"),
    ],
)
def test_visible_text(html: str, text: str) -> None:
    assert parse(html).text() == text


def test_anchors_and_pictures_in_document_order() -> None:
    tree = parse(
        "<a name=x>no</a><a href=1>一<img src=i></a><nav><a href=2>二</a></nav>"
        "<map><area href=3></map><noscript><a href=4>四</a><img src=j></noscript><a href>五</a>"
    )
    assert [anchor.href for anchor in tree.anchors] == ["1", "2", "3", "4", ""]
    assert [anchor.region for anchor in tree.anchors] == ["", "nav", "", "", ""]
    assert [(p.attributes.get("src"), p.anchor) for p in tree.pictures] == [("i", 0), ("j", -1)]
    assert [tree.block_tags[anchor.block] for anchor in tree.anchors[:2]] == ["body", "nav"]
    first = tree.anchors[0]
    assert tree.texts[first.start : first.end] == ["一"]


def test_deep_nesting_keeps_what_is_behind_it() -> None:
    deep = "<div>" * 100_000 + "深<a href=1>链</a>" + "</div>" * 100_000 + "<p>后"
    tree = parse(deep)
    assert tree.text() == "深链\n后"
    assert len(tree.anchors) == 1
    assert [warning.kind for warning in tree.warnings] == [WarningKind.CAPPED_DEPTH]


@pytest.mark.parametrize("before", ["<", "</", "<!", "<!--", "<?"])
def test_a_removed_tag_makes_no_new_tag_of_the_text_around_it(before: str) -> None:
    tree = parse("<select>" * 3000 + f"{before}<select>pe html>{before}<select>" * 3000 + "<p>后")
    assert [warning.kind for warning in tree.warnings] == [WarningKind.CAPPED_DEPTH]


@pytest.mark.parametrize("name", ["meta文", "img。", "br:x"])
def test_an_element_is_as_deep_as_its_whole_name_makes_it(name: str) -> None:
    tree = parse(f"<{name}>" * 3000 + "深" + f"</{name}>" * 3000 + "<p>后")
    assert tree.text() == "深\n后"
    assert [warning.kind for warning in tree.warnings] == [WarningKind.CAPPED_DEPTH]


def test_a_tag_of_many_attributes_is_cut() -> None:
    many = " ".join(f"a{i}=1" for i in range(20_000))
    started = time.process_time()
    tree = parse(f"<p>一</p><div href=x {many}>二</div><p>三")
    assert time.process_time() - started < 0.3
    assert tree.text() == "一\n二\n三"
    assert [(w.kind, w.count) for w in tree.warnings] == [(WarningKind.CAPPED_ATTRIBUTES, 1)]


@pytest.mark.parametrize(
    "html",
    [
        '<tr bgcolor="#cccccc""><td>' + '<a href="http://example.com/a?b=c">一</a> ' * 300,
        '<script>if (a<b) { x = "' + "y z " * 600 + '" }</script><p>一',
        "<!-- <a " + "x " * 600 + "> --><p>一",
        '<img src="data:image/png;base64,' + "A/" * 1000 + '"><p>一',
        "<p>1 < 2 " + "一 二 " * 500,
    ],
)
def test_what_only_looks_like_many_attributes_is_left(html: str) -> None:
    tree = parse(html)
    assert tree.warnings == ()
    assert "一" in tree.text()


def test_attributes_hidden_behind_quotes_are_found_in_a_long_source() -> None:
    tag = "<p " + " ".join(f"a{i}='<b>'" for i in range(300)) + ">"
    tree = parse(tag + "一" * 200_000)
    assert [warning.kind for warning in tree.warnings] == [WarningKind.CAPPED_ATTRIBUTES]


def test_the_size_is_capped() -> None:
    tree = parse("<p>" + "一" * 100, Limits(max_chars=50))
    assert tree.text() == "一" * 47
    assert [warning.kind for warning in tree.warnings] == [WarningKind.CAPPED_SIZE]


@pytest.mark.parametrize(
    "piece",
    ["<", "<a ", "<a '", '<a "', "<a href=x ", "<!--", "<script>", "</", "<b>", "&#x", "<p>一",
     "<table><tr><td>", "<a href=x>一", "<h1>", "<select><option>", "<form><input ", "]]>",
     "<![CDATA["],
)  # fmt: skip
def test_no_broken_source_takes_long(piece: str) -> None:
    started = time.process_time()
    parse(piece * 30_000)
    assert time.process_time() - started < 3


def test_code_keeps_its_white_space() -> None:
    tree = parse("<p>a <b>b</b>\n</p><pre>\nif x:\n    <i>y</i>  <b>z</b><br>\tw</pre><p> c")
    [code] = tree.code_blocks
    runs = [
        text for text, line in zip(tree.texts, tree.line_of, strict=True)
        if tree.line_blocks[line] == code
    ]  # fmt: skip
    assert "".join(runs) == "\nif x:\n    y  z\n\tw"
    assert tree.text() == "a b\nif x: y z\nw\nc"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<h2>安装 <a href=#i>¶</a></h2>", "安装"),
        ("<h2><a href=#i>#</a> 安装</h2><p>一", "安装\n一"),
        ("<h2><a href=http://a.example/x.html#i><b>🔗</b></a>安装</h2>", "安装"),
        ("<h2><a href=#i>§</a></h2><p>一", "一"),
        ("<dl><dt>run()<a href=#run>¶</a><dd>跑", "run()\n跑"),
        ("<h2><a href=#i>安装</a></h2>", "安装"),
        ("<h2>安装<a href=#n1>1</a></h2>", "安装1"),
        ("<h2>安装 <a href=/next.html>»</a></h2>", "安装 »"),
        ("<p>一<a href=#n>*</a>二</p>", "一*二"),
    ],
)  # fmt: skip
def test_a_permalink_is_no_text(html: str, text: str) -> None:
    tree = parse(html)
    assert tree.text() == text
    assert len(tree.anchors) == 1
    assert all(start < len(tree.texts) for start in tree.line_starts)
    assert len(tree.line_starts) == len(tree.line_blocks)


def test_what_inline_elements_say_is_noted_for_their_runs_alone() -> None:
    tree = parse("<p>一<b>二<i>三</i></b>四<code>五</code><p>六")
    assert dict(tree.marks) == {1: STRONG, 2: STRONG | EMPHASIS, 4: MONOSPACE}


def test_the_form_of_lists_cells_and_breaks_is_noted() -> None:
    tree = parse(
        "<ol start=3><li>一</ol><table><tr><td colspan=2>二</td></tr></table>"
        "<p align=center>三<br><br>四<hr><p style='text-align:center'>五"
        "<pre><code class=language-x>六</code></pre>"
    )
    tags = tree.block_tags
    assert [(tags[b], n) for b, n in tree.list_starts.items()] == [("ol", 3)]
    assert [(tags[b], n) for b, n in tree.spans.items()] == [("td", (2, 1))]
    assert [tags[b] for b in tree.centred_blocks] == ["p", "p"]
    assert (tree.breaks, tree.rules) == ([3, 3], [4])
    assert list(tree.code_names.values()) == ["language-x"]
