"""`failures`: URLs that gave no record, and why."""

from __future__ import annotations

import argparse
import sys

from workers.commands.arguments import Commands
from workers.config import Settings


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add("failures", run, "URLs that gave no record, and why", as_json=True)
    parser.add_argument("target", nargs="?", default="", metavar="CRAWL|HOST", help="only of it")


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints the URLs that gave no record, newest first; of one crawl or host when named."""
    from workers.operations.reading import find_failures
    from workers.output.printing import print_json, printable

    for row in find_failures(settings, arguments.target):
        if arguments.json:
            print_json(
                {
                    "crawl": row.crawl_id,
                    "url": row.url,
                    "host": row.host,
                    "reason": str(row.reason),
                    "detail": row.detail,
                    "status": row.status,
                    "attempts": row.attempts,
                    "failed_at": row.failed_at.isoformat(),
                }
            )
        else:
            tries = f"{row.attempts} tries" if row.attempts > 1 else "1 try"
            line = f"{row.url}  {row.reason}: {row.detail or '-'} ({tries})"
            sys.stdout.write(printable(line) + "\n")
    return 0
