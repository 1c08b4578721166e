"""Pages made to hang, fill or blind whoever reads them: time linear, memory bounded, all said.

Each page is read in a small and in a double size. The memory is that of a process of its own, the
largest pages of all one after another.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings, strategies as st

from crawlclean import CleanRecord, RawPage, clean
from crawlclean.cleaning.document.source import decode, foreign_type
from crawlclean.cleaning.document.tree import Limits
from crawlclean.cleaning.errors import ServiceError
from crawlclean.cleaning.page_warnings import WarningKind
from tests.kit.timing import timed

URL = "http://a.example/p"
LONGEST_RATIO = 2.6
NOISE_S = 0.05  # what a busy machine may add to anything
W = WarningKind

# name: (page of n pieces, n, the warnings of the larger page)
Make = Callable[[int], str]
PAGES: dict[str, tuple[Make, int, set[WarningKind]]] = {
    "attributes": (
        lambda n: "<p " + " ".join(f"a{i}=1" for i in range(n)) + ">x</p>",
        100_000,
        {W.CAPPED_ATTRIBUTES},
    ),
    "quoted attributes": (
        lambda n: "<p " + " ".join(f"a{i}='>'" for i in range(n)) + ">x</p>",
        50_000,
        {W.CAPPED_ATTRIBUTES},
    ),
    "one attribute again and again": (
        lambda n: "<p " + "a=1 " * n + ">x</p>",
        100_000,
        set(),
    ),
    "nested": (lambda n: "<div>" * n + "x", 100_000, {W.CAPPED_DEPTH}),
    "nested around many lines": (
        lambda n: (
            "<div><p>正文的一段，说明一件事情。</p>" * n
            + "<p>正文的一段，说明一件事情。</p>" * (20 * n)
        ),
        450,
        set(),
    ),
    "nested inline": (lambda n: "<b>" * n + "x", 100_000, {W.CAPPED_DEPTH}),
    "nested tables": (lambda n: "<table><tr><td>" * n + "x", 20_000, {W.CAPPED_DEPTH}),
    "nested links": (lambda n: "<a href=/x><div>y" * n, 8_000, {W.CAPPED_DEPTH, W.CAPPED_TEXT}),
    "nested formatting": (
        lambda n: "<i><b><a href=/y>t" * n,
        10_000,
        {W.CAPPED_DEPTH, W.CAPPED_TEXT},
    ),
    "misnested": (lambda n: "<a><b><div>" * n + "</a></b></div>" * n, 5_000, {W.CAPPED_DEPTH}),
    "nested and never closed": (
        lambda n: "<div>" * 3000 + "<a " * n,
        50_000,
        {W.CAPPED_DEPTH},
    ),
    "end tags of nothing": (lambda n: "</a><span>x</a>" * n, 20_000, {W.CAPPED_DEPTH}),
    "end tags that end nothing": (lambda n: "<b><div></b>x" * n, 20_000, {W.CAPPED_DEPTH}),
    "items in links": (
        lambda n: "<li><a href=/x>y" * n,
        8_000,
        {W.CAPPED_DEPTH, W.CAPPED_TEXT},
    ),
    "noscript": (lambda n: "<noscript>" * n + "<a href=/x>y", 50_000, {W.CAPPED_DEPTH}),
    "template": (lambda n: "<template>" * n + "<a href=/x>y", 50_000, {W.CAPPED_DEPTH}),
    "tiny tags": (lambda n: "<b>x</b>" * n, 130_000, {W.CAPPED_SIZE}),
    "tags never ended": (lambda n: "<a href=" * n, 50_000, set()),
    "quotes never ended": (lambda n: "<a href='x " * n, 50_000, {W.CAPPED_ATTRIBUTES}),
    "end tags": (lambda n: "<div>" * 900 + "</b></span>" * n, 30_000, set()),
    "long attribute": (lambda n: f"<p title='{'x' * n}'>y</p><p>z", 5_000_000, set()),
    "long href": (lambda n: f"<a href='/{'x' * n}'>y</a><p>z", 2_000_000, set()),
    "dots in an href": (lambda n: f"<a href='/{'../a' * n}'>y</a>", 100_000, set()),
    "long text": (lambda n: "<p>" + "ab " * n, 1_800_000, {W.CAPPED_TEXT}),
    "links": (
        lambda n: "".join(f"<a href=/{i}>l{i}</a> " for i in range(n)),
        11_000,
        {W.CAPPED_LINKS},
    ),
    "bad links": (
        lambda n: "".join(f"<a href='http://[{i}'>l{i}</a> " for i in range(n)),
        11_000,
        {W.CAPPED_LINKS, W.BAD_LINKS},
    ),
    "long link text": (lambda n: "<a href=/x>" + "y" * n, 1_000_000, {W.CAPPED_TEXT}),
    "a link around many": (lambda n: "<a href=/x>" + "<b>y</b> " * n, 50_000, {W.CAPPED_TEXT}),
    "links around long text": (
        lambda n: "<a href=/x><div>" * 300 + "abc " * n,
        100_000,
        {W.CAPPED_TEXT},
    ),
    "pictures": (lambda n: "<img src=/a.png alt=x>" * n, 11_000, {W.CAPPED_IMAGES}),
    "frames": (lambda n: "<iframe src=/x></iframe>" * n, 10_000, set()),
    "metas": (lambda n: "<meta name=a content=b>" * n, 10_000, set()),
    "markers": (lambda n: "<h3>相关阅读</h3><a href=x>y</a>" * n, 11_000, {W.CAPPED_LINKS}),
    "cards": (
        lambda n: "".join(
            f"<div><a href=/{i}>一个足够长的新闻标题</a><p><a href=/c>频道</a></div>"
            for i in range(n)
        ),
        5_500,
        {W.CAPPED_LINKS},
    ),
    "cards in cards": (
        lambda n: "<div><a href=/c>频道</a>" * n + "<a href=/1>一个足够长的新闻标题</a>",
        450,
        set(),
    ),
    "one title among notes": (
        lambda n: (
            "<div><a href=/1>一个足够长的新闻标题</a></div>" + "<div><a href=/c>频道</a></div>" * n
        ),
        9_000,
        set(),
    ),
    "rows of tabs": (
        lambda n: "<ul><li>热门</li><li>推荐</li></ul><div><a href=/1>甲</a></div><div></div>" * n,
        4_000,
        set(),
    ),
    "named parts": (
        lambda n: "<div class=related-posts><a href=/1>一个足够长的新闻标题</a>" * n,
        8_000,
        {W.CAPPED_DEPTH},
    ),
    "headlines about a topic": (
        lambda n: (
            "<title>渔港开市的消息</title><p>渔港开市，渔船进港。"
            + "".join(f"<p><a href=/{i}>渔港开市的第{i}个消息</a>" for i in range(n))
        ),
        9_000,
        set(),
    ),
    "NULs": (lambda n: "<p>a\0b" * n, 20_000, set()),
    "lone surrogates": (lambda n: "<p>a\ud800b" * n, 20_000, set()),
    "entities": (lambda n: "&amp;&#x4e2d;&nbsp;" * n, 100_000, set()),
    "unknown entities": (lambda n: "&zzzz" * n, 100_000, set()),
    "long entity": (lambda n: "&" + "a" * n + ";&#" + "9" * n + ";", 300_000, set()),
    "comments never closed": (lambda n: "<!-- x" * n, 100_000, set()),
    "comments": (lambda n: "<!---->" * n, 100_000, set()),
    "plaintext": (lambda n: "<plaintext>" + "<b>x" * n, 50_000, set()),
    "scripts": (lambda n: "<script>a<b</script>" * n, 25_000, {W.NEEDS_JAVASCRIPT}),
    "state": (lambda n: "<script>var" + " " * n + "</script>", 2_000_000, {W.NEEDS_JAVASCRIPT}),
    "data": (
        lambda n: "<script type=application/ld+json>[" + "{}," * n + "{}]</script>",
        40_000,
        {W.NEEDS_JAVASCRIPT},
    ),
    "nested titles": (lambda n: "<h1>" * 20 + "a " * n, 500_000, set()),
    "style": (lambda n: "<style>" + "a{b:c}" * n + "</style>", 500_000, set()),
    "long title": (lambda n: "<title>" + "t " * n, 500_000, {W.CAPPED_TEXT}),
    "titles": (lambda n: "<svg>" + "<title>t</title>" * n, 25_000, set()),
    "headings": (lambda n: "<h1></h1>" * n + "x", 25_000, set()),
    "bodies": (lambda n: "".join(f"<body a{i}=1>" for i in range(n)), 50_000, set()),
    "ends of the body": (lambda n: "</body>x" * n, 100_000, set()),
    "long base": (
        lambda n: f"<base href='{'/x' * 3000}'>" + "<a href=y>z</a>" * n,
        9_000,
        {W.LONG_BASE},
    ),
    "bases": (lambda n: "<base href=/a/>" * n + "<a href=y>z</a>", 10_000, set()),
    "blanks": (lambda n: "<p>" + " " * n + "x", 1_000_000, set()),
    "blanks in a refresh": (
        lambda n: f"<meta http-equiv=refresh content='0;url=a{' ' * n}b{' ' * n}'>",
        100_000,
        set(),
    ),
    "blanks in a size": (lambda n: f"<img src=x width='5{' ' * n}x'>", 100_000, set()),
    "blanks in a language": (lambda n: f"<html lang='{' ' * n}xx{' ' * n}!'>", 100_000, set()),
    "pictures of all sizes": (lambda n: f"<img srcset='{'a 1x, ' * n}'>", 20_000, set()),
    "commas": (lambda n: f"<img srcset='{',' * n}'>", 100_000, set()),
    "relations": (lambda n: f"<a href=x rel='{'nofollow ' * n}'>y</a>", 100_000, set()),
    "less than": (lambda n: "< " * n, 100_000, set()),
    "instructions": (lambda n: "<?x " * n, 100_000, set()),
    "CDATA": (lambda n: "<![CDATA[ x" * n, 100_000, set()),
    "charset of blanks": (lambda n: "é<meta charset=" + " " * n, 30_000, set()),
    "metas never ended": (lambda n: "é" + "<meta " * n, 50_000, set()),
    "two-byte text": (lambda n: "<meta charset=gbk>" + "é a" * n, 100_000, {W.WRONG_CHARSET}),
}


def seconds(body: bytes) -> tuple[float, CleanRecord]:
    """Processor time, and what came of it."""
    with timed() as took:
        foreign_type(body)
        record = clean(RawPage.from_bytes(URL, body))
    return took.seconds, record


@pytest.mark.parametrize("name", list(PAGES))
def test_time_is_linear_and_what_is_capped_is_said(name: str) -> None:
    make, n, expected = PAGES[name]
    one, two = (make(size).encode("utf-8", "surrogatepass") for size in (n, 2 * n))
    for attempt in range(3):
        (small, _), (large, record) = seconds(one), seconds(two)
        if large <= LONGEST_RATIO * small + NOISE_S:
            break
        assert attempt < 2, (small, large)
    assert {warning.kind for warning in record.warnings} == expected


@pytest.mark.parametrize(
    "head",
    [
        b"<!---->" * 4000,
        b"<!-- -->" * 4000 + b"<",
        b" " * 4096,
        b"<?xml" + b" " * 4000,
        b"<?xml?>" + b" " * 4000,
        b"<!--" + b"-" * 4000,
        b"\x1b$B" * 1400,
    ],
)
def test_looking_what_it_is_takes_no_time(head: bytes) -> None:
    begun = time.process_time()
    for _ in range(10):
        foreign_type(head)
    assert time.process_time() - begun < 0.2


@pytest.mark.parametrize("piece", ["charset=", "charset= ", 'charset="', "charset", ";", " "])
def test_no_header_takes_long(piece: str) -> None:
    begun = time.process_time()
    decode("é".encode(), "text/html; " + piece * (65536 // len(piece)))
    decode("é".encode(), "text/html; charset=" + piece * 2 + " " * 65536)
    assert time.process_time() - begun < 0.5


def test_the_warnings_say_how_much() -> None:
    record = clean(RawPage.from_bytes(URL, b"<p>" + b"x" * (Limits().max_text_chars + 7)))
    [warning] = record.warnings
    assert (warning.kind, warning.count) == (W.CAPPED_TEXT, 7)
    assert len(record.body) == Limits().max_text_chars
    record = clean(RawPage.from_bytes(URL, b"<title>" + b"x" * 5000 + b"</title>"))
    assert len(record.title) == Limits().max_title_chars
    record = clean(RawPage.from_bytes(URL, b"<h1>" + b"x" * 5000))
    assert len(record.title) == Limits().max_title_chars


PIECES = st.sampled_from(
    [
        "<", ">", "</", "<!--", "-->", "<![CDATA[", "]]>", "<?", "&", "&#", "&#x110000;", "\0",
        "\ud800", "\ufeff", "'", '"', "=", "<a href=", "<a href='//[::1", "<base href='http:'>",
        "<base href=javascript:x>", "<meta http-equiv=refresh content='0;url=//'>", "<script>",
        "</script", "<style>", "<title>", "<table>", "<td>", "<select>", "<template>", "<svg>",
        "<math>", "<frameset>", "<plaintext>", "<html lang=\x7f>", "<body>", "</body>", "</html>",
        "<img srcset=', ,,a 9999999999999x' width=99999999999>", "<h1>", "<form>", "<p", "<br/>",
        "<h3>相关阅读</h3>", "一段", " ", "\n", "http://a.example:99999/", "<iframe src=' '>",
        "\x85",
        "<meta charset=utf-16>", "<meta charset=hz>~{", "<?xml encoding='x'?>", "\u2028", "\x1b$B",
    ]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    st.lists(PIECES, max_size=40),
    st.sampled_from(["utf-8", "gb18030", "utf-16-le", "big5hkscs", "latin-1"]),
    st.binary(max_size=8),
    st.one_of(st.none(), st.text(max_size=40)),
)
def test_a_mutated_page_gives_a_record(
    pieces: list[str], charset: str, tail: bytes, content_type: str | None
) -> None:
    body = "".join(pieces).encode(charset, "replace") + tail
    try:
        record = clean(RawPage.from_bytes(URL, body, content_type))
    except ServiceError:
        return
    assert record.body.encode("utf-8", "surrogatepass") is not None
    assert len(record.links) <= len(body)
