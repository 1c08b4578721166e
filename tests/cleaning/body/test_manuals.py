"""Bodies of manuals, of other pages of short lines, and of no pages, by the page alone."""

from __future__ import annotations

import random

from crawlclean import RawPage, clean
from crawlclean.cleaning.body.page_body import extract_body
from crawlclean.cleaning.document.reader import parse
from crawlclean.cleaning.page_warnings import WarningKind

PROSE = (
    "<p>The anchor is dropped before the boat stands still, and nobody on the pier minds how long"
    " this takes, when the weather is as calm as it was in the summer of that year.</p>"
)
NAMES = ("cleat_new ()", "cleat_tie ()", "cleat_free ()")


def body(main: str, around: str = "") -> list[str]:
    html = f"<title>cleat - Handbook</title>{around}<div id=main><h1>cleat</h1>{main}</div>"
    return extract_body(parse(html)).text.split("\n")


def test_what_a_manual_names_under_see_also_is_its_text() -> None:
    rows = "".join(f"<tr><td><a href=#c>{name}</a><td>ties it to the pier" for name in NAMES)
    found = body(f"{PROSE * 3}<h3>See also</h3><table>{rows}</table>{PROSE}")
    assert found[-1].startswith("The anchor")
    assert "ties it to the pier" in found


def test_titles_under_see_also_end_a_text() -> None:
    links = "".join(f"<li><a href=/{i}>How to tie boats to pier {i}</a>" for i in range(5))
    found = body(f"{PROSE * 3}<h3>See also</h3><ul>{links}</ul><p>All our news, every day.</p>")
    assert len(found) == 3


def test_text_behind_a_sentence_that_begins_with_see_also_is_kept() -> None:
    found = body(f"{PROSE * 4}<p>See also <a href=#x>cleat_tie()</a>.</p><h3>Notes</h3>{PROSE}")
    assert "Notes" in found


def test_the_parts_of_a_page_of_few_words_stay_together() -> None:
    sections = (
        "<section><h4>Declaration</h4><a href=/rope>rope</a> cleat</section>"
        "<section><h4>Description</h4><p>Ties a rope, and waits until nothing moves.</p></section>"
        "<section><h4>Values</h4><a href=/r>rope</a><p>tied to a pier</p></section>"
    )
    assert {"Ties a rope, and waits until nothing moves.", "tied to a pier"} <= set(body(sections))


def test_a_manual_s_synopsis_belongs_to_its_text() -> None:
    found = body(
        "<div class=top><p>cleat - ties ropes</p><pre>cleat [rope]\ncleat [boat]</pre></div>"
        f"<div class=text>{PROSE * 4}</div>"
    )
    assert found[:2] == ["cleat - ties ropes", "cleat [rope]"]


def test_hidden_help_is_no_body_of_a_short_page() -> None:
    help_text = f"<div style='display: none'><h2>Search</h2>{PROSE}</div>"
    found = body(f"<p>Undocumented class of ropes.</p><p>Source: {'rope ' * 12}</p>", help_text)
    assert "Undocumented class of ropes." in found
    assert not any(line.startswith("The anchor") for line in found)


def test_notes_on_functions_between_paragraphs_are_no_replies() -> None:
    notes = "".join(
        f"<p>{name} ties the rope that holds the boat, and nobody on the pier minds it.</p>"
        f"<dl><dt>since: 2.0.{i}0<dd>Returns the rope, the boat and the pier that are tied.</dl>"
        f"<p>{name} has an example of a rope, which nobody on the pier has tied before.</p>"
        for i, name in enumerate(NAMES)
    )
    assert sum("the pier that are tied" in line for line in body(PROSE * 4 + notes)) == len(NAMES)


def test_bytes_of_another_format_have_no_body() -> None:
    content = random.Random(1).randbytes(20_000)
    for charset in ("utf-8", "iso-8859-1", "gbk"):
        page = RawPage.from_bytes("http://a.test/b.html", content, f"text/html; charset={charset}")
        record = clean(page)
        assert record.body == ""
        assert WarningKind.REPLACED_CHARACTERS in [warning.kind for warning in record.warnings]
