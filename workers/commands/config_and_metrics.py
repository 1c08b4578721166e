"""`config` and `metrics`: all settings with values, all counters in Prometheus' format."""

from __future__ import annotations

import argparse
import sys

from crawlclean.workers.commands.arguments import Commands, add_json
from crawlclean.workers.config import Settings, rows, variable


def register(commands: Commands) -> None:
    """Adds both commands."""
    add_json(commands.add("config", run, "list all settings and their values"))
    commands.add("metrics", run_metrics, "print counters and gauges in Prometheus' format")


def run(settings: Settings, arguments: argparse.Namespace) -> int:
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
    from crawlclean.workers.operations.backends import any_queue
    from crawlclean.workers.operations.watching.now.moment_metrics import read_metrics

    with any_queue(settings) as frontier:
        sys.stdout.write(read_metrics(frontier, settings.storage))
    return 0
