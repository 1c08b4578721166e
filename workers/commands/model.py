"""`model`: describes a host's model, compares versions, explains why a text is template."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from crawlclean.cleaning.lexicon import counted, minute
from crawlclean.workers.commands.arguments import Commands, add_json
from crawlclean.workers.config import Settings

if TYPE_CHECKING:
    from crawlclean.storage.store.models import ModelVersion
    from crawlclean.workers.operations.hosts.host_models import WholeBodies

VERDICTS = {
    "template": "template: left out where it stands before or behind the rest of a body",
    "repeated": "repeats, but not on most pages: it stays in bodies",
    "own": "",
}
HEAD = ("VERSION", "STORED", "PAGES", "BYTES", "WHY")


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "model",
        run,
        "describe the learned model of a host",
        "Prints the versions of a host's model, the changes of the site, and a description of the "
        "version in use.",
    )
    add_json(parser)
    parser.add_argument("host", metavar="HOST")
    parser.add_argument(
        "--version", dest="of_version", type=int, metavar="V", help="show this version"
    )
    parser.add_argument(
        "--full", action="store_true", help="print every line, containers with their full path"
    )
    one = parser.add_mutually_exclusive_group()
    one.add_argument(
        "--diff",
        nargs=2,
        type=int,
        metavar=("A", "B"),
        help="print what version B has and A has not, and the reverse",
    )
    one.add_argument(
        "--rollback",
        type=int,
        metavar="V",
        help="use version V again: its copy becomes the next version; `reclean` applies it",
    )
    one.add_argument(
        "--why",
        default="",
        metavar="TEXT|URL",
        help="explain why a text, link or image is template: on which pages it repeats",
    )


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Runs the option; without an option, prints the versions and describes one."""
    if arguments.diff:
        return _print_differences(settings, arguments)
    if arguments.rollback is not None:
        return _roll_back(settings, arguments)
    if arguments.why:
        return _print_reasons(settings, arguments)
    return _print_model(settings, arguments)


def _print_model(settings: Settings, arguments: argparse.Namespace) -> int:
    from crawlclean.workers.operations.answering.models import model_in_full
    from crawlclean.workers.operations.hosts.host_models import find_models
    from crawlclean.workers.output.host_report import (
        drift_line,
        evidence_lines,
        in_words,
        on_a_screen,
    )
    from crawlclean.workers.output.printing import print_answer, write_lines
    from crawlclean.workers.site_models import read_model

    found = find_models(settings, arguments.host, arguments.of_version)
    if arguments.json:
        print_answer(model_in_full(found.stored, found.versions, found.drifts))
        return 0
    sys.stdout.write(_table(found.versions) + "\n")
    for number, event in enumerate(found.drifts):
        write_lines([drift_line(event)] if number else evidence_lines(event))
    lines = in_words(read_model(found.stored))
    write_lines(lines if arguments.full else on_a_screen(lines))
    return 0


def _table(versions: Sequence[ModelVersion]) -> str:
    from crawlclean.workers.output.printing import table

    rows = [HEAD]
    for about in versions:
        why = f"{about.reason}{f': {about.detail}' if about.detail else ''}"
        at = f"{minute(about.saved_at)}"
        size = f"{about.size_bytes:,}"
        rows.append((str(about.version), at, str(about.page_count), size, why))
    return table(rows)


def _print_differences(settings: Settings, arguments: argparse.Namespace) -> int:
    from crawlclean.workers.answers.hosts import ModelDifferences
    from crawlclean.workers.operations.hosts.host_models import compare_models
    from crawlclean.workers.output.host_report import on_a_screen
    from crawlclean.workers.output.printing import print_answer, write_lines

    old, new = arguments.diff
    found = compare_models(settings, arguments.host, old, new)
    if arguments.json:
        lines = tuple(found.lines)
        print_answer(ModelDifferences(host=found.host, old=old, new=new, differences=lines))
    else:
        shown = found.lines if arguments.full else on_a_screen(found.lines)
        write_lines(shown or [f"versions {old} and {new} are equal"])
    return 0


def _roll_back(settings: Settings, arguments: argparse.Namespace) -> int:
    from crawlclean.workers.answers.hosts import ModelLine
    from crawlclean.workers.answers.making import answer_of
    from crawlclean.workers.operations.hosts.host_models import take_up
    from crawlclean.workers.output.printing import print_answer

    about = take_up(settings, arguments.host, arguments.rollback)
    if arguments.json:
        print_answer(answer_of(ModelLine, about))
        return 0
    sys.stdout.write(
        f"version {arguments.rollback} of {about.host} is in use again, as version "
        f"{about.version}; `reclean {about.host}` applies it to the stored pages\n"
    )
    return 0


def _print_reasons(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints why a text, a link or an image is template; returns 1 when it is not."""
    from crawlclean.workers.answers.hosts import TemplateAnswer
    from crawlclean.workers.operations.hosts.host_models import explain_template
    from crawlclean.workers.output.printing import print_answer, write_lines

    text = arguments.why
    why = explain_template(settings, arguments.host, arguments.of_version, text)
    if arguments.json:
        print_answer(
            TemplateAnswer(
                host=why.host,
                version=why.version,
                text=text,
                found=tuple(why.found),
                verdict=why.verdict,
                whole_body_of=why.bodies.count,
                body_sources=dict(why.bodies.sources),
                kept_because=why.bodies.because,
                examples=tuple(why.bodies.examples),
                is_whole=why.bodies.is_whole,
            )
        )
    else:
        lines = [line for each in why.found for line in _page_a_line(each)]
        verdict = [VERDICTS[why.verdict]] if why.verdict and why.found else []
        write_lines([*verdict, *(lines or [why.elsewhere]), *_body_lines(why.bodies)])
    return 0 if why.found else 1


def _body_lines(bodies: WholeBodies) -> Iterator[str]:
    """Yields lines about the records whose whole body is the text."""
    if bodies.count:
        sources = ", ".join(f"{source} {count}" for source, count in bodies.sources.items())
        records = counted(bodies.count, "record")
        yield f"the whole body of {records} (body by {sources}): {bodies.because}"
        yield from (f"  {url}" for url in bodies.examples)
    if not bodies.is_whole:
        yield "not all records of the host were searched for this text as a whole body"


def _page_a_line(found: str) -> list[str]:
    """Splits ``REASON pages: URL, URL`` into the reason and a line for each URL."""
    reason, between, pages = found.partition(" pages: ")
    shown = re.split(r", (?=https?://)", pages) if between else []
    return [reason + (" pages:" if between else ""), *(f"  {page}" for page in shown)]
