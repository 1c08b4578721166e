"""`make run`: a limit that the caller set is no error of make."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.crawls import ROOT, environment
from tests.kit.timing import LIMIT_S
from tests.kit.web import Web

PAGES = {"/": '<p><a href="/a.html">a page of some words</a></p>', "/a.html": "<p>words</p>"}


def make_run(url: str, options: str) -> subprocess.CompletedProcess[str]:
    """`make run` with the interpreter of the tests; nothing is installed."""
    given = ("-o", "ready-run", f"BIN={Path(sys.executable).parent}", f"URL={url}")
    return subprocess.run(
        ["make", *given, "run", f"ARGS={options}"],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env=environment(),
        cwd=ROOT,
        check=False,
    )


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_a_limit_is_no_error_of_make(tmp_path: Path) -> None:
    with Web(tmp_path, PAGES) as web:
        options = f"--allow-private --workers 1 --max-pages 1 --data {tmp_path}/data"
        done = make_run(web.url(), options)
        assert done.returncode == 0, done.stderr
        assert "--max-pages reached" in done.stdout
        assert "Error" not in done.stderr
    wrong = make_run(web.url(), "--no-such-option")
    assert wrong.returncode == 2
    assert "Error" in wrong.stderr
