"""Topic crawls on a link graph: share of the relevant pages found after few pages.

``make bench-topic`` reads the folder that ``CRAWLCLEAN_BENCH_TOPIC`` names (``web.py`` has the
format) and prints a line for each crawler::

    ours, three examples: recall 5/10/20/30 %: .51 .77 .91 .96, least topic at 20 %: .78, half ...

Recall is the mean over the topics, after a share of the reachable pages; the example pages are no
targets. Dead links are left out. In ``a page a host and tick``, which is what politeness leaves, a
host gives one page a tick at most, and none while a URL elsewhere is far better (the floor); with
``no floor`` every host gives one.

Options: ``--topics db,sec`` names topics; ``--dead`` follows dead links too, which are no steps but
are counted; ``--robust`` adds crawls of which one thing is changed (``robust.py``), or some of
them: ``--robust "as it is,draws"``; ``--keep`` writes ``benchmarks/results/topic.json``.

``--live`` crawls the served sites with the real program instead (``live.py``), topic by topic, and
keeps ``benchmarks/results/topic-live.json``; ``--delay 0.2`` sets the pause of a host, 0 is that of
loopback hosts; ``--query-alone`` leaves the examples out.

``--web`` crawls a generated web of 300 hosts instead (``wide.py``), and needs no folder; with
``--keep`` it writes ``benchmarks/results/topic-web.json``. ``--servers 1,2`` crawls it with the
queue on one, then on two servers (``topic-servers.json``).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.kit.results import commit, keep, kept, show
from benchmarks.topic.harvest import AT, POINTS, Harvest, crawlers, line, measure
from benchmarks.topic.live import Live, LivePlan, crawl_live
from benchmarks.topic.robust import PARTS, crawl_all
from benchmarks.topic.spread import leave_one_out, parts, short
from benchmarks.topic.web import Web, folder, read_web
from benchmarks.topic.wide import crawl_wide, figures
from tests.kit.wide_web import WideSpec


def main() -> None:
    """Prints the lines of all crawlers, then what the options ask for."""
    asked = _arguments()
    if asked.web:
        _crawl_wide(asked)
        return
    web = read_web(folder())
    if asked.topics:
        chosen = asked.topics.split(",")
        web = replace(web, topics=tuple(each for each in web.topics if each.name in chosen))
    if not web.topics:
        sys.exit("no topic of this name")
    if asked.live:
        _crawl_live(web, asked)
        return
    unknown = set(asked.robust.split(",")).difference(PARTS) if asked.robust else ()
    if unknown:
        sys.exit(f"no part of this name: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    if asked.dead:
        web = web.with_dead_links()
    harvests = {name: _shown(name, measure(web, crawl)) for name, crawl in crawlers().items()}
    result: dict[str, Any] = {
        "topics": len(web.topics),
        "pages": len(web.reachable),
        "tuned": "constants were chosen on this set" if asked.tuned else "",
        "curve_per_cent": AT[-1],
        "curve_points": POINTS,
        "crawlers": {name: _figures(found) for name, found in harvests.items()},
    }
    if asked.dead:
        for name, found in harvests.items():
            dead = sum(each.dead for each in found.values()) / len(found)
            _say(f"{name}: {dead:.0f} dead links on the way to 20 %")
    if asked.robust:
        result["robust"] = _robust(web, asked.robust.split(","))
    if asked.keep:
        keep("topic", result)


def _crawl_live(web: Web, asked: argparse.Namespace) -> None:
    """Prints a line for each live crawl and one for all, beside those of the simulator."""
    plan = LivePlan(delay_s=asked.delay, examples=not asked.query_alone, sitemaps=asked.sitemaps)
    name = "query alone" if asked.query_alone else "three examples"
    simulated = measure(web, crawlers()[f"ours, {name}, a page a host and tick"])
    found: dict[str, Live] = {}
    for topic, live in crawl_live(web, folder(), plan):
        found[topic] = live
        _say(f"{topic}, simulator: {line([simulated[topic]])}")
        _say(
            f"{topic}, live: {line([live.harvest])}, {live.answers} answers ({live.again} again), "
        )
        _say(f"  {live.dead} dead links, {live.seconds:.0f} s, {live.cpu_s:.0f} s CPU")
    harvests = {topic: live.harvest for topic, live in found.items()}
    part = {
        "delay_s": asked.delay,
        "simulator": _figures(_shown(f"{name}, simulator", simulated)),
        "live": _figures(_shown(f"{name}, live", harvests)),
        "crawls": {
            topic: {
                "answers": live.answers,
                "again": live.again,
                "dead": live.dead,
                "seconds": live.seconds,
                "cpu_s": live.cpu_s,
                "is_whole": live.is_whole,
            }
            for topic, live in found.items()
        },
    }
    if asked.keep:
        keep("topic-live", {**kept("topic-live"), name: {"commit": commit(), **part}})


def _crawl_wide(asked: argparse.Namespace) -> None:
    """Prints what crawls of the generated web of 300 hosts found."""
    spec = WideSpec()
    result: dict[str, Any] = {}
    for servers in asked.servers or [0]:
        with tempfile.TemporaryDirectory() as name:
            visits, report = crawl_wide(Path(name), spec, asked.pages, servers=servers)
        found = figures(visits, report, spec)
        _say(f"{servers or 'embedded'} servers: {found}")
        result |= {str(servers): found} if servers else found
    if asked.keep:
        keep("topic-servers" if asked.servers else "topic-web", result)
    else:
        show(result)


def _robust(web: Web, chosen: Sequence[str]) -> dict[str, str]:
    """The lines of changed crawls, by part and way."""
    found = crawl_all(web, chosen)
    lines = {f"{title}, {way}": str(spread) for title, way, spread in parts(found)}
    for name, way, recall in leave_one_out(found):
        lines[f"leave one out: {name}, {way}"] = f"recall {short(recall)}"
    for name, text in lines.items():
        _say(f"{name}: {text}")
    return lines


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--topics", default="", metavar="NAMES", help="separated by commas")
    parser.add_argument("--dead", action="store_true", help="follow dead links too")
    parser.add_argument(
        "--robust",
        nargs="?",
        const=",".join(PARTS),
        metavar="PARTS",
        help="crawl with changes, or with some of them: " + ",".join(PARTS),
    )
    parser.add_argument("--keep", action="store_true", help="write benchmarks/results/topic.json")
    parser.add_argument("--tuned", action="store_true", help="mark the set as one tuned on")
    parser.add_argument("--web", action="store_true", help="crawl a generated web of 300 hosts")
    parser.add_argument("--pages", type=int, default=1500, help="of it, at most (default 1500)")
    parser.add_argument(
        "--servers",
        type=lambda text: [int(each) for each in text.split(",")],
        metavar="NUMBERS",
        help="crawl it with the queue on as many servers, 1,2 for both",
    )
    live = parser.add_argument_group("live crawls")
    live.add_argument("--live", action="store_true", help="crawl with the real program")
    live.add_argument("--delay", type=float, default=0.2, help="of a host, seconds (default 0.2)")
    live.add_argument("--query-alone", action="store_true", help="give no example pages")
    live.add_argument("--sitemaps", action="store_true", help="robots.txt names sitemaps")
    return parser.parse_args()


def _shown(name: str, found: dict[str, Harvest]) -> dict[str, Harvest]:
    _say(f"{name}: {line(list(found.values()))}")
    return found


def _figures(found: dict[str, Harvest]) -> dict[str, Any]:
    rows = list(found.values())
    return {
        "line": line(rows),
        "recall": {
            topic: [round(share, 3) for share in each.recall] for topic, each in found.items()
        },
        "half": {topic: round(each.half, 3) for topic, each in found.items()},
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
