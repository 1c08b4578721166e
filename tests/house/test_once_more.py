"""What failed in a run of all tests is run once more: `.ci/once_more.py`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "once_more.py"
FLAKY = """
from pathlib import Path
def test_flaky():
    seen = Path("seen")
    is_first = not seen.exists()
    seen.touch()
    assert not is_first
"""
PASSES = "def test_passes(): pass\n"
FAILS = "def test_fails(): assert False\n"
LEAVES = """
import pytest
@pytest.fixture
def left():
    yield
    assert False
def test_leaves(left): pass
"""


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # most of the time of a small run
    arguments = [sys.executable, *command]
    return subprocess.run(arguments, cwd=folder, env=env, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("source", "status", "flaky"),
    [
        (PASSES + FLAKY, 0, ["flaky: test_it.py::test_flaky"]),
        (PASSES + FLAKY + FAILS + LEAVES, 1, ["flaky: test_it.py::test_flaky"]),
        (PASSES, 1, []),  # nothing failed: the run ended for another reason
    ],
    ids=["flaky", "flaky-and-failed", "other-reason"],
)
def test_what_fails_once_is_named_and_what_fails_twice_fails(
    tmp_path: Path, source: str, status: int, flaky: list[str]
) -> None:
    (tmp_path / "test_it.py").write_text(source)
    run(tmp_path, "-m", "pytest", "-q", "-p", "xdist", "-n", "1")
    again = run(tmp_path, str(SCRIPT))
    assert again.returncode == status, again.stdout
    assert [line for line in again.stdout.splitlines() if line.startswith("flaky: ")] == flaky
    for name in ("test_fails", "test_leaves"):
        assert (f"::{name}" in again.stdout) == (name in source)
