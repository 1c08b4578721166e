"""Results in ``benchmarks/results``, each with the commit and the machine it was measured on."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
DATA = Path(os.environ.get("CRAWLCLEAN_BENCH_DATA", ROOT.parent / "shared" / "bench"))


def require_data(folder: str) -> Path:
    """Returns a folder of the labelled data; ends the program with a message when it is absent."""
    path = DATA / folder
    if not path.is_dir():
        sys.exit(f"{folder}: no labelled data here; set CRAWLCLEAN_BENCH_DATA to its folder")
    return path


def commit() -> str:
    """Returns the commit of the working tree: ``33de866``, ``33de866-dirty`` with changes."""
    return subprocess.run(
        ["git", "describe", "--always", "--dirty"],  # noqa: S607 - whichever git is there
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    ).stdout.strip()


def kept(name: str) -> dict[str, Any]:
    """Reads a kept result, without its commit and machine; ``{}`` when none is kept."""
    file = RESULTS / f"{name}.json"
    result: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return {key: value for key, value in result.items() if key not in ("commit", "machine")}


def show(result: Mapping[str, Any]) -> None:
    """Prints a result without keeping it."""
    sys.stdout.write(json.dumps(result, ensure_ascii=False, indent=1) + "\n")


def keep(name: str, result: Mapping[str, Any]) -> None:
    """Writes a result to ``results/<name>.json`` and prints it."""
    machine = {
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }
    text = json.dumps(
        {"commit": commit(), "machine": machine, **result}, ensure_ascii=False, indent=1
    )
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(text + "\n", "utf-8")
    sys.stdout.write(text + "\n")


def list_failures(name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Writes the failing pages to ``build/<name>.json``; pages stay out of the kept results."""
    file = ROOT / "build" / f"{name}.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(rows, ensure_ascii=False, indent=1), "utf-8")
