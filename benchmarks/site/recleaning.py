"""Learning and re-cleaning in a crawl of whole sites: their cost, and what they leave.

The labelled sites are crawled by ``crawlclean sites``; the cost of learning and re-cleaning is
compared with that of cleaning, by host (``job_costs.py``). Then the store is checked
(``recleaning_rest.py``): no page lost or stored twice, every statistic equal to a recount, every
record equal to a cleaning by its model, no learning left or given up; and counted is how many
records the newest model would change. ``make bench-recleaning``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from benchmarks.crawl.job_costs import CODE, job_costs
from benchmarks.kit.results import keep
from benchmarks.kit.serving import (
    authority_of,
    home_of,
    labelled_sites,
    served_sites,
)
from benchmarks.site.recleaning_rest import left_over
from tests.chaos.fleets import Embedded, Fleet
from tests.chaos.rest import left_in_queue
from tests.kit.timing import wait_until

PORT = 8820
LIMIT_S = 1800.0
MOST_SHARE = 0.25
LEAST_PAGES = 500
GIVEN_UP = ("host not learned", "model not used")


class SitesCommand(Embedded):
    """`sites` on a list, with the private server and SQLite."""

    def words(self) -> list[str]:
        """Returns the command line, with the list of sites."""
        listed = self.folder / "sites.txt"
        listed.write_text("\n".join(self.seeds) + "\n", "utf-8")
        return ["sites", str(listed), "--at-once", "3"]


def main() -> int:
    """Measures and keeps the result; 1 with complaints."""
    parser = argparse.ArgumentParser(description="Learning and re-cleaning in a crawl.")
    parser.add_argument("sites", nargs="*", help="names as in sites.json (default all)")
    every = labelled_sites()
    sites = {name: every[name] for name in parser.parse_args().sites or every}
    with tempfile.TemporaryDirectory() as name, served_sites(Path(name), PORT):
        found = undisturbed(Path(name) / "undisturbed", sites)
    keep("recleaning", {"undisturbed": found})
    sys.stderr.write("".join(f"{line}\n" for line in found["complaints"]))
    return 1 if found["complaints"] else 0


def undisturbed(folder: Path, sites: Mapping[str, Any]) -> dict[str, Any]:
    """Crawls undisturbed; returns the cost by site and the state of the store."""
    folder.mkdir()
    begun = time.monotonic()
    with SitesCommand(folder, seeds_of(sites), hurry=False, sabotage=CODE) as fleet:
        wait_until(fleet.is_done, LIMIT_S)
        seconds = time.monotonic() - begun
        found = at_rest(fleet, sites)
    costs = job_costs(folder / "early")
    found["sites"] = {
        name: {**found["sites"].get(name, {}), **costs.get(authority_of(site, PORT), {})}
        for name, site in sites.items()
    }
    found["complaints"] += [
        f"{name}: learning and re-cleaning cost {row['share']} of cleaning"
        for name, row in found["sites"].items()
        if row.get("records", 0) >= LEAST_PAGES and row["share"] > MOST_SHARE
    ]
    return {"seconds": round(seconds, 1), **found}


def at_rest(fleet: Fleet, sites: Mapping[str, Any]) -> dict[str, Any]:
    """Checks queue and store after a crawl; returns figures by site and complaints."""
    fleet.come_to_rest()
    frontier = fleet.frontier()
    frontier.sweep()  # sessions of processes stopped just now
    counts = {name: frontier.counts(name) for name in frontier.crawl_ids()}
    frontier.close()
    complaints = list(left_in_queue(fleet.client))
    complaints += [
        f"{name} is {each.state} with {each.open} open"
        for name, each in counts.items()
        if each.open or each.state != "finished"
    ]
    complaints += [
        line for lines in fleet.lines().values() for line in lines for w in GIVEN_UP if w in line
    ]
    store = fleet.open_store()
    try:
        wanted = {
            authority_of(site, PORT): {unquote(u) for u in site["urls"]} for site in sites.values()
        }
        found, verdicts = left_over(store, wanted)
    finally:
        store.close()
    of_site = {name: verdicts.get(authority_of(site, PORT)) for name, site in sites.items()}
    return {
        "sites": {name: each.to_json() for name, each in of_site.items() if each},
        "complaints": complaints + found,
    }


def seeds_of(sites: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the home page of every site."""
    return tuple(home_of(site, PORT) for site in sites.values())


if __name__ == "__main__":
    sys.exit(main())
