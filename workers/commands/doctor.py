"""`doctor`: checks whether this machine can run everything."""

from __future__ import annotations

import argparse
import sys

from workers.commands.arguments import Commands
from workers.config import Settings


def register(commands: Commands) -> None:
    """Adds the command."""
    commands.add("doctor", run, "check this machine")


def run(settings: Settings, _arguments: argparse.Namespace) -> int:
    """Prints a line for every check; returns 1 when a check fails."""
    from workers.operations.machine import check_machine

    status = 0
    for check in check_machine(settings):
        sys.stdout.write(
            f"{'ok   ' if check.is_fine else 'FAIL '} {check.name:<13} {check.detail}\n"
        )
        status = status if check.is_fine else 1
    return status
