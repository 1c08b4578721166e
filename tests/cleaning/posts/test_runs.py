"""Parts side by side of one shape: names by what they share, and by their path."""

from __future__ import annotations

import pytest

from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.document.tree import Tree
from crawlclean.cleaning.posts.runs import Name, name_alike, name_known, name_of

LETTERS = ("qa", "wb", "ec")
ROW = '<tr class="{}"><td class="{}">Ada</td><td class="{}">text</td></tr>'
POST = '<div class="x"><h4>Ada</h4><div class="text {0}">a</div><div id="{0}k">b</div></div>'
BARE = "<tr><td><b>Ada</b></td><td>text</td></tr>"


def names(tree: Tree) -> list[Name]:
    return list(map(name_of, tree.block_tags, tree.block_names))


@pytest.mark.parametrize(
    ("source", "nameless", "expected"),
    [
        ("".join(map(POST.format, LETTERS)), False, ("div", "text *")),
        ("".join(map(POST.format, LETTERS)), False, ("div", ":/body/div.x/div.~1")),
        (
            "<table id=b>" + "".join(ROW.format("r", a, a) for a in ("odd", "even", "odd", "even")),
            False,
            ("td", ":b/tr.r/td2of2"),
        ),
        (f"<table id=b>{BARE * 3}", True, ("td", ":b/tr/td2of2")),
    ],
)
def test_like_parts_have_one_name_on_all_pages(source: str, nameless: bool, expected: Name) -> None:
    tree = parse(source)
    found = names(tree)
    assert expected not in found
    assert name_alike(tree, found, nameless=nameless)
    count = found.count(expected)
    assert count >= len(LETTERS)
    again = names(tree)
    name_known(tree, again, [expected])
    assert again.count(expected) == count


@pytest.mark.parametrize(
    "source",
    [
        '<div class="post a1">1<p>x</div><div class="post b2">2<p>y</div>'
        '<div class="post">3<p>z</div>',
        '<div id="top"><p>1</div><div id="mid"><ul><li>2</ul></div><div id="end"><h2>3</h2></div>',
        "<div><p>1</div>" * 3,
    ],
)
def test_names_that_tell_stay(source: str) -> None:
    tree = parse(source)
    found = names(tree)
    name_alike(tree, found)
    assert [name for name in found if name[1].startswith(":")] == []
