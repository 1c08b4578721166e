"""`learn`, `model`, `reclean`: the site model of a host, and stored pages cleaned again with it."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from crawlclean.cleaning.lexicon import counted, minute
from crawlclean.workers.commands.arguments import Commands, Exit, add_json
from crawlclean.workers.config import Settings

if TYPE_CHECKING:
    from crawlclean.storage.store.models import ModelLine
    from crawlclean.workers.answers.hosts import RecleaningReport
    from crawlclean.workers.jobs.recleaning import RecleanedPage, RecleaningCounts
    from crawlclean.workers.operations.hosts.host_models import WholeBodies
    from crawlclean.workers.operations.hosts.host_recleaning import Recleaned


# `learn`: learns the next version of a host's model from its archived pages.


def register_learn(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "learn",
        run_learn,
        "learn a host from its archived pages",
        "Learns a model of a host from at most 100 archived pages and stores it as the next "
        "version. New pages are cleaned with this version; `reclean` applies it to stored pages. "
        "A model equal to the last version is not stored.",
    )
    add_json(parser)
    parser.add_argument("host", metavar="HOST")


def run_learn(settings: Settings, arguments: argparse.Namespace) -> int:
    """Learns a host, prints the version and a description of the model."""
    from crawlclean.workers.answers.hosts import LearnedModel
    from crawlclean.workers.answers.making import answer_of
    from crawlclean.workers.operations.hosts.host_models import learn_now
    from crawlclean.workers.output.host_report import in_words, on_a_screen
    from crawlclean.workers.output.printing import print_answer, write_lines

    learned = learn_now(settings, arguments.host)
    about = learned.about
    if arguments.json:
        model = json.loads(learned.model.to_json())
        print_answer(answer_of(LearnedModel, about, model=model, is_new=learned.is_new))
        return 0
    if learned.is_new:
        sys.stdout.write(f"stored version {about.version} of the model of {about.host}\n")
    else:
        sys.stdout.write(f"no new version: version {about.version} of {about.host} is equal\n")
    write_lines(on_a_screen(in_words(learned.model)))
    return 0


# `model`: describes a host's model, compares versions, explains why a text is template.

VERDICTS = {
    "template": "template: left out where it stands before or behind the rest of a body",
    "repeated": "repeats, but not on most pages: it stays in bodies",
    "own": "",
}
HEAD = ("VERSION", "STORED", "PAGES", "BYTES", "WHY")


def register_model(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "model",
        run_model,
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


def run_model(settings: Settings, arguments: argparse.Namespace) -> int:
    """Runs the option; without an option, prints the versions and describes one."""
    if arguments.diff:
        return _print_differences(settings, arguments)
    if arguments.rollback is not None:
        return _roll_back(settings, arguments)
    if arguments.why:
        return _print_reasons(settings, arguments)
    return _print_model(settings, arguments)


def _print_model(settings: Settings, arguments: argparse.Namespace) -> int:
    from crawlclean.workers.operations.backends import Backends
    from crawlclean.workers.operations.hosts.host_models import (
        find_model,
        host_named,
        model_in_full,
    )
    from crawlclean.workers.output.host_report import (
        drift_line,
        evidence_lines,
        in_words,
        on_a_screen,
    )
    from crawlclean.workers.output.printing import print_answer, write_lines
    from crawlclean.workers.site_models import read_model

    with Backends(settings) as backends:
        found = find_model(backends, host_named(arguments.host), arguments.of_version)
    if arguments.json:
        print_answer(model_in_full(found))
        return 0
    sys.stdout.write(_table(found.versions) + "\n")
    for number, event in enumerate(found.drifts):
        write_lines([drift_line(event)] if number else evidence_lines(event))
    lines = in_words(read_model(found.stored))
    write_lines(lines if arguments.full else on_a_screen(lines))
    return 0


def _table(versions: Sequence[ModelLine]) -> str:
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
    from crawlclean.workers.operations.hosts.host_models import take_up
    from crawlclean.workers.output.printing import print_answer

    about = take_up(settings, arguments.host, arguments.rollback)
    if arguments.json:
        print_answer(about)
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


# `reclean`: re-cleans a host's stored pages from the archive, with the host's model.

SHOWN_CHARS = 60


def register_reclean(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "reclean",
        run_reclean,
        "re-clean a host's stored pages with its model",
        "Cleans again, from the archive, all records that were made without a model or with an "
        "older version. After an interruption or a crash, the same command does the rest. A second "
        "run changes nothing.",
    )
    add_json(parser)
    parser.add_argument("host", metavar="HOST")
    parser.add_argument(
        "--dry-run", action="store_true", help="print what would change, store nothing"
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help="also re-clean records of the version in use: after an update of the program",
    )


def run_reclean(settings: Settings, arguments: argparse.Namespace) -> int:
    """Re-cleans a host, prints the changes; fails when a page cannot be re-cleaned."""
    from crawlclean.workers.control_characters import readable_line
    from crawlclean.workers.operations.hosts.host_recleaning import reclean_host
    from crawlclean.workers.output.printing import print_answer
    from crawlclean.workers.output.progress import Tally

    dry_run, again = arguments.dry_run, arguments.again
    tally = Tally("compared" if dry_run else "re-cleaned", 0)

    def show(total: RecleaningCounts, part: RecleaningCounts) -> None:
        for each in part.failed:
            tally.print_line(readable_line(each))
        tally.done, tally.failed = total.cleaned, len(total.failed)
        tally.show()

    with tally:
        done = reclean_host(settings, arguments.host, show, dry_run=dry_run, again=again)
        if not done.is_whole:
            rest = "starts over" if again else "does the rest"
            tally.print_line(
                "interrupted; " + ("nothing changed" if dry_run else f"the same command {rest}")
            )
        tally.show(last=True)
    total = done.total
    if arguments.json:
        print_answer(_report(done, dry_run=dry_run))
    elif done.is_whole or total.cleaned:
        sys.stdout.write(_as_text(done, dry_run=dry_run))
        if total.with_new_images and done.fetches_images:
            sys.stdout.write(_pictured_text(total.with_new_images, dry_run=dry_run))
    if not done.is_whole:
        return Exit.INTERRUPTED
    return Exit.FAILED if total.failed else Exit.DONE


def _report(done: Recleaned, *, dry_run: bool) -> RecleaningReport:
    from crawlclean.workers.answers.hosts import ChangedPage, RecleaningReport

    total = done.total
    return RecleaningReport(
        host=done.host,
        model_version=done.version,
        dry_run=dry_run,
        cleaned=total.cleaned,
        changed=total.changed,
        with_new_content_images=total.with_new_images,
        by_field=dict(total.by_field),
        not_archived=total.unarchived,
        older_layout=total.outdated,
        failed=len(total.failed),
        examples=tuple(
            ChangedPage(
                url=each.before.url,
                changes={name: (old, new) for name, old, new in _changes(each)},
            )
            for each in total.examples
        ),
        interrupted=not done.is_whole,
    )


def _as_text(done: Recleaned, *, dry_run: bool) -> str:
    from crawlclean.workers.control_characters import readable_line

    total, version = done.total, done.version
    verb = "would be re-cleaned" if dry_run else "re-cleaned"
    using = f"with version {version} of its model" if version else "without a model"
    fields = sorted(total.by_field.items(), key=lambda item: (-item[1], item[0]))
    lines = [f"{counted(total.cleaned, 'record')} of {done.host} {verb} {using}"]
    if total.cleaned:
        differ = ": " + ", ".join(f"{name} {count}" for name, count in fields) if fields else ""
        lines.append(f"{total.changed} of them {'would change' if dry_run else 'changed'}{differ}")
    elif not (total.unarchived or total.outdated or total.failed):
        lines.append("nothing left to do")
    if total.unarchived:
        lines.append(f"{total.unarchived} unchanged: not in the archive")
    if total.outdated:
        lines.append(f"{total.outdated} unchanged: of an older layout of the site")
    if total.failed:
        lines.append(f"{len(total.failed)} unchanged: cleaning failed")
    for each in total.examples:
        lines.append(each.before.url)
        lines += [f"  {name:<12} {old}  ->  {new}" for name, old, new in _changes(each)]
    return "".join(readable_line(line) + "\n" for line in lines)


def _pictured_text(pages: int, *, dry_run: bool) -> str:
    if dry_run:
        return f"{counted(pages, 'page')} would get new content images\n"
    fetched = "their crawl or its next `run --images` fetches them"
    return f"new content images on {counted(pages, 'page')}: {fetched}\n"


def _changes(each: RecleanedPage) -> Iterator[tuple[str, str, str]]:
    """Yields (field, before, after) of each change: ``("images", "content 1", "chrome 1")``."""
    for name in each.changed:
        before, after = getattr(each.before, name), getattr(each.after, name)
        if name in ("links", "images", "outlinks", "warnings"):
            old, new = _kinds(before), _kinds(after)
            yield name, old, new if new != old else "same kinds, other items or scores"
        elif isinstance(before, str) and isinstance(after, str):
            yield name, *_where_they_differ(before, after)
        elif isinstance(before, tuple):
            yield name, str(len(before)), str(len(after))
        else:
            yield name, str(before), str(after)


def _kinds(found: Sequence[Any]) -> str:
    counts = Counter(str(each.kind) for each in found).most_common()
    return ", ".join(f"{kind} {count}" for kind, count in counts) or "none"


def _where_they_differ(before: str, after: str) -> tuple[str, str]:
    """Cuts both texts to the part around their first difference; adds the lengths of long ones."""
    at = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b),
        min(len(before), len(after)),
    )
    start = max(0, at - 10)
    return _cut(before, start), _cut(after, start)


def _cut(text: str, start: int) -> str:
    shown = " ".join(text[start : start + SHOWN_CHARS].split())
    if start or len(text) > SHOWN_CHARS:
        before = "..." if start else ""
        after = "..." if start + SHOWN_CHARS < len(text) else ""
        return f"{before}{shown}{after} ({len(text)} characters)"
    return shown or "none"
