"""`classes`: the URL classes of a host, and the operator's decisions about them."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.lexicon import counted
from crawlclean.cleaning.records import UrlKind
from crawlclean.workers.commands.arguments import Commands, add_json
from crawlclean.workers.config import Settings

if TYPE_CHECKING:
    from crawlclean.workers.operations.hosts.classes import ClassSize


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "classes",
        run,
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


def run(settings: Settings, arguments: argparse.Namespace) -> int:
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
