"""`sites`: crawls a list of sites in parallel, each as a separate crawl, with a report."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.lexicon import counted
from crawlclean.storage.crawl_types import CrawlState
from crawlclean.workers.commands.arguments import Commands, add_host_options, add_json
from crawlclean.workers.commands.crawl_limits import add_limits, status_of
from crawlclean.workers.config import Settings
from crawlclean.workers.control_characters import readable_line
from crawlclean.workers.crawl_file.crawl_file import AT_ONCE
from crawlclean.workers.output.progress import SitesProgress, duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlclean.workers.answers.crawls import SiteReport

REASON_CHARS = 76
HEAD = (
    f"{'RECORDS':>9} {'FAILED':>7} {'BODY CHARS':>13} {'NOISE':>5} {'MODEL':>5} {'TIME':>6}  SITE\n"
)


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "sites",
        run,
        "crawl a list of sites, each as a separate crawl",
        "Crawls the sites of a list in parallel, each until no URL is left or a limit is reached, "
        "and prints a report for each site. Limits count for each site. Ctrl-C finishes the pages "
        "in flight and stops. The same command resumes; finished sites are skipped.",
    )
    add_json(parser)
    add_host_options(parser)
    parser.add_argument(
        "list",
        type=Path,
        metavar="FILE",
        help="one URL per line, # begins a comment; or a crawl file, FILE.toml (see `check`)",
    )
    parser.add_argument(
        "--at-once", type=int, metavar="N", help=f"sites in parallel (default {AT_ONCE})"
    )
    add_limits(parser)
    parser.set_defaults(crawl_file=None)


def run(settings: Settings, arguments: argparse.Namespace) -> int:
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
            progress.print_line(f"{counted(repeated, 'repeated line')} ignored")
        reports, outcome = run_sites(settings, urls, at_once, progress, fresh=arguments.fresh)
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
    lines = [HEAD]
    for each in reports:
        time = duration(each.seconds) if each.seconds else "-"
        lines.append(
            f"{each.records:>9,} {each.failed:>7,} {each.body_chars:>13,} {each.noise_share:>5.0%} "
            f"{each.model_version or '-':>5} {time:>6}  {readable_line(each.url)}\n"
        )
        state = "" if each.state == CrawlState.FINISHED else each.state
        reason = readable_line(": ".join(filter(None, (state, each.why))))
        if reason:
            lines.append(f"    {reason[:REASON_CHARS]}\n")
    finished = sum(each.state == CrawlState.FINISHED for each in reports)
    stopped = sum(bool(each.why) and each.state != CrawlState.FINISHED for each in reports)
    empty = sum(not each.records for each in reports)
    records = sum(each.records for each in reports)
    lines.append(
        f"{finished} of {counted(len(reports), 'site')} finished, {counted(records, 'record')}"
        + (f", {empty} without records" if empty else "")
        + (f"; {stopped} ended with URLs left" if stopped else "")
        + "\n"
    )
    return "".join(lines)
