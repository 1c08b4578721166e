"""The code of the product stays below a ceiling.

Whoever needs more room raises it in the commit that needs it, and says there what users got for it;
whoever removes code lowers it.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("cleaning", "storage", "crawler", "workers", "crawlclean")
CEILING = 62_216
_NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip
_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def python_lines(source: str) -> int:
    """The lines of a Python file that are neither blank nor comment nor docstring."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        for text in node.body if isinstance(node, _WITH_DOCSTRING) else ():
            if (
                isinstance(text, ast.Expr)
                and isinstance(text.value, ast.Constant)
                and isinstance(text.value.value, str)
            ):
                lines.difference_update(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return len(lines)


def lua_lines(source: str) -> int:
    """The lines of a Lua file that are neither blank nor comment."""
    return sum(
        1 for line in source.splitlines() if line.strip() and not line.strip().startswith("--")
    )


def test_the_product_has_no_more_code_than_its_ceiling() -> None:
    lines: Counter[str] = Counter()
    for package in PACKAGES:
        for file in (ROOT / package).rglob("*.py"):
            lines[package] += python_lines(file.read_text(encoding="utf-8"))
        for file in (ROOT / package).rglob("*.lua"):
            lines[package] += lua_lines(file.read_text(encoding="utf-8"))
    assert lines.total() <= CEILING, f"{lines.total()} code lines: {dict(lines)}"


def test_docstrings_comments_and_blanks_are_no_code() -> None:
    assert python_lines('"""A\n\nB."""\n\n# c\nx = (1,\n     2)  # d\n') == 2
    assert lua_lines("-- a\n\nlocal x = 1 -- b\n") == 1
