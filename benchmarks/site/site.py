"""A host learned from n of its pages: quality of text, links and images on its other pages.

``make bench-site`` measures every part and keeps the result; ``ARGS="text links"`` measures parts
and prints them; ``--quick`` takes fewer pages and sizes.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.kit.parts import choose_parts
from benchmarks.kit.results import keep, show
from benchmarks.site.drift import measure_drift
from benchmarks.site.links import measure_hosts, measure_template
from benchmarks.site.noise import measure_noise
from benchmarks.site.pages import Site, whole_sites
from benchmarks.site.text import DRAWS, SIZES, TESTED, Draw, draws_of, measure_text
from cleaning import learn_site
from cleaning.learn.sample import MAX_SAMPLE

PARTS = ("text", "links", "hosts", "noise", "order", "cost", "drift")
ORDERS = 10
QUICK_SIZES = (3, 20)


def measure_order(sites: Sequence[Site]) -> dict[str, Any]:
    """Of each site with more pages than a sample: models of ten shuffled orders that are equal."""
    equal = {}
    for site in sites:
        expected = learn_site(site.pages).to_json()
        count = 0
        for seed in range(ORDERS):
            pages = list(site.pages)
            random.Random(seed).shuffle(pages)  # noqa: S311 - an order
            count += learn_site(pages).to_json() == expected
        equal[site.name] = f"{count} of {ORDERS}, {len(site.pages)} pages"
    return equal


def measure_cost(sites: Sequence[Site]) -> dict[str, Any]:
    """Processor time of learning from a full sample, and the size of the model."""
    cost = {}
    for site in sites:
        chance = random.Random(1)  # noqa: S311 - a sample
        pages = chance.sample(site.pages, min(MAX_SAMPLE, len(site.pages)))
        times = []
        for _ in range(3):
            begun = time.process_time()
            model = learn_site(pages)
            times.append(time.process_time() - begun)
        chars = sum(len(page.html) for page in pages)
        cost[site.name] = {
            "cpu_s": round(min(times), 3),
            "html_chars": chars,
            "model_bytes": len(model.to_json().encode()),
            "places": [place.path for place in model.body_rule.places],
        }
    return cost


def main() -> int:
    """Measures the parts that are named, or all."""
    a = choose_parts("What a host teaches about its pages.", PARTS, "fewer pages, not kept")
    sizes = QUICK_SIZES if a.quick else SIZES
    with whole_sites() as sites:
        draws: list[Draw] = draws_of(sites, 1 if a.quick else DRAWS)
        parts: dict[str, Callable[[], dict[str, Any]]] = {
            "text": lambda: measure_text(draws, sizes),
            "links": lambda: measure_template(draws, sizes),
            "hosts": measure_hosts,
            "noise": measure_noise,
            "order": lambda: measure_order(sites),
            "cost": lambda: measure_cost(sites),
            "drift": lambda: measure_drift(sites, quick=a.quick),
        }
        result: dict[str, Any] = {"draws": len(draws), "tested_pages_a_draw": TESTED}
        for name in a.named or PARTS:
            begun = time.monotonic()
            result[name] = parts[name]()
            sys.stderr.write(f"{name}: {time.monotonic() - begun:.0f} s\n")
    if a.quick or a.named:
        show(result)
    else:
        keep("site", result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
