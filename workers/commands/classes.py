"""`classes`: what the URLs of a host lead to, class by class, and an operator's decisions."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict

from cleaning.errors import ConfigError
from cleaning.records import UrlKind
from workers.commands.arguments import Commands
from workers.config import Settings


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "classes",
        run,
        "what the URLs of a host lead to, class by class",
        "Prints the classes of a host's URLs: the kind of page they lead to, URLs, pages the kind "
        "was learned from, pages that ended, those with news, what an operator decided, what is "
        "not fetched and why. A class is named by its template, or by a pattern while nothing is "
        "learned. Without HOST: of all hosts.",
        as_json=True,
    )
    parser.add_argument("host", nargs="?", default="", metavar="HOST")
    parser.add_argument(
        "--pin",
        action="append",
        default=[],
        metavar="TEMPLATE=KIND",
        help=f"this class leads to this kind: {', '.join(UrlKind)}",
    )
    parser.add_argument(
        "--forbid", action="append", default=[], metavar="TEMPLATE", help="fetch none of this class"
    )
    parser.add_argument(
        "--reset",
        action="append",
        default=[],
        metavar="TEMPLATE",
        help="forget what --pin or --forbid said of this class",
    )
    parser.add_argument(
        "--lift", action="store_true", help="fetch the classes again that are stopped (`traps`)"
    )


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints the classes of a host, or keeps the decisions for some of them."""
    from workers.operations.classes import find_classes, lift_stops, pin_classes
    from workers.output.class_report import classes_text
    from workers.output.printing import print_json

    pins = _pins(arguments)
    if pins and not arguments.host:
        raise ConfigError("--pin, --forbid and --reset need a HOST")
    if arguments.lift:
        lifted = lift_stops(settings, arguments.host)
        sys.stdout.write(f"{lifted} classes of URLs are followed again\n")
    if pins:
        pin_classes(settings, arguments.host, pins)
        for template, word in pins.items():
            sys.stdout.write(f"{template}: {_decided(word)}\n")
    if pins or arguments.lift:
        return 0
    found = find_classes(settings, arguments.host)
    if arguments.json:
        for each in found:
            print_json(asdict(each))
    else:
        sys.stdout.write(classes_text(arguments.host, found))
    return 0


def _pins(arguments: argparse.Namespace) -> dict[str, str]:
    """The decision of each template that is named; of two for one template `--pin` counts.

    Raises:
        ConfigError: A `--pin` without template or kind.
    """
    from cleaning.url_classes.rules import FORBID

    pins = dict.fromkeys(arguments.forbid, FORBID) | dict.fromkeys(arguments.reset, "")
    for text in arguments.pin:
        template, _, kind = text.rpartition("=")
        if not template or kind not in set(UrlKind):
            raise ConfigError(f"--pin {text}: a template, =, and one of {', '.join(UrlKind)}")
        pins[template] = kind
    return pins


def _decided(word: str) -> str:
    """What becomes of a class by a decision, in words."""
    from cleaning.url_classes.rules import FORBID

    if not word:
        return "forgotten"
    return "fetched no more" if word == FORBID else f"of kind {word}"
