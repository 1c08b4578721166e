"""The layers of the four packages hold, and the contracts that say so bite."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
NAME = "crawlclean"
PACKAGES = ("cleaning", "storage", "crawler", "workers")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
CONTRACTS = PROJECT["tool"]["importlinter"]["contracts"]  # the linter's reader imports much


def python_files(package: str) -> list[Path]:
    """Every module of a package."""
    return sorted((ROOT / package).rglob("*.py"))


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """What import-linter says of the packages in a folder, under our contracts.

    A process of its own: this one has the real packages imported, and the linter changes its
    logging.
    """
    config = str(ROOT / "pyproject.toml")
    code = (
        "import sys; from importlinter.cli import lint_imports; "
        f"sys.exit(lint_imports({config!r}, no_cache=True))"
    )
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_contracts_hold() -> None:
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def layers_of(contract: dict[str, Any]) -> list[list[str]]:
    """The modules of each layer of a contract, the highest layer first."""
    inside = "".join(f"{container}." for container in contract.get("containers", ()))
    return [
        [f"{inside}{name.strip()}" for name in str(layer).split("|")]
        for layer in contract["layers"]
    ]


def breaches() -> Iterator[tuple[str, str]]:
    """(module, module it must not import) for everything the contracts forbid."""
    for contract in CONTRACTS:
        if contract["type"] == "layers":
            layers = layers_of(contract)
            for uppers, lowers in ((u, w) for i, u in enumerate(layers) for w in layers[i + 1 :]):
                yield from ((lower, upper) for lower in lowers for upper in uppers)
        else:
            for source in contract["source_modules"]:
                yield from ((source, module) for module in contract["forbidden_modules"])


def report_on(folder: Path, imports: dict[str, str]) -> str:
    """What import-linter says, under our contracts, about packages with this content."""
    rooms = {name for c in CONTRACTS if c["type"] == "layers" for s in layers_of(c) for name in s}
    named = {module for pair in breaches() for module in pair if module.split(".")[0] == NAME}
    for room in sorted({NAME, *(f"{NAME}.{package}" for package in PACKAGES), *rooms, *named}):
        place = folder.joinpath(*room.split("."))
        place.mkdir(parents=True, exist_ok=True)
        (place / "__init__.py").touch()
        (place / "module.py").write_text(imports.get(room, ""))
    return lint(folder).stdout


def test_contracts_bite(tmp_path: Path) -> None:
    clean = report_on(tmp_path / "clean", {})
    assert f"Contracts: {len(CONTRACTS)} kept, 0 broken." in clean

    imports: dict[str, str] = {}
    for module, refused in breaches():
        imports[module] = imports.get(module, "") + f"import {refused}\n"
    report = report_on(tmp_path / "broken", imports)
    assert f"Contracts: 0 kept, {len(CONTRACTS)} broken." in report
    for module, refused in breaches():
        assert re.search(rf"\b{module}\.module -> {refused}\b", report), f"{module} -> {refused}"


# What no import shows: calls by which a pure function stops being one.
IMPURE_CALLS = {"open", "input", "print"}
IMPURE_METHODS = {
    "now", "today", "utcnow",  # the clock
    "read_text", "read_bytes", "write_text", "write_bytes", "mkdir", "unlink",  # files
    "urlopen", "urlretrieve", "getenv",
}  # fmt: skip


def calls(path: Path) -> Iterator[tuple[int, str, bool]]:
    """(line, name, is it a method) of every call in a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                yield node.lineno, node.func.id, False
            elif isinstance(node.func, ast.Attribute):
                yield node.lineno, node.func.attr, True


def test_cleaning_reads_no_clock_and_no_file() -> None:
    """Packaged word lists excepted, whose readers are `lexicon.py` and `messages.py`."""
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in python_files("cleaning")
        if path.name not in ("lexicon.py", "messages.py")
        for line, name, is_method in calls(path)
        if name in (IMPURE_METHODS if is_method else IMPURE_CALLS)
    ]
    assert found == []


def test_the_crawler_parses_no_page() -> None:
    """A selector or a link extractor in the spider costs more than the download itself."""
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in python_files("crawler")
        for line, name, _ in calls(path)
        if name in {"xpath", "css", "Selector", "LinkExtractor", "extract_links", "follow_all"}
    ]
    assert found == []
