"""The tables of the documents are those of the kept results."""

from __future__ import annotations

import pytest

from benchmarks.documents.tables import DOCUMENTS, PLACE, filled
from benchmarks.kit.results import ROOT


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_tables_are_the_kept_results(name: str) -> None:
    text, tables = (ROOT / "docs" / f"{name}.md").read_text("utf-8"), DOCUMENTS[name]
    assert {place["name"] for place in PLACE.finditer(text)} == set(tables)
    assert text == filled(text, tables), "make bench-tables"
