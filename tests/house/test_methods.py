"""The tables of the methods' document are those of the kept results."""

from __future__ import annotations

from benchmarks.documents.methods import DOCUMENT, PLACE, TABLES, filled


def test_the_tables_are_the_kept_results() -> None:
    text = DOCUMENT.read_text("utf-8")
    assert {place["name"] for place in PLACE.finditer(text)} == set(TABLES)
    assert text == filled(text), "make bench-methods"
