"""A test that leaves a thread or a process fails, by the fixture of `tests/conftest.py`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CONFTEST = """
from tests import conftest
conftest.LEFT_S = 0.5
from tests.conftest import _nothing_is_left_behind
"""
LEAVES_A_THREAD = """
import threading, time
def test_it():
    threading.Thread(target=time.sleep, args=(5,), name="forgotten", daemon=True).start()
"""
LEAVES_A_PROCESS = """
import subprocess
def test_it():
    globals()["kept"] = subprocess.Popen(["sleep", "5"])
"""
SHARES = """
import subprocess, threading, time, pytest
@pytest.fixture(scope="module")
def server():
    with subprocess.Popen(["sleep", "5"]) as process:
        yield
        process.kill()
def test_it(server):
    threading.Thread(target=time.sleep, args=(0.1,), daemon=True).start()
"""


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (LEAVES_A_THREAD, "the tests have left thread forgotten"),
        (LEAVES_A_PROCESS, "sleep 5"),
        (SHARES, "1 passed"),
    ],
    ids=["thread", "process", "of-the-module"],
)
def test_what_is_left_behind_fails_its_test(tmp_path: Path, source: str, said: str) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_it.py").write_text(source)
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
    )
    assert said in ended.stdout, ended.stdout
    assert ("1 error" in ended.stdout) == (source is not SHARES)
