"""How the command line is read: mistakes in one line, times with a unit."""

from __future__ import annotations

import argparse
import re
from typing import NoReturn

from workers import __dist__

DURATION = re.compile(r"(\d+(?:\.\d+)?)([smhd]?)")
SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


class OneLineParser(argparse.ArgumentParser):
    """Says what is wrong in one line, and where help is."""

    def error(self, message: str) -> NoReturn:
        """Ends the program: wrong use."""
        self.exit(2, f"{__dist__}: {message}; see `{self.prog} --help`\n")


def duration(text: str) -> float:
    """Seconds of a time: ``90``, ``10m``, ``2h``."""
    match = DURATION.fullmatch(text.strip().lower())
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is no time: 90, 10m, 2h")
    return float(match[1]) * SECONDS[match[2]]
