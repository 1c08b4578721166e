"""Runs the tests that failed in the last run once more, alone: `python .ci/once_more.py`.

A test that passes now is flaky: its name is printed and it costs nothing. The exit status is 1
when a test fails twice, or when the last run failed for another reason than a test.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

FAILED = Path(".pytest_cache/v/cache/lastfailed")
# One after the other, in one process: no other test takes the machine meanwhile.
PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "--last-failed")


def failed() -> set[str]:
    """The names of the tests that failed when they were run last."""
    return set(json.loads(FAILED.read_text("utf-8"))) if FAILED.exists() else set()


def main() -> int:
    """Returns the exit status."""
    before = failed()
    if not before:
        print("no failed test is known: the run ended for another reason")
        return 1
    status = subprocess.run([*PYTEST, "--last-failed-no-failures", "none"]).returncode
    twice = failed()
    for name in sorted(before - twice):
        print(f"flaky: {name}")
    return 1 if status not in (0, 1) or twice else status


if __name__ == "__main__":
    sys.exit(main())
