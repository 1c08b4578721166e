"""`why`: prints every step of a URL in every crawl, or why no crawl queued the URL."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from workers.commands.arguments import Commands, add_json
from workers.config import Settings

if TYPE_CHECKING:
    from workers.operations.explaining import Explanation, Trace

MOST_CRAWLS_SHOWN = 5


def register(commands: Commands) -> None:
    """Adds the command and its arguments."""
    parser = commands.add(
        "why",
        run,
        "print every step of one URL, from discovery to store",
        "Prints the decision log of a URL. For a URL that no crawl has queued, prints the reason "
        "of each crawl.",
    )
    add_json(parser)
    parser.add_argument("target", metavar="URL")


def run(settings: Settings, arguments: argparse.Namespace) -> int:
    """Prints the decision log of a URL; returns 1 when no crawl knows the URL."""
    from workers.operations.explaining import explain_url

    found = explain_url(settings, arguments.target)
    if arguments.json:
        _print_json(found)
    elif found.traces:
        sys.stdout.write("".join(_trace_text(found.url, trace) for trace in found.traces))
    else:
        sys.stdout.write(_not_taken_text(found))
    return 0 if found.traces else 1


def _print_json(found: Explanation) -> None:
    """Prints a JSON line for each crawl."""
    from workers.answers.crawls import UnknownUrl, UrlTrace
    from workers.output.printing import print_answer

    for trace in found.traces:
        print_answer(
            UrlTrace(
                url=found.url,
                crawl=trace.crawl,
                state=trace.state,
                referrer=trace.referrer,
                steps=trace.steps,
            )
        )
    for each in found.not_taken:
        print_answer(UnknownUrl(url=found.url, crawl=each.crawl, reason=each.reason))


def _trace_text(url: str, trace: Trace) -> str:
    from workers.control_characters import printable

    lines = [f"{url} in {trace.crawl}: {trace.state}"]
    if trace.referrer:
        by = f' by "{trace.link_text}"' if trace.link_text else ""
        lines.append(f"  found on {trace.referrer}{by}")
    for step in trace.steps:
        at = f"{step.at:%Y-%m-%d %H:%M:%S.%f}"[:-3]
        lines.append(f"  {at}  {step.step}" + (f"  {step.detail}" if step.detail else ""))
    return "".join(printable(line) + "\n" for line in lines)


def _not_taken_text(found: Explanation) -> str:
    from workers.control_characters import printable

    lines = [
        f"{found.url} is unknown to {each.crawl}: {each.reason}"
        for each in found.not_taken[:MOST_CRAWLS_SHOWN]
    ]
    if len(found.not_taken) > MOST_CRAWLS_SHOWN:
        lines.append(f"and to {len(found.not_taken) - MOST_CRAWLS_SHOWN} other crawls")
    return "".join(printable(line) + "\n" for line in lines)
