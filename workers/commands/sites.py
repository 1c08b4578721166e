"""`sites`: a list of sites, each a crawl of its own, several at a time; a report of each."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from cleaning.errors import ConfigError
from workers.commands.arguments import Commands
from workers.commands.crawl_limits import add_limits
from workers.config import Settings

if TYPE_CHECKING:
    from workers.operations.crawling.many_crawls import SitesCounts


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "sites",
        run,
        "crawl a list of sites, each a crawl of its own",
        "Crawls every site of a list until nothing is left of it or its limit is reached, several "
        "at a time, and reports on each. Limits count for each site. Ctrl-C lets running "
        "pages finish and stops; the same command goes on and leaves finished sites alone.",
        as_json=True,
        hosts_file=True,
    )
    parser.add_argument(
        "list", type=Path, metavar="FILE", help="one URL a line; # begins a comment"
    )
    parser.add_argument(
        "--at-once", type=int, default=16, metavar="N", help="sites at a time (default 16)"
    )
    add_limits(parser)


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Crawls every site of a list, prints the reports; 1 when none has a record.

    Raises:
        ConfigError: The list cannot be read, or holds something else.
    """
    from workers.operations.crawling.many_crawls import run_sites
    from workers.operations.crawling.specs import read_list
    from workers.output.printing import print_json
    from workers.output.site_reports import reports_text

    at_once = arguments.at_once
    if at_once < 1:
        raise ConfigError(f"--at-once is {at_once}: at least 1 is needed")
    urls, repeated = read_list(settings, arguments.list)
    watcher = _Lines()
    if repeated:
        watcher.say(f"named again, crawled once: {repeated}")
    reports = run_sites(settings, urls, at_once, watcher, fresh=arguments.fresh)
    if arguments.json:
        for each in reports:
            print_json(asdict(each))
    else:
        sys.stdout.write(reports_text(reports))
    return 0 if any(each.records for each in reports) else 1


class _Lines:
    """Shows how far a list is, in lines on standard error."""

    def __init__(self) -> None:
        from workers.output.progress import Progress

        self._progress = Progress()

    def say(self, line: str) -> None:
        """One line as it is."""
        self._progress.say(line)

    def site_ended(self, url: str, why: str, records: int, seconds: float) -> None:
        """One line about a site."""
        from workers.control_characters import printable
        from workers.output.progress import duration

        line = f"{url}: {why or 'done'}, {records} records, {duration(seconds)}"
        self._progress.say(printable(line))

    def show(self, counts: SitesCounts) -> None:
        """One line about all sites."""
        note = f", {counts.held}: waiting" if counts.held else ""
        if counts.is_ending:
            note = "; finishing, Ctrl-C again ends at once"
        self._progress.say(
            f"sites: {counts.ended} ended, {counts.now} now, {counts.to_come} to come; "
            f"fetched {counts.fetched}, cleaned {counts.cleaned}, waiting {counts.waiting}{note}"
        )
