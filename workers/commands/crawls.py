"""`crawls`: lists crawls, and what their hosts wait for."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from crawlclean.cleaning.lexicon import counted, minute
from crawlclean.storage.crawl_types import CrawlState, UrlState
from crawlclean.workers.commands.arguments import Commands, add_json, crawl_name
from crawlclean.workers.config import Settings
from crawlclean.workers.control_characters import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlclean.workers.operations.controlling.crawls import CrawlStatus

MOST_HOSTS = 40  # in the table of `crawls CRAWL`
DROPPED = ("SEED", "STARTED", "IN FLIGHT", "FAILED")  # on narrow terminals, in this order
HOSTS_HEAD = ("HOST", "URLS", "NOW")
HEAD = ("CRAWL", "STATE", "RECORDS", "FAILED", "URLS LEFT", "IN FLIGHT", "STARTED", "SEED")


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    listing = commands.add(
        "crawls",
        run,
        "list the crawls, and what their hosts wait for",
        "Prints a line for each crawl, and what its hosts wait for while the queue runs. URLS LEFT "
        "are those that are not fetched yet, also of a crawl that is stopped; `-` while no queue "
        "runs. With CRAWL also a line for each host that has URLs left.",
    )
    add_json(listing)
    listing.add_argument(
        "crawl", nargs="?", default="", type=crawl_name, metavar="CRAWL", help="this crawl in full"
    )


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints every crawl with its state and counts."""
    from crawlclean.workers.operations.answering.crawls import crawl_line
    from crawlclean.workers.operations.controlling.crawl_states import list_pauses, paused_line
    from crawlclean.workers.operations.controlling.crawls import list_crawls
    from crawlclean.workers.output.printing import (
        print_answer,
        table,
        terminal_columns,
        write_lines,
    )

    crawls, pauses = list_crawls(settings, arguments.crawl), list_pauses(settings)
    if arguments.json:
        for each in crawls:
            name = each.row.spec.crawl_id
            paused = [pause.target for pause in pauses if name in pause.crawls]
            print_answer(crawl_line(each, paused, with_hosts=bool(arguments.crawl)))
        return 0
    rows: list[tuple[str, ...]] = [HEAD]
    for each in crawls:
        row, counts = each.row, each.counts
        patterns = (
            f"--{name} {pattern}"
            for name, of_name in (("include", row.spec.include), ("exclude", row.spec.exclude))
            for pattern in of_name
        )
        in_queue = (str(counts.pending), str(counts.in_flight)) if counts else ("-", "-")
        rows.append(
            (
                row.spec.crawl_id,
                str(each.state),
                *(str(row.pages.get(state, 0)) for state in (UrlState.RECORD, UrlState.FAILED)),
                *in_queue,
                minute(row.created_at),
                " ".join([*row.spec.seeds[:1], *patterns]) or "imported",
            )
        )
    sys.stdout.write(table(rows, terminal_columns(), drop=DROPPED))
    write_lines(_wait_lines(crawls))
    write_lines(_visit_lines(crawls))
    if arguments.crawl:
        sys.stdout.write(_host_table(crawls[0]))
    if paused := [pause.target for pause in pauses]:
        sys.stdout.write(paused_line(paused) + "\n")
    write_lines(_store_lines(crawls))
    return 0


def _store_lines(crawls: Sequence[CrawlStatus]) -> list[str]:
    """Which crawls another queue runs or the store has not, and how old its figures are."""
    from crawlclean.workers.operations.controlling.crawls import queue_text
    from crawlclean.workers.operations.hosts.hosts import as_of_text

    lines = [
        f"{each.row.spec.crawl_id} is only in the queue: the store does not have it"
        for each in crawls
        if each.row.created_at is None
    ]
    lines += [
        f"{each.row.spec.crawl_id} is of another queue: {queue_text(each.other_queue)}"
        for each in crawls
        if each.other_queue
    ]
    if crawls and crawls[0].as_of:
        lines.append(f"records and failures: {as_of_text(crawls[0].as_of)}")
    return lines


def _wait_lines(crawls: Sequence[CrawlStatus]) -> list[str]:
    """What the hosts of each running crawl wait for, then what holds all crawls back."""
    from crawlclean.workers.operations.controlling.crawls import hold_lines
    from crawlclean.workers.output.outcome_report import summary

    running = [each for each in crawls if each.waits and each.state is CrawlState.RUNNING]
    lines = [
        f"{each.row.spec.crawl_id}: {text}"
        for each in running
        if each.waits and (text := summary(each.waits))
    ]
    return lines + (hold_lines(running[-1].waits) if running and running[-1].waits else [])


def _visit_lines(crawls: Sequence[CrawlStatus]) -> list[str]:
    """When crawls that keep fresh go on: ``news: next visit at 14:05:09 UTC (in 2m07s)``."""
    from crawlclean.workers.output.outcome_report import visit_text

    lines = []
    for each in crawls:
        if each.next_visit is not None:
            counts = each.counts
            text = visit_text(each.next_visit, datetime.now(UTC))
            if counts and counts.revisits:
                text = f"{counted(counts.revisits, 'due page')} waiting"
            done = f", {counts.revisited:,} visited again" if counts and counts.revisited else ""
            lines.append(f"{each.row.spec.crawl_id}: {text}{done}")
    return lines


def _host_table(crawl: CrawlStatus) -> str:
    """The hosts of a crawl that have URLs left, most URLs first; the last line counts the rest."""
    from crawlclean.workers.operations.answering.waits import hosts_left
    from crawlclean.workers.output.outcome_report import wait_text
    from crawlclean.workers.output.printing import table, terminal_columns, wrap

    if not crawl.waits:
        return ""
    hosts = sorted(hosts_left(crawl.waits), key=lambda wait: (-wait.urls, wait.host))
    rows = [
        (wait.host, str(wait.urls), wait_text(wait, crawl.waits.at)) for wait in hosts[:MOST_HOSTS]
    ]
    more = len(hosts) - len(rows) + crawl.waits.known - len(crawl.waits.hosts)
    end = f"{counted(more, 'more host')}; `crawls {crawl.row.spec.crawl_id} --json` "
    end += "has all that were read\n"
    text = table([HOSTS_HEAD, *rows]) if rows else ""
    columns = terminal_columns()
    if columns and max(map(len, text.splitlines()), default=0) > columns:
        text = ""
        for host, urls, now in rows:
            lines = wrap(now, columns - 2)
            text += f"{host}  {counted(int(urls), 'URL')}\n" + "".join(
                f"  {line}\n" for line in lines
            )
    return printable(text, keep_lines=True) + (end if more else "")
