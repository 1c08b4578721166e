"""`pause`, `resume`, `stop`: change the state of a crawl or a host, or list what is paused."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from crawlclean.cleaning.lexicon import minute
from crawlclean.storage.crawl_types import CrawlState
from crawlclean.workers.commands.arguments import Commands, add_json, crawl_name
from crawlclean.workers.config import Settings
from crawlclean.workers.control_characters import printable

if TYPE_CHECKING:
    from crawlclean.workers.answers.control import StateChange

STATES = {
    "pause": CrawlState.PAUSED,
    "resume": CrawlState.RUNNING,
    "stop": CrawlState.STOPPED,
}
HEAD = ("PAUSED", "SINCE", "BY", "WHY", "CRAWLS")


def register(commands: Commands) -> None:
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
        parser = commands.add(name, run, summary, description)
        add_json(parser)
        optional = "?" if name == "pause" else None
        parser.add_argument(
            "target", nargs=optional, default="", type=crawl_name, metavar="CRAWL|HOST"
        )
        if name == "pause":
            parser.add_argument(
                "--why", default="", metavar="TEXT", help="why it is paused, for those who ask"
            )


def run(settings: Settings, arguments: argparse.Namespace) -> int:
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
    sys.stdout.write(table([HEAD, *rows]) if rows else "nothing is paused\n")
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
