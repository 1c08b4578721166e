"""`show`, `why`, `search`: one record, every step of one URL, records by words of their texts."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.lexicon import second
from crawlclean.storage.crawl_types import UrlState
from crawlclean.workers.commands.arguments import (
    Exit,
    Rows,
    argument,
    asking,
    crawl_name,
    either_of,
    limit,
)
from crawlclean.workers.control_characters import printable, readable_line
from crawlclean.workers.spoken import counted, say, term, told

if TYPE_CHECKING:
    from crawlclean.cleaning.page_warnings import PageWarning
    from crawlclean.workers.answers.crawls import LinkedFrom, UrlTrace
    from crawlclean.workers.answers.hosts import SearchHit
    from crawlclean.workers.answers.moments import UrlHistory
    from crawlclean.workers.operations.backends import Backends
    from crawlclean.workers.operations.reading import StoredRecord


# `show`: prints one record, its older versions, or one stored image.


@asking(
    "",
    argument(
        "target",
        nargs=None,
        metavar="URL|ID",
        help="URL of a page or image (without http:// too), or first digits of a page id",
    ),
    either_of(
        argument(
            "--history", action="store_true", help="list the versions of a page, newest first"
        ),
        argument(
            "--diff",
            nargs="*",
            metavar="TIME",
            help="print what changed: from the version before to the newest one, or between "
            "those of two times (2026-01-31, 2026-01-31T12:00:00)",
        ),
    ),
)
def show(backends: Backends, asked: argparse.Namespace) -> Rows:
    """The record of a page, its versions, what changed, or the stored fields of an image."""
    if asked.history:
        return _history(backends, asked)
    if asked.diff is not None:
        return _difference(backends, asked)
    from crawlclean.workers.operations.reading import StoredRecord, find_stored
    from crawlclean.workers.output.image_report import image_answer, image_text

    found = find_stored(backends, asked.target)
    if isinstance(found, StoredRecord):
        return Rows(found=[found.record.in_utc()], text=lambda _: _record_text(found))
    return Rows(found=[image_answer(found)], text=lambda _: image_text(found))


def _history(backends: Backends, asked: argparse.Namespace) -> Rows:
    """The versions of a page, newest first."""
    from crawlclean.workers.operations.pages.page_versions import versions_of
    from crawlclean.workers.output.printing import write_lines

    versions = versions_of(backends, asked.target)
    newest, first = versions[0], versions[-1]
    if not asked.json:
        checked = "{version.url} in {version.crawl}, last checked {time}"
        write_lines([say(checked, version=newest, time=_time(newest.checked_at))])
    return Rows(
        found=versions,
        head=("version of", "lines", "body", "title"),
        row=lambda each: (
            _time(each.fetched_at),
            say("first") if each is first else f"+{each.added} -{each.removed}",
            str(each.body_chars),
            each.title,
        ),
        fit=False,
    )


def _difference(backends: Backends, asked: argparse.Namespace) -> Rows:
    """The lines that differ between two versions of a page."""
    from crawlclean.workers.operations.pages.page_versions import page_difference
    from crawlclean.workers.operations.reading import read_time

    if len(asked.diff) not in (0, 2):
        raise ConfigError("--diff takes no time or two: --diff 2026-01-30 2026-01-31")
    return Rows(
        found=[page_difference(backends, asked.target, *map(read_time, asked.diff))],
        lines=lambda found: (
            f"--- {_time(found.older_at)}",
            f"+++ {_time(found.newer_at)}",
            *found.lines,
        ),
    )


def _time(at: datetime | None) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S}Z" if at else ""


def _story_rows(found: StoredRecord) -> list[tuple[str, str]]:
    """The other URLs of a page's story, a row each."""
    from crawlclean.workers.output.page_report import told_also_by

    if found.story is None:
        return []
    first, *others = told_also_by(found.story, found.record.url)
    return [
        ("story", first.removeprefix(say("story {story}", story=""))),
        *(("", line.strip()) for line in others),
    ]


def _record_text(found: StoredRecord) -> str:
    """A line for each field with a value, then the body."""
    from crawlclean.workers.output.image_report import fields_text, stored_rows

    record = found.record
    about = [
        ("url", record.url),
        ("canonical", record.canonical_url if record.canonical_url != record.url else ""),
        ("id", record.page_id),
        ("kind", term("url_kind", record.kind)),
        ("title", record.title),
        ("author", record.author or ""),
        ("published", second(record.published_at) if record.published_at else ""),
        ("language", record.language or ""),
        ("encoding", record.encoding),
        ("fetched", second(record.fetched_at)),
        ("body by", term("body_source", record.body_source)),
        ("sure", f"{record.confidence:.0%}" if record.confidence else ""),
        ("links", str(len(record.links))),
        ("images", str(len(record.images))),
        *stored_rows(found.images),
        *_story_rows(found),
        ("warnings", say(", ").join(map(_warning, record.warnings))),
    ]
    body = printable(record.body, keep_lines=True) or say("no body")
    return f"{fields_text(about)}\n{body}\n"


def _warning(warning: PageWarning) -> str:
    return f"{term('warning', warning.kind)} {told(warning.detail)}".strip()


# `why`: prints every step of a URL in every crawl, or why no crawl took the URL.

MOST_CRAWLS_SHOWN = 5  # a line each: more would push the steps off the screen


@asking(
    "Prints the decision log of a URL. For a URL that no crawl has queued, prints the reason "
    "of each crawl, the pages that link to the URL, and known URLs that are like it. For a "
    "page that a topic has judged, prints which words and examples made it relevant. Names the "
    "other URLs that tell the same story. With --text: why a text of a stored page was kept "
    "or cut.",
    argument("target", nargs=None, metavar="URL", help="with or without http://"),
    argument(
        "--all-records",
        action="store_true",
        help="search all records for links to an unknown URL, however long it takes (else 5 s)",
    ),
    argument(
        "--text",
        metavar="TEXT",
        help="print which rule kept or cut each text of the stored page that holds TEXT, or lies "
        "in it; '' for all texts",
    ),
)
def why(backends: Backends, asked: argparse.Namespace) -> Rows:
    """The decision log of a URL, or its verdicts; the status is 1 when there are none."""
    if asked.text is not None:
        return _verdicts(backends, asked)
    from crawlclean.workers.operations.urls.explaining import explain_url
    from crawlclean.workers.output.progress import Tally

    with Tally("searched", 0) as tally:

        def progress(records: int) -> None:
            tally.done += records
            tally.show()

        found = explain_url(backends, asked.target, progress if asked.all_records else None)
    story = [found.story] if found.story else []
    lines = _traces(found) if found.traces else _reasons(found)
    return Rows(
        found=[*found.traces, *found.not_taken, *found.topics, *story],
        text=lambda _: "".join(f"{readable_line(line)}\n" for line in lines),
        status=Exit.DONE if found.traces else Exit.FAILED,
    )


def _verdicts(backends: Backends, asked: argparse.Namespace) -> Rows:
    from crawlclean.workers.operations.pages.pages import judge_url, matching
    from crawlclean.workers.output.page_report import verdict_text
    from crawlclean.workers.output.printing import write_lines

    judged = judge_url(backends, asked.target)
    if not (judged.is_same or asked.json):
        write_lines(
            map(
                say,
                (
                    "the stored record is of another version of this program, or changed by a",
                    "hook; these verdicts are of a reading now",
                ),
            )
        )
    if not asked.json:
        text = "the body is right with probability {sure:.2f}: {why}"
        write_lines([say(text, sure=judged.again.confidence, why=told(judged.doubts))])
    found = matching(judged.verdicts, asked.text)
    return Rows(
        found=found,
        lines=verdict_text,
        empty="no text of the page holds this",
        status=Exit.DONE if found else Exit.FAILED,
    )


def _traces(found: UrlHistory) -> Iterator[str]:
    from crawlclean.workers.output.page_report import told_also_by, verdict_lines

    for trace in found.traces:
        why = told(_why_excluded(trace))
        state = say(": ").join(filter(None, (term("step", trace.state), why)))
        yield say("{url} in {crawl}: {state}", url=found.url, crawl=trace.crawl, state=state)
        yield from _steps(trace)
    for verdict in found.topics:
        yield from verdict_lines(verdict)
    if found.story is not None:
        for line in told_also_by(found.story, found.url):
            yield f"  {line}"


def _why_excluded(trace: UrlTrace) -> str:
    """The reason of an excluded URL, ``robots.txt forbids it``; ``""`` in other states."""
    details = (step.detail for step in reversed(trace.steps) if step.step == trace.state)
    return next(details, "").partition(": ")[2] if trace.state == UrlState.EXCLUDED else ""


def _steps(trace: UrlTrace) -> Iterator[str]:
    from crawlclean.workers.operations.controlling.waits import visit_text

    if trace.waits_for:
        yield "  " + say("waits: {why}", why=told(trace.waits_for))
    if trace.next_visit and trace.last_visit:
        times = trace.visits_again
        yield "  " + say(
            "last visit {time}{again}; {due}",
            time=second(trace.last_visit),
            again=say(", visited again {times}", times=counted(times, "time")) if times else "",
            due=visit_text(trace.next_visit, datetime.now(UTC)),
        )
    if trace.referrer:
        by = say(' by "{text}"', text=trace.link_text) if trace.link_text else ""
        yield "  " + say("found on {url}{by}", url=trace.referrer, by=by)
    for step in trace.steps:
        at = f"{step.at:%Y-%m-%d %H:%M:%S.%f}"[:-3]
        via = step.step == "discovered"
        detail = term("via", step.detail) if via else told(step.detail)
        yield f"  {at}  {term('step', step.step)}" + (f"  {detail}" if detail else "")


def _reasons(found: UrlHistory) -> Iterator[str]:
    from crawlclean.workers.answers.crawls import Cause

    for each in found.not_taken[:MOST_CRAWLS_SHOWN]:
        # The crawl knows the URL or not by when robots.txt was read; a reader sees one text.
        is_excluded = each.cause is Cause.ROBOTS
        line = "{url} is unknown to {crawl}: {why}"
        line = "{url} in {crawl}: excluded: {why}" if is_excluded else line
        yield say(line, url=found.url, crawl=each.crawl, why=told(each.reason))
        yield from _links(each.linked_from)
        if each.unknown:
            yield "  " + say("not known: {what}", what=told(each.unknown))
    if len(found.not_taken) > MOST_CRAWLS_SHOWN:
        others = len(found.not_taken) - MOST_CRAWLS_SHOWN
        yield say("and to {crawls}", crawls=counted(others, "other crawl"))
    for number, url in enumerate(found.not_taken[0].did_you_mean if found.not_taken else ()):
        yield f"{say('did you mean') if number == 0 else say('          or')} {url}"


def _links(links: LinkedFrom) -> Iterator[str]:
    for link in links.nearest:
        by = say(' by "{text}"', text=link.text) if link.text else ""
        how = "redirected from {url}{by}" if link.via == "redirect" else "linked from {url}{by}"
        yield "  " + say(how, url=link.url, by=by)
    if links.pages > len(links.nearest):
        others = counted(links.pages - len(links.nearest), "other page")
        yield "  " + say("and from {pages}", pages=others)
    if not links.is_whole:
        searched = counted(links.records_searched, "record")
        rest = "searched {records} for links; --all-records searches the rest"
        yield "  " + say(rest, records=searched)
    if links.capped and not links.nearest:
        more = "{url} has more links than a record keeps (capped_links)"
        yield "  " + say(more, url=links.capped[0])


# `search`: records by words of their texts.


@asking(
    "Prints the records whose title or body has every given word, those saved last first, with "
    "the text around the first hit. Chinese needs no spaces; a phrase of several words stands "
    "in quotation marks. Needs the setting `search`; records that are not indexed yet are "
    "indexed first.",
    argument("words", nargs="+", metavar="WORD", help="a word, or a quoted phrase"),
    argument("--host", default="", metavar="HOST", help="only pages of this host"),
    argument("--crawl", default="", type=crawl_name, metavar="CRAWL", help="only of this crawl"),
    argument("--since", default="", metavar="TIME", help="only pages fetched then or later"),
    argument("--until", default="", metavar="TIME", help="only pages fetched before"),
    limit(20),
)
def search(backends: Backends, asked: argparse.Namespace) -> Rows:
    """Records; the status is 1 when none was found."""
    from crawlclean.storage.search import Asked
    from crawlclean.workers.operations.reading import read_time
    from crawlclean.workers.operations.searching import search_all
    from crawlclean.workers.output.progress import Tally

    words = (f'"{each}"' if " " in each and '"' not in each else each for each in asked.words)
    wanted = Asked(
        text=" ".join(words),
        host=asked.host.lower(),
        crawl_id=asked.crawl,
        since=read_time(asked.since) if asked.since else None,
        until=read_time(asked.until) if asked.until else None,
    )
    with Tally("indexed", 0) as tally:

        def tell(done: int) -> None:
            tally.done = done
            tally.show()

        found = search_all(backends, wanted, asked.limit, tell)
    if found.is_late:
        late = say("the search took too long, and ended early: give a rarer word")
        sys.stderr.write(late + "\n")
    status = Exit.DONE if found.hits else Exit.FAILED
    return Rows(found=found.hits, lines=_hit_lines, status=status)


def _hit_lines(hit: SearchHit) -> tuple[str, ...]:
    text = "".join(f"*{part.text}*" if part.is_hit else part.text for part in hit.snippet)
    return hit.url, f"  {hit.title or '-'}  {hit.fetched_at:%Y-%m-%d}", f"  {text}"
