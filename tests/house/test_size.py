"""The code of the product stays below a ceiling.

Whoever needs more room raises it in the commit that needs it, and says there what users got for it;
whoever removes code lowers it.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from benchmarks.structure.sizes import PACKAGES, files_of, lines_of, lua_lines, python_lines

ROOT = Path(__file__).parents[2]
CEILING = 62_216


def test_the_product_has_no_more_code_than_its_ceiling() -> None:
    lines = Counter({package: lines_of(ROOT, package) for package in PACKAGES})
    for file in files_of(ROOT, "storage", ending=".lua"):
        lines["lua"] += lua_lines(file.read_text(encoding="utf-8"))
    assert lines.total() <= CEILING, f"{lines.total()} code lines: {dict(lines)}"


def test_docstrings_comments_and_blanks_are_no_code() -> None:
    assert python_lines('"""A\n\nB."""\n\n# c\nx = (1,\n     2)  # d\n') == 2
    assert lua_lines("-- a\n\nlocal x = 1 -- b\n") == 1
