"""Bodies of lists: rows of a table, cards in rows of three, sections of a service."""

from __future__ import annotations

import pytest

from crawlclean.cleaning.body.page_body import Body, extract_body
from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.records import BodySource

URL = "http://offers.example.com/tenders"
TEXT = "Two trucks carry the stones from the quarry to the harbour, and three men load them. "
HEAD = "<title>Tenders</title><body><nav><a href=/>Home</a></nav><h1>Tenders</h1>"
ABOUT = "<p>All tenders of this week.</p>"


def body_of(html: str) -> Body:
    return extract_body(parse(HEAD + html), URL)


def rows(count: int = 8) -> str:
    cells = "".join(
        f"<tr><td><a href=/t{n}>Repair of harbour number {n}</a><div>N-{n}</div></td>"
        f"<td>City of Stones</td><td>{n + 1} May 2026</td></tr>"
        for n in range(count)
    )
    return f"<table><tr><th>What</th><th>Who</th><th>When</th></tr>{cells}</table>"


def cards(count: int, text: str = "From $5{0}") -> list[str]:
    return [
        f'<div class="card{n}"><a href=/c{n}>Cart {n} of oak</a><p>{text.format(n)}</p></div>'
        for n in range(count)
    ]


def test_rows_of_a_table_are_items() -> None:
    body = body_of(ABOUT + rows())
    assert body.source is BodySource.LIST
    first = body.text.index("Repair of harbour number 0")
    assert body.text.startswith("All tenders of this week.")
    assert "City of Stones" not in body.text, "what all rows say names no row"
    assert first < body.text.index("N-0") < body.text.index("8 May 2026")


def test_items_in_rows_of_three_are_one_list() -> None:
    each = cards(9)
    body = body_of("".join(f"<div>{''.join(each[n : n + 3])}</div>" for n in (0, 3, 6)))
    assert body.source is BodySource.LIST
    assert all(f"Cart {n} of oak\nFrom $5{n}" in body.text for n in range(9))


def test_long_items_are_no_teasers_of_other_pages() -> None:
    """Text before the title is of the site; it says nothing about the list."""
    site = f'<div class="tabs"><p>{TEXT * 6}</p></div>'
    each = "".join(cards(8, TEXT * 6 + "Number {0}."))
    body = extract_body(parse(f"<title>Tenders</title><body>{site}<h1>Tenders</h1>{each}"), URL)
    assert all(f"Number {n}." in body.text for n in range(8))
    assert "Cart 3 of oak" in body.text


@pytest.mark.parametrize(
    "html",
    [
        f"<p>{TEXT * 8}</p>{''.join(cards(9))}",
        f"<div class=part><p>{TEXT * 30}</p><a href=/s>Share this page now</a></div>"
        + "".join(
            f"<div class=part><p>Hm.</p><a href=/{n}>Next is {n}</a></div>" for n in range(7)
        ),
    ],
    ids=["behind a text", "one part is the text"],
)
def test_an_article_is_no_list(html: str) -> None:
    body = body_of(html)
    assert body.source is not BodySource.LIST
    assert body.text.startswith("Two trucks")
    assert "Cart 3 of oak" not in body.text


def test_teasers_in_a_menu_do_not_decide_about_a_list() -> None:
    teaser = '<li><a href="/m{0}">A longer name of area {0}</a><p>{1}</p></li>'
    menu = "".join(teaser.format(n, TEXT) for n in range(12))
    html = f"<title>Tenders</title><body><ul>{menu}</ul><h1>Tenders</h1>"
    goods = "".join(f"<div><a href=/g{n}>Tea {n}</a><p>${n},00</p></div>" for n in range(12))
    body = extract_body(parse(f"{html}<div>{goods}</div>"), URL)
    assert "Tea 7\n$7,00" in body.text
    assert "area 3" not in body.text
