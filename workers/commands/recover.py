"""`recover`: rebuilds the queue from the store, when one of them has lost a part."""

from __future__ import annotations

import argparse
import sys

from cleaning.errors import ConfigError
from cleaning.phrases import counted
from workers.commands.arguments import Commands, add_json, crawl_name
from workers.config import Settings


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "recover",
        run,
        "rebuild a lost queue from the store",
        "For a lost queue: its folder was deleted, or its server emptied. Rebuilds every crawl "
        "that the store has and the queue has not. `run` does this for its own crawl. Also for a "
        "store that is older than its queue, such as a backup: the missing pages are fetched "
        "again. Stored pages are not. After an interruption, run the same command again. A crawl "
        "that another living queue of the store runs is refused.",
    )
    add_json(parser)
    parser.add_argument(
        "crawls", nargs="*", type=crawl_name, metavar="CRAWL", help="only these crawls"
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="also crawls that the queue still has: add the URLs that they lack; and take over "
        "the named CRAWLs that another queue runs",
    )
    parser.add_argument(
        "--servers",
        action="store_true",
        help="take the list of Redis servers into use: delete all crawls in the queue, and "
        "rebuild each on the servers of its hosts; no spider, worker or sweeper may work "
        "meanwhile",
    )


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Rebuilds the crawls, prints a line for each."""
    from workers.operations.crawling.recovery import recover_crawls
    from workers.operations.crawling.splitting import split_anew
    from workers.output.printing import print_answer

    if arguments.servers:
        if arguments.crawls or arguments.force:
            raise ConfigError("--servers is for all crawls: leave out their names and --force")
        split_anew(settings, _print_line)
    found = 0
    for done in recover_crawls(settings, arguments.crawls, _print_line, force=arguments.force):
        found += 1
        if arguments.json:
            print_answer(done)
            continue
        sys.stdout.write(
            f"recovered {done.crawl}: {counted(done.ended, 'finished URL')}, "
            f"{done.waiting:,} waiting\n"
        )
    if not (found or arguments.json):
        sys.stdout.write("nothing to recover: queue and store have the same crawls\n")
    return 0


def _print_line(line: str) -> None:
    sys.stderr.write(line + "\n")
