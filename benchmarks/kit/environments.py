"""Environments of their own for what the product does not need: peers, plots, clustering."""

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
CRAWL_PEERS = ("scrapy==2.19.0", "scrapy-redis==0.9.1", "trafilatura==2.3.1", "lxml_html_clean")
EXPERIMENTS = ("matplotlib>=3.10,<4", "scikit-learn>=1.6,<2", "pygad>=3.5,<4")


def interpreter(name: str, packages: Sequence[str]) -> Path:
    """The interpreter of ``build/<name>``, which holds what the product needs, too.

    It is made when it is not there or the packages changed; a package without a range comes in its
    newest version then.
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
    """The environment variables of a program of ours that runs there."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}


def move_to_experiments(module: str, needed: str) -> None:
    """Goes on in the experiments' interpreter when ``needed`` cannot be imported in this one."""
    if find_spec(needed) is None:
        python = str(interpreter("experiments", EXPERIMENTS))
        os.execve(  # noqa: S606 - our own program
            python, [python, "-m", module, *sys.argv[1:]], variables()
        )
