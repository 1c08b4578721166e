"""`traps`: classes of URLs that are not fetched any more, why, and how they are again."""

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
        "Prints the classes of URLs whose pages brought nothing new for long.",
        as_json=True,
    )
    parser.add_argument("host", nargs="?", default="", metavar="HOST")
    parser.add_argument("--all", action="store_true", help="also those that are still fetched")
    parser.add_argument("--lift", action="store_true", help="fetch all classes of the host again")


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints the stopped classes, or lets all classes begin anew."""
    from workers.operations.traps import find_traps, lift_traps
    from workers.output.printing import print_json, table

    if arguments.lift:
        lifted = lift_traps(settings, arguments.host)
        sys.stdout.write(f"{lifted} classes of URLs are followed again\n")
        return 0
    rows = find_traps(settings, arguments.host, every=arguments.all)
    if arguments.json:
        for row in rows:
            print_json(asdict(row))
        return 0
    lines = [HEAD]
    for row in rows:
        numbers = (str(row.pages), str(row.with_news))
        lines.append((row.crawl_id, row.host, row.pattern, *numbers, row.stopped or "-"))
    sys.stdout.write(table(lines) if rows else "no class of URLs is stopped\n")
    return 0
