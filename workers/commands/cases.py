"""`cases`: verdicts that people reported as wrong, as test cases."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cleaning.errors import ConfigError
from workers.commands.arguments import Commands, add_json
from workers.config import Settings

if TYPE_CHECKING:
    from workers.answers.cases import CaseLine

LISTED = 50
HEAD = ("CASE", "REPORTED", "PART", "FOUND", "RIGHT IS", "URL", "NOTE")
DESCRIPTION = (
    "Lists what people reported in the console as wrong about a page: a text that is body or is "
    "not, a title, author, time, kind of page, link or image; newest first. With --export writes a "
    "golden folder for each of their pages: its bytes, the model that cleaned it, and the record "
    "that is right. Such a folder in tests/pages of this program is a test that fails until the "
    "cleaner does what was reported."
)


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add("cases", run, "list or export verdicts reported as wrong", DESCRIPTION)
    add_json(parser)
    parser.add_argument(
        "--export", type=Path, metavar="FOLDER", help="write a golden folder for each page here"
    )
    parser.add_argument("--limit", type=int, metavar="N", help=f"list at most N (default {LISTED})")


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints the cases, or the folders that were written."""
    from workers.operations.cases.cases import newest_cases
    from workers.output.printing import print_answer, table, terminal_columns

    if arguments.export is not None:
        if arguments.limit is not None:
            raise ConfigError("--export writes all cases: leave out --limit")
        return _export(settings, arguments.export, as_json=arguments.json)
    limit = LISTED if arguments.limit is None else arguments.limit
    if limit < 1:
        raise ConfigError(f"--limit is {limit}: it must be at least 1")
    found = newest_cases(settings, limit)
    if arguments.json:
        for each in found:
            print_answer(each)
    elif found:
        sys.stdout.write(table([HEAD, *map(_row, found)], terminal_columns()))
    else:
        sys.stdout.write("no verdict was reported\n")
    return 0


def _export(settings: Settings, into: Path, *, as_json: bool) -> int:
    """Writes the golden folders."""
    from workers.operations.cases.exporting import export_cases
    from workers.output.printing import print_answer

    written = 0
    for each in export_cases(settings, into):
        written += 1
        if as_json:
            print_answer(each)
        else:
            sys.stdout.write(f"{each.folder}\n")
    if not written and not as_json:
        sys.stdout.write("no verdict was reported\n")
    return 0


def _row(case: CaseLine) -> tuple[str, ...]:
    at = f"{case.at:%Y-%m-%d %H:%M}"
    return case.case, at, case.part, case.was, case.wanted, case.url, case.note
