"""Runs one benchmark by its name: ``python -m benchmarks crawl``; without a name, lists them."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

HERE = Path(__file__).parent
START = 'if __name__ == "__main__":'


def programs() -> dict[str, str]:
    """Module of each benchmark by its name, which is its file's; parts of others are left out."""
    return {
        path.stem: ".".join((HERE.name, *path.relative_to(HERE).with_suffix("").parts))
        for path in sorted(HERE.glob("*/*.py"))
        if path.parent.name != "kit" and START in path.read_text("utf-8")
    }


def main() -> None:
    """Hands the arguments behind the name to the benchmark."""
    found = programs()
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in found:
        sys.exit(f"no benchmark is named {name!r}; there are: {', '.join(found)}")
    sys.argv = sys.argv[1:]
    runpy.run_module(found[name], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
