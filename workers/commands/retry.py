"""`retry`: failed URLs are fetched again."""

from __future__ import annotations

import argparse
import sys

from storage.crawl_types import FailureReason
from workers.commands.arguments import Commands
from workers.config import Settings


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "retry",
        run,
        "fetch failed URLs again",
        "Lets URLs wait again that gave no record for a reason that may have passed: no "
        "connection, no or a broken answer, status 5xx or 429. A finished crawl goes on with its "
        "next `run`.",
    )
    parser.add_argument("crawl", nargs="?", default="", metavar="CRAWL", help="only of this crawl")
    parser.add_argument(
        "--host", dest="of_host", default="", metavar="HOST", help="only of this host"
    )
    parser.add_argument(
        "--reason",
        dest="reasons",
        action="append",
        default=[],
        choices=[str(reason) for reason in FailureReason],
        metavar="REASON",
        help="failed for this reason, as `failures` names it (may be repeated)",
    )


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Offers failed URLs again, a line for each crawl that has some."""
    from workers.operations.failed_urls import retry_failed

    reasons = {FailureReason(each) for each in arguments.reasons}
    offered = retry_failed(settings, arguments.crawl, arguments.of_host, reasons)
    for name, count in offered.items():
        sys.stdout.write(f"{count} failed URLs of {name} wait to be fetched again\n")
    if not offered:
        sys.stdout.write("no URL failed like this; `failures` lists those that did\n")
    return 0
