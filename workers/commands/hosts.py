"""`hosts`: the statistics of all hosts, or of one host in full."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from crawlclean.cleaning.errors import ConfigError, NotFound
from crawlclean.cleaning.lexicon import minute
from crawlclean.workers.commands.arguments import Commands, add_json
from crawlclean.workers.config import Settings
from crawlclean.workers.control_characters import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawlclean.cleaning.records import HostStats

MOST_CLASSES = 15  # of each crawl, below the figures of a host
DROPPED = ("LAST SEEN", "OTHER", "BODY CHARS", "NOISE LINKS")  # on narrow terminals
HEAD = ("HOST", "RECORDS", "FAILED", "OTHER", "BODY CHARS", "NOISE LINKS", "LAST SEEN")


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "hosts",
        run,
        "statistics of hosts",
        "Counts stored rows. HOST shows one host in full: charts, images, model, changes of the "
        "site, URL classes. While a crawl runs, a last line (in JSON: `exact` is false) warns that "
        "the figures may still change, and has the time when they were computed (`as_of`).",
    )
    add_json(parser)
    parser.add_argument("host", nargs="?", default="", metavar="HOST")


def run(settings: Settings, arguments: argparse.Namespace) -> int:
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
