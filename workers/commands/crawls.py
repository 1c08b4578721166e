"""`crawls`, `pause`, `resume`, `stop`, `purge`, `drop-raw`: crawls, and what is done with them."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.lexicon import counted, minute
from crawlclean.storage.crawl_types import CrawlState, UrlState
from crawlclean.workers.commands.arguments import Commands, Exit, add_json, crawl_name
from crawlclean.workers.config import Settings
from crawlclean.workers.control_characters import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlclean.workers.answers.control import PurgePlan, StateChange
    from crawlclean.workers.operations.controlling.crawls import CrawlStatus


# `crawls`: lists crawls, and what their hosts wait for.

MOST_HOSTS = 40  # in the table of `crawls CRAWL`
DROPPED = ("SEED", "STARTED", "IN FLIGHT", "FAILED")  # on narrow terminals, in this order
HOSTS_HEAD = ("HOST", "URLS", "NOW")
HEAD = ("CRAWL", "STATE", "RECORDS", "FAILED", "URLS LEFT", "IN FLIGHT", "STARTED", "SEED")


def register_crawls(commands: Commands) -> None:
    """Adds the command and its arguments."""
    listing = commands.add(
        "crawls",
        run_crawls,
        "list the crawls, and what their hosts wait for",
        "Prints a line for each crawl, and what its hosts wait for while the queue runs. URLS LEFT "
        "are those that are not fetched yet, also of a crawl that is stopped; `-` while no queue "
        "runs. With CRAWL also a line for each host that has URLs left.",
    )
    add_json(listing)
    listing.add_argument(
        "crawl", nargs="?", default="", type=crawl_name, metavar="CRAWL", help="this crawl in full"
    )


def run_crawls(settings: Settings, arguments: argparse.Namespace) -> int:
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


# `pause`, `resume`, `stop`: change the state of a crawl or a host, or list what is paused.

STATES = {
    "pause": CrawlState.PAUSED,
    "resume": CrawlState.RUNNING,
    "stop": CrawlState.STOPPED,
}
PAUSED_HEAD = ("PAUSED", "SINCE", "BY", "WHY", "CRAWLS")


def register_crawl_states(commands: Commands) -> None:
    """Adds the three commands and their arguments."""
    for name, summary, description in (
        (
            "pause",
            "fetch nothing of a crawl or a host until `resume`; list what is paused",
            "Fetches nothing of a crawl, or of a host in every crawl, until `resume`. Without an "
            "argument: lists paused crawls and hosts.",
        ),
        ("resume", "end a pause (a crawl or a host)", ""),
        ("stop", "end a crawl; the same command resumes it (a crawl or a host)", ""),
    ):
        parser = commands.add(name, run_crawl_states, summary, description)
        add_json(parser)
        optional = "?" if name == "pause" else None
        parser.add_argument(
            "target", nargs=optional, default="", type=crawl_name, metavar="CRAWL|HOST"
        )
        if name == "pause":
            parser.add_argument(
                "--why", default="", metavar="TEXT", help="why it is paused, for those who ask"
            )


def run_crawl_states(settings: Settings, arguments: argparse.Namespace) -> int:
    """Pauses, resumes or stops a crawl or a host; `pause` alone lists what is paused."""
    from crawlclean.workers.operations.controlling.crawl_states import change_state, this_user
    from crawlclean.workers.output.printing import print_answer, write_lines

    if not arguments.target:
        return _list_paused(settings, as_json=arguments.json)
    state = STATES[arguments.command]
    why = arguments.why if state is CrawlState.PAUSED else ""
    change = change_state(settings, arguments.target, state, who=this_user(), why=why)
    if arguments.json:
        print_answer(change)
    else:
        write_lines([_line(change, arguments.command)])
    return 0


def _list_paused(settings: Settings, *, as_json: bool) -> int:
    """Prints the paused crawls, then the paused hosts."""
    from crawlclean.workers.answers.control import Paused, TargetKind
    from crawlclean.workers.operations.controlling.crawl_states import list_pauses
    from crawlclean.workers.operations.controlling.crawls import list_crawls
    from crawlclean.workers.output.printing import print_answer, table

    crawls = [
        each.row.spec.crawl_id for each in list_crawls(settings) if each.state is CrawlState.PAUSED
    ]
    found = [
        Paused(kind=TargetKind.CRAWL, target=name, since=None, crawls=(name,)) for name in crawls
    ]
    found += list_pauses(settings)
    if as_json:
        for each in found:
            print_answer(each)
        return 0
    rows = [
        (
            f"{each.kind} {each.target}",
            minute(each.since),
            printable(each.who or "-"),
            printable(each.why or "-"),
            " ".join(each.crawls) if each.kind is TargetKind.HOST else "",
        )
        for each in found
    ]
    sys.stdout.write(table([PAUSED_HEAD, *rows]) if rows else "nothing is paused\n")
    return 0


def _line(change: StateChange, command: str) -> str:
    """Describes the state after a command, which an ended crawl keeps."""
    target, state = change.target, change.state
    if change.kind == "host":
        if state is CrawlState.RUNNING:
            return f"host {target} is resumed"
        return f"host {target} is paused; `resume {target}` ends the pause"
    if state is CrawlState.FINISHED:
        return f"crawl {target} is finished; the same command with --fresh fetches all of it again"
    if change.has_reached_max_pages and command != "stop":
        return (
            f"crawl {target} has reached --max-pages; the same command with a larger one resumes it"
        )
    if command == "resume" and state is CrawlState.STOPPED:
        return f"crawl {target} is stopped, nothing runs it; the same command resumes it"
    return f"crawl {target} is {state}"


# `purge`: deletes a crawl or a host, after a question.


def register_purge(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "purge",
        run_purge,
        "delete a crawl or a host, records too",
        "Deletes the queued URLs and the records of a crawl, or of a host in every crawl; of a "
        "host also its models. Names the counts and asks first. The crawls of a purged host still "
        "know its URLs: only `run --fresh` fetches them again.",
    )
    add_json(parser)
    parser.add_argument("target", type=crawl_name, metavar="CRAWL|HOST")
    parser.add_argument("--keep-records", action="store_true", help="delete only the queued URLs")
    parser.add_argument("--dry-run", action="store_true", help="print the counts, delete nothing")
    parser.add_argument(
        "--yes", action="store_true", help="do not ask; needed where there is no terminal"
    )


def run_purge(settings: Settings, arguments: argparse.Namespace) -> int:
    """Deletes a crawl or a host; returns FAILED when the answer to the question is no.

    Raises:
        ConfigError: There is no terminal to ask on, and no ``--yes``.
    """
    from crawlclean.workers.operations.controlling.purging import plan_purge, purge
    from crawlclean.workers.output.printing import print_answer, write_lines

    target, keep = arguments.target, arguments.keep_records
    if arguments.dry_run or not arguments.yes:
        plan = plan_purge(settings, target)
        if arguments.dry_run:
            if arguments.json:
                print_answer(plan)
            else:
                write_lines([_plan_line(plan, keep_records=keep)])
            return Exit.DONE
        if not is_confirmed(_plan_line(plan, keep_records=keep)):
            sys.stderr.write("nothing was deleted\n")
            return Exit.FAILED
    done = purge(settings, target, keep_records=keep)
    if arguments.json:
        print_answer(done)
    else:
        urls, records = counted(done.urls, "queued URL"), counted(done.records, "record")
        write_lines([f"deleted {urls} and {records} of {target}"])
    return Exit.DONE


def _plan_line(plan: PurgePlan, *, keep_records: bool) -> str:
    """Names what would be deleted: ``crawl news: 120 records, 3 failed URLs, 40 waiting URLs``."""
    parts = [counted(plan.records, "record"), counted(plan.failed, "failed URL")]
    if plan.model_versions:
        parts.append(counted(plan.model_versions, "version of its model", "versions of its model"))
    kept = f"; keeps {', '.join(parts)}" if keep_records else ""
    parts = [*([] if keep_records else parts), counted(plan.waiting, "waiting URL")]
    of = f" in {', '.join(plan.crawls)}" if plan.kind == "host" else ""
    return f"purge deletes of {plan.kind} {plan.target}{of}: {', '.join(parts)}{kept}"


def is_confirmed(plan: str) -> bool:
    """Asks on the terminal.

    Raises:
        ConfigError: Standard input or standard error is no terminal.
    """
    from crawlclean.workers.control_characters import printable

    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        raise ConfigError(f"{plan}; without a terminal it needs --yes")
    sys.stderr.write(f"{printable(plan)}\nThis cannot be undone. Delete? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


# `drop-raw`: drops archived responses of a crawl or a host, after a question.


def register_drop_raw(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "drop-raw",
        run_drop_raw,
        "drop archived responses to free room",
        "Drops the archived responses of a crawl that is at rest, or of a host in every crawl. "
        "Records stay, and cannot be cleaned again. Names the bytes that come free and asks "
        "first. A crawl that waits for room goes on by itself.",
    )
    add_json(parser)
    parser.add_argument("target", type=crawl_name, metavar="CRAWL|HOST")
    parser.add_argument("--dry-run", action="store_true", help="print the bytes, drop nothing")
    parser.add_argument(
        "--yes", action="store_true", help="do not ask; needed where there is no terminal"
    )


def run_drop_raw(settings: Settings, arguments: argparse.Namespace) -> int:
    """Drops responses; returns FAILED when the answer to the question is no.

    Raises:
        ConfigError: There is no terminal to ask on, and no ``--yes``.
    """
    from crawlclean.workers.operations.controlling.fetching_again import drop_raw, plan_drop
    from crawlclean.workers.output.printing import print_answer, write_lines

    found = plan_drop(settings, arguments.target)
    line = f"{found.responses:,} archived responses of {found.target}, {found.freed_bytes:,} bytes"
    if not arguments.dry_run:
        if not arguments.yes and not is_confirmed(f"drop-raw drops {line}"):
            sys.stderr.write("nothing was dropped\n")
            return Exit.FAILED
        found = drop_raw(settings, arguments.target)
    if arguments.json:
        print_answer(found)
    else:
        write_lines([f"{'would drop' if arguments.dry_run else 'dropped'} {line}"])
    return Exit.DONE
