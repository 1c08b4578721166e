"""The tables of the documents, written from the kept results: no figure is typed by hand.

``make bench-tables``.

Each table is between ``<!-- table: NAME -->`` and ``<!-- end -->``. A test compares the documents
with the results.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping

from benchmarks.documents.cells import Rows
from benchmarks.documents.comparison import COMPARISON_TABLES
from benchmarks.documents.methods_page import PAGE_TABLES
from benchmarks.documents.methods_robust import ROBUST_TABLES
from benchmarks.documents.methods_site import SITE_TABLES
from benchmarks.documents.sizing import SIZING_TABLES
from benchmarks.kit.results import ROOT

NOT_KEPT = "*Not measured yet.*"
PLACE = re.compile(r"(<!-- table: (?P<name>[\w-]+) -->\n).*?(<!-- end -->)", re.S)
Tables = Mapping[str, Callable[[], Rows]]
DOCUMENTS: dict[str, Tables] = {
    "methods": {**PAGE_TABLES, **SITE_TABLES, **ROBUST_TABLES},
    "comparison": COMPARISON_TABLES,
    "sizing": SIZING_TABLES,
}


def main() -> int:
    """Writes the tables into the documents."""
    argparse.ArgumentParser(description=__doc__).parse_args()  # none but --help
    for name, tables in DOCUMENTS.items():
        path = ROOT / "docs" / f"{name}.md"
        path.write_text(filled(path.read_text("utf-8"), tables), "utf-8")
    return 0


def filled(text: str, tables: Tables) -> str:
    """Fills every table of a document from the kept results."""
    return PLACE.sub(lambda place: f"{place[1]}{written(tables[place['name']])}\n{place[3]}", text)


def written(table: Callable[[], Rows]) -> str:
    """Returns a table in Markdown, or ``NOT_KEPT`` without a result."""
    try:
        header, *rows = table()
    except KeyError:
        return NOT_KEPT
    lines = [header, ["---", *["--:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
