"""Topic crawls: share of the relevant pages found after few pages, simulated and live.

``make bench-topic`` reads the folder that ``CRAWLCLEAN_BENCH_TOPIC`` names, or ``topic`` of the
labelled data (``web.py`` has the format), and crawls each topic four times by the product's own
parts on a simulated clock (``simulator.py``). It prints a line for each draw, for each topic, and
for all, beside best-first on anchor texts::

    ours, three examples, mean: recall 5/10/20/30 %: .51 .77 .91 .96, least at 20 %: .78, half ...
    ours, three examples, least draw: .48 .70 .88 .95

Recall is counted after a share of the reachable pages; the example pages are no targets.

Options: ``--topics db,sec`` names topics; ``--query-alone`` leaves the examples out; ``--draws 1``;
``--delay 0.2`` is the pause of a host; ``--keep`` writes ``benchmarks/results/topic.json``.

``--live`` then crawls the served sites with the real program (``live.py``), topic by topic, and
keeps ``benchmarks/results/topic-live.json``. The exit status is 1 when a live crawl is more than
.10 below the least draw at 10 or 20 %, and when any crawl ends by itself while it has targets to
find and may fetch more pages.

``--web`` crawls a generated web of 300 hosts instead (``wide.py``), and needs no folder; with
``--keep`` it writes ``benchmarks/results/topic-web.json``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.kit.results import commit, keep, kept, show
from benchmarks.topic.best_first import best_first
from benchmarks.topic.draws import Draw, simulate_all
from benchmarks.topic.harvest import (
    AT,
    POINTS,
    Harvest,
    budget,
    faults,
    harvest,
    least,
    line,
    short,
)
from benchmarks.topic.live import Live, LivePlan, crawl_live
from benchmarks.topic.web import Web, folder, read_web
from benchmarks.topic.wide import crawl_wide, figures
from tests.kit.wide_web import WideSpec

EARLY = "it ended by itself with targets left"

Harvests = Mapping[str, Sequence[Harvest]]
"""By topic, of each draw."""


def main() -> None:
    """Crawls as the options ask; ends with status 1 when something is wrong."""
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
    wrong: list[str] = []
    simulated = _simulate(web, asked, wrong)
    if asked.live:
        _crawl_live(web, asked, simulated, wrong)
    if wrong:
        sys.exit("\n".join(wrong))


def _simulate(web: Web, asked: argparse.Namespace, wrong: list[str]) -> Harvests:
    """Prints what simulated crawls and best-first found; adds to what is wrong."""
    first = {each.name: [harvest(web, each, best_first(web, each))] for each in web.topics}
    _say(f"best-first on anchors: {line(_all(first))}")
    name = _name(asked)
    found: dict[str, list[Draw]] = defaultdict(list)
    crawled = simulate_all(
        web, folder(), examples=not asked.query_alone, delay_s=asked.delay, draws=asked.draws
    )
    for topic, draw in crawled:
        found[topic].append(draw)
        _say(f"{topic}, draw {draw.number}: {line([draw.harvest])}")
        _say(f"  {draw.costs}")
        spent = len(draw.simulated.fetched) >= budget(web)
        if draw.simulated.pending and not (spent or draw.harvest.is_whole):
            wrong.append(f"{topic}, draw {draw.number}: {EARLY}")
    harvests = {topic: [draw.harvest for draw in draws] for topic, draws in found.items()}
    for topic, rows in harvests.items():
        _say(f"{topic}, mean: {line(rows)}; least draw: {short(least(rows))}")
    _say(f"{name}, mean: {line(_all(harvests))}")
    _say(f"{name}, least draw: {short(_least_draw(harvests))}")
    if asked.keep:
        crawlers = kept("topic").get("crawlers", {})
        crawlers |= {"best-first on anchors": _figures(first), name: _figures(harvests)}
        result = {
            "topics": len(web.topics),
            "pages": len(web.reachable),
            "delay_s": asked.delay,
            "curve_per_cent": AT[-1],
            "curve_points": POINTS,
            "crawlers": crawlers,
        }
        keep("topic", result)
    return harvests


def _crawl_live(web: Web, asked: argparse.Namespace, simulated: Harvests, wrong: list[str]) -> None:
    """Prints a line for each live crawl and one for all; adds to what is wrong."""
    plan = LivePlan(delay_s=asked.delay, examples=not asked.query_alone)
    name = _name(asked)
    found: dict[str, Live] = {}
    for topic, live in crawl_live(web, folder(), plan):
        found[topic] = live
        _say(f"{topic}, live: {line([live.harvest])}")
        _say(f"  {live.answers} answers, {live.failed} dead links, {live.seconds:.0f} s,")
        _say(f"  {live.cpu_s:.0f} s CPU; simulated least draw: {short(least(simulated[topic]))}")
        wrong += [f"{topic}: {fault}" for fault in faults(live.harvest, simulated[topic])]
        if live.ended and not live.harvest.is_whole:
            wrong.append(f"{topic}, live: {EARLY}")
    harvests = {topic: [live.harvest] for topic, live in found.items()}
    _say(f"{name}, live: {line(_all(harvests))}")
    part = {
        "delay_s": asked.delay,
        "simulator": _figures(simulated),
        "live": _figures(harvests),
        "crawls": {
            topic: {
                "answers": live.answers,
                "failed": live.failed,
                "seconds": live.seconds,
                "cpu_s": live.cpu_s,
                "is_whole": live.harvest.is_whole,
            }
            for topic, live in found.items()
        },
    }
    if asked.keep:
        keep("topic-live", {**kept("topic-live"), name: {"commit": commit(), **part}})


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
    parser.add_argument("--draws", type=int, default=4, help="simulated crawls of a topic")
    parser.add_argument("--delay", type=float, default=0.05, help="of a host, seconds")
    parser.add_argument("--live", action="store_true", help="crawl with the real program, too")
    parser.add_argument("--keep", action="store_true", help="write benchmarks/results")
    parser.add_argument("--web", action="store_true", help="crawl a generated web of 300 hosts")
    parser.add_argument("--pages", type=int, default=1500, help="of it, at most (default 1500)")
    return parser.parse_args()


def _name(asked: argparse.Namespace) -> str:
    return "ours, query alone" if asked.query_alone else "ours, three examples"


def _all(found: Harvests) -> list[Harvest]:
    return [each for rows in found.values() for each in rows]


def _least_draw(found: Harvests) -> list[float]:
    """The least mean recall that a draw has over all topics, at each share of the pages."""
    draws = zip(*found.values(), strict=True)
    means = [
        [sum(shares) / len(found) for shares in zip(*_recall(draw), strict=True)] for draw in draws
    ]
    return [min(shares) for shares in zip(*means, strict=True)]


def _recall(rows: Sequence[Harvest]) -> list[tuple[float, ...]]:
    return [each.recall for each in rows]


def _figures(found: Harvests) -> dict[str, Any]:
    rows = _all(found)
    return {
        "line": line(rows),
        "least_draw": short(_least_draw(found)),
        "recall": {
            topic: [[round(share, 3) for share in recall] for recall in _recall(draws)]
            for topic, draws in found.items()
        },
        "curve": [
            round(sum(points) / len(rows), 3)
            for points in zip(*(each.curve for each in rows), strict=True)
        ],
    }


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
