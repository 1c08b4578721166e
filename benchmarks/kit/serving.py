"""The labelled sites on loopback, served by their own server in a process of its own."""

from __future__ import annotations

import importlib
import json
import os
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from benchmarks.kit.results import require_data
from tests.kit.server_process import ServerProcess
from tests.kit.timing import wait_until

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
    command = [sys.executable, str(data / "siteserver.py"), "--port", str(port), *options]
    with _SiteServer(command, log=folder / "siteserver.log", port=port):
        yield importlib.import_module("siteroot")


class _SiteServer(ServerProcess):
    """The data's own server, ready when its statistics can be read."""

    def __init__(self, command: list[str], *, log: Path, port: int) -> None:
        super().__init__(command, log=log)
        self.port = port

    def await_ready(self) -> None:
        """Returns when the statistics can be read."""

        def is_there() -> bool:
            if not self.is_running():
                sys.exit(f"the site server ended: see {self.log_file}")
            try:
                statistics(self.port)
            except OSError:
                return False
            return True

        wait_until(is_there, START_LIMIT_S)


def statistics(port: int) -> dict[str, Any]:
    """What the server saw, by site: requests, repeats, statuses."""
    with urlopen(f"http://127.0.0.1:{port}/__stats") as answer:
        found: dict[str, Any] = json.load(answer)
        return found
