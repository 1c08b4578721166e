"""How a command joins the command line: its name, its help, the options that many commands have.

Every command is a file of this folder. Its ``register`` adds the command and its arguments, its
``run`` takes the settings and the parsed arguments and returns the exit status. What only a
running command needs is imported when it runs, so that ``--help`` starts at once.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from workers import __dist__
from workers.config import Settings

Run = Callable[[Settings, argparse.Namespace], int]

TIME = re.compile(r"(\d+(?:\.\d+)?)([smhd]?)")
SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
HOSTS_FILE_HELP = "TOML: delay, slots, headers, cookies, user agent, proxy of single hosts"


class OneLineParser(argparse.ArgumentParser):
    """A parser that reports a mistake in one line, with the command that prints help."""

    def error(self, message: str) -> NoReturn:
        """Ends the program with status 2 (wrong use)."""
        self.exit(2, f"{__dist__}: {message}; see `{self.prog} --help`\n")


class Commands:
    """The commands of a parser, in the order in which `--help` lists them."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        """Prepares the parser for commands; there is none yet."""
        self._parsers: Any = parser.add_subparsers(
            dest="command", required=True, metavar="COMMAND", title="commands"
        )

    def add(
        self,
        name: str,
        run: Run,
        summary: str,
        description: str = "",
        *,
        data: bool = True,
        as_json: bool = False,
        hosts_file: bool = False,
    ) -> argparse.ArgumentParser:
        """Adds a command; returns its parser, for the arguments that it alone has.

        Args:
            name: As typed.
            run: Called with the settings and the parsed arguments; returns the exit status.
            summary: One line for the list of commands, without capital letter and full stop.
            description: The first paragraph of the command's help; ``""``: the summary.
            data: Whether it works on a data folder (``--data``).
            as_json: Whether it can print JSON lines (``--json``).
            hosts_file: Whether it takes what is special of single hosts (``--hosts-file``).
        """
        parser: argparse.ArgumentParser = self._parsers.add_parser(
            name,
            help=summary,
            description=description or f"{summary[0].upper()}{summary[1:]}.",
        )
        parser.set_defaults(run=run)
        if data:
            parser.add_argument(
                "--data", type=Path, metavar="DIR", help=f"data folder (default ./{__dist__}-data)"
            )
        if as_json:
            parser.add_argument("--json", action="store_true", help="print JSON lines")
        if hosts_file:
            parser.add_argument("--hosts-file", type=Path, metavar="FILE", help=HOSTS_FILE_HELP)
        return parser


def seconds(text: str) -> float:
    """Reads a time with or without a unit: ``90`` is 90.0, ``10m`` 600.0, ``2h`` 7200.0."""
    match = TIME.fullmatch(text.strip().lower())
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is no time: 90, 10m, 2h")
    return float(match[1]) * SECONDS[match[2]]
