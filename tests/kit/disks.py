"""A file system of a few megabytes, for tests of what a full disk does."""

from __future__ import annotations

import gc
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def tiny_disk(folder: Path, options: str) -> Iterator[Path]:
    """A tmpfs on a folder; skips where we may not mount one."""
    folder.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    try:
        mounted = os.geteuid() == 0 and not subprocess.run(mount, capture_output=True).returncode
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("needs the right to mount a tmpfs")
    try:
        yield folder
    finally:
        gc.collect()  # a file that could not be written to its end may be open in a cycle
        subprocess.run(["umount", str(folder)], check=True)
