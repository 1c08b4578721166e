"""`traps`: the classes of URLs that are stopped because their pages brought nothing new."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict

from workers.commands.arguments import Commands
from workers.config import Settings

HEAD = ("CRAWL", "HOST", "CLASS", "PAGES", "WITH NEWS", "STOPPED")


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "traps",
        run,
        "classes of URLs that are not fetched any more, and why",
        "Prints the classes of URLs whose pages brought nothing new for long. `classes` prints "
        "all classes; `classes HOST --lift` lets those of a host be fetched again.",
        as_json=True,
    )
    parser.add_argument("host", nargs="?", default="", metavar="HOST")


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints the stopped classes."""
    from workers.operations.classes import stopped_classes
    from workers.output.printing import print_json, table

    found = stopped_classes(settings, arguments.host)
    if arguments.json:
        for each in found:
            print_json(asdict(each))
        return 0
    lines = [HEAD]
    for each in found:
        numbers = (str(each.pattern_pages), str(each.pattern_pages_with_news))
        lines.append((each.crawl, each.host, each.template, *numbers, each.stopped))
    sys.stdout.write(table(lines) if found else "no class of URLs is stopped\n")
    return 0
