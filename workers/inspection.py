"""The grammar of the commands that look: `show`, `why`, `hosts`, `failures`, `export`."""

from __future__ import annotations

import argparse
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from cleaning.errors import NotFound
from workers.config import Settings

Parser = argparse.ArgumentParser

CLASSES_AT_A_LOOK = 15  # of a crawl, below the numbers of a host


def add_inspection(commands: Any, command: Any, data: Parser, json_too: Parser) -> None:
    """Adds them to the command line; ``command`` adds one."""
    show = command(commands, "show", _show, "print one record", "", data, json_too)
    show.add_argument("target", metavar="URL|ID", help="a page, an image, or digits of a page's id")
    why = command(
        commands,
        "why",
        _why,
        "every step of one URL, from discovery to store",
        "Prints the decision log of a URL; for one that no crawl knows, why none took it.",
        data,
        json_too,
    )
    why.add_argument("target", metavar="URL")
    hosts = command(
        commands,
        "hosts",
        _hosts,
        "statistics of hosts",
        "Counted from what is stored, never added up on the way. HOST shows one host in full: its "
        "figures as charts, what became of its images, its model and its URL classes. A line at "
        "the end (`exact` in JSON) says when the figures may change at this moment.",
        data,
        json_too,
    )
    hosts.add_argument("host", nargs="?", default="", metavar="HOST")
    failures = command(
        commands, "failures", _failures, "URLs that gave no record, and why", "", data, json_too
    )
    failures.add_argument("target", nargs="?", default="", metavar="CRAWL|HOST", help="only of it")
    export = command(commands, "export", _export, "write records to standard output", "", data)
    forms = ["jsonl", "markdown", "text"]
    export.add_argument("--format", choices=forms, default=forms[0], help="default jsonl")
    export.add_argument(
        "--since", default="", metavar="T", help="only those saved since: 2026-01-31T12:00"
    )
    export.add_argument("--crawl", default="", metavar="NAME", help="only of this crawl")
    files = "write their stored images there, too; in JSON lines an image names its `file`"
    export.add_argument("--images", dest="folder", type=Path, metavar="DIR", help=files)


def _show(settings: Settings, a: argparse.Namespace) -> int:
    from workers.commands.reading import show

    return show(settings, a.target, as_json=a.json)


def _why(settings: Settings, a: argparse.Namespace) -> int:
    from workers.commands.why import why

    return why(settings, a.target, as_json=a.json)


def _hosts(settings: Settings, a: argparse.Namespace) -> int:
    from workers.commands.reading import hosts

    status = hosts(settings, a.host, as_json=a.json)
    if a.host and not a.json:
        from workers.operations.classes import find_classes
        from workers.output.class_report import classes_text

        with suppress(NotFound):  # the queue may have been emptied
            found = find_classes(settings, a.host)
            sys.stdout.write(classes_text(a.host, found, CLASSES_AT_A_LOOK))
    return status


def _failures(settings: Settings, a: argparse.Namespace) -> int:
    from workers.commands.reading import failures

    return failures(settings, a.target, as_json=a.json)


def _export(settings: Settings, a: argparse.Namespace) -> int:
    from workers.commands.reading import export

    return export(settings, a.format, a.since, a.crawl, a.folder)
