"""How commands are declared, and the arguments that several commands share.

A command is a function of this folder below ``@command`` or ``@asking``, under the command's last
word, and has its line in ``names.py``. What only a running command needs it imports itself:
``--help`` starts at once.
"""

from __future__ import annotations

import argparse
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from msgspec import Struct

from crawlclean import __dist__
from crawlclean.cleaning.errors import ConfigError
from crawlclean.workers.commands.names import Exit as Exit
from crawlclean.workers.config import DROPPED, Settings
from crawlclean.workers.spoken import explained, is_chinese, say, told

if TYPE_CHECKING:
    from crawlclean.workers.operations.backends import Backends

Run = Callable[[Settings, argparse.Namespace], int]

TIME = re.compile(r"(\d+(?:\.\d+)?)([smhd]?)")
SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
HOSTS_FILE_HELP = "TOML file: delay, slots, headers, cookies, user agent, proxy of single hosts"
VERIFY_HELP = (
    "refuse https hosts whose certificate is expired, for another host or signed by nobody"
)
CA_HELP = "PEM file of private certificate authorities, trusted besides those of the system"


class OneLineParser(argparse.ArgumentParser):
    """A parser that reports wrong arguments in one line, with the command that prints help."""

    def error(self, message: str) -> NoReturn:
        """Ends the program with status 2 (wrong use)."""
        for name in DROPPED:
            # "unrecognized arguments: --servers"
            if re.search(rf"[ ：]--{name}(?![\w-])", message):
                message = say("--{name} is gone: {instead}", name=name, instead=told(DROPPED[name]))
        line = say("{message}; see `{command} --help`", message=message, command=self.prog)
        self.exit(Exit.WRONG_USE, f"{__dist__}: {line}\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            near = get_close_matches(str(value), map(str, action.choices or ()), 1)
            error.message += say(": did you mean {name}?", name=near[0]) if near else ""
            raise


class CommandHelp(argparse.HelpFormatter):
    """Prints ``-o, --output DIR`` on every Python; before 3.13 it is ``-o DIR, --output DIR``.

    All words are in the language of the command, those of argparse, too.
    """

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        """Adds the line of all arguments."""
        super().add_usage(usage, actions, groups, prefix or explained("usage: "))

    def start_section(self, heading: str | None) -> None:
        """Begins a list of arguments."""
        super().start_section(heading and explained(heading))

    def add_text(self, text: str | None) -> None:
        """Adds a paragraph."""
        super().add_text(text and explained(text))

    def _get_help_string(self, action: argparse.Action) -> str | None:
        return action.help and explained(action.help)

    def _split_lines(self, text: str, width: int) -> list[str]:
        if not is_chinese():
            return super()._split_lines(text, width)
        from crawlclean.workers.output.printing import wrap

        return wrap(text, width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(indent + line for line in self._split_lines(text, width))

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        default = self._get_default_metavar_for_optional(action)
        value = self._format_args(action, default)
        return f"{', '.join(action.option_strings)} {value}"


def crawl_name(text: str) -> str:
    """The name of a crawl or a topic as typed, in the one form in which names are stored (NFC)."""
    return unicodedata.normalize("NFC", text)


def add_host_options(parser: argparse.ArgumentParser) -> None:
    """Adds ``--hosts-file``, ``--verify-tls`` and ``--ca-file``."""
    parser.add_argument("--hosts-file", type=Path, metavar="FILE", help=HOSTS_FILE_HELP)
    parser.add_argument("--verify-tls", action="store_true", default=None, help=VERIFY_HELP)
    parser.add_argument("--ca-file", type=Path, metavar="FILE", help=CA_HELP)


def add_pages(parser: argparse.ArgumentParser) -> None:
    """Adds the pages of others that a command reads, and how: paths, ``--url``, columns."""
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="FILE|DIR|-", help="-: standard input"
    )
    parser.add_argument(
        "--url",
        default="",
        help="URL of the single HTML file or folder (default: a folder named like a host, "
        "given or in a mirror, is that host; other files are at http://localhost/)",
    )
    parser.add_argument(
        "--url-column", default="url", metavar="NAME", help="column of rows (default url)"
    )
    parser.add_argument(
        "--html-column",
        default="",
        metavar="NAME",
        help="column of rows with the page as text, or as base64 when NAME ends in _base64 "
        "(default html_base64, else html)",
    )


def seconds(text: str) -> float:
    """Reads a duration in seconds: ``90`` is 90.0, ``10m`` 600.0, ``2h`` 7200.0.

    Raises:
        ArgumentTypeError: The text is not a duration.
    """
    match = TIME.fullmatch(text.strip().lower())
    if not match:
        wrong = say("{text!r} is not a duration: write 90, 10m or 2h", text=text)
        raise argparse.ArgumentTypeError(wrong)
    return float(match[1]) * SECONDS[match[2]]


class Rows(Struct, frozen=True, kw_only=True):
    """What a command that asks prints: each row as JSON, else a table, else lines.

    Attributes:
        found: The answers.
        head: Names of the columns of the table.
        row: The cells of an answer; None: it is printed as ``lines``.
        lines: The lines of an answer.
        text: The text of all answers, in place of both.
        status: Exit status of the command.
        empty: What is said when nothing is found.
        drop: Columns that narrow terminals leave out.
        last: A line behind them for people.
        fit: Whether the table is cut to the terminal.
    """

    found: Iterable[Any]
    head: tuple[str, ...] = ()
    row: Callable[[Any], Sequence[str]] | None = None
    lines: Callable[[Any], Iterable[str]] | None = None
    text: Callable[[Sequence[Any]], str] | None = None
    empty: str = ""
    drop: tuple[str, ...] = ()
    last: str = ""
    fit: bool = True
    status: int = Exit.DONE

    def print(self, *, as_json: bool) -> None:
        """Prints them."""
        from crawlclean.workers.output.printing import (
            print_answer,
            table,
            terminal_columns,
            write_lines,
        )

        if as_json:
            for each in self.found:
                print_answer(each)
            return
        if self.text is not None:
            sys.stdout.write(self.text([*self.found]))
            return
        is_empty = True
        if self.row is not None:
            rows = [self.head, *map(self.row, self.found)]
            is_empty = len(rows) == 1
            if not is_empty:
                sys.stdout.write(table(rows, terminal_columns() if self.fit else None, self.drop))
        elif self.lines is not None:
            for each in self.found:
                is_empty = False
                write_lines(self.lines(each))
        if is_empty and self.empty:
            sys.stdout.write(say(self.empty) + "\n")
        if self.last:
            sys.stdout.write(self.last + "\n")


Argument = Callable[[Any], object]
"""Adds itself to a parser, or to a group of one."""


class Command(Struct, frozen=True):
    """A command: its words, its arguments, and the function that does it.

    Attributes:
        run: Called with the settings and the parsed arguments; returns the exit status.
        about: The first paragraph of the command's help; ``""``: its line in ``names.py``.
        arguments: In the order of the help.
        data: Whether the command works on a data folder (``--data``).
    """

    run: Run
    about: str
    arguments: tuple[Argument, ...]
    data: bool = True

    def parser(self, name: str, summary: str) -> OneLineParser:
        """The parser of the command under its name and with its line in ``names.py``."""
        parser = OneLineParser(
            prog=f"{__dist__} {name}",
            description=self.about or f"{summary[0].upper()}{summary[1:]}.",
            formatter_class=CommandHelp,
        )
        parser.set_defaults(command=name.rpartition(" ")[2], run=self.run, parser=parser)
        if self.data:
            parser.add_argument(
                "--data", type=Path, metavar="DIR", help=f"data folder (default ./{__dist__}-data)"
            )
        for add in self.arguments:
            add(parser)
        return parser


def command(about: str = "", *arguments: Argument, data: bool = True) -> Callable[[Run], Command]:
    """Makes a command of the function that does it."""
    return lambda run: Command(run, about, arguments, data)


Ask = Callable[["Backends", argparse.Namespace], "Rows | int"]


class Asking(Command, frozen=True, kw_only=True):
    """A command that asks: ``ask`` answers with rows, or prints and has the exit status."""

    ask: Ask


def asking(about: str = "", *arguments: Argument) -> Callable[[Ask], Asking]:
    """Makes a command of the function that answers it."""

    def declare(ask: Ask) -> Asking:
        def run(settings: Settings, asked: argparse.Namespace) -> int:
            if (getattr(asked, "limit", None) or 1) < 1:
                raise ConfigError(f"--limit is {asked.limit}: it must be at least 1")
            from crawlclean.workers.operations.backends import Backends

            with Backends(settings) as backends:
                answer = ask(backends, asked)
                if isinstance(answer, int):
                    return answer
                answer.print(as_json=asked.json)
                return answer.status

        return Asking(run=run, about=about, arguments=(JSON, *arguments), ask=ask)

    return declare


def argument(*names: str, **how: Any) -> Argument:
    """An argument as argparse takes it; one that may be left out of a place is ``""`` then."""
    if not names[0].startswith("-"):
        how = {"nargs": "?", "default": "", **how}
    return lambda parser: parser.add_argument(*names, **how)


JSON = argument("--json", action="store_true", help="print JSON lines")


def either_of(*arguments: Argument) -> Argument:
    """Arguments of which one at most is given."""

    def add(parser: argparse.ArgumentParser) -> None:
        group = parser.add_mutually_exclusive_group()
        for each in arguments:
            each(group)

    return add


def limit(default: int) -> Argument:
    """``--limit N``."""
    about = f"list at most N (default {default})"
    return argument("--limit", type=int, default=default, metavar="N", help=about)
