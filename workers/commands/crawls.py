"""`crawls`, `pause`, `resume`, `stop`, `purge`: lists crawls and changes their state."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from storage.crawl_types import CrawlState, UrlState
from workers.commands.arguments import Commands, add_json
from workers.config import Settings

if TYPE_CHECKING:
    from workers.answers.crawls import CrawlLine
    from workers.operations.crawls import CrawlStatus

HEAD = ("CRAWL", "STATE", "RECORDS", "FAILED", "WAITING", "IN FLIGHT", "STARTED", "SEED")
STATES = {
    "pause": CrawlState.PAUSED,
    "resume": CrawlState.RUNNING,
    "stop": CrawlState.STOPPED,
}


def register(commands: Commands) -> None:
    """Adds the five commands and their arguments."""
    add_json(commands.add("crawls", run, "list the crawls"))
    for name, summary in (
        ("pause", "fetch nothing until `resume`"),
        ("resume", "end a pause"),
        ("stop", "end a crawl; `run` with the same URLs resumes it"),
    ):
        parser = commands.add(name, run_change, f"{summary} (a crawl or a host)")
        parser.add_argument("target", metavar="CRAWL|HOST")
    parser = commands.add(
        "purge",
        run_purge,
        "delete a crawl or a host, records too",
        "Deletes the queued URLs and the records of a crawl, or of a host in every crawl; of a "
        "host also its models. The crawls of a purged host still know its URLs: only `run "
        "--fresh` fetches them again.",
    )
    parser.add_argument("target", metavar="CRAWL|HOST")
    parser.add_argument("--keep-records", action="store_true", help="delete only the queued URLs")


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints every crawl with its state and counts."""
    from workers.operations.crawls import list_crawls
    from workers.operations.hosts import list_paused
    from workers.output.printing import paused_line, print_answer, table

    found = list_crawls(settings)
    if arguments.json:
        for each in found:
            print_answer(_crawl_line(each))
        return 0
    rows: list[tuple[str, ...]] = [HEAD]
    for each in found:
        row, counts = each.row, each.counts
        in_queue = (str(counts.pending), str(counts.in_flight)) if counts else ("-", "-")
        rows.append(
            (
                row.spec.crawl_id,
                str(each.state),
                *(str(row.pages.get(state, 0)) for state in (UrlState.RECORD, UrlState.FAILED)),
                *in_queue,
                f"{row.created_at:%Y-%m-%d %H:%M}",
                row.spec.seeds[0] if row.spec.seeds else "imported",
            )
        )
    sys.stdout.write(table(rows))
    if paused := list_paused(settings):
        sys.stdout.write(paused_line(paused) + "\n")
    return 0


def run_change(settings: Settings, arguments: argparse.Namespace) -> int:
    """Pauses, resumes or stops a crawl or a host, by the name of the command."""
    from workers.operations.crawls import change_state

    target, state = arguments.target, STATES[arguments.command]
    now = change_state(settings, target, state)
    if now is state:
        sys.stdout.write(f"crawl {target} is {state}\n")
    elif now is CrawlState.FINISHED:
        sys.stdout.write(f"crawl {target} is finished; `run --fresh` fetches all of it again\n")
    elif now:
        sys.stdout.write(
            f"crawl {target} is {now}, nothing runs it; `run` with the same URLs resumes it\n"
        )
    elif state is CrawlState.RUNNING:
        sys.stdout.write(f"host {target} is resumed\n")
    else:
        sys.stdout.write(f"host {target} is paused; `resume {target}` ends the pause\n")
    return 0


def run_purge(settings: Settings, arguments: argparse.Namespace) -> int:
    """Deletes a crawl or a host."""
    from workers.operations.crawls import purge

    target = arguments.target
    done = purge(settings, target, keep_records=arguments.keep_records)
    sys.stdout.write(f"deleted {done.urls} queued URLs and {done.records} records of {target}\n")
    return 0


def _crawl_line(crawl: CrawlStatus) -> CrawlLine:
    """One crawl; the queue's counts only while the queue runs."""
    from msgspec import UNSET

    from workers.answers.crawls import CrawlLine

    row, counts = crawl.row, crawl.counts
    return CrawlLine(
        crawl=row.spec.crawl_id,
        state=crawl.state,
        records=row.pages.get(UrlState.RECORD, 0),
        failed=row.pages.get(UrlState.FAILED, 0),
        pages=dict(row.pages),
        created_at=row.created_at,
        seeds=tuple(row.spec.seeds),
        waiting=counts.pending if counts else UNSET,
        in_flight=counts.in_flight if counts else UNSET,
        hosts=counts.hosts if counts else UNSET,
        waiting_in_store=counts.spilled if counts else UNSET,
    )
