"""Replies to a text: known by their structure, and by the text before them."""

from __future__ import annotations

from crawlclean.cleaning.body.page_body import extract_body
from crawlclean.cleaning.document.document import RawPage
from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.records import PageKind, VerdictReason
from crawlclean.cleaning.why import explain

URL = "http://shop.example.com/lamps/oak"
OF_PRODUCT = '<meta property="og:type" content="product">'
TITLE = "<title>Oak lamp - A shop</title>"
ABOUT = (
    "<p>A lamp of oiled oak, with a shade of linen that is sewn by hand.</p>"
    "<ul><li>Height: 40 cm, with the shade.</li><li>Cable: two metres, black.</li></ul>"
)
OPINION = "I waited two weeks for number {0}, and the box was open when it came, but it was whole. "

LONG = "<p>" + "The lamp of oiled oak has a shade of linen, and that is sewn by hand. " * 24


def opinions(count: int, date: str = "<span>0{0}/03/2026</span>") -> str:
    return "".join(
        f'<div class="x{n} row"><b>Anna {n}</b><div>{date.format(n + 1)}</div>'
        f"<p>{OPINION.format(n) * 3}</p></div>"
        for n in range(count)
    )


def page(meta: str, rows: str) -> str:
    return (
        f"{TITLE}{meta}<body><h1>Oak lamp</h1><div class=a>{ABOUT}</div>"
        f"<div class=b><h2>What others wrote</h2><p>81 % would buy it again.</p>{rows}</div>"
    )


def body_of(html: str) -> str:
    return extract_body(parse(html), URL).text


def test_dated_opinions_are_no_text_about_a_product() -> None:
    text = body_of(page(OF_PRODUCT, opinions(5)))
    assert text.startswith("A lamp of oiled oak")
    assert "Cable: two metres" in text
    assert "I waited" not in text
    assert "81 %" not in text


def test_replies_to_a_long_text_need_no_product_and_no_names() -> None:
    html = page("", opinions(5))
    text = body_of(html.replace(ABOUT, LONG))
    assert "shade of linen" in text
    assert "I waited" not in text
    assert "I waited" in body_of(html)  # a question with longer answers


def test_entries_of_a_diary_have_no_text_before_them() -> None:
    html = f"{TITLE}<body><h1>Oak lamp</h1><p>My lamps.</p><div class=b>{opinions(5)}</div><p>End."
    assert "I waited" in body_of(html)


def test_teasers_have_linked_headings() -> None:
    teasers = opinions(5).replace("<b>", "<h2><a href=/n>").replace("</b>", "</a></h2>")
    assert "I waited" in body_of(page("", teasers).replace(ABOUT, LONG))


def test_one_kind_of_sections_of_which_few_have_a_date_is_kept() -> None:
    html = page("", opinions(8, date="") + opinions(3))
    assert "I waited" in body_of(html.replace(ABOUT, LONG))


def test_what_has_no_date_or_no_like_is_kept() -> None:
    for rows in (opinions(5, date=""), opinions(2)):
        assert "I waited" in body_of(page(OF_PRODUCT, rows))


def test_a_page_of_nothing_but_opinions_keeps_them() -> None:
    html = f"{TITLE}{OF_PRODUCT}<body><h1>Oak lamp</h1><div class=b>{opinions(5)}</div>"
    assert "I waited" in body_of(html)


def test_a_section_with_many_dates_is_no_opinion() -> None:
    entry = "<div>2026-03-0{0}</div>"
    dates = "".join(entry.format(n) for n in range(1, 4))
    text = body_of(page(OF_PRODUCT, opinions(5, date=dates.replace("{", "{{").replace("}", "}}"))))
    assert "I waited" in text


def test_the_reason_of_their_lines_is_that_of_comments() -> None:
    html = page(OF_PRODUCT, opinions(4))
    record, verdicts = explain(RawPage.from_bytes(URL, html.encode()))
    assert record.kind is not PageKind.THREAD
    reasons = {each.reason for each in verdicts if each.text.startswith("I waited")}
    assert reasons == {VerdictReason.COMMENT_PART}


def test_numbered_clauses_with_dates_are_no_replies() -> None:
    clauses = "".join(
        f"<li><p>From 1 January 202{n} the tax is {n} crowns.</p>"
        f"<p>Lamps made before that year stay free of it for {n} more years, says the law.</p></li>"
        for n in range(1, 6)
    )
    text = body_of(page("", f"<ol>{clauses}</ol>").replace(ABOUT, LONG))
    assert all(f"the tax is {n} crowns" in text for n in range(1, 6))
