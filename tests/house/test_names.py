"""Names, sizes and constructs that the house rules allow (CONTRIBUTING.md)."""

from __future__ import annotations

import ast
import importlib
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import crawlclean

ROOT = Path(__file__).parents[2]
PACKAGES = ("cleaning", "storage", "crawler", "workers", "crawlclean")
NAME = "crawlclean"
ENVIRONMENT_PREFIX = f"{NAME.upper()}_"
DATA_FOLDER = f"{NAME}-data"
LONGEST_LINES = 700


def modules(*folders: str) -> list[Path]:
    """Every Python file of some folders of the project."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def shown(path: Path, line: int = 0) -> str:
    """A place as one reads it."""
    return path.relative_to(ROOT).as_posix() + (f":{line}" if line else "")


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def test_messages_take_the_name_of_the_program_from_one_place() -> None:
    """Besides `__dist__` only imports, settings and the default data folder spell it."""
    allowed = re.compile(
        rf"\b{NAME}\.(?:cleaning|storage|crawler|workers|data)\b|^\s*from {NAME} import"
        rf"|{ENVIRONMENT_PREFIX}|\b{DATA_FOLDER}\b"
    )
    files = [
        path
        for package in PACKAGES
        if package != NAME  # what others import has the name of the program
        for path in (ROOT / package).rglob("*")
        if path.suffix in {".py", ".lua", ".txt", ".html"}
    ]
    found = [
        f"{shown(path, number)}: {line.strip()}"
        for path in sorted(files)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if NAME in allowed.sub("", line).lower()
    ]
    assert found == []


def test_the_project_file_names_it_as_distribution_command_and_package() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    assert project["name"] == NAME
    assert list(project["scripts"]) == [NAME]
    code = [line for line in text.splitlines() if NAME in line.partition("#")[0]]
    about_the_package = [line for line in code if f'"{NAME}' in line or f"{NAME} = [" in line]
    assert len(code) - len(about_the_package) <= 1, code


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_says_whose_it_is_and_does_nothing_on_import(package: str) -> None:
    """A docstring; the one for other programs exports names by a table, when asked."""
    path = ROOT / package / "__init__.py"
    docstring, *rest = tree_of(path).body
    exports = package == NAME
    if exports:
        rest = [node for node in rest if not is_lazy_export(node)]
    assert isinstance(docstring, ast.Expr)
    assert isinstance(docstring.value, ast.Constant)
    assigned = {}
    for node in rest:
        assert isinstance(node, ast.Assign), f"{shown(path, node.lineno)}: not here"
        assigned[ast.unparse(node.targets[0])] = node.value
    if exports:
        assert ast.literal_eval(assigned.pop("__dist__")) == NAME
    lazy = {"__all__", "_NAMES_OF", "_MODULE_OF"}
    assert set(assigned) <= (lazy if exports else set())


def is_lazy_export(node: ast.stmt) -> bool:
    """Whether a statement is one that names are exported by and imports nothing of ours."""
    if isinstance(node, ast.ImportFrom):
        return node.module in {"importlib", "types", "typing"}
    if isinstance(node, ast.FunctionDef):
        return node.name in {"__getattr__", "__dir__"}
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def test_the_same_names_are_exported_to_type_checkers_and_callers() -> None:
    """What type checkers see, and the table, which decides at run time."""
    seen = {
        alias.name: str(statement.module).removeprefix(f"{NAME}.")
        for node in tree_of(ROOT / NAME / "__init__.py").body
        if isinstance(node, ast.If)
        for statement in node.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    assert seen == crawlclean._MODULE_OF
    assert crawlclean.__all__ == sorted(seen)
    assert set(seen) <= set(dir(crawlclean))
    for name, module in seen.items():
        assert getattr(crawlclean, name) is getattr(
            importlib.import_module(f"{NAME}.{module}"), name
        )
    with pytest.raises(AttributeError, match="no_such_name"):
        crawlclean.no_such_name  # noqa: B018 - the question is the test


# Of the field, pinned by the design, and inside packages where they shadow nothing.
ALLOWED_LIKE_STANDARD = {"benchmarks/site/site.py", "cleaning/site.py", "crawler/spiders/site.py"}
ALLOWED_FOLDERS = {"queue", "site"}  # the design's names for what is in Redis, and for one host


def test_no_file_is_a_drawer_or_named_like_a_standard_module() -> None:
    drawers = {"utils", "util", "common", "helpers", "helper", "core", "misc"}
    refused = drawers | sys.stdlib_module_names
    found = [
        shown(path)
        for path in modules(*PACKAGES, "tests", "benchmarks")
        for name in {path.stem, path.parent.name} - ALLOWED_FOLDERS
        if name in refused and path.stem not in {"__init__", "__main__"}
    ]
    assert sorted(set(found) - ALLOWED_LIKE_STANDARD) == []


def test_files_that_docstrings_name_are_there() -> None:
    """``other.py`` in two backticks is a promise; of merged files the name of before is left."""
    known = {path.name for path in modules(*PACKAGES, "tests", "benchmarks")}
    named = re.compile(r"``(?:[\w/]+/)?(\w+\.py)``")
    assert [
        f"{shown(path)}: {name}"
        for path in modules(*PACKAGES)
        for name in named.findall(path.read_text(encoding="utf-8"))
        if name not in known
    ] == []


def test_every_folder_with_modules_is_a_package() -> None:
    """Without `tests/__init__.py` the folder `tests/cleaning/` would answer `import cleaning`."""
    folders = {
        folder
        for path in modules(*PACKAGES, "tests")
        for folder in (path.parent, *path.parent.parents)
        if ROOT in folder.parents
    }
    assert [
        shown(folder) for folder in sorted(folders) if not (folder / "__init__.py").exists()
    ] == []


def test_long_modules_say_why() -> None:
    """Above 700 lines the docstring gives the reason, with the word `lines`."""
    found = []
    for path in modules(*PACKAGES, "tests", "benchmarks"):
        text = path.read_text(encoding="utf-8")
        if text.count("\n") <= LONGEST_LINES:
            continue
        docstring = ast.get_docstring(ast.parse(text)) or ""
        if not re.search(r"\blines\b", docstring):
            found.append(f"{shown(path)}: {text.count(chr(10))} lines")
    assert found == []


def test_no_merge_was_left_unfinished() -> None:
    """A marker inside a docstring or a document breaks nothing that another test would notice."""
    folders = [*PACKAGES, "tests", "benchmarks", "docs", "deploy"]
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.*")]
    files += ROOT.glob("*.*")
    marked = re.compile(rb"^(<{7}|>{7}) ", re.MULTILINE)
    found = [shown(path) for path in files if path.is_file() and marked.search(path.read_bytes())]
    assert found == []


REFUSED_IMPORTS = {"pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle"}
REFUSED_CALLS = {"eval", "exec", "compile", "__import__"}


def imported(node: ast.AST) -> Iterator[str]:
    """Top names of the modules an import statement brings."""
    if isinstance(node, ast.Import):
        yield from (alias.name.split(".")[0] for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield node.module.split(".")[0]


def test_nothing_executes_what_came_over_the_wire() -> None:
    found = []
    may_be = re.compile(
        rf"(?:from|import)\b.*(?:{'|'.join(REFUSED_IMPORTS)})|\b(?:{'|'.join(REFUSED_CALLS)})\("
    )
    for path in modules(*PACKAGES):
        if not may_be.search(path.read_text(encoding="utf-8").replace("re.compile(", "")):
            continue
        for node in ast.walk(tree_of(path)):
            names = set(imported(node)) & REFUSED_IMPORTS
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                names |= {node.func.id} & REFUSED_CALLS
            if names:
                found.append(f"{shown(path, getattr(node, 'lineno', 0))}: {', '.join(names)}")
    assert found == []


def test_our_folders_are_imported_by_one_name() -> None:
    """`import cleaning` works in a checkout and would load each module a second time."""
    bare = re.compile(rf"^\s*(?:from|import) (?:{'|'.join(set(PACKAGES) - {NAME})})[ .]")
    found = [
        shown(path, number)
        for path in modules(*PACKAGES, "tests", "benchmarks", ".ci")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if bare.match(line)
    ]
    assert [place for place in found if "tests/benchmarks/test_structure.py" not in place] == []


def is_catch_all(handler: ast.ExceptHandler) -> bool:
    """True for a handler that swallows everything; one that always raises again may clean up."""
    named = "" if handler.type is None else ast.unparse(handler.type)
    if re.search(r"\bException\b", named):
        return True
    last = handler.body[-1]
    raises_again = isinstance(last, ast.Raise) and last.exc is None
    return (not named or "BaseException" in named) and not raises_again


CATCH_ALL = {"workers/tasks.py", "workers/hooks/calling.py", "crawler/spiders/site.py"}


def test_everything_is_caught_in_three_places() -> None:
    """In the task wrapper, so that no defect passes for a bad page; around hooks and downloads."""
    may_be = re.compile(r"\bexcept(?:[^:]*\b(?:Base)?Exception\b|\s*:)")
    found = [
        (shown(path), node.lineno)
        for path in modules(*PACKAGES)
        if may_be.search(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ExceptHandler) and is_catch_all(node)
    ]
    assert [place for place in found if place[0] not in CATCH_ALL] == []
    assert len(found) <= len(CATCH_ALL), found
