"""`config`, `metrics`, `doctor`, `config schema`: what is set, counted, wrong here, and printed."""

from __future__ import annotations

import argparse
import json
import sys
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from crawlclean.workers.commands.arguments import JSON, Exit, Rows, argument, asking, command
from crawlclean.workers.commands.names import OLD_NAMES
from crawlclean.workers.config import Settings, rows, variable
from crawlclean.workers.spoken import counted, duration, explained, say, told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawlclean.workers.answers.control import FileCheck, PlannedCrawl
    from crawlclean.workers.operations.backends import Backends

# `config` and `metrics`: all settings with values, all counters in Prometheus' format.


@asking("Lists all settings and their values.")
def config(backends: Backends, _asked: argparse.Namespace) -> Rows:
    """Every setting with its variable, value and meaning."""
    from crawlclean.workers.answers.control import SettingLine

    found = [
        SettingLine(section=section, variable=variable(name), value=value, meaning=meaning)
        for section, name, value, meaning in rows(backends.settings)
    ]

    def shown(setting: SettingLine) -> str:
        return f"{setting.variable}={setting.value}\n    {explained(setting.meaning)}\n"

    def text(_: object) -> str:
        return "".join(
            f"[{section}]\n" + "".join(map(shown, some))
            for section, some in groupby(found, attrgetter("section"))
        )

    return Rows(found=found, text=text)


@command()
def metrics(settings: Settings, _arguments: argparse.Namespace) -> int:
    """Prints every counter and gauge."""
    from crawlclean.workers.metrics import read_metrics
    from crawlclean.workers.operations.backends import Backends

    with Backends(settings) as backends, backends.queue(at_rest=True) as frontier:
        sys.stdout.write(read_metrics(frontier, settings.storage))
    return 0


# `doctor`: checks whether this machine can run everything, or a file of the operator.

MOST_SEEDS_SHOWN = 3  # enough to know the list by; the line stays a line
MAX_PROBLEMS_SHOWN = 50  # a screen; a file that is no list at all has one a line
KINDS = {
    "crawl": "a crawl file",
    "hosts": "a hosts file",
    "sites": "a list of sites",
    "unreadable": "cannot be read",
}


@command(
    "Prints a line for each check: ok, WARN (crawls run, and you should know this) or FAIL "
    "(crawls do not run; exit status 1). With FILE reads a crawl file (TOML with everything "
    "that `run` and `sites` take), a hosts file or a list of sites without crawling: prints "
    "each error and warning with its line, and what would be crawled. Exit status 2: the file "
    "has errors.",
    JSON,
    argument(
        "file",
        default=None,
        type=Path,
        metavar="FILE",
        help="check this file instead of the machine",
    ),
    argument("--example", action="store_true", help="print a crawl file with every key, explained"),
    argument(
        "--allow-private",
        action="store_true",
        default=None,
        help="as for `run`: seeds may be loopback and private addresses",
    ),
)
def doctor(settings: Settings, arguments: argparse.Namespace) -> int:
    """Checks the machine or a file, or prints an example of one."""
    if arguments.example:
        from crawlclean.workers.crawl_file.crawl_file import example

        sys.stdout.write(example())
        return Exit.DONE
    if arguments.file is not None:
        return _check_file(settings, arguments.file, as_json=arguments.json)
    return _check_machine(settings, as_json=arguments.json)


def _check_machine(settings: Settings, *, as_json: bool) -> int:
    """Prints a line for every check; returns FAILED when a check fails."""
    from crawlclean.workers.answers.control import CheckStatus
    from crawlclean.workers.control_characters import printable
    from crawlclean.workers.operations.machine import check_machine
    from crawlclean.workers.output.printing import padded, print_answer

    marks = {CheckStatus.OK: "ok", CheckStatus.WARNING: "WARN", CheckStatus.FAILED: "FAIL"}
    status = Exit.DONE
    for check in check_machine(settings):
        if as_json:
            print_answer(check)
        else:
            mark = padded(say(marks[check.status]), 5)
            line = f"{mark} {padded(say(check.name), 13)} {told(check.detail)}"
            sys.stdout.write(printable(line) + "\n")
        status = Exit.FAILED if check.status is CheckStatus.FAILED else status
    return status


def _check_file(settings: Settings, path: Path, *, as_json: bool) -> int:
    """Prints the problems of a file and the crawl that it describes; 2 when it has errors."""
    from crawlclean.workers.control_characters import readable_line
    from crawlclean.workers.operations.files.file_checking import check_file
    from crawlclean.workers.output.printing import print_answer

    found = check_file(settings, path)
    if as_json:
        print_answer(found)
    else:
        sys.stdout.write("".join(readable_line(line) + "\n" for line in _lines(found)))
    return Exit.WRONG_USE if found.has_errors else Exit.DONE


def _lines(found: FileCheck) -> Iterator[str]:
    for each in found.problems[:MAX_PROBLEMS_SHOWN]:
        place = f"{found.file}:{each.line}" if each.line else found.file
        yield f"{place}: {say('warning: ') if each.is_warning else ''}{told(each.text)}"
    if len(found.problems) > MAX_PROBLEMS_SHOWN:
        more = len(found.problems) - MAX_PROBLEMS_SHOWN
        yield say("and {n} more (--json has all)", n=more)
    errors = sum(not each.is_warning for each in found.problems)
    warnings = len(found.problems) - errors
    counts = counted(errors, "error"), counted(warnings, "warning")
    yield f"{found.file}: " + say(", ").join([say(KINDS[found.kind]), *counts])
    if found.crawl:
        yield from _plan(found.crawl)


def _plan(crawl: PlannedCrawl) -> Iterator[str]:
    """Yields what would be crawled, a line for each question."""
    shown = " ".join(crawl.seeds[:MOST_SEEDS_SHOWN])
    more = len(crawl.seeds) - MOST_SEEDS_SHOWN
    yield _answer("from", shown + (say(" and {n} more", n=more) if more > 0 else ""))
    if crawl.crawl:
        yield _answer("as", crawl.crawl)
    follows = say(FOLLOWED[crawl.scope])
    if crawl.max_depth is not None:
        follows += say(", at most {links} deep", links=counted(crawl.max_depth, "link"))
    yield _answer("follows", follows + (say(", and content images") if crawl.images else ""))
    if crawl.include:
        yield _answer("only", "  ".join(crawl.include))
    if crawl.exclude:
        yield _answer("never", "  ".join(crawl.exclude))
    limits = [] if crawl.max_pages is None else [counted(crawl.max_pages, "record")]
    limits += [] if crawl.max_time_s is None else [duration(crawl.max_time_s)]
    last = "on Ctrl-C; it visits pages again" if crawl.keep_fresh else "when no URL is left"
    ends = say(" or ").join(say("after {limit}", limit=each) for each in limits)
    yield _answer("stops", ends or say(last))
    pause = say("the default pause")
    if crawl.delay_s is not None:
        pause = say("a pause of {s:g} s", s=crawl.delay_s)
    asks = say("one request at a time to a host, then {pause}", pause=pause)
    if crawl.hosts:
        asks += say("; {tables} of single hosts", tables=counted(crawl.hosts, "table"))
    yield _answer("asks", asks)
    place = crawl.data or "MongoDB"
    yield _answer("stores", say("in {place}; raw pages: {kept}", place=place, kept=crawl.keep_raw))


FOLLOWED = {
    "host": "links to the same host",
    "domain": "links to the same domain",
    "any": "links to any host",
}


def _answer(question: str, text: str) -> str:
    """``  from     https://example.com/``."""
    from crawlclean.workers.output.printing import padded

    return f"  {padded(say(question), 8)} {text}"


# `config schema`: prints the JSON Schema of what a command prints with `--json`.


@command(
    "Prints the JSON Schema (2020-12) of one line that COMMAND prints with --json; of records, "
    "too: `config schema export`. Without COMMAND: a line for each command that has "
    "JSON. `docs/json.md` explains the fields, and what stays as it is in later versions.",
    argument("of", nargs="*", default=[], metavar="COMMAND"),
    data=False,
)
def schema(_settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints one schema, or the commands that have one.

    Raises:
        NotFound: The command has no JSON.
    """
    from crawlclean.workers.answers.schema import ANSWERS, schema_of, summary

    if typed := " ".join(arguments.of):
        name, _, _ = OLD_NAMES.get(typed, typed).partition(" --")
        schema = {**schema_of(name), "title": typed}
        sys.stdout.write(json.dumps(schema, indent=2, ensure_ascii=False) + "\n")
        return 0
    for name, types in ANSWERS.items():
        sys.stdout.write(f"{name:<16} {summary(types[0])}\n")
    return 0
