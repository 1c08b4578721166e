"""`run`: crawls from seed URLs to clean records, in one command."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from storage.crawl_types import CrawlState
from workers.commands.arguments import Commands, add_host_options, add_json
from workers.commands.crawl_limits import add_limits, status_of
from workers.config import Settings

if TYPE_CHECKING:
    from workers.operations.crawling.one_crawl import CrawlResult


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "run",
        run,
        "crawl sites into clean records",
        "Crawls from the URLs until no URL is left or a limit is reached. Starts the queue, the "
        "spider and the workers, and stops them at the end. Ctrl-C finishes the pages in flight "
        "and stops; a second Ctrl-C stops at once. The same command resumes the crawl, also after "
        "a crash.",
    )
    add_json(parser)
    add_host_options(parser)
    parser.add_argument("urls", nargs="+", metavar="URL", help="seed URL")
    parser.add_argument(
        "--crawl",
        default="",
        metavar="NAME",
        help="name of the crawl (default: made from the URLs)",
    )
    add_limits(parser)


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Crawls with live counts, prints a summary; fails without any record and any known reason."""
    from workers.operations.crawling.one_crawl import run_crawl
    from workers.operations.crawling.specs import check_ca_file, crawl_spec
    from workers.output.progress import Progress

    check_ca_file(settings)
    spec = crawl_spec(settings, arguments.urls, arguments.crawl)
    progress = Progress()
    result = run_crawl(settings, spec, progress, fresh=arguments.fresh)
    if result.state is CrawlState.PURGED:
        _print_purged(result, as_json=arguments.json)
        progress.print_line(result.why)
        return 0
    _print_summary(settings, result, as_json=arguments.json)
    _print_causes(result)
    return status_of([result.ended_by], has_records=bool(result.records or result.why))


def _print_purged(result: CrawlResult, *, as_json: bool) -> None:
    from workers.output.printing import print_json

    if as_json:
        print_json(
            {
                "crawl": result.crawl,
                "state": str(result.state),
                "ended_by": str(result.ended_by),
                "why": result.why,
            }
        )


def _print_summary(settings: Settings, result: CrawlResult, *, as_json: bool) -> None:
    """One line, one more about paused hosts; or one JSON object."""
    from workers.output.printing import paused_line, print_json
    from workers.output.progress import duration

    data = settings.storage.data
    if as_json:
        images: dict[str, Any] = {} if result.images is None else {"images": result.images}
        print_json(
            {
                "crawl": result.crawl,
                "state": str(result.state),
                "ended_by": str(result.ended_by),
                "why": result.why or "done",
                "records": result.records,
                **images,
                "new_records": result.new_records,
                "fetched": result.fetched,
                "failed": result.failed,
                "waiting": result.waiting,
                "hosts": result.hosts,
                "paused_hosts": list(result.paused_hosts),
                "seconds": round(result.seconds, 1),
                "data": str(data),
            }
        )
        return
    pictures = "" if result.images is None else f" and {result.images} images"
    why = f"; {result.why}" if result.why else ""
    sys.stdout.write(
        f"{result.records} records{pictures} of {result.hosts} "
        f"host{'' if result.hosts == 1 else 's'} in {data}, {result.new_records} of them new, "
        f"{result.failed} failed, {duration(result.seconds)}{why}\n"
    )
    if result.paused_hosts:
        sys.stdout.write(paused_line(result.paused_hosts) + "\n")


def _print_causes(result: CrawlResult) -> None:
    """Prints to standard error why seeds failed; without any record, why each URL failed."""
    from workers.control_characters import printable

    for failure in result.failures:
        if result.records == 0 or failure.url in result.seeds:
            line = printable(f"{failure.url}: {failure.detail or failure.reason}")
            sys.stderr.write(line + "\n")
    if result.records == 0 and not result.failures and not result.why:
        sys.stderr.write("nothing was stored; `why URL` shows the steps of a seed\n")
