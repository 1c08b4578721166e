"""Runs one benchmark by its name: ``python -m benchmarks crawl``; without a name, lists them."""

from __future__ import annotations

import ast
import re
import runpy
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Program:
    """One benchmark: the module to run, and the first line of its docstring."""

    module: str
    purpose: str


def programs() -> dict[str, Program]:
    """Benchmarks by name: the files whose docstring names their own ``make bench-NAME``.

    Parts of programs, and scripts that run in other environments, name another one or none.
    """
    found = {}
    for path in sorted(HERE.glob("*/*.py"), key=lambda path: path.stem):
        text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        if re.search(rf"make bench-{path.stem}(?![\w-])", text):
            module = ".".join((HERE.name, *path.relative_to(HERE).with_suffix("").parts))
            found[path.stem] = Program(module, text.splitlines()[0])
    return found


def main() -> None:
    """Hands the arguments behind the name to the benchmark, or lists all benchmarks."""
    found = programs()
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        width = max(map(len, found))
        lines = [f"{name:{width}}  {program.purpose}" for name, program in found.items()]
        sys.stdout.write("\n".join(["make bench-NAME [ARGS=...]", "", *lines, ""]))
        return
    name = sys.argv[1]
    if name not in found:
        sys.exit(f"no benchmark is named {name!r}; there are: {', '.join(found)}")
    sys.argv = sys.argv[1:]
    runpy.run_module(found[name].module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
