"""`model`: the site model of a host, and stored pages cleaned again with it."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawlclean.cleaning.lexicon import minute
from crawlclean.workers.commands.arguments import Exit, Rows, argument, asking, either_of
from crawlclean.workers.spoken import counted, say, term, told

if TYPE_CHECKING:
    from crawlclean.storage.store.models import ModelLine
    from crawlclean.workers.answers.hosts import (
        ChangedPage,
        OverrideCheck,
        RecleaningReport,
        TemplateAnswer,
    )
    from crawlclean.workers.jobs.recleaning import RecleaningCounts
    from crawlclean.workers.operations.backends import Backends


_HOST = argument("host", nargs=None, metavar="HOST")
_FULL = argument(
    "--full", action="store_true", help="print every line, containers with their full path"
)
_VERSION = argument("--version", dest="of_version", type=int, metavar="V", help="take this version")


# `model learn`: learns the next version of a host's model from its archived pages.


@asking(
    "Learns a model of a host from at most 100 archived pages and stores it as the next "
    "version. New pages are cleaned with this version; `model reclean` applies it to stored pages. "
    "A model equal to the last version is not stored.",
    _HOST,
)
def learn(backends: Backends, asked: argparse.Namespace) -> Rows:
    """The version in use, and a description of the model."""
    from crawlclean.workers.answers.hosts import LearnedModel
    from crawlclean.workers.answers.making import answer_of
    from crawlclean.workers.operations.hosts.host_models import learn_now
    from crawlclean.workers.output.host_report import in_words, on_a_screen

    learned = learn_now(backends, asked.host)
    about, model = learned.about, json.loads(learned.model.to_json())
    news = "no new version: version {about.version} of {about.host} is equal"
    if learned.is_new:
        news = "stored version {about.version} of the model of {about.host}"
    return Rows(
        found=[answer_of(LearnedModel, about, model=model, is_new=learned.is_new)],
        lines=lambda _: [say(news, about=about), *map(told, on_a_screen(in_words(learned.model)))],
    )


# `model show`, `diff`, `rollback`, `why`: describes a host's model, compares versions, explains
# why a text is template.

VERDICTS = {
    "template": "template: left out where it stands before or behind the rest of a body",
    "repeated": "repeats, but not on most pages: it stays in bodies",
    "own": "",
}
HEAD = ("VERSION", "STORED", "PAGES", "BYTES", "WHY")


@asking(
    "Prints the versions of a host's model, the changes of the site, and a description of the "
    "version in use.",
    _HOST,
    _VERSION,
    _FULL,
    either_of(  # as the command `model` of the version before had them
        argument("--diff", nargs=2, type=int, help=argparse.SUPPRESS),
        argument("--rollback", dest="to_version", type=int, help=argparse.SUPPRESS),
        argument("--why", dest="text", default="", help=argparse.SUPPRESS),
    ),
)
def show(backends: Backends, asked: argparse.Namespace) -> Rows | int:
    """The versions of a model and one of them in full."""
    if asked.diff:
        asked.old, asked.new = asked.diff
        return diff.ask(backends, asked)
    if asked.to_version is not None:
        return rollback.ask(backends, asked)
    if asked.text:
        return why.ask(backends, asked)
    from crawlclean.workers.operations.hosts.host_models import (
        find_version,
        host_named,
        model_answer,
    )
    from crawlclean.workers.output.host_report import (
        drift_line,
        evidence_lines,
        in_words,
        on_a_screen,
    )
    from crawlclean.workers.output.printing import lines_text
    from crawlclean.workers.site_models import read_model

    host = host_named(asked.host)
    answer = model_answer(backends, host, asked.of_version)

    def text(_: object) -> str:
        with backends.store() as store:
            drifts, stored = store.drifts.of(host), find_version(store, host, asked.of_version)
        lines = [line for each in drifts[:1] for line in evidence_lines(each)]
        lines += map(drift_line, drifts[1:])
        words = in_words(read_model(stored))
        lines += map(told, words if asked.full else on_a_screen(words))
        return _table(answer.versions) + "\n" + lines_text(lines)

    return Rows(found=[answer], text=text)


def _table(versions: Sequence[ModelLine]) -> str:
    from crawlclean.workers.output.host_report import learned_because
    from crawlclean.workers.output.printing import table

    rows = [HEAD]
    for about in versions:
        why = learned_because(about)
        size = f"{about.size_bytes:,}"
        rows.append((str(about.version), minute(about.saved_at), str(about.page_count), size, why))
    return table(rows)


@asking(
    "Prints what version NEW of a host's model has and version OLD has not, and the reverse.",
    _HOST,
    argument("old", nargs=None, type=int, metavar="OLD"),
    argument("new", nargs=None, type=int, metavar="NEW"),
    _FULL,
)
def diff(backends: Backends, asked: argparse.Namespace) -> Rows:
    """What differs in two versions."""
    from crawlclean.workers.operations.hosts.host_models import compare_models
    from crawlclean.workers.output.host_report import on_a_screen

    old, new = asked.old, asked.new

    def lines(found: Any) -> Sequence[str]:
        shown = found.differences if asked.full else on_a_screen(found.differences)
        return [*map(told, shown)] or [say("versions {old} and {new} are equal", old=old, new=new)]

    return Rows(found=[compare_models(backends, asked.host, old, new)], lines=lines)


@asking(
    "Uses a version of a host's model again: its copy becomes the next version; `model reclean` "
    "applies it to the stored pages.",
    _HOST,
    argument("to_version", nargs=None, type=int, metavar="VERSION"),
)
def rollback(backends: Backends, asked: argparse.Namespace) -> Rows:
    """The copy that is the version in use."""
    from crawlclean.workers.operations.hosts.host_models import take_up

    about = take_up(backends, asked.host, asked.to_version)
    line = say(
        "version {old} of {about.host} is in use again, as version {about.version}; "
        "`model reclean {about.host}` applies it to the stored pages",
        old=asked.to_version,
        about=about,
    )
    return Rows(found=[about], lines=lambda _: [line])


@asking(
    "Prints why a text, a link or an image of a host is template, and on which pages it repeats; "
    "exit status 1 when it is not.",
    _HOST,
    argument("text", nargs=None, metavar="TEXT|URL"),
    _VERSION,
)
def why(backends: Backends, asked: argparse.Namespace) -> Rows:
    """Why a text, a link or an image is template; the command fails when it is not."""
    from crawlclean.workers.operations.hosts.host_models import explain_template

    found, elsewhere = explain_template(backends, asked.host, asked.of_version, asked.text)

    def lines(_: object) -> Iterator[str]:
        if found.verdict and found.found:
            yield say(VERDICTS[found.verdict])
        yield from [line for each in found.found for line in _page_a_line(each)] or [
            told(elsewhere)
        ]
        yield from _body_lines(found)

    return Rows(found=[found], lines=lines, status=Exit.DONE if found.found else Exit.FAILED)


def _body_lines(why: TemplateAnswer) -> Iterator[str]:
    """Yields lines about the records whose whole body is the text."""
    if why.whole_body_of:
        counts = why.body_sources.items()
        sources = say(", ").join(f"{term('body_source', source)} {n}" for source, n in counts)
        yield say(
            "the whole body of {records} (body by {sources}): {why}",
            records=counted(why.whole_body_of, "record"),
            sources=sources,
            why=told(why.kept_because),
        )
        yield from (f"  {url}" for url in why.examples)
    if not why.is_whole:
        yield say("not all records of the host were searched for this text as a whole body")


def _page_a_line(found: str) -> list[str]:
    """Splits ``REASON pages: URL, URL`` into the reason and a line for each URL."""
    reason, between, pages = found.partition(" pages: ")
    shown = re.split(r", (?=https?://)", pages) if between else []
    return [told(f"{reason}{between}\n").rstrip(), *(f"  {page}" for page in shown)]


# `model check`: what the overrides of a host change on its stored pages.


@asking(
    "Prints what each selector of a host's overrides finds on its stored pages (at most 100, of "
    "every URL class), and what it changes: number of pages by field, and examples. The overrides "
    "are those of the model in use; with --file, those of a file that is not used yet, and its "
    "tables of a crawl file. Nothing is stored.",
    _HOST,
    argument(
        "--file",
        type=Path,
        metavar="FILE",
        help="a crawl file, FILE.toml, or the rules of a site in the format of ftr-site-config",
    ),
)
def check(backends: Backends, asked: argparse.Namespace) -> Rows:
    """What overrides change; the command fails when a selector finds nothing."""
    from crawlclean.workers.operations.hosts.override_checks import check_host

    found = check_host(backends, asked.host, asked.file)
    is_vain = any(each.pages and not each.fits for each in found.uses)
    status = Exit.FAILED if is_vain else Exit.DONE
    return Rows(found=[found], lines=lambda _: _check_lines(found, asked.file), status=status)


def _check_lines(found: OverrideCheck, file: Path | None) -> Iterator[str]:
    from crawlclean.workers.output.printing import listed

    if file is not None:
        yield from found.section.splitlines()
    yield from (say("left out: line {line}", line=each) for each in found.left_out)
    if not found.uses:
        yield say("{host} has no override", host=found.host)
        return
    yield say("{pages} of {host}", pages=counted(found.pages, "stored page"), host=found.host)
    for use in found.uses:
        changes = listed(use.changes, "field") if use.changes else say("nothing")
        yield say(
            "{field} {selector}: finds something on {fits} of {pages} pages{pattern}, changes "
            "{changes}",
            field=use.field,
            selector=use.selector,
            fits=use.fits,
            pages=use.pages,
            pattern=say(" of {pattern}", pattern=use.pattern) if use.pattern else "",
            changes=changes,
        )
        yield from _changed_lines(use.examples)


# `model reclean`: re-cleans a host's stored pages from the archive, with the host's model.


@asking(
    "Cleans again, from the archive, all records that were made without a model or with an "
    "older version. After an interruption or a crash, the same command does the rest. A second "
    "run changes nothing.",
    _HOST,
    argument("--dry-run", action="store_true", help="print what would change, store nothing"),
    argument(
        "--again",
        action="store_true",
        help="also re-clean records of the version in use: after an update of the program",
    ),
)
def reclean(backends: Backends, asked: argparse.Namespace) -> Rows:
    """What has changed; the command fails when a page cannot be re-cleaned."""
    from crawlclean.workers.control_characters import readable_line
    from crawlclean.workers.operations.hosts.host_recleaning import reclean_host
    from crawlclean.workers.output.progress import Tally

    dry_run, again = asked.dry_run, asked.again
    tally = Tally("compared" if dry_run else "re-cleaned", 0)

    def show(total: RecleaningCounts, part: RecleaningCounts) -> None:
        for each in part.failed:
            tally.print_line(readable_line(each))
        tally.done, tally.failed = total.cleaned, len(total.failed)
        tally.show()

    with tally:
        done = reclean_host(backends.settings, asked.host, show, dry_run=dry_run, again=again)
        if done.interrupted:
            line = "interrupted; the same command does the rest"
            line = "interrupted; the same command starts over" if again else line
            tally.print_line("interrupted; nothing changed" if dry_run else line)
        tally.show(last=True)
    ended = Exit.FAILED if done.failed else Exit.DONE
    with backends.store() as store:
        fetches_images = any(row.spec.images for row in store.crawls.all())

    def lines(_: object) -> Iterator[str]:
        if not done.interrupted or done.cleaned:
            yield from _recleaned_lines(done)
            if done.with_new_content_images and fetches_images:
                yield _pictured(done.with_new_content_images, dry_run=dry_run)

    return Rows(found=[done], lines=lines, status=Exit.INTERRUPTED if done.interrupted else ended)


def _recleaned_lines(done: RecleaningReport) -> Iterator[str]:
    from crawlclean.workers.output.printing import listed

    using = say("without a model")
    if done.model_version:
        using = say("with version {version} of its model", version=done.model_version)
    line = "{records} of {host} re-cleaned {using}"
    if done.dry_run:
        line = "{records} of {host} would be re-cleaned {using}"
    yield say(line, records=counted(done.cleaned, "record"), host=done.host, using=using)
    if done.cleaned:
        fields = listed(done.by_field, "field")
        differ = say(": ") + fields if fields else ""
        changed = (
            "{n} of them would change{differ}" if done.dry_run else "{n} of them changed{differ}"
        )
        yield say(changed, n=done.changed, differ=differ)
    elif not (done.not_archived or done.older_layout or done.failed):
        yield say("nothing left to do")
    if done.not_archived:
        yield say("{n} unchanged: not in the archive", n=done.not_archived)
    if done.older_layout:
        yield say("{n} unchanged: of an older layout of the site", n=done.older_layout)
    if done.failed:
        yield say("{n} unchanged: cleaning failed", n=done.failed)
    yield from _changed_lines(done.examples)


def _changed_lines(examples: Sequence[ChangedPage]) -> Iterator[str]:
    """Yields the URL of each page, and its fields before and after."""
    from crawlclean.workers.output.printing import padded

    for each in examples:
        yield each.url
        for name, (old, new) in each.changes.items():
            yield f"  {padded(term('field', name), 12)} {_value(old)}  ->  {_value(new)}"


def _value(text: str) -> str:
    """A value of a record as it is; what stands for one is said in the language."""
    return told(text) if text in ("none", "same kinds, other items or scores") else text


def _pictured(pages: int, *, dry_run: bool) -> str:
    line = "new content images on {pages}: their crawl or its next `run --images` fetches them"
    if dry_run:
        line = "{pages} would get new content images"
    return say(line, pages=counted(pages, "page"))
