"""Tags and texts of a source, with their places."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st

from crawlclean.cleaning.papers.hyperlink_body import Params, hyperlink_body
from crawlclean.cleaning.papers.link_blocks import find_link_blocks, text_outside
from crawlclean.cleaning.papers.related_links import marked_links, split_tables
from crawlclean.cleaning.papers.scan import scan_tags, scan_texts
from tests.kit.timing import timed

LITERAL = Params(literal_pairing=True)
PIECES = st.sampled_from(
    ["<", ">", "<a", " href=x", "=", '"', "'", "</a>", "<!--", "-->", "<script>", "</script ",
     "<style", "<!", "<?", "文", " ", "/", "&amp;", "<p>"]
)  # fmt: skip


def names(html: str) -> list[str]:
    return [tag.name for tag in scan_tags(html)]


def test_tags_and_texts() -> None:
    html = "<!doctype html><P class='a > b'>一&amp;<br/> \n</p><!-- <a> -->二<x-y z=\"<i>\">三"
    assert names(html) == ["", "p", "br", "/p", "", "x-y"]
    assert list(scan_texts(html)) == ["一&", "二", "三"]
    tag = list(scan_tags(html))[1]
    assert html[tag.start : tag.end] == "<P class='a > b'>"
    assert tag.attributes == " class='a > b'"


@pytest.mark.parametrize(
    ("html", "texts"),
    [
        ("一<script>if (a<b) '</p>'</script >二", ["一", "二"]),
        ("一<script>var a = '<p>'", ["一"]),
        ("一<!-- 二 <p> 三", ["一"]),
        ("一<!-->二<!--->三", ["一", "二", "三"]),
        ("<p title=it's>一</p><p title='>'>二", ["一", "二"]),
        ('<p title="一>二', ["二"]),
        ("1 < 2 <3", ["1 < 2 <3"]),
        ("一<p", ["一<p"]),
        ("", []),
    ],
)
def test_broken_sources(html: str, texts: list[str]) -> None:
    assert list(scan_texts(html)) == texts


@given(st.lists(PIECES, max_size=40).map("".join))
def test_tags_are_in_order_and_apart(html: str) -> None:
    at = 0
    for tag in scan_tags(html):
        assert at <= tag.start < tag.end <= len(html)
        assert html[tag.start] == "<"
        at = tag.end
    found = find_link_blocks(html)
    assert 0 <= found.lcr <= 1
    assert 0 <= found.ccr <= 1


@pytest.mark.parametrize(
    "piece",
    ["<a ", "<a x='", '<a x="\'', "<script ", "<script>", "<!--", "<!", "</", "< ", "<p =", "=",
     "<a href=x>", "<a href=x>y</a>", "<a href=x>y</a><b ", "<table", "汉1", "<script>x</script "],
)  # fmt: skip
@pytest.mark.parametrize("end", ["", ">"])
def test_time_is_linear(piece: str, end: str) -> None:
    def read(html: str) -> None:
        works: tuple[Callable[[], object], ...] = (
            lambda: find_link_blocks(html),
            lambda: text_outside(html),
            lambda: split_tables(html),
            lambda: hyperlink_body(html),
            lambda: hyperlink_body(html, LITERAL),
            lambda: marked_links(html, str.isalpha),
        )
        for work in works:
            work()

    with timed() as took:
        read(piece * (150_000 // len(piece)) + end)
    assert took.seconds < 2.0
