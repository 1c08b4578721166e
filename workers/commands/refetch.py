"""`refetch`: fetches stored pages of a crawl or a host once more."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime

from cleaning.phrases import counted
from workers.commands.arguments import Commands, add_json, crawl_name
from workers.config import Settings


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "refetch",
        run,
        "fetch stored pages again",
        "Puts pages that have a record back into the queue. A record stays until a newer one of "
        "its page is stored; when both differ, it becomes an older version. Without an answer it "
        "stays. The next `run` of a finished crawl fetches them.",
    )
    add_json(parser)
    parser.add_argument("target", type=crawl_name, metavar="CRAWL|HOST")
    parser.add_argument(
        "--since",
        default="",
        metavar="T",
        help="only pages fetched since T, as 2026-01-31T12:00, or 30m, 6h, 2d ago",
    )
    parser.add_argument(
        "--no-body",
        action="store_true",
        help="only pages whose record has no body, or one below 30 Chinese or 60 Latin letters",
    )


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Puts pages back, prints a line for each crawl."""
    from workers.answers.control import RefetchedCrawl
    from workers.operations.controlling.fetching_again import PageFilter, fetch_again, read_since
    from workers.output.printing import print_answer

    now = datetime.now(UTC)
    since = read_since(arguments.since, now)
    wanted = PageFilter(since=since, until=now, no_body=arguments.no_body)
    offered = fetch_again(settings, arguments.target, wanted)
    for name, count in offered.items():
        if arguments.json:
            print_answer(RefetchedCrawl(crawl=name, urls=count))
        else:
            is_are = "is" if count == 1 else "are"
            sys.stdout.write(f"{counted(count, 'page')} of {name} {is_are} back in the queue\n")
    if not offered and not arguments.json:
        sys.stdout.write("no stored page matches\n")
    return 0
