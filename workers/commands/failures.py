"""`failures`: the URLs without record, with reasons."""

from __future__ import annotations

import argparse
import sys

from workers.commands.arguments import Commands, add_json, crawl_name
from workers.config import Settings


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add("failures", run, "list failed URLs with reasons")
    add_json(parser)
    parser.add_argument(
        "target",
        nargs="?",
        default="",
        type=crawl_name,
        metavar="CRAWL|HOST",
        help="only this crawl or host",
    )


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints failed URLs, newest first: all, or those of one crawl or host."""
    from workers.answers.crawls import FailedUrl
    from workers.control_characters import readable_line
    from workers.operations.reading import failures_of
    from workers.output.printing import print_answer

    with failures_of(settings, arguments.target) as rows:
        for row in rows:
            if arguments.json:
                print_answer(
                    FailedUrl(
                        crawl=row.crawl_id,
                        url=row.url,
                        host=row.host,
                        reason=row.reason,
                        detail=row.detail,
                        status=row.status,
                        attempts=row.attempts,
                        failed_at=row.failed_at,
                    )
                )
            else:
                tries = f"{row.attempts} attempts" if row.attempts > 1 else "1 attempt"
                line = f"{row.url}  {row.reason}: {row.detail or '-'} ({tries})"
                sys.stdout.write(readable_line(line) + "\n")
    return 0
