"""`hosts`, `classes`: statistics of hosts, and the URL classes of one."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from crawlclean.cleaning.errors import ConfigError, NotFound
from crawlclean.cleaning.lexicon import counted, minute
from crawlclean.cleaning.records import UrlKind
from crawlclean.workers.commands.arguments import Commands, add_json
from crawlclean.workers.config import Settings
from crawlclean.workers.control_characters import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlclean.cleaning.records import HostStats
    from crawlclean.workers.operations.hosts.classes import ClassSize


# `hosts`: the statistics of all hosts, or of one host in full.

MOST_CLASSES = 15  # of each crawl, below the figures of a host
DROPPED = ("LAST SEEN", "OTHER", "BODY CHARS", "NOISE LINKS")  # on narrow terminals
HEAD = ("HOST", "RECORDS", "FAILED", "OTHER", "BODY CHARS", "NOISE LINKS", "LAST SEEN")


def register_hosts(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "hosts",
        run_hosts,
        "statistics of hosts",
        "Counts stored rows. HOST shows one host in full: charts, images, model, changes of the "
        "site, URL classes. While a crawl runs, a last line (in JSON: `exact` is false) warns that "
        "the figures may still change, and has the time when they were computed (`as_of`).",
    )
    add_json(parser)
    parser.add_argument("host", nargs="?", default="", metavar="HOST")


def run_hosts(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints the statistics of all hosts, or one host in full."""
    if arguments.host:
        _print_host(settings, arguments.host, as_json=arguments.json)
    else:
        _print_hosts(settings, as_json=arguments.json)
    return 0


def _print_hosts(settings: Settings, *, as_json: bool) -> None:
    from crawlclean.workers.answers.hosts import HostLine
    from crawlclean.workers.answers.making import answer_of
    from crawlclean.workers.operations.controlling.crawl_states import list_pauses, paused_line
    from crawlclean.workers.operations.hosts.hosts import list_hosts
    from crawlclean.workers.output.outcome_report import kept_line
    from crawlclean.workers.output.printing import print_answer

    found = list_hosts(settings)
    if as_json:
        for stats in found.stats:
            print_answer(answer_of(HostLine, stats, as_of=found.as_of))
        return
    sys.stdout.write(_table(found.stats))
    if kept := sum(stats.kept_records for stats in found.stats):
        sys.stdout.write(kept_line(kept) + "\n")
    if paused := [pause.target for pause in list_pauses(settings)]:
        sys.stdout.write(paused_line(paused) + "\n")
    if found.moving:
        sys.stdout.write(printable(found.moving) + "\n")


def _print_host(settings: Settings, host: str, *, as_json: bool) -> None:
    from crawlclean.workers.operations.answering.hosts import host_in_full
    from crawlclean.workers.operations.controlling.crawl_states import (
        list_pauses,
        pause_text,
        paused_line,
    )
    from crawlclean.workers.operations.hosts.classes import find_classes
    from crawlclean.workers.operations.hosts.hosts import find_host
    from crawlclean.workers.output.host_report import classes_text, host_text
    from crawlclean.workers.output.image_report import image_requests
    from crawlclean.workers.output.printing import draw, print_answer

    found = find_host(settings, host)
    pause = next((each for each in list_pauses(settings) if each.target == host), None)
    if as_json:
        images = image_requests(found.images)
        print_answer(host_in_full(found, is_paused=pause is not None, images=images))
        return
    sys.stdout.write(draw(host_text(found), sys.stdout.encoding, os.environ))
    if pause:
        sys.stdout.write(f"{paused_line([host])}\npaused {pause_text(pause)}\n")
    if found.moving:
        sys.stdout.write(printable(found.moving) + "\n")
    with suppress(
        NotFound, ConfigError
    ):  # the model of another version is said above  # the queue may be empty
        if classes := find_classes(settings, host):
            sys.stdout.write(classes_text(host, classes, MOST_CLASSES))


def _table(found: Sequence[HostStats]) -> str:
    from crawlclean.workers.output.printing import table, terminal_columns

    rows = [HEAD]
    for stats in found:
        pages = stats.pages_by_state
        records, failed = pages.get("record", 0), pages.get("failed", 0)
        rows.append(
            (
                stats.host,
                str(records),
                str(failed),
                str(sum(pages.values()) - records - failed),
                str(stats.body_chars),
                f"{stats.noise_share:.0%}",
                minute(stats.last_seen),
            )
        )
    return table(rows, terminal_columns(), drop=DROPPED)


# `classes`: the URL classes of a host, and the operator's decisions about them.


def register_classes(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "classes",
        run_classes,
        "list the URL classes of a host",
        "Prints a line for each class of URLs: KIND (the page kind that its URLs lead to), FETCHED "
        "(pages so far), WITH NEWS (those with something new), LEARNED FROM (pages that its "
        "kind was learned from, of the URLs that were known then) and CLASS (its template; a "
        "pattern before the host is learned). Below a class: the operator's decision, and why the "
        "class is not fetched. Without HOST: all hosts.",
    )
    add_json(parser)
    parser.add_argument("host", nargs="?", default="", metavar="HOST")
    parser.add_argument(
        "--pin",
        action="append",
        default=[],
        metavar="TEMPLATE=KIND",
        help=f"set the kind of a class: {', '.join(UrlKind)}",
    )
    parser.add_argument(
        "--forbid", action="append", default=[], metavar="TEMPLATE", help="do not fetch this class"
    )
    parser.add_argument(
        "--reset",
        action="append",
        default=[],
        metavar="TEMPLATE",
        help="remove the decision of --pin or --forbid",
    )
    parser.add_argument("--lift", action="store_true", help="fetch stopped classes (`traps`) again")


def run_classes(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints the URL classes of a host, or stores the operator's decisions."""
    from crawlclean.workers.operations.hosts.classes import (
        find_classes,
        lift_stops,
        pin_classes,
        size_of,
    )
    from crawlclean.workers.output.host_report import classes_text
    from crawlclean.workers.output.printing import print_answer

    pins = _pins(arguments)
    if pins and not arguments.host:
        raise ConfigError("--pin, --forbid and --reset need a HOST")
    if arguments.lift:
        lifted = lift_stops(settings, arguments.host)
        sys.stdout.write(f"{lifted} stopped classes are fetched again\n")
    if pins:
        pin_classes(settings, arguments.host, pins)
        for template, word in pins.items():
            sys.stdout.write(f"{template}: {_decided(word)}\n")
        if arguments.forbid:
            sys.stdout.write(_waiting(size_of(settings, arguments.host, arguments.forbid)))
    if pins or arguments.lift:
        return 0
    found = find_classes(settings, arguments.host)
    if arguments.json:
        for each in found:
            print_answer(each)
    else:
        sys.stdout.write(classes_text(arguments.host, found))
    return 0


def _pins(arguments: argparse.Namespace) -> dict[str, str]:
    """Returns template -> decision: a kind, `forbid`, or ``""`` for a reset; `--pin` wins.

    Example: ``{"/news/{n}.html": "article"}``.

    Raises:
        ConfigError: A `--pin` without template or kind.
    """
    from crawlclean.cleaning.url_classes.rules import FORBID

    pins = dict.fromkeys(arguments.forbid, FORBID) | dict.fromkeys(arguments.reset, "")
    for text in arguments.pin:
        template, _, kind = text.rpartition("=")
        if not template or kind not in set(UrlKind):
            raise ConfigError(f"--pin {text}: write TEMPLATE=KIND; kinds: {', '.join(UrlKind)}")
        pins[template] = kind
    return pins


def _decided(word: str) -> str:
    """Describes a decision: ``kind set to article``."""
    from crawlclean.cleaning.url_classes.rules import FORBID

    if not word:
        return "decision removed"
    return "not fetched any more" if word == FORBID else f"kind set to {word}"


def _waiting(size: ClassSize) -> str:
    """Says what waits of forbidden classes, and of others that only their pages lead to."""
    least = "" if size.is_whole else "at least "
    lines = [f"{least}{counted(size.waiting, 'URL')} of it waiting: left out\n"]
    lines += [
        f"{least}{counted(n, 'URL')} waiting of a class that only its pages lead to; to leave it "
        f"out, too: --forbid '{fed}'\n"
        for fed, n in size.fed.items()
    ]
    return "".join(lines)
