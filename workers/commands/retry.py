"""`retry`: puts failed URLs back into the queue."""

from __future__ import annotations

import argparse
import sys

from cleaning.phrases import counted
from storage.crawl_types import FailureReason
from workers.commands.arguments import Commands, add_json, crawl_name
from workers.config import Settings


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "retry",
        run,
        "fetch failed URLs again",
        "Puts failed URLs back into the queue. Default: URLs with a temporary reason (no "
        "connection, no response, a broken response, status 5xx or 429). The next `run` of a "
        "finished crawl fetches them.",
    )
    add_json(parser)
    parser.add_argument(
        "target",
        nargs="?",
        default="",
        type=crawl_name,
        metavar="CRAWL|HOST",
        help="only this crawl or host",
    )
    parser.add_argument(
        "--host", dest="of_host", default="", metavar="HOST", help="only this host of the crawl"
    )
    parser.add_argument(
        "--reason",
        dest="reasons",
        action="append",
        default=[],
        choices=[str(reason) for reason in FailureReason],
        metavar="REASON",
        help="only URLs with this reason, as `failures` prints it; may be repeated",
    )


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Puts failed URLs back, prints a line for each crawl."""
    from workers.answers.control import RetriedCrawl
    from workers.operations.failures.failed_urls import retry_failed
    from workers.output.printing import print_answer

    reasons = {FailureReason(each) for each in arguments.reasons}
    offered = retry_failed(settings, arguments.target, arguments.of_host, reasons)
    if arguments.json:
        for name, count in offered.items():
            print_answer(RetriedCrawl(crawl=name, urls=count))
        return 0
    for name, count in offered.items():
        is_are = "is" if count == 1 else "are"
        sys.stdout.write(f"{counted(count, 'failed URL')} of {name} {is_are} back in the queue\n")
    if not offered:
        sys.stdout.write("no failed URL matches; `failures` lists all of them\n")
    return 0
