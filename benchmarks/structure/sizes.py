"""Sizes of the code: code lines of rooms, data types, numbers without a reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGES = ("cleaning", "storage", "crawler", "workers", "crawlclean")
_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_FIELD_TYPES = ("Struct", "NamedTuple", "TypedDict")


def files_of(root: Path, *folders: str, ending: str = ".py") -> Iterator[Path]:
    """Yields the files below folders of a checkout; folders that are links are left out."""
    for folder in folders:
        yield from sorted((root / folder).rglob(f"*{ending}"))


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file, kept for the other figures of a measurement."""
    return ast.parse(path.read_text("utf-8"))


def python_lines(source: str, tree: ast.Module | None = None) -> int:
    """The lines of a Python file that are neither blank nor comment nor docstring."""
    lines = {
        number
        for number, line in enumerate(source.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    }
    docstrings: set[int] = set()
    for node in ast.walk(tree or ast.parse(source)):
        if isinstance(node, ast.Constant | ast.JoinedStr):
            if node.end_lineno != node.lineno:  # a text's blank lines are of it, and its "#"
                lines.update(_range_of(node))
        elif isinstance(node, _WITH_DOCSTRING):
            for text in filter(_is_text, node.body):  # also those below constants
                docstrings.update(_range_of(text))
    return len(lines - docstrings)


def _range_of(node: ast.expr | ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def lua_lines(source: str) -> int:
    """The lines of a Lua file that are neither blank nor comment."""
    return sum(
        1 for line in source.splitlines() if line.strip() and not line.strip().startswith("--")
    )


def lines_of(root: Path, *folders: str) -> int:
    """The code lines of the Python files below folders of a checkout."""
    return sum(python_lines(path.read_text("utf-8")) for path in files_of(root, *folders))


def rooms_of(root: Path) -> dict[str, tuple[int, int]]:
    """Python files and code lines of each folder of the product, without those of its folders."""
    found: dict[str, tuple[int, int]] = {}
    for path in files_of(root, *PACKAGES):
        room = path.parent.relative_to(root).as_posix()
        files, lines = found.get(room, (0, 0))
        found[room] = files + 1, lines + python_lines(path.read_text("utf-8"), tree_of(path))
    return found


def data_types(root: Path) -> list[str]:
    """Names of the classes that hold fields: dataclasses, structs, named tuples, typed dicts."""
    return [
        node.name
        for path in files_of(root, *PACKAGES)
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ClassDef) and _holds_fields(node)
    ]


def bare_numbers(root: Path, *folders: str) -> list[str]:
    """Constants of modules that are numbers, without a comment or a docstring: ``a.py: MOST``."""
    found = []
    for path in files_of(root, *folders):
        lines, body = path.read_text("utf-8").splitlines(), tree_of(path).body
        for node, below in zip(body, [*body[1:], None], strict=True):
            if not isinstance(node, ast.Assign | ast.AnnAssign) or not _is_number(node.value):
                continue
            written = "\n".join(lines[node.lineno - 1 : node.end_lineno])
            above = lines[node.lineno - 2].lstrip() if node.lineno > 1 else ""
            if not ("#" in written or above.startswith("#") or (below and _is_text(below))):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                found.append(f"{path.relative_to(root).as_posix()}: {ast.unparse(target)}")
    return found


def _is_number(value: ast.expr | None) -> bool:
    match value:
        case ast.Constant(value=bool()):
            return False
        case ast.Constant(value=int() | float()):
            return True
        case ast.UnaryOp(operand=operand):
            return _is_number(operand)
        case ast.BinOp(left=left, right=right):
            return _is_number(left) and _is_number(right)
        case ast.Tuple(elts=parts):
            return bool(parts) and all(map(_is_number, parts))
    return False


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _holds_fields(node: ast.ClassDef) -> bool:
    return (
        any("dataclass" in ast.unparse(each) for each in node.decorator_list)
        or any(ast.unparse(base).endswith(_FIELD_TYPES) for base in node.bases)
        or any(each.arg == "frozen" for each in node.keywords)
    )
