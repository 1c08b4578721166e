from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from lxml import html as lxml_html

from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.document.silent_html import Mark, silent_html, silent_style
from crawlclean.cleaning.document.tree import Tree
from tests.kit.timing import timed

CASES = sorted((Path(__file__).parents[2] / "pages").glob("*/page.html"))
TAGS = frozenset(
    re.findall(
        r"\S+",
        """a abbr acronym address article aside b bdi bdo big blockquote br caption center cite code
        col colgroup dd del details dfn dir div dl dt em fieldset figcaption figure font footer h1
        h2 h3 h4 h5 h6 header hgroup hr i img ins kbd label legend li main mark menu nav nobr ol p
        pre q rp rt ruby s samp section small span strike strong sub summary sup table tbody td
        tfoot th thead time tr tt u ul var wbr html head body style v-t""",
    )
)
NAMES = frozenset(
    re.findall(
        r"\S+",
        """align bgcolor border cellpadding cellspacing class color colspan dir face height hidden
        id lang nowrap open reversed rowspan size span start style title type valign value width
        alt data-block data-kind""",
    )
)
FETCHES = re.compile(
    r"url\s*\(|@\s*import|image-set|src\s*\(|//|@\s*font-face|expression\s*\(|\\", re.I
)
INSTEAD = {"form": "div", "button": "span", "dialog": "div", "option": "div"}


def marks_of(tree: Tree) -> dict[int, Mark]:
    return {i: Mark(i, "body", "<kept> \"'&") for i in range(len(tree.line_starts))}


def check(source: str) -> str:
    """Whether a page's silent form is silent, and has its blocks and lines; returns it."""
    tree = parse(source)
    silent = silent_html(source, marks_of(tree))
    again = lxml_html.document_fromstring(silent.encode(), lxml_html.HTMLParser(encoding="utf-8"))
    texts: dict[int, list[str]] = {}
    blocks: set[int] = set()
    for element in again.iter():
        assert element.tag in TAGS, element.tag
        assert set(element.attrib) <= NAMES, element.attrib
        assert not FETCHES.search(element.get("style", ""))
        if element.tag == "style":
            assert not FETCHES.search(element.text or "")
        number = element.get("data-block")
        if number is not None:
            assert int(number) not in blocks
            blocks.add(int(number))
            tag = tree.block_tags[int(number)]
            assert element.tag == INSTEAD.get(tag, tag)
        if element.tag == "v-t" and "id" in element.attrib:
            texts[int(element.get("id", "")[1:])] = []
    for piece in re.findall(r"<v-t(?: id=\"v(\d+)\")? [^>]*>([^<]*)</v-t>", silent):
        if piece[0]:
            line = int(piece[0])
        texts[line].append(lxml_html.fromstring(f"<p>{piece[1]}</p>").text or "")
    assert [flat("".join(texts[i])) for i in sorted(texts)] == [
        flat(tree.line_text(i)) for i in range(len(tree.line_starts))
    ]
    return silent


def flat(text: str) -> str:
    return "".join(text.split())


HOSTILE = """<html manifest=/m><head><base href=//b><title>x</title><link rel=preconnect href=//x>
<meta http-equiv=refresh content="0;url=//r"><style>@import "//a";@font-face{src:url(//f)}
p{background:u\\72l(//x);background:\\75 rl(/x);color:red}@import/**/url(//y);
q{content:image-set("//z" 1x)}</style><script src=//s></script></head>
<body background=//bg onload=a()><img src=//i srcset=//j onerror=b()><a href=//k ping=//l>go</a>
<p style="background:url(//m);color:blue">text</p><video poster=//n src=//o></video>
<object data=//p></object><embed src=//q><iframe src=//r srcdoc="<img src=//t>">inside</iframe>
<svg><image href=//u /><use href=//v /><style>a{fill:url(//w)}</style></svg>
<input type=image src=//x>
<form action=//y><button formaction=//z>b</button></form><table background=//1><td background=//2>t
</table><template><img src=//3></template><noscript><img src=//4></noscript><math href=//5>m</math>
<portal src=//6></portal><frameset><frame src=//7></frameset><plaintext><img src=//8>"""


def test_a_page_full_of_addresses_is_silent() -> None:
    silent = check(HOSTILE)
    assert "text" in silent
    assert "inside" in silent
    assert 'style=" ;color:blue"' in silent
    assert "<script" not in silent
    assert "onload" not in silent


PIECES = st.sampled_from(
    (
        *HOSTILE.split("\n"),
        "<div>", "</div>", "<p class=a>", "</p>", "<br>", "<pre>", "</pre>", "<h2>", "</h2>",
        "<a href='#x'>¶</a>", "<a href=#y><b>#</b></a>", "<style>", "</style>", "a{b:url(", "\\",
        "/*", "*/", "<table>", "<tr>", "<td>", "</table>", "<li>", "<select><option>", "</select>",
        "<svg>", "</svg>", "<!--", "-->", "<![CDATA[", "]]>", "<title>", "</title>", "<textarea>",
        "<html>", "<body>", "</body>", "</html>", "text ", "\u202e", "<v-t id=v1>", "<p id=v2>",
        "\x00", "<a title='x\" onx=\"' href='javascript:a()'>", "&lt;script&gt;", "&#60;", "<",
    )
)  # fmt: skip


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.one_of(PIECES, st.text(max_size=6)), max_size=60).map("".join))
def test_any_source_becomes_a_silent_page_with_its_blocks_and_lines(source: str) -> None:
    silent = silent_html(source)
    for element in lxml_html.document_fromstring(f"<body>{silent}").iter():
        assert element.tag in TAGS, element.tag
        assert set(element.attrib) <= NAMES, element.attrib
        assert not FETCHES.search(element.get("style", ""))
    marked = silent_html(source, marks_of(parse(source)))
    assert re.sub(r"</?v-t[^>]*>", "", marked) == silent


@pytest.mark.parametrize("case", CASES, ids=lambda path: str(path.parent.name))
def test_golden_pages_keep_their_blocks_and_lines(case: Path) -> None:
    check(case.read_text("utf-8", "replace"))


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                (
                    "url(", "u\\72l(", "\\75\\72\\6c(", "@import ", "@\\69mport", "/*", "*/", '"',
                    "'", ";", "{", "}", "\\", "\\\n", "src(", "//x", "/\\2f x", "image-set(",
                    "</style>", "a{b:c}", "@media (min-width:1px){a{b:c}}", "\\0000", "expression(",
                )
            ),
            st.text(max_size=4),
        ),
        max_size=30,
    ).map("".join)
)  # fmt: skip
def test_any_style_sheet_becomes_a_silent_one(css: str) -> None:
    silent = silent_style(css)
    assert "<" not in silent
    assert "\\" not in silent
    for piece in re.split("[;{}]", silent):
        assert not re.search(r"url\s*\(|src\s*\(|image-set|expression\s*\(|//", piece, re.I)
    assert not re.search(r"@\s*(?:import|font-face|namespace|charset)", silent, re.I)
    assert silent_style(silent) == silent


def test_harmless_styles_stay() -> None:
    css = "@media (min-width:40em){a:not(.b):nth-child(2n){color:rgb(1,2,3);width:calc(1px + 2%)}}"
    assert silent_style(css) == css


def _seconds(work: Callable[[], object]) -> float:
    """Least processor time of three runs."""
    times = []
    for _ in range(3):
        with timed() as took:
            work()
        times.append(took.seconds)
    return min(times)


@pytest.mark.parametrize(
    "piece",
    [
        "<div class=a><p style='color:red'>text <a href=http://x/>link</a></p></div>",
        "<style>a{background:url(x)}</style>",
        "<b>",
        "<style>" + "a" * 50,
        "<style>/*",
        "<p style='" + "(" * 30 + "'>",
        "<a href=#x>¶</a>",
    ],
)
def test_the_cost_is_linear(piece: str) -> None:
    once, more = piece * 2_000, piece * 16_000
    assert _seconds(lambda: silent_html(more)) < 40 * _seconds(lambda: silent_html(once)) + 0.2
