"""Which lines of a page are headings of links, and what each of them governs."""

from __future__ import annotations

import pytest

from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.features.parts import Cards, link_kind_of_names
from crawlclean.cleaning.features.sections import BUTTON, find_sections, heading_kind


def titles(path: str, *texts: str) -> str:
    return "".join(f"<li><a href=/{path}/{i}>{text}</a></li>" for i, text in enumerate(texts, 1))


A = titles("a", "老城区道路拓宽工程下月开工", "地铁三号线延长段开始试运行")
B = titles("b", "今年首批菜篮子超市全部开业", "图书馆新馆开放首日人流如织")
C = "".join(
    f"<li class=card><a href=/c/{i}>{title}</a><p>{note}</p><p>昨天</p></li>"
    for i, (title, note) in enumerate(
        [
            ("河边步道的路灯换成了新的", "城市专栏"),
            ("少年宫的暑期班今天起报名", "教育新闻"),
            ("老字号糕点铺搬进步行街了", "美食热点"),
            ("市民可以在网上预约体检了", "健康专题"),
        ]
    )
)


def governed(body: str) -> dict[str, str]:
    """The kind of the section around each headline of a page: ``{"/a/1": "related"}``."""
    tree = parse(f"<html><body>{body}</body></html>")
    count = len(tree.line_starts)
    lines = [tree.line_of[anchor.start] for anchor in tree.anchors]
    is_title = [len(tree.texts[anchor.start]) >= 8 for anchor in tree.anchors]
    links = [sum(line < i for line in lines) for i in range(count + 1)]
    titles = [
        sum(line < i for line, ok in zip(lines, is_title, strict=True) if ok)
        for i in range(count + 1)
    ]
    cards = Cards(tree, tree.line_ends(), titles, links)
    sections, section_of = find_sections(tree, titles, links, cards)
    return {
        anchor.href: sections[section_of[line]].kind if section_of[line] >= 0 else "none"
        for anchor, line, ok in zip(tree.anchors, lines, is_title, strict=True)
        if ok
    }


@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        pytest.param(f"<h3>相关阅读</h3><ul>{A}</ul>", "related related", id="heading"),
        pytest.param(
            f"<div><p>相关推荐</p><button>换一换</button></div><ul>{A}</ul>",
            "related related",
            id="button-beside-heading",
        ),
        pytest.param(
            f"<div class=t><div>相关推荐</div><div>热点推荐</div></div>"
            f"<div class=p><ul>{A}</ul></div><div class=p><ul>{B}</ul></div>",
            "related related hot hot",
            id="tabs-and-panels",
        ),
        pytest.param(
            f"<div><ul><li>热点</li><li>相关阅读</li></ul></div><div>"
            f"<div class='p p1'><ul>{A}</ul></div>"
            f"<div class='p p2' style='display:none'><ul>{B}</ul></div></div>",
            "hot hot related related",
            id="hidden-panel",
        ),
        pytest.param(
            f"<h3><ul><li>相关阅读</li><li>最新</li><li>评论</li></ul></h3><ul>{A}</ul>",
            "related related",
            id="tabs-with-one-panel",
        ),
        pytest.param(
            f"<h3>相关推荐</h3><ul>{C}</ul>",
            "related related related related",
            id="lines-on-cards",
        ),
        pytest.param(
            f"<div class=x><a href=/>本站编辑讲到了相关阅读的用法</a></div><ul>{A}</ul>",
            "none none none",
            id="marker-inside-a-link",
        ),
        pytest.param(
            f"<div class=relatedPosts><ul>{A}</ul></div>", "related related", id="name-of-part"
        ),
        pytest.param(
            f"<div class=relatedPosts><h3>热门文章</h3><ul>{A}</ul></div>",
            "hot hot",
            id="heading-inside-a-named-part",
        ),
        pytest.param(
            f"<div class=PublicRelation><ul>{A}</ul></div>", "none none", id="another-word"
        ),
        pytest.param(
            f"<div class=related-posts><div>上一篇</div><ul>{A}</ul></div>",
            "nav nav",
            id="previous",
        ),
        pytest.param(
            f"<div><h3>相关阅读</h3><div><h4><a href=/s>短题</a></h4><ul>{A}</ul></div></div>",
            "related related",
            id="short-title-in-a-related-list",
        ),
        pytest.param(
            f"<h3>要闻</h3><div><ul>{A}</ul>"
            f"<div><h3><a href=/w>文化</a></h3><ul>{B}</ul></div></div>",
            "list list  ",
            id="linked-heading-behind-a-list",
        ),
    ],
)
def test_headings_govern_their_lists(body: str, kinds: str) -> None:
    assert " ".join(governed(body).values()) == kinds


def test_notes_and_buttons_are_no_headings() -> None:
    assert heading_kind("举报文章问题") == ""
    assert heading_kind("查看更多标签") == BUTTON
    assert heading_kind("换一换") == BUTTON


def test_names_are_read_by_whole_words() -> None:
    assert link_kind_of_names("box moreArticle") == "related"
    assert link_kind_of_names("related-tags") == "tag"
    assert link_kind_of_names("correlated x") == ""
