"""`crawls`, and `crawl pause|resume|stop|purge|drop-raw`: crawls, and what is done with them."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.lexicon import minute
from crawlclean.storage.crawl_types import CrawlState, UrlState
from crawlclean.workers.commands.arguments import Exit, Rows, argument, asking, crawl_name
from crawlclean.workers.control_characters import printable, readable_line
from crawlclean.workers.spoken import counted, say, term

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawlclean.workers.answers.control import PurgePlan, StateChange
    from crawlclean.workers.operations.backends import Backends
    from crawlclean.workers.operations.controlling.crawls import CrawlStatus


# `crawls`: lists crawls, and what their hosts wait for.

MOST_HOSTS = 40  # in the table of `crawls CRAWL`
HEAD = ("CRAWL", "STATE", "RECORDS", "FAILED", "URLS LEFT", "IN FLIGHT", "STARTED", "SEED")


@asking(
    "Prints a line for each crawl, and what its hosts wait for while the queue runs. URLS LEFT "
    "are those that are not fetched yet, also of a crawl that is stopped; `-` while no queue "
    "runs. With CRAWL also a line for each host that has URLs left.",
    argument("crawl", type=crawl_name, metavar="CRAWL", help="this crawl in full"),
)
def crawls(backends: Backends, asked: argparse.Namespace) -> Rows:
    """Every crawl with its state and counts."""
    from crawlclean.workers.operations.controlling.crawl_states import paused_line
    from crawlclean.workers.operations.controlling.crawls import (
        crawl_line,
        crawls_in_full,
        list_pauses,
    )

    found, pauses = crawls_in_full(backends, asked.crawl), list_pauses(backends)
    if asked.json:
        with_hosts = bool(asked.crawl)
        return Rows(found=[crawl_line(each, pauses, with_hosts=with_hosts) for each in found])
    about = [*_wait_lines(found), *_visit_lines(found)]
    about += _host_lines(found[0]) if asked.crawl else []
    about += [paused_line([pause.target for pause in pauses])] if pauses else []
    about += _store_lines(found)
    return Rows(
        found=found,
        head=HEAD,
        row=_row,
        drop=("SEED", "STARTED", "IN FLIGHT", "FAILED"),
        empty="  ".join(map(say, HEAD)),
        last="\n".join(map(readable_line, about)),
    )


def _row(each: CrawlStatus) -> tuple[str, ...]:
    row, counts, spec = each.row, each.counts, each.row.spec
    patterns = [f"--include {pattern}" for pattern in spec.include]
    patterns += [f"--exclude {pattern}" for pattern in spec.exclude]
    return (
        each.name,
        term("state", each.state),
        *(str(row.pages.get(state, 0)) for state in (UrlState.RECORD, UrlState.FAILED)),
        *((str(counts.pending), str(counts.in_flight)) if counts else ("-", "-")),
        minute(row.created_at),
        " ".join([*spec.seeds[:1], *patterns]) or say("imported"),
    )


def _store_lines(crawls: Sequence[CrawlStatus]) -> Iterator[str]:
    """Which crawls another queue runs or the store has not, and how old its figures are."""
    from crawlclean.workers.operations.controlling.crawls import queue_text
    from crawlclean.workers.operations.hosts.hosts import as_of_text

    for each in crawls:
        if each.row.created_at is None:
            yield say("{crawl} is only in the queue: the store does not have it", crawl=each.name)
    for each in crawls:
        if each.other_queue:
            queue = queue_text(each.other_queue)
            yield say("{crawl} is of another queue: {queue}", crawl=each.name, queue=queue)
    if crawls and crawls[0].as_of:
        yield say("records and failures: {as_of}", as_of=as_of_text(crawls[0].as_of))


def _wait_lines(crawls: Sequence[CrawlStatus]) -> Iterator[str]:
    """What the hosts of each running crawl wait for, then what holds all crawls back."""
    from crawlclean.workers.operations.controlling.waits import hold_lines, summary

    waits = None
    for each in crawls:
        if each.waits and each.state is CrawlState.RUNNING:
            waits = each.waits
            if text := summary(waits):
                yield each.name + say(": ") + text
    yield from hold_lines(waits) if waits else ()


def _visit_lines(crawls: Sequence[CrawlStatus]) -> Iterator[str]:
    """When crawls that keep fresh go on: ``news: next visit at 14:05:09 UTC (in 2m07s)``."""
    from crawlclean.workers.operations.controlling.waits import visit_text

    for each in crawls:
        if each.next_visit is not None:
            counts = each.counts
            text = visit_text(each.next_visit, datetime.now(UTC))
            if counts and counts.revisits:
                text = say("{pages} waiting", pages=counted(counts.revisits, "due page"))
            revisited = counts.revisited if counts else 0
            done = say(", {n:,} visited again", n=revisited) if revisited else ""
            yield each.name + say(": ") + text + done


def _host_lines(crawl: CrawlStatus) -> list[str]:
    """The hosts of a crawl that have URLs left, most URLs first; the last line counts the rest."""
    from crawlclean.workers.operations.controlling.waits import hosts_left, wait_text
    from crawlclean.workers.output.printing import table, terminal_columns, text_width, wrap

    if not crawl.waits:
        return []
    hosts = sorted(hosts_left(crawl.waits), key=lambda wait: (-wait.urls, wait.host))
    rows = [
        (wait.host, str(wait.urls), wait_text(wait, crawl.waits.at)) for wait in hosts[:MOST_HOSTS]
    ]
    lines = table([("HOST", "URLS", "NOW"), *rows]).splitlines() if rows else []
    columns = terminal_columns()
    if columns and max(map(text_width, lines), default=0) > columns:
        lines = []
        for host, urls, now in rows:
            lines.append(f"{host}  {counted(int(urls), 'URL')}")
            lines += [f"  {line}" for line in wrap(now, columns - 2)]
    if more := len(hosts) - len(rows) + crawl.waits.known - len(crawl.waits.hosts):
        rest = "{hosts}; `crawls {crawl} --json` has all that were read"
        lines.append(say(rest, hosts=counted(more, "more host"), crawl=crawl.name))
    return lines


# `crawl pause|resume|stop`: change the state of a crawl or a host, or list what is paused.

_TARGET = argument("target", nargs=None, type=crawl_name, metavar="CRAWL|HOST")


@asking(
    "Fetches nothing of a crawl, or of a host in every crawl, until `crawl resume`. Without an "
    "argument: lists paused crawls and hosts.",
    argument("target", type=crawl_name, metavar="CRAWL|HOST"),
    argument("--why", default="", metavar="TEXT", help="why it is paused, for those who ask"),
)
def pause(backends: Backends, asked: argparse.Namespace) -> Rows:
    """A crawl or a host that is paused now; without a target the paused crawls, then hosts."""
    from crawlclean.workers.operations.controlling.crawls import all_paused

    if asked.target:
        return _changed(backends, asked, CrawlState.PAUSED, asked.why)
    return Rows(
        found=all_paused(backends),
        head=("PAUSED", "SINCE", "BY", "WHY", "CRAWLS"),
        row=lambda each: (
            f"{say(each.kind)} {each.target}",
            minute(each.since),
            printable(each.who or "-"),
            printable(each.why or "-"),
            " ".join(each.crawls) if each.kind == "host" else "",
        ),
        empty="nothing is paused",
        fit=False,
    )


@asking("", _TARGET)
def resume(backends: Backends, asked: argparse.Namespace) -> Rows:
    """A crawl or a host that goes on."""
    return _changed(backends, asked, CrawlState.RUNNING)


@asking("", _TARGET)
def stop(backends: Backends, asked: argparse.Namespace) -> Rows:
    """A crawl that has ended, or a host that is paused."""
    return _changed(backends, asked, CrawlState.STOPPED)


def _changed(
    backends: Backends, asked: argparse.Namespace, state: CrawlState, why: str = ""
) -> Rows:
    from crawlclean.workers.operations.controlling.crawl_states import change_state, this_user

    change = change_state(backends, asked.target, state, who=this_user(), why=why)
    return Rows(found=[change], lines=lambda each: [_line(each, asked.command)])


def _line(change: StateChange, command: str) -> str:
    """Describes the state after a command, which an ended crawl keeps."""
    target, state = change.target, change.state
    if change.kind == "host":
        if state is CrawlState.RUNNING:
            return say("host {host} is resumed", host=target)
        return say("host {host} is paused; `crawl resume {host}` ends the pause", host=target)
    told = "crawl {crawl} is {state}"
    if state is CrawlState.FINISHED:
        told = "crawl {crawl} is finished; the same command with --fresh fetches all of it again"
    elif change.has_reached_max_pages and command != "stop":
        told = (
            "crawl {crawl} has reached --max-pages; the same command with a larger one resumes it"
        )
    elif command == "resume" and state is CrawlState.STOPPED:
        told = "crawl {crawl} is stopped, nothing runs it; the same command resumes it"
    return say(told, crawl=target, state=term("state", state))


# `crawl purge`: deletes a crawl or a host, after a question.

_YES = argument("--yes", action="store_true", help="do not ask; needed where there is no terminal")


@asking(
    "Deletes the queued URLs and the records of a crawl, or of a host in every crawl; of a "
    "host also its models. Names the counts and asks first. The crawls of a purged host still "
    "know its URLs: only `run --fresh` fetches them again.",
    _TARGET,
    argument("--keep-records", action="store_true", help="delete only the queued URLs"),
    argument("--dry-run", action="store_true", help="print the counts, delete nothing"),
    _YES,
)
def purge(backends: Backends, asked: argparse.Namespace) -> Rows | int:
    """What was deleted, or would be; FAILED when the answer to the question is no.

    Raises:
        ConfigError: There is no terminal to ask on, and no ``--yes``.
    """
    from crawlclean.workers.operations.controlling import purging

    def planned(plan: PurgePlan) -> str:
        return _plan_line(plan, keep_records=asked.keep_records)

    def done(each: Any) -> str:
        urls, records = counted(each.urls, "queued URL"), counted(each.records, "record")
        told = "deleted {urls} and {records} of {target}"
        return say(told, urls=urls, records=records, target=each.target)

    if asked.dry_run or not asked.yes:
        plan = purging.plan_purge(backends, asked.target)
        if asked.dry_run:
            return Rows(found=[plan], lines=lambda each: [planned(each)])
        if not is_confirmed(planned(plan)):
            sys.stderr.write(say("nothing was deleted") + "\n")
            return Exit.FAILED
    found = purging.purge(backends, asked.target, keep_records=asked.keep_records)
    return Rows(found=[found], lines=lambda each: [done(each)])


def _plan_line(plan: PurgePlan, *, keep_records: bool) -> str:
    """Names what would be deleted: ``crawl news: 120 records, 3 failed URLs, 40 waiting URLs``."""
    parts = [counted(plan.records, "record"), counted(plan.failed, "failed URL")]
    if plan.model_versions:
        parts.append(counted(plan.model_versions, "version of its model", "versions of its model"))
    kept = say("; keeps {what}", what=say(", ").join(parts)) if keep_records else ""
    parts = [*([] if keep_records else parts), counted(plan.waiting, "waiting URL")]
    crawls = say(", ").join(plan.crawls)
    return say(
        "purge deletes of {kind} {target}{of}: {what}{kept}",
        kind=say(plan.kind),
        target=plan.target,
        of=say(" in {crawls}", crawls=crawls) if plan.kind == "host" else "",
        what=say(", ").join(parts),
        kept=kept,
    )


def is_confirmed(plan: str) -> bool:
    """Asks on the terminal.

    Raises:
        ConfigError: Standard input or standard error is no terminal.
    """
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        raise ConfigError(say("{plan}; without a terminal it needs --yes", plan=plan))
    sys.stderr.write(f"{printable(plan)}\n{say('This cannot be undone. Delete? [y/N] ')}")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


# `crawl drop-raw`: drops archived responses of a crawl or a host, after a question.


@asking(
    "Drops the archived responses of a crawl that is at rest, or of a host in every crawl. "
    "Records stay, and cannot be cleaned again. Names the bytes that come free and asks "
    "first. A crawl that waits for room goes on by itself.",
    _TARGET,
    argument("--dry-run", action="store_true", help="print the bytes, drop nothing"),
    _YES,
)
def drop_raw(backends: Backends, asked: argparse.Namespace) -> Rows | int:
    """What was dropped, or would be; FAILED when the answer to the question is no.

    Raises:
        ConfigError: There is no terminal to ask on, and no ``--yes``.
    """
    from crawlclean.workers.operations.controlling import purging

    found = purging.drop_raw(backends, asked.target, dry_run=True)
    line = say(
        "{found.responses:,} archived responses of {found.target}, {found.freed_bytes:,} bytes",
        found=found,
    )
    if not asked.dry_run:
        if not asked.yes and not is_confirmed(say("drop-raw drops {what}", what=line)):
            sys.stderr.write(say("nothing was dropped") + "\n")
            return Exit.FAILED
        found = purging.drop_raw(backends, asked.target)
    told = say("would drop {what}" if asked.dry_run else "dropped {what}", what=line)
    return Rows(found=[found], lines=lambda _: [told])
