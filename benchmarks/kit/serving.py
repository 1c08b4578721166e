"""The labelled sites on loopback, served by the data's own server in a separate process."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import sys
import tarfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import urlopen

from benchmarks.kit.results import require_data
from tests.kit.server_process import ServerProcess
from tests.kit.timing import wait_until

START_LIMIT_S = 30.0
_ANY_PORT = re.compile(r"(//127\.0\.[\d.]+):\d+")


def labelled_sites() -> dict[str, Any]:
    """Reads the labels of each site by name: ``address``, ``home``, ``urls``, ``gold`` ..."""
    found: dict[str, Any] = json.loads((require_data("sites") / "sites.json").read_text("utf-8"))
    return found


def authority_of(site: Mapping[str, Any], port: int) -> str:
    """Returns the host and port of a served site: ``127.0.1.29:8800``."""
    return f"{site['address']}:{port}"


def home_of(site: Mapping[str, Any], port: int) -> str:
    """Returns the URL of a served site's home page: ``http://127.0.1.29:8800/index.html``."""
    return f"http://{authority_of(site, port)}{site['home']}"


def path_of(url: str) -> str:
    """Returns the unquoted path and query of a URL, as in the labels: ``/show.asp?id=7``."""
    parts = urlsplit(url)
    return unquote(parts.path + (f"?{parts.query}" if parts.query else ""))


def choose_sites(description: str, default: Collection[str], port: int) -> tuple[list[str], int]:
    """Reads ``[SITE ...] [--port PORT]`` from the command line; returns (sites, port)."""
    parser = argparse.ArgumentParser(description=description)
    names = ", ".join(default)
    parser.add_argument("sites", nargs="*", help=f"names as in sites.json (default {names})")
    parser.add_argument("--port", type=int, default=port, help="of the site server")
    given = parser.parse_args()
    return given.sites or list(default), given.port


def unpack_topic(folder: Path, topic: Path, port: int) -> Any:
    """Unpacks all sites of a topic's data and its portal; returns the module that reads them.

    Args:
        folder: For the pages.
        topic: The data, with the portal's pages.
        port: Of all hosts; the portal's links get it.
    """
    www = folder / "www"
    for name in ("sites", "sites2"):
        with tarfile.open(require_data(name) / "www.tar.xz") as archive:
            archive.extractall(folder, filter="data")
    for source in sorted(topic.glob("portal*/*.html")):
        page = www / source.parent.name / source.name
        page.parent.mkdir(exist_ok=True)
        text = source.read_text("utf-8")
        page.write_text(_ANY_PORT.sub(rf"\1:{port}", text), "utf-8")
    os.environ |= {"SITES_WWW": str(www), "SITES_SET": "topic"}
    return _siteroot()


@contextmanager
def served_topic(folder: Path, topic: Path, port: int, robots: str) -> Iterator[Any]:
    """Serves all sites of a topic's data and its portal for the block; yields the module, too.

    ``robots`` is the robots.txt of every host.
    """
    unpack_topic(folder, topic, port)
    faults = folder / "faults.json"
    faults.write_text(json.dumps({"robots": {"*": robots}}), "utf-8")
    with _served(folder, port, "--faults", str(faults)) as siteroot:
        yield siteroot


@contextmanager
def served_sites(folder: Path, port: int, *options: str) -> Iterator[Any]:
    """Serves every site for the block; yields the data's own module that reads the files.

    ``options`` are further arguments of the server: ``"--faults", "faults.json"``.
    """
    with tarfile.open(require_data("sites") / "www.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    os.environ["SITES_WWW"] = str(folder / "www")
    with _served(folder, port, *options) as siteroot:
        yield siteroot


@contextmanager
def _served(folder: Path, port: int, *options: str) -> Iterator[Any]:
    program = require_data("sites") / "siteserver.py"
    command = [sys.executable, str(program), "--port", str(port), *options]
    with _SiteServer(command, log=folder / "siteserver.log", port=port):
        yield _siteroot()


def _siteroot() -> Any:
    """The data's own module that reads the files of the sites."""
    sys.path.insert(0, str(require_data("sites")))
    return importlib.import_module("siteroot")


class _SiteServer(ServerProcess):
    """The data's own server; ready when it serves its statistics."""

    def __init__(self, command: list[str], *, log: Path, port: int) -> None:
        super().__init__(command, log=log)
        self.port = port

    def await_ready(self) -> None:
        """Waits until the server serves its statistics."""

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
    """Returns the server's counts by site: ``requests``, ``repeats``, ``status``."""
    with urlopen(f"http://127.0.0.1:{port}/__stats") as answer:
        found: dict[str, Any] = json.load(answer)
        return found
