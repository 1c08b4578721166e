"""Runs a benchmark by name, ``python -m benchmarks crawl``; lists all benchmarks without a name."""

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
    """A benchmark: its module, ``benchmarks.crawl.chain``, and the first line of its docstring."""

    module: str
    purpose: str


def programs() -> dict[str, Program]:
    """Finds the benchmarks by name: files whose docstring has ``make bench-NAME`` with their name.

    Parts of programs, and scripts for other environments, name another program or none.
    """
    found = {}
    for path in sorted(HERE.glob("*/*.py"), key=lambda path: path.stem):
        text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        if re.search(rf"make bench-{path.stem}(?![\w-])", text):
            module = ".".join((HERE.name, *path.relative_to(HERE).with_suffix("").parts))
            found[path.stem] = Program(module, text.splitlines()[0])
    return found


def main() -> None:
    """Runs the named benchmark with the remaining arguments, or lists all benchmarks."""
    found = programs()
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        width = max(map(len, found))
        lines = [f"{name:{width}}  {program.purpose}" for name, program in found.items()]
        sys.stdout.write("\n".join(["make bench-NAME [ARGS=...]", "", *lines, ""]))
        return
    name = sys.argv[1]
    if name not in found:
        sys.exit(f"no benchmark is named {name!r}; choose from: {', '.join(found)}")
    sys.argv = sys.argv[1:]
    runpy.run_module(found[name].module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
