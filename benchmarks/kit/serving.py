"""The labelled sites on loopback, served by their own server in a process of its own."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from benchmarks.kit.results import require_data

START_LIMIT_S = 30.0


def labelled_sites() -> dict[str, Any]:
    """What is known of each site: its address, home and pages."""
    found: dict[str, Any] = json.loads((require_data("sites") / "sites.json").read_text("utf-8"))
    return found


@contextmanager
def served_sites(folder: Path, port: int, *options: str) -> Iterator[Any]:
    """Serves every site until the block ends; the data's own reader of their files.

    ``options`` are more arguments of the server.
    """
    data = require_data("sites")
    with tarfile.open(data / "www.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    os.environ["SITES_WWW"] = str(folder / "www")
    sys.path.insert(0, str(data))
    server = subprocess.Popen(  # noqa: S603 - the data's own server
        [sys.executable, str(data / "siteserver.py"), "--port", str(port), *options],
        stdout=subprocess.DEVNULL,
    )
    try:
        _await(port)
        yield importlib.import_module("siteroot")
    finally:
        server.kill()
        server.wait()


def statistics(port: int) -> dict[str, Any]:
    """What the server saw, by site: requests, repeats, statuses."""
    with urlopen(f"http://127.0.0.1:{port}/__stats") as answer:
        found: dict[str, Any] = json.load(answer)
        return found


def _await(port: int) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline:
        try:
            statistics(port)
        except OSError:
            continue
        return
    sys.exit("the site server did not start")
