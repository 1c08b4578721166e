"""`traps`: the URL classes that were stopped as spider traps."""

from __future__ import annotations

import argparse
import sys

from workers.commands.arguments import Commands, add_json
from workers.config import Settings

HEAD = ("CRAWL", "HOST", "CLASS", "PAGES", "WITH NEWS", "SINCE", "STOPPED")


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "traps",
        run,
        "list stopped URL classes with reasons",
        "Prints the URL classes that were stopped because many pages in a row had nothing new. "
        "`classes` prints all classes; `classes HOST --lift` fetches the stopped classes again.",
    )
    add_json(parser)
    parser.add_argument("host", nargs="?", default="", metavar="HOST")


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints the stopped URL classes."""
    from workers.operations.hosts.classes import stopped_classes
    from workers.output.printing import print_answer, table

    found = stopped_classes(settings, arguments.host)
    if arguments.json:
        for each in found:
            print_answer(each)
        return 0
    lines = [HEAD]
    for each in found:
        numbers = (str(each.pattern_pages), str(each.pattern_pages_with_news))
        since = f"{each.stopped_at:%Y-%m-%d %H:%M}" if each.stopped_at else "-"
        lines.append((each.crawl, each.host, each.template, *numbers, since, each.stopped))
    sys.stdout.write(table(lines) if found else "no URL class is stopped\n")
    return 0
