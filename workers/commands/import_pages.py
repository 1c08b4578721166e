"""`import`: pages that others fetched become records of a data folder."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from crawlclean.workers.commands.arguments import Commands, Exit, add_pages, crawl_name
from crawlclean.workers.config import Settings

if TYPE_CHECKING:
    from crawlclean.workers.output.progress import Tally

CRAWL = "import"
LEAST_PAGES = 8  # of a host that is learned, as in a crawl


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "import",
        run,
        "store pages that were fetched by others",
        "Reads HTML files, WARC files, .jsonl(.gz) rows with url and html_base64 (or html, as "
        "text; fetched_at if they have it), folders of them, and standard input (-: rows when it "
        "begins with {, else one page; gzip is recognised). Keeps each page in the archive and "
        "stores its record, as if a crawl had fetched it: `hosts`, `model`, `reclean`, `export` "
        "and `why` work on it. Then hosts with enough pages are learned and their pages "
        "re-cleaned. Interrupted or killed, the same command does the rest.",
    )
    add_pages(parser)
    parser.add_argument(
        "--crawl",
        default=CRAWL,
        type=crawl_name,
        metavar="NAME",
        help=f"name under which the pages are kept (default {CRAWL})",
    )
    parser.add_argument(
        "--no-learn", action="store_true", help="store the pages, learn nothing from them"
    )


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Stores every page of the files; 1 when one gave no record or Ctrl-C came.

    Raises:
        ConfigError: A path does not exist, ``--url`` is given with several pages, or a crawl that
            fetches pages has the name.
    """
    from crawlclean.workers.control_characters import printable
    from crawlclean.workers.operations.files.page_files import page_input
    from crawlclean.workers.operations.files.page_import import import_pages
    from crawlclean.workers.operations.pages.page_sources import Columns
    from crawlclean.workers.output.progress import Tally

    columns = Columns(arguments.url_column, arguments.html_column)
    pages, others = page_input(arguments.paths, arguments.url, columns)
    if others:
        sys.stderr.write(f"left out {others} files that are no HTML, WARC or .jsonl\n")
    hosts: Counter[str] = Counter()
    before = dropped = 0
    with Tally("imported", len(pages.files)) as tally:
        sources = pages.sources(tally.begin_file)
        try:
            for page in import_pages(settings, arguments.crawl, sources):
                if page.error:
                    tally.failed += 1
                    tally.print_line(printable(page.error))
                elif not page.is_stored:
                    dropped += 1
                else:
                    tally.done += 1
                    before += page.was_stored
                    hosts[page.host] += 1
                tally.show()
        except KeyboardInterrupt:
            tally.print_line("interrupted; the same command does the rest")
            return Exit.INTERRUPTED
        tally.show(last=True)
    sys.stdout.write(_summary(tally, before, hosts, arguments.crawl))
    if dropped:
        sys.stdout.write(f"{dropped} dropped by record steps\n")
    if not arguments.no_learn:
        _learn(settings, [host for host, pages in hosts.items() if pages >= LEAST_PAGES])
    return 1 if tally.failed else 0


def _summary(tally: Tally, before: int, hosts: Counter[str], crawl: str) -> str:
    stored = f" ({before} were stored before)" if before else ""
    failed = f", {tally.failed} gave no record" if tally.failed else ""
    return (
        f"{tally.done} page{'' if tally.done == 1 else 's'} of {len(hosts)} "
        f"host{'' if len(hosts) == 1 else 's'} "
        f"{'is' if tally.done == 1 else 'are'} stored as crawl {crawl}{stored}{failed}\n"
    )


def _learn(settings: Settings, hosts: Sequence[str]) -> None:
    """Learns hosts and re-cleans their pages; a line for each host.

    Raises:
        KeyboardInterrupt: Ctrl-C ended a re-cleaning.
    """
    from crawlclean.workers.operations.hosts.host_models import learn_now
    from crawlclean.workers.operations.hosts.host_recleaning import reclean_host

    for host in hosts:
        learned = learn_now(settings, host)
        done = reclean_host(settings, host, lambda *_: None, dry_run=False, again=False)
        if not done.is_whole:
            raise KeyboardInterrupt
        version = learned.about.version
        new = "" if learned.is_new else ", as before"
        sys.stdout.write(
            f"{host}: learned version {version} of its model{new}, "
            f"{done.total.cleaned} pages re-cleaned, {done.total.changed} changed\n"
        )
