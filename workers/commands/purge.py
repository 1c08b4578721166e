"""`purge`: deletes a crawl or a host, after a question."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.lexicon import counted
from crawlclean.workers.commands.arguments import Commands, Exit, add_json, crawl_name
from crawlclean.workers.config import Settings

if TYPE_CHECKING:
    from crawlclean.workers.answers.control import PurgePlan


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "purge",
        run,
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


def run(settings: Settings, arguments: argparse.Namespace) -> int:
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
