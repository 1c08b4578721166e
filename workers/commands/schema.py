"""`schema`: prints the JSON Schema of what a command prints with `--json`."""

from __future__ import annotations

import argparse
import json
import sys

from crawlclean.workers.commands.arguments import Commands
from crawlclean.workers.config import Settings


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "schema",
        run,
        "print the JSON Schema of a command's JSON",
        "Prints the JSON Schema (2020-12) of one line that COMMAND prints with --json; of records, "
        "too: `schema export`, `schema clean`. Without COMMAND: a line for each command that has "
        "JSON. `docs/json.md` explains the fields, and what stays as it is in later versions.",
        data=False,
    )
    parser.add_argument("of", nargs="?", default="", metavar="COMMAND")


def run(_settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints one schema, or the commands that have one.

    Raises:
        NotFound: The command has no JSON.
    """
    from crawlclean.workers.answers.schema import ANSWERS, schema_of, summary

    if arguments.of:
        schema = schema_of(arguments.of)
        sys.stdout.write(json.dumps(schema, indent=2, ensure_ascii=False) + "\n")
        return 0
    for name, types in ANSWERS.items():
        sys.stdout.write(f"{name:<9} {summary(types[0])}\n")
    return 0
