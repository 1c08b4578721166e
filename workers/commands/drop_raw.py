"""`drop-raw`: drops archived responses of a crawl or a host, after a question."""

from __future__ import annotations

import argparse
import sys

from crawlclean.workers.commands.arguments import Commands, Exit, add_json, crawl_name
from crawlclean.workers.commands.purge import is_confirmed
from crawlclean.workers.config import Settings


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "drop-raw",
        run,
        "drop archived responses to free room",
        "Drops the archived responses of a crawl that is at rest, or of a host in every crawl. "
        "Records stay, and cannot be cleaned again. Names the bytes that come free and asks "
        "first. A crawl that waits for room goes on by itself.",
    )
    add_json(parser)
    parser.add_argument("target", type=crawl_name, metavar="CRAWL|HOST")
    parser.add_argument("--dry-run", action="store_true", help="print the bytes, drop nothing")
    parser.add_argument(
        "--yes", action="store_true", help="do not ask; needed where there is no terminal"
    )


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Drops responses; returns FAILED when the answer to the question is no.

    Raises:
        ConfigError: There is no terminal to ask on, and no ``--yes``.
    """
    from crawlclean.workers.operations.controlling.fetching_again import drop_raw, plan_drop
    from crawlclean.workers.output.printing import print_answer, write_lines

    found = plan_drop(settings, arguments.target)
    line = f"{found.responses:,} archived responses of {found.target}, {found.freed_bytes:,} bytes"
    if not arguments.dry_run:
        if not arguments.yes and not is_confirmed(f"drop-raw drops {line}"):
            sys.stderr.write("nothing was dropped\n")
            return Exit.FAILED
        found = drop_raw(settings, arguments.target)
    if arguments.json:
        print_answer(found)
    else:
        write_lines([f"{'would drop' if arguments.dry_run else 'dropped'} {line}"])
    return Exit.DONE
