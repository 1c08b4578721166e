"""`show`, `why`, `search`: one record, every step of one URL, records by words of their texts."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from crawlclean.cleaning.errors import ConfigError
from crawlclean.cleaning.lexicon import counted, second
from crawlclean.storage.crawl_types import UrlState
from crawlclean.workers.commands.arguments import Commands, add_json, crawl_name
from crawlclean.workers.config import Settings

if TYPE_CHECKING:
    from crawlclean.workers.answers.crawls import UnknownUrl, UrlTrace
    from crawlclean.workers.answers.topics import StoryLine, TopicVerdict
    from crawlclean.workers.operations.reading import StoredRecord
    from crawlclean.workers.operations.urls.explaining import Explanation, Trace
    from crawlclean.workers.operations.urls.queued_urls import NotTaken


# `show`: prints one record, its older versions, or one stored image.


def register_show(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add("show", run_show, "print one record")
    add_json(parser)
    parser.add_argument(
        "target",
        metavar="URL|ID",
        help="URL of a page or image (without http:// too), or first digits of a page id",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--history", action="store_true", help="list the versions of a page, newest first"
    )
    which.add_argument(
        "--diff",
        nargs="*",
        metavar="TIME",
        help="print what changed: from the version before to the newest one, or between those "
        "of two times (2026-01-31, 2026-01-31T12:00:00)",
    )


def run_show(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints the record of a page, or the stored fields of an image."""
    if arguments.history:
        return _print_history(settings, arguments)
    if arguments.diff is not None:
        return _print_difference(settings, arguments)
    from crawlclean.workers.operations.reading import StoredRecord, find_stored
    from crawlclean.workers.output.image_report import image_answer, image_text
    from crawlclean.workers.output.printing import print_answer, print_line

    found = find_stored(settings, arguments.target)
    if isinstance(found, StoredRecord):
        if arguments.json:
            print_line(found.record.to_json())
        else:
            sys.stdout.write(_record_text(found))
    elif arguments.json:
        print_answer(image_answer(found))
    else:
        sys.stdout.write(image_text(found))
    return 0


def _print_history(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints a line for each version of a page."""
    from crawlclean.workers.operations.pages.page_versions import page_history
    from crawlclean.workers.output.printing import print_answer, table, write_lines

    versions = page_history(settings, arguments.target)
    if arguments.json:
        for each in versions:
            print_answer(each)
        return 0
    newest = versions[0]
    write_lines([f"{newest.url} in {newest.crawl}, last checked {_time(newest.checked_at)}"])
    rows = [["version of", "lines", "body", "title"]]
    for each in versions:
        change = f"+{each.added} -{each.removed}" if each is not versions[-1] else "first"
        rows.append([_time(each.fetched_at), change, f"{each.body_chars}", each.title])
    sys.stdout.write(table(rows))
    return 0


def _print_difference(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints the lines that differ between two versions of a page."""
    from crawlclean.cleaning.errors import ConfigError
    from crawlclean.workers.operations.pages.page_versions import page_difference
    from crawlclean.workers.output.printing import print_answer, write_lines

    if len(arguments.diff) not in (0, 2):
        raise ConfigError("--diff takes no time or two: --diff 2026-01-30 2026-01-31")
    found = page_difference(settings, arguments.target, arguments.diff)
    if arguments.json:
        print_answer(found)
        return 0
    write_lines([f"--- {_time(found.older_at)}", f"+++ {_time(found.newer_at)}", *found.lines])
    return 0


def _time(at: datetime | None) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S}Z" if at else ""


def _story_rows(found: StoredRecord) -> list[tuple[str, str]]:
    """The other URLs of a page's story, a row each."""
    from crawlclean.workers.output.page_report import told_also_by

    if found.story is None:
        return []
    first, *others = told_also_by(found.story, found.record.url)
    return [("story", first.removeprefix("story ")), *(("", line.strip()) for line in others)]


def _record_text(found: StoredRecord) -> str:
    """A line for each field with a value, then the body."""
    from crawlclean.workers.control_characters import printable, readable_line
    from crawlclean.workers.output.image_report import stored_rows

    record = found.record
    about = [
        ("url", record.url),
        ("canonical", record.canonical_url if record.canonical_url != record.url else ""),
        ("id", record.page_id),
        ("kind", str(record.kind)),
        ("title", record.title),
        ("author", record.author or ""),
        ("published", second(record.published_at) if record.published_at else ""),
        ("language", record.language or ""),
        ("encoding", record.encoding),
        ("fetched", second(record.fetched_at)),
        ("body by", str(record.body_source)),
        ("links", str(len(record.links))),
        ("images", str(len(record.images))),
        *stored_rows(found.images),
        *_story_rows(found),
        ("warnings", ", ".join(f"{w.kind} {w.detail}".strip() for w in record.warnings)),
    ]
    head = "".join(f"{name:<10} {readable_line(value)}\n" for name, value in about if value)
    body = printable(record.body, keep_lines=True)
    return head + (f"\n{body}\n" if body else "\nno body\n")


# `why`: prints every step of a URL in every crawl, or why no crawl took the URL.

MOST_CRAWLS_SHOWN = 5


def register_why(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "why",
        run_why,
        "print every step of one URL, from discovery to store",
        "Prints the decision log of a URL. For a URL that no crawl has queued, prints the reason "
        "of each crawl, the pages that link to the URL, and known URLs that are like it. For a "
        "page that a topic has judged, prints which words and examples made it relevant. Names the "
        "other URLs that tell the same story. With --text: why a text of a stored page was kept "
        "or cut.",
    )
    add_json(parser)
    parser.add_argument("target", metavar="URL", help="with or without http://")
    parser.add_argument(
        "--all-records",
        action="store_true",
        help="search all records for links to an unknown URL, however long it takes (else 5 s)",
    )
    parser.add_argument(
        "--text",
        metavar="TEXT",
        help="print which rule kept or cut each text of the stored page that holds TEXT, or lies "
        "in it; '' for all texts",
    )


def run_why(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints the decision log of a URL, or its verdicts; returns 1 when there are none."""
    if arguments.text is not None:
        return _print_verdicts(settings, arguments)
    from crawlclean.workers.control_characters import readable_line
    from crawlclean.workers.operations.urls.explaining import explain_url
    from crawlclean.workers.output.printing import print_answer, write_lines
    from crawlclean.workers.output.progress import Tally

    with Tally("searched", 0) as tally:

        def progress(records: int) -> None:
            tally.done += records
            tally.show()

        search_all = progress if arguments.all_records else None
        found = explain_url(settings, arguments.target, search_all)
    if arguments.json:
        for answer in _answers(found):
            print_answer(answer)
    else:
        lines = _traces(found) if found.traces else _reasons(found)
        write_lines(readable_line(line) for line in lines)
    return 0 if found.traces else 1


def _print_verdicts(settings: Settings, arguments: argparse.Namespace) -> int:
    from crawlclean.workers.control_characters import readable_line
    from crawlclean.workers.operations.pages.judged_page import judge_url, matching
    from crawlclean.workers.output.page_report import verdict_text
    from crawlclean.workers.output.printing import print_answer, write_lines

    judged = judge_url(settings, arguments.target)
    found = matching(judged.verdicts, arguments.text)
    if arguments.json:
        for each in found:
            print_answer(each)
        return 0 if found else 1
    lines = [line for each in found for line in verdict_text(each)]
    if not judged.is_same:
        lines.insert(0, "the stored record is of another version of this program, or changed by a")
        lines.insert(1, "hook; these verdicts are of a reading now")
    write_lines(readable_line(line) for line in lines or ["no text of the page holds this"])
    return 0 if found else 1


def _answers(found: Explanation) -> Iterator[UrlTrace | UnknownUrl | TopicVerdict | StoryLine]:
    """Yields a JSON line for each crawl, each topic that has judged the page, and its story."""
    from crawlclean.workers.operations.answering.urls import unknown_urls, url_traces
    from crawlclean.workers.output.outcome_report import wait_text

    yield from url_traces(found, wait_text)
    yield from unknown_urls(found)
    yield from found.topics
    if found.story is not None:
        yield found.story


def _traces(found: Explanation) -> Iterator[str]:
    from crawlclean.workers.output.page_report import told_also_by, verdict_lines

    for trace in found.traces:
        state = ": ".join(filter(None, (trace.state, _why_excluded(trace))))
        yield f"{found.url} in {trace.crawl}: {state}"
        yield from _steps(trace)
    for verdict in found.topics:
        yield from verdict_lines(verdict)
    if found.story is not None:
        for line in told_also_by(found.story, found.url):
            yield f"  {line}"


def _why_excluded(trace: Trace) -> str:
    """The reason of an excluded URL, ``robots.txt forbids it``; ``""`` in other states."""
    details = (step.detail for step in reversed(trace.steps) if step.step == trace.state)
    return next(details, "").partition(": ")[2] if trace.state == UrlState.EXCLUDED else ""


def _steps(trace: Trace) -> Iterator[str]:
    from crawlclean.workers.operations.answering.urls import waits_for
    from crawlclean.workers.output.outcome_report import visit_text, wait_text

    if waits := waits_for(trace, wait_text):
        yield f"  waits: {waits}"
    if trace.next_visit and trace.last_visit:
        again = (
            f", visited again {counted(trace.visits_again, 'time')}" if trace.visits_again else ""
        )
        due = visit_text(trace.next_visit, datetime.now(UTC))
        yield f"  last visit {second(trace.last_visit)}{again}; {due}"
    if trace.referrer:
        by = f' by "{trace.link_text}"' if trace.link_text else ""
        yield f"  found on {trace.referrer}{by}"
    for step in trace.steps:
        at = f"{step.at:%Y-%m-%d %H:%M:%S.%f}"[:-3]
        yield f"  {at}  {step.step}" + (f"  {step.detail}" if step.detail else "")


def _reasons(found: Explanation) -> Iterator[str]:
    from crawlclean.workers.answers.crawls import Cause

    for each in found.not_taken[:MOST_CRAWLS_SHOWN]:
        # The crawl knows the URL or not by when robots.txt was read; a reader sees one text.
        is_excluded = each.cause is Cause.ROBOTS
        place = f"in {each.crawl}: excluded" if is_excluded else f"is unknown to {each.crawl}"
        yield f"{found.url} {place}: {each.reason}"
        yield from _links(each)
        if each.unknown:
            yield f"  not known: {each.unknown}"
    if len(found.not_taken) > MOST_CRAWLS_SHOWN:
        yield f"and to {counted(len(found.not_taken) - MOST_CRAWLS_SHOWN, 'other crawl')}"
    for number, url in enumerate(found.near):
        yield f"{'did you mean' if number == 0 else '          or'} {url}"


def _links(each: NotTaken) -> Iterator[str]:
    links = each.inlinks
    for link in links.pages:
        how = "redirected from" if link.via == "redirect" else "linked from"
        yield f"  {how} {link.page_url}" + (f' by "{link.text}"' if link.text else "")
    if links.count > len(links.pages):
        yield f"  and from {counted(links.count - len(links.pages), 'other page')}"
    if not links.is_whole:
        searched = counted(links.records, "record")
        yield f"  searched {searched} for links; --all-records searches the rest"
    if links.capped and not links.pages:
        yield f"  {links.capped[0]} has more links than a record keeps (capped_links)"


# `search`: records by words of their texts.

LISTED = 20


def register_search(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "search",
        run_search,
        "find records by words of their texts",
        "Prints the records whose title or body has every given word, those saved last first, with "
        "the text around the first hit. Chinese needs no spaces; a phrase of several words stands "
        "in quotation marks. Needs the setting `search`; records that are not indexed yet are "
        "indexed first.",
    )
    add_json(parser)
    parser.add_argument("words", nargs="+", metavar="WORD", help="a word, or a quoted phrase")
    parser.add_argument("--host", default="", metavar="HOST", help="only pages of this host")
    parser.add_argument(
        "--crawl", default="", type=crawl_name, metavar="CRAWL", help="only of this crawl"
    )
    parser.add_argument(
        "--since", default="", metavar="TIME", help="only pages fetched then or later"
    )
    parser.add_argument("--until", default="", metavar="TIME", help="only pages fetched before")
    parser.add_argument(
        "--limit", type=int, default=LISTED, metavar="N", help=f"list at most N (default {LISTED})"
    )


def run_search(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints records; returns 1 when none was found."""
    from crawlclean.workers.control_characters import readable_line
    from crawlclean.workers.operations.reading import read_time
    from crawlclean.workers.operations.searching import Wanted, search_stored
    from crawlclean.workers.output.printing import print_answer
    from crawlclean.workers.output.progress import Tally

    if arguments.limit < 1:
        raise ConfigError(f"--limit is {arguments.limit}: it must be at least 1")
    words = (f'"{each}"' if " " in each and '"' not in each else each for each in arguments.words)
    wanted = Wanted(
        text=" ".join(words),
        host=arguments.host.lower(),
        crawl=arguments.crawl,
        since=read_time(arguments.since) if arguments.since else None,
        until=read_time(arguments.until) if arguments.until else None,
    )
    with Tally("indexed", 0) as tally:

        def tell(done: int) -> None:
            tally.done = done
            tally.show()

        found = search_stored(settings, wanted, arguments.limit, tell)
    for hit in found.hits:
        if arguments.json:
            print_answer(hit)
        else:
            text = "".join(f"*{part.text}*" if part.is_hit else part.text for part in hit.snippet)
            lines = (hit.url, f"  {hit.title or '-'}  {hit.fetched_at:%Y-%m-%d}", f"  {text}")
            sys.stdout.write("".join(readable_line(line) + "\n" for line in lines))
    if found.is_late:
        sys.stderr.write("the search took too long, and ended early: give a rarer word\n")
    return 0 if found.hits else 1
