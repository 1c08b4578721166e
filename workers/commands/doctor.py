"""`doctor`: checks whether this machine can run everything, and what holds crawls back."""

from __future__ import annotations

import argparse
import sys

from crawlclean.workers.commands.arguments import Commands, Exit, add_json
from crawlclean.workers.config import Settings


def register(commands: Commands) -> None:
    """Adds the command."""
    add_json(
        commands.add(
            "doctor",
            run,
            "check this machine and the data folder",
            "Prints a line for each check: ok, WARN (crawls run, and you should know this) or FAIL "
            "(crawls do not run; exit status 1).",
        )
    )


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints a line for every check; returns FAILED when a check fails."""
    from crawlclean.workers.answers.control import CheckStatus
    from crawlclean.workers.control_characters import printable
    from crawlclean.workers.operations.machine import check_machine
    from crawlclean.workers.output.printing import print_answer

    marks = {CheckStatus.OK: "ok", CheckStatus.WARNING: "WARN", CheckStatus.FAILED: "FAIL"}
    status = Exit.DONE
    for check in check_machine(settings):
        if arguments.json:
            print_answer(check)
        else:
            line = f"{marks[check.status]:<5} {check.name:<13} {check.detail}"
            sys.stdout.write(printable(line) + "\n")
        status = Exit.FAILED if check.status is CheckStatus.FAILED else status
    return status
