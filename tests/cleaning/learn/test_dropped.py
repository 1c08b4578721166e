"""Parts inside a body's block that repeat over pages: members of a manual stay, boxes go."""

from __future__ import annotations

import pytest

from crawlclean import RawPage, clean, learn_site

WORDS = ("stream", "buffer", "socket", "window", "handle", "cursor", "record", "signal")


def text(number: int) -> str:
    """Sentences that no other number gives."""
    words = " ".join(WORDS[number // 8**i % 8] for i in range(3))
    return f"It takes the {words} of caller {number} as it is. Nothing else is changed by that."


def page(number: int, repeated: str) -> RawPage:
    name = f"{WORDS[number % 8]}{number}"
    own = "".join(f"<p>{text(10 * number + i)}</p>" for i in range(4))
    html = (
        f"<html><head><title>{name}</title></head><body><div class='doc'><h1>{name}</h1>{own}"
        f"{repeated}</div></body></html>"
    )
    url = f"http://a.test/doc/{name}.html"
    return RawPage.from_bytes(url, html.encode(), "text/html; charset=utf-8")


MEMBER = (
    '<div class="member" id="method.borrow"><h4 class="head">{}fn borrow(&amp;self) -&gt; '
    '<a href="/T.html">T</a></h4><div class="about">Borrows from an owned value, for as long as '
    "the owner of the value lives, and never longer than that.</div></div>"
)


@pytest.mark.parametrize("pages", [3, 8, 20])
def test_members_that_all_pages_have_stay(pages: int) -> None:
    repeated = MEMBER.format('<a href="#method.borrow">§</a>')
    model = learn_site([page(n, repeated) for n in range(pages)])
    body = clean(page(30, repeated), model).body
    assert text(301) in body
    assert "fn borrow(&self) -> T" in body
    assert "Borrows from an owned value" in body


def test_boxes_that_all_pages_have_go() -> None:
    box = (
        '<div class="box" id="box1"><div class="about">Our shop sends all over the country, from '
        "Monday to Friday, and takes back what does not fit you.</div></div>"
    )
    model = learn_site([page(n, box) for n in range(20)])
    body = clean(page(30, box), model).body
    assert text(301) in body
    assert "Our shop" not in body


def test_names_of_columns_between_own_lines_stay() -> None:
    def rows(number: int) -> str:
        cells = "".join(
            f'<div class="cell">{WORDS[i]}{number}()</div><div class="cell">{text(50 * number + i)}'
            "</div>"
            for i in range(4)
        )
        head = '<div class="head">Method and its type</div>'
        return f'<div class="table">{head}{cells}</div>'

    model = learn_site([page(n, rows(n)) for n in range(20)])
    body = clean(page(30, rows(30)), model).body
    assert text(1500) in body
    assert "Method and its type" in body
