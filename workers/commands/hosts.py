"""`hosts`, `classes`: statistics of hosts, and the URL classes of one."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from crawlclean.cleaning.errors import ConfigError, NotFound
from crawlclean.cleaning.lexicon import minute
from crawlclean.cleaning.records import UrlKind
from crawlclean.workers.commands.arguments import Exit, Rows, argument, asking
from crawlclean.workers.control_characters import printable
from crawlclean.workers.spoken import counted, say, term, told

if TYPE_CHECKING:
    from crawlclean.cleaning.records import HostStats
    from crawlclean.workers.operations.backends import Backends
    from crawlclean.workers.operations.hosts.classes import ClassSize


# `hosts`: the statistics of all hosts, or of one host in full.

MOST_CLASSES = 15  # of each crawl, below the figures of a host
DROPPED = ("LAST SEEN", "OTHER", "BODY CHARS", "NOISE LINKS")  # on narrow terminals
HEAD = ("HOST", "RECORDS", "FAILED", "OTHER", "BODY CHARS", "NOISE LINKS", "LAST SEEN")


@asking(
    "Counts stored rows. HOST shows one host in full: charts, images, model, changes of the "
    "site, URL classes. While a crawl runs, a last line (in JSON: `exact` is false) warns that "
    "the figures may still change, and has the time when they were computed (`as_of`).",
    argument("host", metavar="HOST"),
)
def hosts(backends: Backends, asked: argparse.Namespace) -> Rows:
    """The statistics of all hosts, or one host in full."""
    from crawlclean.workers.answers.hosts import HostLine
    from crawlclean.workers.answers.making import answer_of
    from crawlclean.workers.operations.controlling.crawl_states import paused_line
    from crawlclean.workers.operations.hosts.hosts import (
        host_statistics,
        moving_line,
        paused_hosts,
    )
    from crawlclean.workers.output.outcome_report import kept_line

    if asked.host:
        return _host(backends, asked.host)
    found = host_statistics(backends)
    moving = moving_line(backends, found.as_of)
    kept, paused = sum(each.kept_records for each in found.items), paused_hosts(backends)
    last = [kept_line(kept) if kept else "", paused_line(paused) if paused else "", moving]
    if asked.json:
        own = {"as_of": found.as_of, "exact": not moving}
        return Rows(found=[answer_of(HostLine, each, **own) for each in found.items])
    return Rows(
        found=found.items,
        head=HEAD,
        row=_row,
        empty="  ".join(map(say, HEAD)),
        drop=DROPPED,
        last="\n".join(printable(line) for line in last if line),
    )


def _row(stats: HostStats) -> tuple[str, ...]:
    pages = stats.pages_by_state
    records, failed = pages.get("record", 0), pages.get("failed", 0)
    others = sum(pages.values()) - records - failed
    numbers = (str(records), str(failed), str(others), str(stats.body_chars))
    return stats.host, *numbers, f"{stats.noise_share:.0%}", minute(stats.last_seen)


def _host(backends: Backends, host: str) -> Rows:
    from msgspec import UNSET

    from crawlclean.workers.operations.files.stored_images import report_host
    from crawlclean.workers.operations.hosts.hosts import host_details, moving_line

    found = host_details(backends, host)
    with backends.store() as store:
        stored, images = store.models.get(host), report_host(store, host)
    moving = moving_line(backends, found.answer.as_of)
    answer = replace(found.answer, exact=not moving, image_requests=images or UNSET)

    def text(_: object) -> str:
        from crawlclean.workers.operations.controlling.crawl_states import pause_text, paused_line
        from crawlclean.workers.operations.hosts.classes import find_classes
        from crawlclean.workers.output.host_report import classes_text, host_text
        from crawlclean.workers.output.printing import draw

        shown = draw(host_text(found, stored, images), sys.stdout.encoding, os.environ)
        if found.pause:
            paused = say("paused {how}", how=pause_text(found.pause))
            shown += f"{paused_line([host])}\n{paused}\n"
        if found.answer.slowed:
            shown += say("slowed down {how}", how=told(found.answer.slowed.line)) + "\n"
        if moving:
            shown += printable(moving) + "\n"
        with suppress(NotFound, ConfigError):  # an empty queue; the model of another version
            if classes := find_classes(backends, host):
                shown += classes_text(host, classes, MOST_CLASSES)
        return shown

    return Rows(found=[answer], text=text)


# `classes`: the URL classes of a host, and the operator's decisions about them.


@asking(
    "Prints a line for each class of URLs: KIND (the page kind that its URLs lead to), FETCHED "
    "(pages so far), WITH NEWS (those with something new), LEARNED FROM (pages that its "
    "kind was learned from, of the URLs that were known then) and CLASS (its template; a "
    "pattern before the host is learned). Below a class: the operator's decision, and why the "
    "class is not fetched. Without HOST: all hosts.",
    argument("host", metavar="HOST"),
    argument(
        "--pin",
        action="append",
        default=[],
        metavar="TEMPLATE=KIND",
        help=f"set the kind of a class: {', '.join(UrlKind)}",
    ),
    argument(
        "--forbid", action="append", default=[], metavar="TEMPLATE", help="do not fetch this class"
    ),
    argument(
        "--reset",
        action="append",
        default=[],
        metavar="TEMPLATE",
        help="remove the decision of --pin or --forbid",
    ),
    argument(
        "--stopped", action="store_true", help="list only the stopped classes, with the reasons"
    ),
    argument("--lift", action="store_true", help="fetch stopped classes again"),
)
def classes(backends: Backends, asked: argparse.Namespace) -> Rows | int:
    """The URL classes of a host, unless an operator decides about them."""
    from crawlclean.workers.operations.hosts.classes import (
        find_classes,
        lift_stops,
        pin_classes,
        size_of,
    )
    from crawlclean.workers.output.host_report import classes_text

    pins = _pins(asked)
    if pins and not asked.host:
        raise ConfigError("--pin, --forbid and --reset need a HOST")
    if asked.lift:
        lifted = lift_stops(backends, asked.host)
        sys.stdout.write(say("{n} stopped classes are fetched again", n=lifted) + "\n")
    if pins:
        pin_classes(backends, asked.host, pins)
        for template, word in pins.items():
            sys.stdout.write(template + say(": ") + _decided(word) + "\n")
        if asked.forbid:
            sys.stdout.write(_waiting(size_of(backends, asked.host, asked.forbid)))
    if pins or asked.lift:
        return Exit.DONE
    if asked.stopped:
        return _stopped(backends, asked.host)
    return Rows(found=find_classes(backends, asked.host), text=partial(classes_text, asked.host))


def _stopped(backends: Backends, host: str) -> Rows:
    """The URL classes that were stopped because many pages in a row had nothing new."""
    from crawlclean.workers.operations.hosts.classes import stopped_classes

    def row(each: Any) -> tuple[str, ...]:
        numbers = (str(each.pattern_pages), str(each.pattern_pages_with_news))
        at = minute(each.stopped_at)
        return each.crawl, each.host, each.template, *numbers, at, told(each.stopped)

    return Rows(
        found=stopped_classes(backends, host),
        head=("CRAWL", "HOST", "CLASS", "PAGES", "WITH NEWS", "SINCE", "STOPPED"),
        row=row,
        empty="no URL class is stopped",
        fit=False,
    )


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
        return say("decision removed")
    if word == FORBID:
        return say("not fetched any more")
    return say("kind set to {kind}", kind=term("url_kind", word))


def _waiting(size: ClassSize) -> str:
    """Says what waits of forbidden classes, and of others that only their pages lead to."""
    least = "" if size.is_whole else say("at least ")
    lines = [say("{urls} of it waiting: left out", urls=least + counted(size.waiting, "URL"))]
    lines += [
        say(
            "{urls} waiting of a class that only its pages lead to; to leave it out, too: "
            "--forbid '{template}'",
            urls=least + counted(n, "URL"),
            template=fed,
        )
        for fed, n in size.fed.items()
    ]
    return "".join(f"{line}\n" for line in lines)
