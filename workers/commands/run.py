"""`run`, `sites`: crawls of seeds or of a list of sites."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.lexicon import duration as short_duration
from crawlclean.storage.crawl_types import CrawlState, KeepRaw, Scope
from crawlclean.workers.commands.arguments import (
    JSON,
    Exit,
    add_host_options,
    argument,
    command,
    crawl_name,
    seconds,
)
from crawlclean.workers.config import Settings
from crawlclean.workers.control_characters import readable_line
from crawlclean.workers.crawl_file.crawl_file import AT_ONCE
from crawlclean.workers.output.progress import SitesProgress
from crawlclean.workers.spoken import counted, duration, say, term, told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlclean.storage.crawl_types import UrlRow
    from crawlclean.workers.answers.crawls import EndedBy, RunSummary, SiteReport
    from crawlclean.workers.crawl_file.crawl_file import CrawlFile
    from crawlclean.workers.operations.crawling.one_crawl import Ended


# Options that `run` and `sites` share: limits and politeness of a crawl.

TRAP_HELP = "stop a URL class after N pages in a row with nothing new (default 50; 0: never)"
INCLUDE_HELP = (
    "follow only URLs in which REGEX is found, as /news/ or /新闻/ (escapes of UTF-8 are decoded); "
    "may be repeated: one must match; seeds are always fetched"
)
EXCLUDE_HELP = "follow no URL in which REGEX is found; wins over --include; may be repeated"
SCOPE_HELP = "follow links on the same host (default), in the same registered domain, or any"
TOPIC_SCOPE_HELP = (
    "topic: follow links on all hosts that body and related links lead to (default); or on the "
    "hosts of the seeds, in their registered domains, or any"
)
KEEP_FRESH_HELP = (
    "stay until Ctrl-C and visit pages again when they are due: lists often, articles rarely; the "
    "same command resumes, and makes up for missed visits once"
)
IMAGES_HELP = "also fetch content images, from any host; no other images"


def add_limits(parser: argparse.ArgumentParser, *, of_topic: bool = False) -> None:
    """Adds the options to a command; ``of_topic``: to the one with the scope of topics."""
    parser.add_argument(
        "--scope",
        # The setting `scope` of other crawls has no such value.
        dest="topic_scope" if of_topic else "scope",
        choices=[str(scope) for scope in Scope if of_topic or scope is not Scope.TOPIC],
        help=TOPIC_SCOPE_HELP if of_topic else SCOPE_HELP,
    )
    parser.add_argument(
        "--depth",
        dest="max_depth",
        type=int,
        metavar="N",
        help="follow at most N links from a seed; 0: only the seeds",
    )
    parser.add_argument("--include", action="append", metavar="REGEX", help=INCLUDE_HELP)
    parser.add_argument("--exclude", action="append", metavar="REGEX", help=EXCLUDE_HELP)
    parser.add_argument("--max-pages", type=int, metavar="N", help="stop after N records")
    parser.add_argument(
        "--max-time",
        dest="max_time_s",
        type=seconds,
        metavar="TIME",
        help="stop after this time: 90, 10m, 2h",
    )
    parser.add_argument(
        "--delay",
        dest="delay_s",
        type=float,
        metavar="S",
        help="seconds between a response and the next request to its host (default 1; 0 for "
        "loopback hosts; a longer Crawl-delay in robots.txt wins)",
    )
    parser.add_argument(
        "--slots",
        type=int,
        metavar="N",
        help=f"parallel requests to a host whose delay is 0 (default {1 if of_topic else 8})",
    )
    parser.add_argument("--trap-pages", type=int, metavar="N", help=TRAP_HELP)
    parser.add_argument(
        "--keep-raw",
        choices=[str(keep) for keep in KeepRaw],
        help="raw pages to keep (default all; sample: one in 16); learning needs them",
    )
    parser.add_argument(
        "--allow-private",
        action="store_true",
        default=None,
        help="also fetch loopback and private addresses",
    )
    parser.add_argument("--images", action="store_true", default=None, help=IMAGES_HELP)
    parser.add_argument("--keep-fresh", action="store_true", default=None, help=KEEP_FRESH_HELP)
    parser.add_argument(
        "--contact", metavar="ADDRESS", help="your address, sent to site owners in the user agent"
    )
    parser.add_argument(
        "--workers", type=int, metavar="N", help="cleaning processes (default cores - 1)"
    )
    parser.add_argument("--fresh", action="store_true", help="start over instead of resuming")


def takes_crawl_file(parser: argparse.ArgumentParser) -> None:
    """Marks a command of which an argument may be a crawl file."""
    parser.set_defaults(crawl_file=None)


def crawl_file_of(arguments: argparse.Namespace) -> CrawlFile | None:
    """Reads the crawl file that `run` or `sites` is given; None: there is none.

    Raises:
        ConfigError: The file is wrong, or there are two.
    """
    from crawlclean.workers.crawl_file.crawl_file import is_crawl_file, load_crawl_file

    named = arguments.urls if arguments.command == "run" else [arguments.list]
    files = [Path(each) for each in named if is_crawl_file(each)]
    if len(files) > 1:
        raise ConfigError(f"{files[0]} and {files[1]}: one crawl file at a time")
    return load_crawl_file(files[0]) if files else None


def status_of(ends: Collection[EndedBy], *, has_records: bool) -> Exit:
    """Returns the exit status of crawls that ended for these causes.

    Args:
        ends: Cause of the end of each crawl.
        has_records: Whether any of them has a record.
    """
    from crawlclean.workers.answers.crawls import EndedBy

    if EndedBy.SIGNAL in ends:
        return Exit.INTERRUPTED
    if any(each not in (EndedBy.DONE, EndedBy.PURGE) for each in ends):
        return Exit.URLS_LEFT
    return Exit.DONE if has_records else Exit.FAILED


# `run`: crawls from seed URLs to clean records, in one command.


@command(
    "Crawls from the URLs until no URL is left or a limit is reached. Starts the queue, the "
    "spider and the workers, and stops them at the end. Ctrl-C finishes the pages in flight "
    "and stops; a second Ctrl-C stops at once. The same command resumes the crawl, also after "
    "a crash.",
    JSON,
    add_host_options,
    argument(
        "urls",
        nargs="+",
        metavar="URL|FILE.toml",
        help="seed URL; or a crawl file (see `doctor`): URLs beside it replace its seeds",
    ),
    argument(
        "--crawl",
        default="",
        type=crawl_name,
        metavar="NAME",
        help="name of the crawl (default: made from the URLs)",
    ),
    add_limits,
    takes_crawl_file,
)
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
        ended = run_crawl(settings, spec, progress, fresh=arguments.fresh, file=file)
    return print_crawl(settings, ended, as_json=arguments.json)


def print_crawl(settings: Settings, ended: Ended, *, as_json: bool) -> int:
    """Prints how a crawl ended; returns the exit status of its command."""
    from crawlclean.workers.output.printing import print_answer

    result, failures = ended
    if as_json:
        seconds = round(result.seconds, 1)
        print_answer(replace(result, why=result.why or "done", seconds=seconds))
    if result.state is CrawlState.PURGED:
        sys.stderr.write(f"{told(result.why)}\n")
        return 0
    if not as_json:
        _print_summary(settings, result)
    _print_causes(result, failures)
    return status_of([result.ended_by], has_records=bool(result.records or result.why))


def _print_summary(settings: Settings, result: RunSummary) -> None:
    """One line, and some about what the crawl brought and about paused hosts."""
    from msgspec import UNSET

    from crawlclean.workers.operations.controlling.crawl_states import paused_line
    from crawlclean.workers.operations.crawling.outcome import CrawlOutcome
    from crawlclean.workers.output.outcome_report import outcome_lines
    from crawlclean.workers.output.printing import write_lines

    pictures = ""
    if result.images is not UNSET:
        pictures = say(" and {images}", images=counted(result.images, "image"))
    outcome = CrawlOutcome(
        stored=result.stored,
        failed=result.failed_by_cause,
        concerns=result.concerns,
        kept=result.kept_records,
    )
    line = say(
        "{result.records} records{pictures} of {hosts} in {place}, {result.new_records} of them "
        "new, {result.failed} failed, {time}{why}",
        result=result,
        pictures=pictures,
        hosts=counted(result.hosts, "host"),
        place=settings.storage.place,
        time=duration(result.seconds),
        why=say("; {why}", why=told(result.why)) if result.why else "",
    )
    sys.stdout.write(line + "\n")
    write_lines(outcome_lines(outcome))
    if result.paused_hosts:
        sys.stdout.write(paused_line(result.paused_hosts) + "\n")


def _print_causes(result: RunSummary, failures: Sequence[UrlRow]) -> None:
    """Prints to standard error why seeds failed; without any record, why each URL failed."""
    for failure in failures:
        why = told(failure.detail) or term("reason", failure.reason)
        sys.stderr.write(readable_line(failure.url + say(": ") + why) + "\n")
    if result.records == 0 and not failures and not result.why:
        sys.stderr.write(say("nothing was stored; `why URL` shows the steps of a seed") + "\n")


# `sites`: crawls a list of sites in parallel, each as a separate crawl, with a report.

REASON_COLUMNS = 76  # a line of 80 columns, indented
HEAD = {"RECORDS": 9, "FAILED": 7, "BODY CHARS": 13, "NOISE": 5, "MODEL": 5, "TIME": 6, "SITE": 0}
"""Names of the columns, and how wide they are: the name, or a million with its commas."""


@command(
    "Crawls the sites of a list in parallel, each until no URL is left or a limit is reached, "
    "and prints a report for each site. Limits count for each site. Ctrl-C finishes the pages "
    "in flight and stops. The same command resumes; finished sites are skipped.",
    JSON,
    add_host_options,
    argument(
        "list",
        nargs=None,
        type=Path,
        metavar="FILE",
        help="one URL per line, # begins a comment; or a crawl file, FILE.toml (see `doctor`)",
    ),
    argument("--at-once", type=int, metavar="N", help=f"sites in parallel (default {AT_ONCE})"),
    add_limits,
    takes_crawl_file,
)
def sites(settings: Settings, arguments: argparse.Namespace) -> int:
    """Crawls every site of a list, prints the reports; fails when no site has a record.

    Raises:
        ConfigError: The list cannot be read, or has lines that are not URLs.
    """
    from crawlclean.workers.operations.crawling.many_crawls import run_sites
    from crawlclean.workers.operations.crawling.specs import check_ca_file, read_list, read_seeds
    from crawlclean.workers.output.outcome_report import outcome_lines
    from crawlclean.workers.output.printing import print_answer, write_lines

    file, at_once = arguments.crawl_file, arguments.at_once
    if at_once is None:
        at_once = file.values.get("at_once", AT_ONCE) if file else AT_ONCE
    if at_once < 1:
        raise ConfigError(f"--at-once is {at_once}: at least 1 is needed")
    check_ca_file(settings)
    urls, repeated = read_seeds(settings, file) if file else read_list(settings, arguments.list)
    with SitesProgress() as progress:
        if repeated:
            ignored = counted(repeated, "repeated line")
            progress.print_line(say("{lines} ignored", lines=ignored))
        reports, outcome = run_sites(
            settings, urls, at_once, progress, fresh=arguments.fresh, file=file
        )
    if arguments.json:
        for each in reports:
            print_answer(each)
    else:
        sys.stdout.write(reports_text(reports))
        write_lines(outcome_lines(outcome))
    ends = {each.ended_by for each in reports}
    return status_of(ends, has_records=any(each.records for each in reports))


def reports_text(reports: Sequence[SiteReport]) -> str:
    """Returns a table: a line for each site, below it why the site ended early or is empty."""
    from crawlclean.workers.output.printing import clip, text_width

    heads = {say(name): width for name, width in HEAD.items()}
    *numbers, site = (" " * (width - text_width(name)) + name for name, width in heads.items())
    lines = [f"{' '.join(numbers)}  {site}\n"]
    for each in reports:
        time = short_duration(each.seconds) if each.seconds else "-"
        lines.append(
            f"{each.records:>9,} {each.failed:>7,} {each.body_chars:>13,} {each.noise_share:>5.0%} "
            f"{each.model_version or '-':>5} {time:>6}  {readable_line(each.url)}\n"
        )
        state = "" if each.state == CrawlState.FINISHED else term("state", each.state)
        reason = readable_line(say(": ").join(filter(None, (state, told(each.why)))))
        if reason:
            lines.append(f"    {clip(reason, REASON_COLUMNS)}\n")
    finished = sum(each.state == CrawlState.FINISHED for each in reports)
    stopped = sum(bool(each.why) and each.state != CrawlState.FINISHED for each in reports)
    empty = sum(not each.records for each in reports)
    records = sum(each.records for each in reports)
    line = say(
        "{n} of {sites} finished, {records}{empty}{stopped}",
        n=finished,
        sites=counted(len(reports), "site"),
        records=counted(records, "record"),
        empty=say(", {n} without records", n=empty) if empty else "",
        stopped=say("; {n} ended with URLs left", n=stopped) if stopped else "",
    )
    return "".join([*lines, line, "\n"])
