"""Topic crawls by the real program: share of the relevant pages found after few pages.

``make bench-topic`` reads the folder that ``CRAWLCLEAN_BENCH_TOPIC`` names, or ``topic`` of the
labelled data (``web.py`` has the format), and crawls its served sites topic by topic (``live.py``).
It prints a line for each topic and one for all::

    ours, three examples: recall 5/10/20/30 %: .51 .77 .91 .96, least at 20 %: .78, half ...

Recall is counted after a share of the reachable pages; the example pages are no targets. Single
crawls of a topic differ by .1, at 5 % by more. The exit status is 1 when a crawl ends by itself
while it has targets to find and may fetch more pages.

Options: ``--topics db,sec`` names topics; ``--query-alone`` leaves the examples out;
``--delay 0.2`` is the pause of a host; ``--keep`` writes ``benchmarks/results/topic-live.json``.

``--web`` crawls a generated web of 300 hosts instead (``wide.py``), and needs no folder; with
``--keep`` it writes ``benchmarks/results/topic-web.json``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks.kit.results import commit, keep, kept, show
from benchmarks.topic.harvest import line
from benchmarks.topic.live import Live, LivePlan, crawl_live
from benchmarks.topic.web import Web, folder, read_web
from benchmarks.topic.wide import crawl_wide, figures
from tests.kit.wide_web import WideSpec


def main() -> None:
    """Crawls as the options ask; ends with status 1 when a crawl ended by itself too early."""
    asked = _arguments()
    if asked.web:
        _crawl_wide(asked)
        return
    web = read_web(folder())
    if asked.topics:
        chosen = asked.topics.split(",")
        web = replace(web, topics=tuple(each for each in web.topics if each.name in chosen))
    web = replace(web, topics=tuple(each for each in web.topics if web.targets(each)))
    if not web.topics:
        sys.exit("no topic of this name")
    if early := _crawl_live(web, asked):
        sys.exit(f"ended by itself with targets left: {', '.join(early)}")


def _crawl_live(web: Web, asked: argparse.Namespace) -> list[str]:
    """Prints a line for each crawl and one for all; returns the topics that ended too early."""
    plan = LivePlan(delay_s=asked.delay, examples=not asked.query_alone)
    name = "ours, query alone" if asked.query_alone else "ours, three examples"
    found: dict[str, Live] = {}
    for topic, live in crawl_live(web, folder(), plan):
        found[topic] = live
        _say(f"{topic}: {line([live.harvest])}")
        _say(f"  {live.answers} answers, {live.failed} dead links, {live.seconds:.0f} s,")
        _say(f"  {live.cpu_s:.0f} s CPU")
    whole = line([live.harvest for live in found.values()])
    _say(f"{name}: {whole}")
    if asked.keep:
        crawls = {
            topic: {
                "recall": [round(share, 3) for share in live.harvest.recall],
                "answers": live.answers,
                "failed": live.failed,
                "seconds": live.seconds,
                "cpu_s": live.cpu_s,
                "is_whole": live.harvest.is_whole,
            }
            for topic, live in found.items()
        }
        part = {"commit": commit(), "delay_s": asked.delay, "line": whole, "crawls": crawls}
        keep("topic-live", {**kept("topic-live"), name: part})
    return [topic for topic, live in found.items() if live.ended and not live.harvest.is_whole]


def _crawl_wide(asked: argparse.Namespace) -> None:
    """Prints what crawls of the generated web of 300 hosts found."""
    spec = WideSpec()
    with tempfile.TemporaryDirectory() as name:
        found = figures(*crawl_wide(Path(name), spec, asked.pages), spec)
    if asked.keep:
        keep("topic-web", found)
    else:
        show(found)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--topics", default="", metavar="NAMES", help="separated by commas")
    parser.add_argument("--query-alone", action="store_true", help="give no example pages")
    parser.add_argument("--delay", type=float, default=0.05, help="of a host, seconds")
    parser.add_argument("--keep", action="store_true", help="write benchmarks/results")
    parser.add_argument("--web", action="store_true", help="crawl a generated web of 300 hosts")
    parser.add_argument("--pages", type=int, default=1500, help="of it, at most (default 1500)")
    return parser.parse_args()


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
