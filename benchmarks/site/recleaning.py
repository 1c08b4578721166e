"""Learning and re-cleaning in crawls of whole sites: their cost, and their state after kills.

Two crawls of the labelled sites by ``crawlclean sites``, each from an empty data folder:

- undisturbed: the cost of learning and re-cleaning against cleaning, by host (``job_costs.py``);
- killed: SIGKILL ten times, some during learning or re-cleaning; the crawl is continued each time.

Then each store is checked (``recleaning_rest.py``): no page lost or stored twice, every statistic
equal to a recount, every record equal to a cleaning by its model, no learning left or given up; and
counted is how many records the newest model would change. ``make bench-recleaning``; ``--store
mongo`` kills processes that use servers.
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
from benchmarks.kit.results import commit, keep, kept
from benchmarks.kit.serving import (
    authority_of,
    home_of,
    labelled_sites,
    served_sites,
    statistics,
)
from benchmarks.site.recleaning_kills import Killer, as_json
from benchmarks.site.recleaning_rest import left_over
from tests.chaos.fleets import Embedded, Fleet, Servers
from tests.chaos.rest import left_in_queue
from tests.kit.timing import wait_until

PORT = 8820
LIMIT_S = 1800.0
MOST_SHARE = 0.25
LEAST_PAGES = 500
REQUESTS = 14_500  # of a crawl of all sites
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
    parser = argparse.ArgumentParser(
        description="Learning and re-cleaning in crawls, with and without kills."
    )
    parser.add_argument("sites", nargs="*", help="names as in sites.json (default all)")
    parser.add_argument("--store", choices=("sqlite", "mongo"), default="sqlite")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=("undisturbed", "killed"))
    a = parser.parse_args()
    every = labelled_sites()
    sites = {name: every[name] for name in a.sites or every}
    result = kept("recleaning")
    complaints: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if a.only != "killed" and a.store == "sqlite":
            with served_sites(folder, PORT):
                result["undisturbed"] = undisturbed(folder / "undisturbed", sites)
            complaints += result["undisturbed"]["complaints"]
        if a.only != "undisturbed":
            with served_sites(folder, PORT):
                found = killed(folder / "killed", sites, a.store, a.kills, a.seed)
            result[f"killed_{a.store}"] = found
            complaints += found["complaints"]
    keep("recleaning", result)
    sys.stderr.write("".join(f"{line}\n" for line in complaints))
    return 1 if complaints else 0


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
    return {"commit": commit(), "seconds": round(seconds, 1), **found}


def killed(
    folder: Path, sites: Mapping[str, Any], store: str, count: int, seed: int
) -> dict[str, Any]:
    """Crawls with kills; returns the kills and the state of the store."""
    folder.mkdir()
    begun = time.monotonic()
    make = SitesCommand if store == "sqlite" else Servers
    with make(folder, seeds_of(sites), hurry=False) as fleet:
        expected = REQUESTS * len(sites) // len(labelled_sites())
        kills = Killer(fleet, count, seed, lambda: seen(sites, "requests"), expected).go()
        seconds = time.monotonic() - begun
        found = at_rest(fleet, sites)
    found["complaints"] += [f"nothing killed: {each}" for each in kills.waiting]
    repeats = seen(sites, "repeats")
    if repeats > kills.in_flight:
        found["complaints"].append(f"{repeats} requests were repeated")
    return {
        "commit": commit(),
        "seed": seed,
        "seconds": round(seconds, 1),
        **as_json(kills),
        "requests": seen(sites, "requests"),
        "repeats": repeats,
        **found,
    }


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


def seen(sites: Mapping[str, Any], what: str) -> int:
    """Returns a count of the server, summed over these sites, since its start."""
    counts = statistics(PORT)
    return sum(counts[name][what] for name in sites if name in counts)


if __name__ == "__main__":
    sys.exit(main())
