"""`config`, `metrics`, `doctor`, `schema`: what is set, counted, wrong here, and printed."""

from __future__ import annotations

import argparse
import json
import sys

from crawlclean.workers.commands.arguments import Commands, Exit, add_json
from crawlclean.workers.config import Settings, rows, variable

# `config` and `metrics`: all settings with values, all counters in Prometheus' format.


def register_config(commands: Commands) -> None:
    """Adds both commands."""
    add_json(commands.add("config", run_config, "list all settings and their values"))
    commands.add("metrics", run_metrics, "print counters and gauges in Prometheus' format")


def run_config(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints every setting with its variable, value and meaning."""
    from crawlclean.workers.answers.control import SettingLine
    from crawlclean.workers.output.printing import print_answer

    if arguments.json:
        for group, name, value, meaning in rows(settings):
            print_answer(
                SettingLine(section=group, variable=variable(name), value=value, meaning=meaning)
            )
        return 0
    section = ""
    for group, name, value, meaning in rows(settings):
        if group != section:
            section = group
            sys.stdout.write(f"[{section}]\n")
        sys.stdout.write(f"{variable(name)}={value}\n    {meaning}\n")
    return 0


def run_metrics(settings: Settings, _arguments: argparse.Namespace) -> int:
    """Prints every counter and gauge."""
    from crawlclean.workers.metrics import read_metrics
    from crawlclean.workers.operations.backends import any_queue

    with any_queue(settings) as frontier:
        sys.stdout.write(read_metrics(frontier, settings.storage))
    return 0


# `doctor`: checks whether this machine can run everything, and what holds crawls back.


def register_doctor(commands: Commands) -> None:
    """Adds the command."""
    add_json(
        commands.add(
            "doctor",
            run_doctor,
            "check this machine and the data folder",
            "Prints a line for each check: ok, WARN (crawls run, and you should know this) or FAIL "
            "(crawls do not run; exit status 1).",
        )
    )


def run_doctor(settings: Settings, arguments: argparse.Namespace) -> int:
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


# `schema`: prints the JSON Schema of what a command prints with `--json`.


def register_schema(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "schema",
        run_schema,
        "print the JSON Schema of a command's JSON",
        "Prints the JSON Schema (2020-12) of one line that COMMAND prints with --json; of records, "
        "too: `schema export`, `schema clean`. Without COMMAND: a line for each command that has "
        "JSON. `docs/json.md` explains the fields, and what stays as it is in later versions.",
        data=False,
    )
    parser.add_argument("of", nargs="?", default="", metavar="COMMAND")


def run_schema(_settings: Settings, arguments: argparse.Namespace) -> int:
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
