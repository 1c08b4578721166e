"""The grammar of the commands about what a host's URLs bring: `traps` and `classes`."""

from __future__ import annotations

import argparse
from typing import Any

from cleaning.errors import ConfigError
from cleaning.records import UrlKind
from cleaning.url_classes.rules import FORBID
from workers.config import Settings


def add_watching(
    commands: Any,
    command: Any,
    data: argparse.ArgumentParser,
    json_too: argparse.ArgumentParser,
) -> None:
    """Adds both to the command line; ``command`` adds one."""
    traps = command(
        commands,
        "traps",
        _traps,
        "classes of URLs that are not fetched any more, and why",
        "Prints the classes of URLs whose pages brought nothing new for long.",
        data,
        json_too,
    )
    traps.add_argument("host", nargs="?", default="", metavar="HOST")
    traps.add_argument("--all", action="store_true", help="also those that are still fetched")
    traps.add_argument("--lift", action="store_true", help="fetch all classes of the host again")
    classes = command(
        commands,
        "classes",
        _classes,
        "what the URLs of a host lead to, class by class",
        "Prints the classes of a host's URLs as its crawls learned them: kind, URLs, pages seen, "
        "what is not fetched and why. A class is named by its template.",
        data,
        json_too,
    )
    classes.add_argument("host", metavar="HOST")
    classes.add_argument(
        "--pin",
        action="append",
        default=[],
        metavar="TEMPLATE=KIND",
        help=f"this class leads to this kind: {', '.join(UrlKind)}",
    )
    classes.add_argument(
        "--forbid", action="append", default=[], metavar="TEMPLATE", help="fetch none of this class"
    )
    classes.add_argument(
        "--reset",
        action="append",
        default=[],
        metavar="TEMPLATE",
        help="forget what --pin or --forbid said of this class",
    )


def _traps(settings: Settings, a: argparse.Namespace) -> int:
    from workers.commands.traps import lift_traps, list_traps

    if a.lift:
        return lift_traps(settings, a.host)
    return list_traps(settings, a.host, every=a.all, as_json=a.json)


def _classes(settings: Settings, a: argparse.Namespace) -> int:
    from workers.commands.classes import list_classes, pin_classes

    pins = dict.fromkeys(a.forbid, FORBID) | dict.fromkeys(a.reset, "")
    for text in a.pin:
        template, _, kind = text.rpartition("=")
        if not template or kind not in set(UrlKind):
            raise ConfigError(f"--pin {text}: a template, =, and one of {', '.join(UrlKind)}")
        pins[template] = kind
    if pins:
        return pin_classes(settings, a.host, pins)
    return list_classes(settings, a.host, as_json=a.json)
