"""`run`: crawls from seed URLs to clean records, in one command."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.lexicon import counted
from crawlclean.storage.crawl_types import CrawlState
from crawlclean.workers.commands.arguments import Commands, add_host_options, add_json, crawl_name
from crawlclean.workers.commands.crawl_limits import add_limits, status_of
from crawlclean.workers.config import Settings

if TYPE_CHECKING:
    from crawlclean.workers.operations.crawling.one_crawl import CrawlResult


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
    parser.add_argument(
        "urls",
        nargs="+",
        metavar="URL|FILE.toml",
        help="seed URL; or a crawl file (see `check`): URLs beside it replace its seeds",
    )
    parser.set_defaults(crawl_file=None)
    parser.add_argument(
        "--crawl",
        default="",
        type=crawl_name,
        metavar="NAME",
        help="name of the crawl (default: made from the URLs)",
    )
    add_limits(parser)


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Crawls with live counts, prints a summary; fails without any record and any known reason."""
    from crawlclean.workers.crawl_file.crawl_file import is_crawl_file
    from crawlclean.workers.operations.crawling.one_crawl import run_crawl
    from crawlclean.workers.operations.crawling.specs import check_ca_file, crawl_spec, read_seeds
    from crawlclean.workers.output.progress import Progress

    check_ca_file(settings)
    file, urls, name = arguments.crawl_file, arguments.urls, arguments.crawl
    if file:
        given = [each for each in urls if not is_crawl_file(each)]
        urls = given or read_seeds(settings, file)[0]
        name = name or file.values.get("crawl", "")
    for each in urls:
        if "://" not in each and Path(each).is_file():
            raise ConfigError(
                f"{each} is a file: `sites {each}` crawls a list of sites; the name of a crawl "
                "file ends in .toml"
            )
    spec = crawl_spec(settings, urls, name)
    with Progress(max_time_s=settings.crawl.max_time_s) as progress:
        result = run_crawl(settings, spec, progress, fresh=arguments.fresh)
    return print_crawl(settings, result, as_json=arguments.json)


def print_crawl(settings: Settings, result: CrawlResult, *, as_json: bool) -> int:
    """Prints how a crawl ended; returns the exit status of its command."""
    if result.state is CrawlState.PURGED:
        if as_json:
            _print_json(settings, result)
        sys.stderr.write(f"{result.why}\n")
        return 0
    _print_summary(settings, result, as_json=as_json)
    _print_causes(result)
    return status_of([result.ended_by], has_records=bool(result.records or result.why))


def _print_summary(settings: Settings, result: CrawlResult, *, as_json: bool) -> None:
    """One line, one more about paused hosts; or one JSON object."""
    from crawlclean.workers.operations.controlling.crawl_states import paused_line
    from crawlclean.workers.output.outcome_report import outcome_lines
    from crawlclean.workers.output.printing import write_lines
    from crawlclean.workers.output.progress import duration

    if as_json:
        _print_json(settings, result)
        return
    pictures = "" if result.images is None else f" and {counted(result.images, 'image')}"
    why = f"; {result.why}" if result.why else ""
    sys.stdout.write(
        f"{result.records} records{pictures} of {result.hosts} "
        f"host{'' if result.hosts == 1 else 's'} in {settings.storage.place}, "
        f"{result.new_records} of them new, "
        f"{result.failed} failed, {duration(result.seconds)}{why}\n"
    )
    write_lines(outcome_lines(result.outcome))
    if result.paused_hosts:
        sys.stdout.write(paused_line(result.paused_hosts) + "\n")


def _print_json(settings: Settings, result: CrawlResult) -> None:
    from msgspec import UNSET

    from crawlclean.workers.answers.crawls import RunSummary
    from crawlclean.workers.answers.making import answer_of
    from crawlclean.workers.output.printing import print_answer

    print_answer(
        answer_of(
            RunSummary,
            result,
            why=result.why or "done",
            kept_records=result.outcome.kept,
            images=UNSET if result.images is None else result.images,
            stored=dict(result.outcome.stored),
            failed_by_cause=dict(result.outcome.failed),
            concerns=result.outcome.concerns,
            paused_hosts=tuple(result.paused_hosts),
            seconds=round(result.seconds, 1),
            data=str(settings.storage.data),
        )
    )


def _print_causes(result: CrawlResult) -> None:
    """Prints to standard error why seeds failed; without any record, why each URL failed."""
    from crawlclean.workers.control_characters import readable_line

    for failure in result.failures:
        if result.records == 0 or failure.url in result.seeds:
            line = readable_line(f"{failure.url}: {failure.detail or failure.reason}")
            sys.stderr.write(line + "\n")
    if result.records == 0 and not result.failures and not result.why:
        sys.stderr.write("nothing was stored; `why URL` shows the steps of a seed\n")
