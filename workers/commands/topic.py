"""`topic`: follows a topic over many hosts, and changes or shows it; `topics` lists them."""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawlclean.cleaning.errors import ConfigError
from crawlclean.storage.crawl_types import CrawlState, Scope
from crawlclean.workers.commands.arguments import (
    JSON,
    Exit,
    Rows,
    add_host_options,
    argument,
    asking,
    command,
    crawl_name,
)
from crawlclean.workers.commands.run import add_limits, print_crawl, status_of
from crawlclean.workers.config import Settings
from crawlclean.workers.operations.backends import Backends
from crawlclean.workers.output.printing import write_lines
from crawlclean.workers.spoken import counted, in_english, say, term, told

if TYPE_CHECKING:
    from crawlclean.workers.operations.alerting.receivers import ReceiverFlags
    from crawlclean.workers.operations.topics.topics import TopicFlags

DESCRIPTION = (
    "Crawls for pages on a topic: best links first, over all hosts that they lead to. The first "
    "call creates the topic (--seeds, --query); `topic NAME` alone goes on with it. Ctrl-C "
    "finishes the pages in flight and stops. The other options show the topic or change it, also "
    "while it runs."
)
SITTING = 20
"""Pages to mark that are listed at a time."""
MOST_WEIGHTS = 60
"""Weights that are printed as a table: three screens of a terminal."""
WITH_VALUE = ("to_mark", "relevant", "not_relevant", "unmark", "feed")
"""The actions that have a value."""
MARKS = {"relevant": True, "not_relevant": False, "unmark": None}
"""The actions that are a user's word on a page."""


def _add_words(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seeds",
        nargs="+",
        metavar="FILE|URL",
        help="where the crawl begins: files with a URL a line, or URLs; with --edit more of them, "
        "also while it runs",
    )
    parser.add_argument(
        "--query",
        metavar="WORDS",
        help="the topic in words: a b (both are better), a|b (either), +a (must), -a (must not), "
        '"a b" (as it stands)',
    )
    parser.add_argument(
        "--examples",
        nargs="+",
        metavar="FILE|DIR|URL",
        help="pages on the topic: .html, .txt (the first line is the title), a folder of them, or "
        "URLs of stored pages; they are added to those that the topic has",
    )
    parser.add_argument(
        "--no-examples",
        action="store_true",
        help="forget the examples so far; pages that you marked stay",
    )
    parser.add_argument(
        "--exclude-words",
        nargs="+",
        metavar="WORD",
        help="a page with one in its title, or three times in its body, is not relevant",
    )
    parser.add_argument(
        "--synonyms", type=Path, metavar="FILE", help="words that mean the same, a | b on a line"
    )
    parser.add_argument(
        "--threshold",
        type=float,
        metavar="N",
        help="relevance from which a page is relevant, 0..1 (default 0.5; marks move it)",
    )
    parser.add_argument(
        "--pages-per-hour",
        type=float,
        metavar="N",
        help="spend about N pages an hour: more pages, with worse links among them",
    )
    parser.add_argument(
        "--dry-after",
        type=int,
        metavar="N",
        help="without --max-pages and --max-time: end after N records in a row (default 1000), and "
        "a third of all, of which none is relevant",
    )


def _add_receivers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--webhook", metavar="URL", help="tell a URL of each new story by POST; also with --edit"
    )
    parser.add_argument(
        "--webhook-private",
        action="store_true",
        help="the name of the webhook's host may lead to a private address",
    )
    parser.add_argument("--command", dest="gone_command", help=argparse.SUPPRESS)
    parser.add_argument("--no-webhook", action="store_true", help="remove the webhook")
    parser.add_argument(
        "--no-command", action="store_true", help="remove the command that an older version ran"
    )


def _add_actions(parser: argparse.ArgumentParser) -> None:
    one = parser.add_mutually_exclusive_group()
    for name, text in (
        ("show", "print the topic, and fetch nothing"),
        ("edit", "change the words or examples given, add seeds; stored pages are judged anew"),
        ("pause", "fetch nothing until --resume"),
        ("resume", "end a pause"),
        ("weights", "print what was learned of links"),
        ("send", "tell the webhook now what waits for it"),
        ("report", "print harvest, newest stories, reprints, hosts and what each brought"),
    ):
        one.add_argument(
            f"--{name}", dest="action", action="store_const", const=name, default="", help=text
        )
    one.add_argument(
        "--to-mark",
        nargs="?",
        type=int,
        const=SITTING,
        metavar="N",
        help=f"list the N stored pages whose marks teach most (default {SITTING})",
    )
    one.add_argument("--relevant", metavar="URL", help="mark a stored page as relevant, and learn")
    one.add_argument("--not-relevant", metavar="URL", help="mark a stored page as not relevant")
    one.add_argument("--unmark", metavar="URL", help="take the mark of a page off")
    one.add_argument(
        "--feed",
        type=Path,
        metavar="FILE",
        help="write the newest stories, by day of publication, as an Atom feed",
    )
    parser.add_argument(
        "--day",
        metavar="DAY",
        help="with --feed and --report: the stories published on a day in UTC, 2026-11-23",
    )
    parser.add_argument(
        "--html",
        type=Path,
        metavar="FILE",
        help="with --report: write the report with charts as one HTML file",
    )


@command(
    DESCRIPTION,
    JSON,
    add_host_options,
    argument(
        "name",
        nargs=None,
        type=crawl_name,
        metavar="NAME",
        help="name of the topic and of its crawl",
    ),
    _add_words,
    _add_receivers,
    _add_actions,
    partial(add_limits, of_topic=True),
)
def topic(settings: Settings, arguments: argparse.Namespace) -> int:
    """Crawls for a topic, or does the one action that is given."""
    if arguments.gone_command is not None:
        raise ConfigError(
            "--command is gone: give a --webhook URL, whose program may run one (docs/topics.md), "
            "or read `topic NAME --report --json` by cron"
        )
    given = (name for name in WITH_VALUE if getattr(arguments, name) is not None)
    action = arguments.action or next(given, "")
    if arguments.html and action != "report":
        raise ConfigError("--html FILE goes with --report")
    if arguments.day and action not in ("report", "feed"):
        raise ConfigError("--day DAY goes with --report or --feed")
    if not action:
        return _crawl(settings, arguments)
    if arguments.seeds and action != "edit":
        raise ConfigError(f"--seeds is for the crawl: leave --{action.replace('_', '-')} out")
    flags, receivers = _flags(arguments)
    is_asked = not (flags.is_empty and receivers.is_empty)
    if action != "edit" and is_asked:
        raise ConfigError("--query, --webhook and others go with --edit, or with the crawl")
    with Backends(settings) as backends:
        if action in ("pause", "resume"):
            done = _change_state(backends, arguments.name, action)
            if not arguments.json:
                write_lines([done])
                return Exit.DONE
        elif action == "send":
            from crawlclean.workers.operations.alerting.receivers import send_stories

            send_stories(settings, arguments.name)
        elif action == "feed":
            return _feed(backends, arguments)
        elif action in ("edit", *MARKS):
            _change(settings, arguments, action)
        tell = {"report": _report, "weights": _weights, "to_mark": _to_mark}.get(action, _shown)
        tell(backends, arguments).print(as_json=arguments.json)
    return Exit.DONE


@asking()
def topics(backends: Backends, _: argparse.Namespace) -> Rows:
    """Every topic, by name."""
    from crawlclean.workers.operations.topics.reports import list_topics
    from crawlclean.workers.output.topic_report import rate_of

    def row(each: Any) -> tuple[str, ...]:
        numbers = (str(each.pages), str(each.relevant), rate_of(each.relevant, each.pages))
        state, note = term("topic_state", each.state), told(each.note)
        return each.topic, state, *numbers, each.query, note

    return Rows(
        found=list_topics(backends).items,
        head=("TOPIC", "STATE", "PAGES", "RELEVANT", "HARVEST", "QUERY", "NOTE"),
        row=row,
        empty="there is no topic",
        drop=("NOTE", "QUERY"),
    )


def _flags(arguments: argparse.Namespace) -> tuple[TopicFlags, ReceiverFlags]:
    from crawlclean.workers.operations.alerting.receivers import ReceiverFlags
    from crawlclean.workers.operations.topics.topics import TopicFlags

    def given(kind: type[Any]) -> Any:
        return kind(**{each.name: getattr(arguments, each.name) for each in fields(kind)})

    return given(TopicFlags), given(ReceiverFlags)


def _crawl(settings: Settings, arguments: argparse.Namespace) -> int:
    from crawlclean.workers.operations.crawling.specs import check_ca_file
    from crawlclean.workers.operations.topics.crawls import run_topic, topic_spec
    from crawlclean.workers.operations.topics.reports import show_topic
    from crawlclean.workers.output.topic_report import TopicProgress, topic_lines

    check_ca_file(settings)
    given = {name for name, value in vars(arguments).items() if value is not None}
    scope = Scope(arguments.topic_scope) if arguments.topic_scope else None
    spec = topic_spec(settings, arguments.name, arguments.seeds or (), scope, given)
    with TopicProgress(settings, spec.topic, settings.crawl.max_time_s) as progress:
        flags = _flags(arguments)
        ended, nothing = run_topic(settings, spec, *flags, progress, fresh=arguments.fresh)
    result, _ = ended
    status = print_crawl(settings, ended, as_json=arguments.json)
    if result.state is CrawlState.PURGED:
        return status
    if not arguments.json:
        with Backends(settings) as backends:
            *_, pages = topic_lines(show_topic(backends, arguments.name))
        write_lines([arguments.name + say(": ") + pages.strip()])
    if nothing:
        sys.stderr.write(f"{told(nothing)}\n")
    return status_of([result.ended_by], has_records=bool(result.records or result.why))


def _change_state(backends: Backends, name: str, action: str) -> str:
    """Pauses or resumes a topic; returns a line about it."""
    from crawlclean.workers.operations.topics.topics import change_topic_state

    is_pause = action == "pause"
    state = CrawlState.PAUSED if is_pause else CrawlState.RUNNING
    after = change_topic_state(backends, name, state)
    line = "topic {topic} is {state}"
    if not (is_pause or after is CrawlState.RUNNING):
        line = "topic {topic} is {state}; `topic {topic}` goes on with it"
    return say(line, topic=name, state=term("state", after))


def _change(settings: Settings, arguments: argparse.Namespace, action: str) -> None:
    from crawlclean.workers.operations.alerting.receivers import set_receivers
    from crawlclean.workers.operations.topics.crawls import add_seeds
    from crawlclean.workers.operations.topics.topics import edit_topic, mark_page
    from crawlclean.workers.output.progress import Tally

    flags, receivers = _flags(arguments)
    if action == "edit":
        set_receivers(settings, arguments.name, receivers)
        if arguments.seeds:
            add_seeds(settings, arguments.name, arguments.seeds)
        if flags.is_empty and (arguments.seeds or not receivers.is_empty):
            return  # words stay, so no page is judged anew

    with Tally("judged anew", 0) as tally:

        def judged(pages: int) -> None:
            tally.done += pages
            tally.show()

        if action == "edit":
            edit_topic(settings, arguments.name, flags, judged)
        else:
            url = getattr(arguments, action)
            mark_page(settings, arguments.name, url, judged, is_relevant=MARKS[action])


def _shown(backends: Backends, arguments: argparse.Namespace) -> Rows:
    from crawlclean.workers.operations.topics.reports import show_topic
    from crawlclean.workers.output.topic_report import topic_lines

    return Rows(found=[show_topic(backends, arguments.name)], lines=topic_lines)


def _to_mark(backends: Backends, arguments: argparse.Namespace) -> Rows:
    from crawlclean.workers.answers.making import answer_of
    from crawlclean.workers.answers.topics import PageToMark
    from crawlclean.workers.operations.topics.topics import pages_to_mark

    name, pages = arguments.name, pages_to_mark(backends, arguments.name, arguments.to_mark)
    how = "mark them: `topic {topic} --relevant URL`, `topic {topic} --not-relevant URL`"
    return Rows(
        found=[answer_of(PageToMark, page, relevance=page.judgement.relevance) for page in pages],
        lines=lambda page: (f"{page.relevance:.2f}  {page.title}", f"      {page.url}"),
        empty=say("topic {topic} has judged no page without a mark", topic=name),
        last=say(how, topic=name) if pages else "",
    )


def _weights(backends: Backends, arguments: argparse.Namespace) -> Rows:
    from crawlclean.workers.operations.topics.reports import weights_of

    weights = weights_of(backends, arguments.name)
    return Rows(
        found=weights if arguments.json else weights[:MOST_WEIGHTS],
        head=("WEIGHT", "SD", "FEATURE"),
        row=lambda each: (f"{each.weight:+.2f}", f"{each.sd:.2f}", each.name),
        empty="nothing is learned yet",
    )


def _feed(backends: Backends, arguments: argparse.Namespace) -> int:
    from crawlclean.workers.operations.files.whole_files import write_whole
    from crawlclean.workers.operations.topics.reading import (
        FEED_STORIES,
        feed_of,
        list_topic_stories,
        read_day,
    )

    name, day = arguments.name, read_day(arguments.day or "")
    stories = list_topic_stories(backends, name, day=day, limit=FEED_STORIES).items
    write_whole(arguments.feed, feed_of(backends, name, stories))
    sys.stderr.write(f"{arguments.feed}: {counted(len(stories), 'story')}\n")
    return Exit.DONE


def _report(backends: Backends, arguments: argparse.Namespace) -> Rows:
    """The report, as a page, too; with a page alone nothing is printed."""
    from crawlclean.workers.operations.topics.reading import read_day
    from crawlclean.workers.operations.topics.reports import read_figures
    from crawlclean.workers.output.topic_report import report_lines

    day = read_day(arguments.day or "")
    report = read_figures(backends.settings, arguments.name, day).report
    if arguments.html:
        from crawlclean.workers.operations.files.whole_files import write_whole
        from crawlclean.workers.output.topic_page import topic_page

        page = in_english(partial(topic_page, report))
        write_whole(arguments.html, page)
        sys.stderr.write(f"{arguments.html}: {len(page) // 1024 + 1} KB\n")
    is_printed = arguments.json or not arguments.html
    return Rows(found=[report] if is_printed else [], lines=report_lines)
