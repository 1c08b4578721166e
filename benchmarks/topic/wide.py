"""A topic crawl over a generated web of 300 hosts: a part of ``topic.py``, ``--web``.

The pages are those of ``tests/kit/wide_web.py``: articles on earthquakes link across hosts, a link
farm of one domain has links with the topic's words, some hosts are dead, some slow, half have no
page on the topic. The crawl knows five lists at first. Measured from the server's log: hosts that
were found, relevant pages over requests, requests to the farm and to hosts without relevant pages.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from crawlclean.storage.queue.topic_ranks import MOST_HOSTS
from tests.kit.crawls import ROOT, crawlclean
from tests.kit.wide_web import EXAMPLE, QUERY, ROBOTS, WideSpec, WideVisit, WideWeb

AT = (100, 200, 400, 800, 1600)  # requests for pages
LIMIT_S = 3600.0


def crawl_wide(
    folder: Path, spec: WideSpec, max_pages: int, delay_s: float = 0.5
) -> tuple[list[WideVisit], dict[str, Any]]:
    """Crawls a web; returns the requests, and the report of the topic as ``--json`` prints it.

    Args:
        folder: An empty one, for the data.
        spec: The web.
        max_pages: Budget of the crawl.
        delay_s: Pause of a host.
    """
    example = folder / "example.html"
    example.write_text(EXAMPLE, "utf-8")
    with WideWeb(folder / "web", spec) as web:
        data = ("--data", str(folder / "data"))
        crawlclean(
            *("topic", "quake", "--seeds", *web.seeds, "--query", QUERY),
            *("--examples", str(example), "--allow-private", "--delay", str(delay_s)),
            *("--max-pages", str(max_pages), *data),
            env={"PYTHONPATH": f"{web.names_path}:{ROOT}"},
            limit_s=LIMIT_S,
        )
        report = crawlclean("topic", "quake", "--report", "--json", *data)
        visits = web.visits()
    return visits, json.loads(report.stdout)


def figures(
    visits: Sequence[WideVisit], report: Mapping[str, Any], spec: WideSpec
) -> dict[str, Any]:
    """Returns what a crawl of the wide web found, at what cost."""
    pages = sorted((v for v in visits if v.path != ROBOTS), key=lambda visit: visit.arrival_s)
    hosts = {visit.host for visit in pages}
    topical = {visit.host for visit in pages if visit.is_relevant}
    farm = [visit for visit in pages if visit.is_farm]
    found = {(visit.host, visit.path) for visit in pages if visit.is_relevant}
    barren = [visit for visit in pages if visit.host.startswith("plain")]
    return {
        "hosts": spec.hosts,
        "requests": len(pages),
        "hosts_asked": len(hosts),
        "topical_hosts": f"{len(topical)} of {spec.news + spec.slow}",
        "relevant": f"{len(found)} of {spec.relevant}",
        "relevant_of_first": {
            str(first): sum(visit.is_relevant for visit in pages[:first])
            for first in AT
            if first <= len(pages)
        },
        "slow_hosts": len({host for host in topical if host.startswith("slow")}),
        "farm_hosts": f"{len({visit.host for visit in farm})}, at most {MOST_HOSTS}",
        "farm_requests": len(farm),
        "barren_requests": len(barren),
        "judged_relevant": report["topic"]["relevant"],
        "least_gap_s": least_gap_s(visits),
    }


def least_gap_s(visits: Sequence[WideVisit]) -> float:
    """Returns the shortest time from the end of an answer of a host to the next request to it."""
    ordered = sorted(visits, key=lambda visit: (visit.host, visit.arrival_s))
    least = float("inf")
    for _, group in groupby(ordered, key=lambda visit: visit.host):
        rows = list(group)
        for before, after in pairwise(rows):
            least = min(least, after.arrival_s - before.end_s)
    return round(least, 3)
