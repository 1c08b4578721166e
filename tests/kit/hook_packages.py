"""Packages with hooks, installed as pip leaves them: a module and a dist-info folder on a path."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

from tests.kit.crawls import ROOT

EXAMPLE = ROOT / "docs" / "examples" / "hooks"


def install_example(folder: Path) -> dict[str, str]:
    """Installs the example of the documents; the environment of programs that see it."""
    shutil.copy(EXAMPLE / "example_hooks.py", folder)
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text("utf-8"))["project"]
    return install(folder, project["name"], project["entry-points"])


def install(folder: Path, name: str, groups: dict[str, dict[str, str]]) -> dict[str, str]:
    """Installs a package whose modules lie in a folder; the environment that sees it.

    Args:
        folder: Has the modules.
        name: Of the distribution.
        groups: Entry points by group: ``{"crawlclean.link_filters": {"no_tags": "m:no_tags"}}``.
    """
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = []
    for group, entries in groups.items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in entries.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return {"PYTHONPATH": f"{ROOT}:{folder}"}
