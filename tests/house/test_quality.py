"""ruff and mypy find nothing.

These gates run here and nowhere else in `make test`, so that a plain `pytest` holds them too and no
run pays for them twice; `make lint` runs the same tools without the tests.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "gate",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["mypy", "--incremental"],
    ],
    ids=" ".join,
)
def test_gate(gate: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *gate],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.fail(done.stdout, pytrace=False)
