"""`crawls`, `pause`, `resume`, `stop`, `purge`: lists crawls and changes their state."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from storage.crawl_types import CrawlState
from workers.commands.arguments import Commands, add_json
from workers.config import Settings

if TYPE_CHECKING:
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
    from workers.output.printing import paused_line, print_json, table

    found = [_crawl_json(crawl) for crawl in list_crawls(settings)]
    if arguments.json:
        for each in found:
            print_json(each)
        return 0
    rows = [HEAD]
    for each in found:
        numbers = (
            str(each.get(name, "-")) for name in ("records", "failed", "waiting", "in_flight")
        )
        started = f"{each['created_at'][:10]} {each['created_at'][11:16]}"
        seed = each["seeds"][0] if each["seeds"] else "imported"
        for name in ("include", "exclude"):
            seed += "".join(f" --{name} {pattern}" for pattern in each[name])
        rows.append((each["crawl"], each["state"], *numbers, started, seed))
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


def _crawl_json(crawl: CrawlStatus) -> dict[str, Any]:
    """One crawl as JSON values; ``waiting`` and ``in_flight`` only while its queue runs."""
    row, counts = crawl.row, crawl.counts
    pages = {str(state): n for state, n in row.pages.items()}
    values: dict[str, Any] = {
        "crawl": row.spec.crawl_id,
        "state": str(crawl.state),
        "records": pages.get("record", 0),
        "failed": pages.get("failed", 0),
        "pages": pages,
        "created_at": row.created_at.isoformat(),
        "seeds": list(row.spec.seeds),
        "include": list(row.spec.include),
        "exclude": list(row.spec.exclude),
    }
    if counts:
        values |= {"waiting": counts.pending, "in_flight": counts.in_flight, "hosts": counts.hosts}
        values |= {"waiting_in_store": counts.spilled}
    return values
