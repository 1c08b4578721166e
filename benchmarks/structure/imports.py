"""The import graph of the four packages, read from the source without importing it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.structure.sizes import PACKAGES, files_of, tree_of


@dataclass(frozen=True)
class ImportGraph:
    """The modules and their imports.

    Attributes:
        files: Path of each module by its dotted name (``cleaning.links.links``, as it lies).
        imports: The modules that each module imports at loading, without imports inside functions
            and under ``TYPE_CHECKING``.
        deferred: The modules that each module imports inside functions.
    """

    files: Mapping[str, Path]
    imports: Mapping[str, frozenset[str]]
    deferred: Mapping[str, frozenset[str]]

    def circles(self) -> list[list[str]]:
        """Returns the groups of modules that import each other in a circle at loading."""
        found = []
        for name in sorted(self.files):
            reached = self._reached(name)
            group = sorted(other for other in reached if name in self._reached(other))
            if group and group[0] == name:
                found.append(group)
        return found

    def _reached(self, start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            for target in self.imports[waiting.pop()] - seen:
                seen.add(target)
                waiting.append(target)
        return seen


def read_graph(root: Path) -> ImportGraph:
    """Reads the import graph of the four packages below a checkout's root."""
    files = {_module_name(path.relative_to(root)): path for path in files_of(root, *PACKAGES)}
    loaded: dict[str, frozenset[str]] = {}
    deferred: dict[str, frozenset[str]] = {}
    for name, path in files.items():
        later: set[str] = set()
        first: set[str] = set()
        for node, is_deferred in _statements(tree_of(path).body):
            (later if is_deferred else first).update(_targets(node, files))
        loaded[name] = frozenset(first - {name})
        deferred[name] = frozenset(later - first - {name})
    return ImportGraph(files, loaded, deferred)


def _statements(nodes: Sequence[Any], is_deferred: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """Yields all statements, each with whether it stands in a function or for type checkers."""
    for node in nodes:
        yield node, is_deferred
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from _statements(getattr(node, block, ()), is_deferred or _defers(node))


def _module_name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _place(name: str) -> str:
    """Returns where a module lies: ``cleaning.links`` of ``crawlclean.cleaning.links``."""
    inner = name.removeprefix("crawlclean.")
    return inner if inner.partition(".")[0] in PACKAGES else name


def _defers(node: ast.AST) -> bool:
    if isinstance(node, ast.If):
        return "TYPE_CHECKING" in ast.unparse(node.test)
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def _targets(node: ast.AST, files: Mapping[str, Path]) -> set[str]:
    if isinstance(node, ast.Import):
        return {_place(alias.name) for alias in node.names} & files.keys()
    if isinstance(node, ast.ImportFrom) and node.module:
        module = _place(node.module)
        whole = {f"{module}.{alias.name}" for alias in node.names}
        inner = whole & files.keys()
        return inner if len(inner) == len(whole) else inner | ({module} & files.keys())
    return set()
