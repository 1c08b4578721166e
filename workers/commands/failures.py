"""`failures`: the URLs without record, with reasons, or their causes."""

from __future__ import annotations

import argparse
import sys

from workers.commands.arguments import Commands, add_json, crawl_name
from workers.config import Settings

HEAD = ("CRAWL", "CAUSE", "URLS", "HOSTS", "FIRST", "NEWEST")


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add("failures", run, "list failed URLs with reasons")
    add_json(parser)
    parser.add_argument(
        "--causes",
        action="store_true",
        help="count the failed URLs by reason and status, instead of listing them",
    )
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
    if arguments.causes:
        return _print_causes(settings, arguments.target, as_json=arguments.json)
    from workers.control_characters import readable_line
    from workers.operations.answering.urls import failed_url
    from workers.operations.reading import failures_of
    from workers.output.printing import print_answer

    with failures_of(settings, arguments.target) as rows:
        for row in rows:
            if arguments.json:
                print_answer(failed_url(row))
            else:
                tries = f"{row.attempts} attempts" if row.attempts > 1 else "1 attempt"
                line = f"{row.url}  {row.reason}: {row.detail or '-'} ({tries})"
                sys.stdout.write(readable_line(line) + "\n")
    return 0


def _print_causes(settings: Settings, target: str, *, as_json: bool) -> int:
    """Prints the causes of failures, most URLs first."""
    from workers.operations.failures.failure_causes import find_causes
    from workers.operations.hosts.hosts import as_of_text
    from workers.output.printing import print_answer, table

    found = find_causes(settings, target)
    if as_json:
        for each in found:
            print_answer(each)
        return 0
    rows: list[tuple[str, ...]] = [HEAD]
    for each in found:
        times = (f"{at:%Y-%m-%d %H:%M}" for at in (each.first_at, each.newest_at))
        cause = f"{each.reason} {each.status}" if each.status else str(each.reason)
        rows.append((each.crawl, cause, str(each.urls), str(each.hosts), *times))
    sys.stdout.write(table(rows) if found else "no URL has failed\n")
    if found and found[0].as_of:
        sys.stdout.write(as_of_text(found[0].as_of) + "\n")
    return 0
