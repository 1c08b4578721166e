"""The map of the code, ``docs/map.md``: every file with the first line of its docstring.

``make docs`` writes it, ``tests/house/test_docs.py`` compares it.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from benchmarks.kit.results import ROOT
from benchmarks.structure.sizes import PACKAGES, files_of

FILE = ROOT / "docs" / "map.md"
INTRODUCTION = """\
# Map of the code

Made by `make docs` from the first lines of the files.
[architecture.md](architecture.md) has the folders on one page.
"""


def file_map(root: Path) -> str:
    """Returns the map: a section for each folder, a line for each file."""
    folders: dict[str, list[str]] = {}
    for path in files_of(root, *PACKAGES):
        folder = folders.setdefault(path.parent.relative_to(root).as_posix(), [])
        docstring = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        first = re.sub(r"``", "`", docstring.partition("\n")[0])
        if path.name == "__init__.py":
            folder.insert(0, f"{first}\n")
        else:
            folder.append(f"- `{path.name}`: {first}")
    sections = [f"## `{name}/`\n\n" + "\n".join(lines) for name, lines in sorted(folders.items())]
    return "\n\n".join([INTRODUCTION.rstrip(), *sections]) + "\n"


if __name__ == "__main__":
    FILE.write_text(file_map(ROOT), "utf-8")
