"""`why`: prints every step of a URL in every crawl, or why no crawl took the URL."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from crawlclean.cleaning.lexicon import counted, second
from crawlclean.storage.crawl_types import UrlState
from crawlclean.workers.commands.arguments import Commands, add_json
from crawlclean.workers.config import Settings

if TYPE_CHECKING:
    from crawlclean.workers.answers.crawls import UnknownUrl, UrlTrace
    from crawlclean.workers.answers.stories import StoryLine
    from crawlclean.workers.answers.topics import TopicVerdict
    from crawlclean.workers.operations.urls.explaining import Explanation, Trace
    from crawlclean.workers.operations.urls.queued_urls import NotTaken

MOST_CRAWLS_SHOWN = 5


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "why",
        run,
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


def run(settings: Settings, arguments: argparse.Namespace) -> int:
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
