"""Virtual environments for packages that the product does not need: peers, plots, clustering."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import venv
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from benchmarks.kit.results import ROOT

PEERS = (
    "trafilatura", "readability-lxml", "justext", "resiliparse", "gne", "newspaper4k",
    "goose3[chinese]", "boilerpy3", "lxml_html_clean",
)  # fmt: skip
CRAWL_PEERS = (
    "scrapy==2.19.0", "scrapy-redis==0.9.1", "crawlee[parsel]==1.11.0", "trafilatura==2.3.1",
    "lxml_html_clean",
)  # fmt: skip
PUBLIC_PEERS = ("trafilatura==2.3.1", "htmldate==1.11.0", "lxml_html_clean")
EXPERIMENTS = ("matplotlib>=3.10,<4", "scikit-learn>=1.6,<2", "pygad>=3.5,<4")


def interpreter(name: str, packages: Sequence[str]) -> Path:
    """Returns the interpreter of ``build/<name>``, with these packages and the product's own.

    The environment is built when it is missing or the packages changed; a package without a version
    range is installed in its newest version.
    """
    folder = ROOT / "build" / name
    python = folder / "bin" / "python"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = (*packages, *project["dependencies"])
    stamp = folder / "packages.txt"
    if not stamp.exists() or stamp.read_text("utf-8") != "\n".join(wanted):
        sys.stderr.write(f"building {folder.relative_to(ROOT)}\n")
        venv.create(folder, with_pip=True, clear=True)
        # The pip of some Pythons cannot resolve the peers' extras.
        for some in (("--upgrade", "pip"), wanted):
            subprocess.run(  # noqa: S603 - our own environment
                [str(python), "-m", "pip", "install", "-qq", *some], check=True
            )
        stamp.write_text("\n".join(wanted), "utf-8")
    return python


def variables() -> dict[str, str]:
    """Returns the environment variables of our programs in another environment."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}


def move_to(name: str, packages: Sequence[str], module: str, needed: str) -> None:
    """Restarts ``module`` in the environment ``name`` when ``needed`` is not installed here."""
    if find_spec(needed) is None:
        python = str(interpreter(name, packages))
        os.execve(  # noqa: S606 - our own program
            python, [python, "-m", module, *sys.argv[1:]], variables()
        )
