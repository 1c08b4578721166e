"""The structure of the code: sizes, import graph, files entered for one page.

``make bench-structure`` measures this checkout and keeps the figures; with ``--root DIR`` it prints
those of another checkout. Figures are of the four packages unless they name tests or benchmarks.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.kit.results import ROOT, keep
from benchmarks.structure.drawing import draw_house
from benchmarks.structure.imports import PACKAGES, ImportGraph, read_graph

LONG_FUNCTION_LINES = 60
MOST_PARAMETERS = 5
_SPEAKING = re.compile(r"\b(?:says?|said|tells?|told)\b")

# Runs in the measured checkout: files and functions of the product that ``clean`` enters.
WALK = """
import sys
from pathlib import Path
from crawlclean import RawPage, clean
root = Path.cwd()
pages = [
    RawPage.from_bytes(
        (case / "url").read_text().strip() if (case / "url").exists() else "http://page.example/",
        (case / "page.html").read_bytes(),
    )
    for case in sorted((root / "tests" / "pages").iterdir())
    if (case / "page.html").exists()
]
for page in pages:
    clean(page)
counts = []
for page in pages:
    files, functions = set(), set()
    def note(frame, event, argument):
        name = frame.f_code.co_filename
        inside = name.removeprefix(f"{root}/").removeprefix("crawlclean/")
        if event == "call" and inside.startswith("cleaning/"):
            files.add(name)
            functions.add((name, frame.f_code.co_qualname))
    sys.setprofile(note)
    clean(page)
    sys.setprofile(None)
    counts.append((len(files), len(functions)))
print(max(n for n, _ in counts), sorted(n for n, _ in counts)[len(counts) // 2],
      max(n for _, n in counts))
"""


def main() -> int:
    """Measures, keeps the figures and draws the rooms."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--root", type=Path, help="print the figures of another checkout")
    root = parser.parse_args().root
    result = measure(root or ROOT)
    if root is not None:
        sys.stdout.write(json.dumps(result, indent=1) + "\n")
        return 0
    keep("structure", result)
    (ROOT / "docs" / "plots" / "house.svg").write_text(draw_house(read_graph(ROOT)), "utf-8")
    return 0


def measure(root: Path) -> dict[str, Any]:
    """Returns the figures of a checkout."""
    graph = read_graph(root)
    modules = {name: path for name, path in graph.files.items() if path.name != "__init__.py"}
    once = [name for name in modules if len(graph.importers[name]) == 1]
    functions = [found for path in graph.files.values() for found in functions_of(path)]
    return {
        "product": sizes(root, *PACKAGES),
        "lua": sum(_lines(path) for path in (root / "storage").rglob("*.lua")),
        "tests": sizes(root, "tests"),
        "benchmarks": sizes(root, "benchmarks"),
        "rooms": rooms_of(root),
        "importers": {
            "modules": len(modules),
            "with one importer": len(once),
            "share": round(len(once) / len(modules), 3),
        },
        "chain": _chain(graph),
        "circles": graph.circles(),
        "functions": {
            "count": len(functions),
            "over 60 lines": [f for f, lines, _ in functions if lines > LONG_FUNCTION_LINES],
            "over 5 parameters": [f for f, _, n in functions if n > MOST_PARAMETERS],
        },
        "page": walk_of_a_page(root),
        "says or tells": sum(
            len(_SPEAKING.findall(path.read_text("utf-8"))) for path in graph.files.values()
        ),
    }


def sizes(root: Path, *folders: str) -> dict[str, Any]:
    """Returns files and lines below some folders; the median leaves out files of one docstring."""
    paths = [p for folder in folders for p in (root / folder).rglob("*.py")]
    lines = {path: _lines(path) for path in paths}
    inner = [n for path, n in lines.items() if path.name != "__init__.py"]
    largest = max(paths, key=lambda path: lines[path])
    return {
        "files": len(paths),
        "lines": sum(lines.values()),
        "median": statistics.median(inner),
        "largest": [largest.relative_to(root).as_posix(), lines[largest]],
        "over 400": sum(n > 400 for n in inner),
    }


def rooms_of(root: Path) -> dict[str, int]:
    """Returns the number of Python files of each product folder, without ``__init__.py``."""
    found: dict[str, int] = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            if path.name != "__init__.py":
                name = path.parent.relative_to(root).as_posix()
                found[name] = found.get(name, 0) + 1
    return found


def functions_of(path: Path) -> Iterator[tuple[str, int, int]]:
    """Yields (``file:name``, lines, parameters without self) of every function of a file."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            count = sum(each.arg not in {"self", "cls"} for each in given)
            shown = f"{path.parent.name}/{path.name}:{node.name}"
            yield shown, (node.end_lineno or node.lineno) - node.lineno + 1, count


def walk_of_a_page(root: Path) -> dict[str, int]:
    """Counts files and functions that ``clean`` enters on the golden pages, in a new process."""
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", WALK],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    most, median, functions = map(int, done.stdout.split())
    return {"files at most": most, "files median": median, "functions at most": functions}


def _chain(graph: ImportGraph) -> dict[str, Any]:
    chain = graph.longest_chain()
    return {
        "modules": len(chain),
        "chain": chain,
        "modules with deferred imports": len(graph.longest_chain(with_deferred=True)),
    }


def _lines(path: Path) -> int:
    return path.read_text("utf-8").count("\n")


if __name__ == "__main__":
    sys.exit(main())
